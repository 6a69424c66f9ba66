"""Reading and writing models."""

from kinegraph.io.records.load import load, parse
from kinegraph.io.records.write import write

__all__ = ["load", "parse", "write"]
