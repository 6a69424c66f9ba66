"""The records of one request: derived, reduced, chosen. Each is read from disk, or made once and stored."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from kinegraph.compiler import records, stages
from kinegraph.compiler.request import Parameters, Quantities, Request, request_of
from kinegraph.derive.plan import Closure
from kinegraph.errors import KinegraphError
from kinegraph.garbage_collection import gc_paused
from kinegraph.graph import law, text
from kinegraph.graph.node import Graph
from kinegraph.jit import cache as disk
from kinegraph.jit.cache import digest
from kinegraph.jit.engine import host
from kinegraph.model.constraints import is_constrained
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.topology import wanted_cut

if TYPE_CHECKING:
    from kinegraph.compiler.records import Chosen, Derived, Means, Reduced
    from kinegraph.compiler.stages import Derivations
    from kinegraph.passes.pipeline import OnPass


# One request, one chain of records: derived, reduced, chosen. All commands read it, nobody rebuilds it.
#
# All three are stored on disk under the request's key, so that a second run need not derive anything again, nor import
# what derives: `stages` makes the records that are missing.


class _Dumped(Protocol):
    def dump(self) -> str: ...


Record = TypeVar("Record", bound=_Dumped)


@dataclass(frozen=True)
class Chain:
    """The records of one request. `cache`: keep them on disk; `on_pass` hears of every pass that is run."""

    request: Request
    cache: bool = True
    on_pass: OnPass | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"<chain of {self.request!r}>"

    @cached_property
    def derived(self) -> Derived:
        """The equations by the cheapest plan."""
        return self._stored_or_made(
            f"derived-{self.request.key}", lambda text: records.Derived.read(text), lambda: self.derivations.made()
        )

    @cached_property
    def reduced(self) -> Reduced:
        """The equations reduced, proved equal to the equations as first derived."""
        return self._stored_or_made(
            f"reduced-{self.request.key}", lambda text: records.Reduced.read(text), lambda: stages.reduced(self)
        )

    def chosen(self, means: Means | None = None, runtime: Sequence[str] = ()) -> Chosen:
        """The graph that is estimated to run fastest with these means, when the parameters of `runtime` arrive late."""
        means = means or records.Means()
        key = digest(self.request.key, means, host().fused)
        return self._stored_or_made(
            f"chosen-{key}", lambda text: records.Chosen.read(text), lambda: stages.chosen(self, means, runtime)
        )

    @cached_property
    def derivations(self) -> Derivations:
        """The equations by all plans that are tried, for records that are not on disk."""
        return stages.Derivations(self.request)

    @property
    def at_once(self) -> Graph:
        """The equations by the first plan: no other is tried."""
        return self.derivations.search.first().graph

    @property
    def first(self) -> Graph:
        """The equations as the recursions first give them: every link in its own frame, no parameters regrouped."""
        return self.derivations.first(self.derived.plan)[0]

    @property
    def limbs_are_faster(self) -> bool:
        """Are most joints those of limbs with others like them, which kernels compute side by side where that pays?"""
        return self.derivations.limb_search.limbs_are_faster

    def _stored_or_made(
        self, name: str, read: Callable[[str], Record], make: Callable[[], tuple[Record, bool]]
    ) -> Record:
        """A record from disk, if one is there that can be read and obeys the law; else a new one, stored if whole."""
        stored = _stored(name, read) if self.cache else None
        if stored is not None:
            return stored
        with gc_paused():
            record, whole = make()
        if self.cache and whole:
            disk.save(name, record.dump().encode())
        return record


def _stored(name: str, read: Callable[[str], Record]) -> Record | None:
    data = disk.load(name)
    if data is None:
        return None
    try:
        return read(data.decode())
    except (KinegraphError, ValueError, TypeError, KeyError, AttributeError):
        return None


# Which way loops are closed, and where they are cut, as the request says or as is estimated to run fastest.

_log = logging.getLogger("kinegraph")


def resolve_closure(request: Request, runtime: Sequence[str], cache: bool = True) -> Request:
    """The request with one way to close loops and one cut: the fastest is looked for where that is asked."""
    if not is_constrained(request.mechanism):
        return replace(request, closure=Closure.MULTIPLIERS)
    fixed = wanted_cut(request.mechanism) if may_be_cut(request) else ()
    if request.closure is not Closure.FASTEST:
        return replace(request, cut=() if request.closure is Closure.CLOSED_FORM else fixed)
    found = stages.finalists(request, runtime, cache)
    _log.info("%s: %s", request, "; ".join(map(str, found)))
    return replace(request, closure=found[0].closure, cut=found[0].cut)


def chain_of(request: Request, runtime: Sequence[str] = (), cache: bool = True, on_pass: OnPass | None = None) -> Chain:
    """The records of a request once it is settled how its loops are closed: what `compile` compiles."""
    return Chain(resolve_closure(request, runtime, cache), cache, on_pass)


def may_be_cut(request: Request) -> bool:
    """Cuts are a matter of accelerations alone: all else belongs to the tree of records and its closing joints."""
    return [str(quantity) for quantity in request.quantities] == ["qdd"]


# Graphs that are stored on disk, under the digest of all that they are made of and of the program's version.


def stored_graph(kind: str, made_of: object, make: Callable[[], Graph]) -> Graph:
    """A graph from disk, if there is one that can be read and obeys the law; else a new one, which is stored.

    made_of: all that the graph follows from; two that differ must differ in it.
    """
    name = f"{kind}-{digest(made_of, disk.sources_digest(Path(__file__).parents[1]))}"
    found = _stored_graph(name)
    if found is None:
        with gc_paused():
            found = make()
        law.check(found)
        disk.save(name, text.dump(found).encode())
    return found


def _stored_graph(name: str) -> Graph | None:
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
    request = resolve_closure(request_of(mechanism, quantities, parameters=parameters), ())
    return stored_graph("derived", request.key, lambda: Chain(request).at_once)
