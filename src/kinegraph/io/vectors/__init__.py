"""Tables of vectors: joint axes and the way from joints to centres of mass, as Racković's algorithms take them."""

from kinegraph.io.vectors.load import load_vectors, read_vectors

__all__ = ["load_vectors", "read_vectors"]
