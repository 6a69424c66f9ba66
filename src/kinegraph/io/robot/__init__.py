"""Common code of the readers of robot files."""
