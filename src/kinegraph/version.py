"""The version of the package, in a place every part may import."""

__version__ = "0.1.0"
