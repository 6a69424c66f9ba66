"""The door to the records of a request: each is read from disk, or made.

This is the one place that imports the stages only if a record is missing. A process that finds its records on disk
never imports what derives, reduces and chooses.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from kinegraph.compiler.request import Parameters, Quantities, Request, may_be_cut, request_of
from kinegraph.compiler.stage_records import (
    NO_FEATURES,
    Chosen,
    Derived,
    Reduced,
    TargetFeatures,
    chosen_on_disk,
    derived_on_disk,
    reduced_on_disk,
)
from kinegraph.derive.plan import Closure
from kinegraph.garbage_collection import gc_paused
from kinegraph.graph import law, text
from kinegraph.graph.node import Graph
from kinegraph.jit import cache as disk
from kinegraph.jit.cache import digest
from kinegraph.model.constraints import is_constrained
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.topology import wanted_cut

_log = logging.getLogger("kinegraph")


def resolve_closure(request: Request, runtime: Sequence[str] = (), cache: bool = True) -> Request:
    """The request with one method to close loops and one cut; for closure 'fastest', the fastest is searched for."""
    if not is_constrained(request.mechanism):
        return replace(request, closure=Closure.MULTIPLIERS)
    fixed = wanted_cut(request.mechanism) if may_be_cut(request) else ()
    if request.closure is not Closure.FASTEST:
        return replace(request, cut=() if request.closure is Closure.CLOSED_FORM else fixed)
    from kinegraph.compiler.closures import finalists

    found = finalists(request, runtime, cache)
    _log.info("%s: %s", request, "; ".join(map(str, found)))
    return replace(request, closure=found[0].closure, cut=found[0].cut)


def derived(request: Request, cache: bool = True) -> Derived:
    """The equations of a request, its closure resolved, by the cheapest plan."""
    found = derived_on_disk(request, cache).load()
    if found is None:
        from kinegraph.compiler import derive

        found = derive.derived(derive.Derivations(request, cache))
    return found


def reduced(request: Request, cache: bool = True) -> Reduced:
    """The derived equations with fewer operations, proved equal to the equations as first derived."""
    found = reduced_on_disk(request, cache).load()
    if found is None:
        from kinegraph.compiler import derive, reduce

        found = reduce.reduced(derive.Derivations(request, cache))
    return found


def chosen(
    request: Request, features: TargetFeatures = NO_FEATURES, runtime: Sequence[str] = (), cache: bool = True
) -> Chosen:
    """The graph that is estimated to run fastest with these features; parameters of `runtime` are arguments."""
    found = chosen_on_disk(request, features, cache).load()
    if found is None:
        from kinegraph.compiler import choose, derive

        found = choose.chosen(derive.Derivations(request, cache), features, runtime)
    return found


def stored_graph(kind: str, made_of: object, make: Callable[[], Graph]) -> Graph:
    """A graph from disk, if there is one that can be read and obeys the law; else a new one, which is stored.

    made_of: all that the graph follows from; two that differ must differ in it.
    """
    name = f"{kind}-{digest(made_of, disk.sources_digest(Path(__file__).parents[1]))}"
    stored = disk.CachedRecord(name, text.read, text.dump)
    found = stored.load()
    if found is None:
        with gc_paused():
            found = make()
        law.check(found)
        stored.save(found)
    return found


def derived_at_once(mechanism: Mechanism, quantities: Quantities, parameters: Parameters | None = None) -> Graph:
    """The exact equations by the first plan, stored on disk.

    For what is run once: comparing plans and reducing would take longer than they save.
    """
    request = resolve_closure(request_of(mechanism, quantities, parameters=parameters))

    def make() -> Graph:
        from kinegraph.compiler.derive import Derivations

        return Derivations(request).at_once

    return stored_graph("derived", request.key, make)
