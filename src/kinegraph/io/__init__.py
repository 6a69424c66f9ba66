"""Reading and writing models."""

from kinegraph.io.records import load, parse
from kinegraph.io.write import write

__all__ = ["load", "parse", "write"]
