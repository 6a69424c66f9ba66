"""Tables of vectors: joint axes and the way from joints to centres of mass, as Racković's algorithms take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.io.vectors.load import load_vectors, read_vectors

__all__ = ["load_vectors", "read_vectors"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("load_vectors", "read_vectors"), "kinegraph.io.vectors.load"),
    },
)
