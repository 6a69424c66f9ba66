"""One file per language."""
