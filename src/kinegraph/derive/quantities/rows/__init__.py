"""The rows of the one table of quantities, by subject; `table.py` puts them together."""
