"""Graphs that are stored on disk, under the digest of all that they are made of and of the program's version."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kinegraph.collector import without_collector
from kinegraph.compiler.chain import Chain
from kinegraph.compiler.closures import settled
from kinegraph.compiler.request import Parameters, Quantities, request_of
from kinegraph.errors import KinegraphError
from kinegraph.graph import law, text
from kinegraph.graph.node import Graph
from kinegraph.jit import cache as disk
from kinegraph.jit.contents import digest
from kinegraph.model.mechanism import Mechanism


def stored_graph(kind: str, made_of: object, make: Callable[[], Graph]) -> Graph:
    """A graph from disk, if there is one that can be read and obeys the law; else a new one, which is stored.

    made_of: all that the graph follows from; two that differ must differ in it.
    """
    name = f"{kind}-{digest(made_of, disk.sources_digest(Path(__file__).parents[1]))}"
    found = _stored(name)
    if found is None:
        with without_collector():
            found = make()
        law.check(found)
        disk.save(name, text.dump(found).encode())
    return found


def _stored(name: str) -> Graph | None:
    data = disk.load(name)
    if data is None:
        return None
    try:
        return text.read(data.decode())
    except (KinegraphError, ValueError):
        return None


def derived_at_once(mechanism: Mechanism, quantities: Quantities, parameters: Parameters | None = None) -> Graph:
    """The exact equations by the first plan there is, stored on disk.

    For what is run once: comparing plans and reducing would take longer than they save.
    """
    request = settled(request_of(mechanism, quantities, parameters=parameters), ())
    return stored_graph("derived", request.key, lambda: Chain(request).at_once)
