"""One request, one chain of records: derived, reduced, chosen. All commands read it, nobody rebuilds it.

All three are stored on disk under the request's key, so that a second run need not derive anything again, nor import
what derives: `stages` makes the records that are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

from kinegraph.collector import without_collector
from kinegraph.compiler import records, stages
from kinegraph.compiler.request import Request
from kinegraph.errors import KinegraphError
from kinegraph.graph.node import Graph
from kinegraph.jit import cache as disk
from kinegraph.jit.contents import digest
from kinegraph.jit.target import host

if TYPE_CHECKING:
    from kinegraph.compiler.records import Chosen, Derived, Means, Reduced
    from kinegraph.compiler.stages import Derivations
    from kinegraph.passes.pipeline import OnPass


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
        with without_collector():
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
