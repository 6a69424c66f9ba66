"""The commands of the tasks of mechanics, one file per command."""
