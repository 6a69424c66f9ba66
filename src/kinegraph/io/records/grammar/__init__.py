"""The grammar of the model language, and the tables of its parsers."""
