"""The studio: a local page on which the text of a mechanism stands beside the mechanism."""
