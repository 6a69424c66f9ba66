"""The quantities of a mechanism: their table, their definitions, and how a request is derived."""
