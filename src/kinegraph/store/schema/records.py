"""What goes into the store and what comes out of it, as frozen records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from kinegraph.graph.count import Operations
from kinegraph.graph.node import Coefficient, Graph, Output


@dataclass(frozen=True, slots=True)
class PassRecord:
    """The operations left after one pass, and how long it took."""

    name: str
    operations: Operations
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class GraphRecord:
    """A graph to be saved. `quantities` are the words it was derived for, `proved` whether a proof was made."""

    stage: str
    quantities: tuple[str, ...]
    graph: Graph
    passes: tuple[PassRecord, ...] = ()
    proved: bool | None = None


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A mechanism with its graphs; `values` are those of its parameters (and of anything else that has one)."""

    name: str
    text: str
    graphs: tuple[GraphRecord, ...] = ()
    values: Mapping[str, Coefficient | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SavedModel:
    """Where a model went: `version` is new if the text differs from the one saved last under this name."""

    mechanism: int
    name: str
    version: int
    graphs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """One row of the list of graphs."""

    id: int
    mechanism: int
    name: str
    version: int
    stage: str
    quantities: tuple[str, ...]
    nodes: int
    levels: int
    hash: str
    proved: bool | None
    created: str

    def __str__(self) -> str:
        return f"{self.name}@{self.version}:{self.stage} ({','.join(self.quantities)})"


def labels(output: Output) -> list[str]:
    """The names of an output's entries in row-major order: H[1,1], H[1,2], ...; a scalar is its own name."""
    if not output.shape:
        return [output.name]
    places = product(*(range(1, size + 1) for size in output.shape))
    return [f"{output.name}[{','.join(map(str, place))}]" for place in places]
