"""The records that the stages hand over: derived, reduced, chosen. Frozen, printable, and readable from disk.

Nothing here imports what makes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, cast

from kinegraph.codegen.kernel import KernelChoice
from kinegraph.codegen.program.binding import BackSubstitution
from kinegraph.compiler.request import Request
from kinegraph.derive.plan import AxialMoment, CrossAxis, ForwardMethod, InertiaMethod, LoadMethod, OriginShift, Plan
from kinegraph.graph import text
from kinegraph.graph.certificate import WholeProof
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph, Kind, Symbol
from kinegraph.jit.cache import CachedRecord
from kinegraph.jit.engine import host
from kinegraph.passes.effort import PassReport

if TYPE_CHECKING:
    from kinegraph.codegen.simd import Exchanged


@dataclass(frozen=True)
class Derived:
    """The equations by the cheapest plan (frames, origins, algorithms), before any pass."""

    key: str
    plan: Plan
    graph: Graph

    def __str__(self) -> str:
        return f"derived: {len(self.graph)} nodes, {count(self.graph)}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def dump(self) -> str:
        """The record as text that `read` reads back."""
        return json.dumps({"key": self.key, "plan": _written_plan(self.plan), "graph": text.dump(self.graph)})

    @classmethod
    def read(cls, dumped: str) -> Derived:
        """What dump wrote; the graph must obey the law."""
        found = json.loads(dumped)
        return cls(found["key"], _plan(found["plan"]), text.read(found["graph"]))


@dataclass(frozen=True)
class Reduced:
    """The equations with as few operations as the effort allows, proved equal to those first derived.

    `first` counts the equations as the recursions give them, `derived` those of the cheapest plan.
    """

    key: str
    graph: Graph
    first: Operations
    derived: Operations
    reports: tuple[PassReport, ...]
    proof: WholeProof

    def __str__(self) -> str:
        return f"reduced: {len(self.graph)} nodes, {count(self.graph)}; {self.proof}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def dump(self) -> str:
        """The record as text that `read` reads back."""
        reports = [asdict(report) for report in self.reports]
        counts = {"first": asdict(self.first), "derived": asdict(self.derived)}
        return json.dumps(
            {"key": self.key, **counts, "graph": text.dump(self.graph), "reports": reports, "proof": asdict(self.proof)}
        )

    @classmethod
    def read(cls, dumped: str) -> Reduced:
        """What dump wrote; the graph must obey the law."""
        found = json.loads(dumped)
        reports = tuple(
            PassReport(**{**one, "before": Operations(**one["before"]), "after": Operations(**one["after"])})
            for one in found["reports"]
        )
        first, derived = Operations(**found["first"]), Operations(**found["derived"])
        proof = WholeProof(**found["proof"])
        return cls(found["key"], text.read(found["graph"]), first, derived, reports, proof)


@dataclass(frozen=True)
class TargetFeatures:
    """What the code of a kernel can do beyond a list of operations: limbs in the lanes of vectors, loops that solve."""

    side_by_side: bool = False
    solving_loops: bool = False


#: Code that is a list of operations and nothing else.
NO_FEATURES = TargetFeatures()


@dataclass(frozen=True)
class Chosen:
    """The graph that is estimated to run fastest, with what comes after it.

    Where limbs are computed side by side, `numbers` are the values of the symbols in which they differ and `exchange`
    leads from the symbols of each limb to those of the next (see `derive.tree.limbs`); of the segments of a loop also
    nodes, by their ids in the graph. `for_batches` is a graph of the same values, proved as well, that runs faster
    where the lanes are states.
    """

    key: str
    graph: Graph
    proof: WholeProof
    choice: KernelChoice
    tail: BackSubstitution | None = None
    numbers: Mapping[str, Fraction] = field(default_factory=dict)
    exchange: tuple[tuple[Exchanged, Exchanged], ...] = ()
    for_batches: Graph | None = None

    def __str__(self) -> str:
        limbs = "; limbs side by side" if self.exchange else ""
        return f"chosen: {len(self.graph)} nodes, {count(self.graph)}; {self.choice}{limbs}; {self.proof}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def dump(self) -> str:
        """The record as text that `read` reads back."""
        tail = self.tail
        return json.dumps(
            {
                "key": self.key,
                "graph": text.dump(self.graph),
                "proof": asdict(self.proof),
                "choice": asdict(self.choice),
                "tail": tail and [tail.size, tail.order, tail.lower, tail.solved],
                "numbers": {name: _hexadecimal(value) for name, value in self.numbers.items()},
                "exchange": [[_written(one) for one in pair] for pair in self.exchange],
                "for_batches": None if self.for_batches is None else text.dump(self.for_batches),
            }
        )

    @classmethod
    def read(cls, dumped: str) -> Chosen:
        """What dump wrote; the graph must obey the law."""
        found = json.loads(dumped)
        return cls(
            found["key"],
            text.read(found["graph"]),
            WholeProof(**found["proof"]),
            KernelChoice(**found["choice"]),
            _tail(found["tail"]),
            {name: Fraction(*(int(part, 16) for part in value)) for name, value in found["numbers"].items()},
            tuple((_exchanged(one), _exchanged(other)) for one, other in found["exchange"]),
            None if found["for_batches"] is None else text.read(found["for_batches"]),
        )


# The records of a request on disk.


def derived_on_disk(request: Request, cache: bool = True) -> CachedRecord[Derived]:
    """The derived equations of a request."""
    return CachedRecord(request.stored_as("derived"), Derived.read, Derived.dump, cache)


def reduced_on_disk(request: Request, cache: bool = True) -> CachedRecord[Reduced]:
    """The reduced equations of a request."""
    return CachedRecord(request.stored_as("reduced"), Reduced.read, Reduced.dump, cache)


def chosen_on_disk(request: Request, features: TargetFeatures, cache: bool = True) -> CachedRecord[Chosen]:
    """The graph chosen for a request: it depends on the features, and on this processor."""
    return CachedRecord(request.stored_as("chosen", features, host().fused), Chosen.read, Chosen.dump, cache)


# A plan as JSON.

#: Fields of a plan that are enumerations, and fields that are sets of pairs: a link and an enumeration.
_ENUMERATIONS: dict[str, type[Enum]] = {"inertia": InertiaMethod, "forward": ForwardMethod, "unknowns": LoadMethod}
_LINK_CHOICES: dict[str, type[Enum]] = {
    "origin_shifts": OriginShift,
    "propagated": CrossAxis,
    "axial_moments": AxialMoment,
}


#: A field of a plan as JSON has it: a switch, a number, a word, links, or links with a choice each.
_WrittenChoice: TypeAlias = "bool | int | str | list[int] | list[tuple[int, str]] | None"


def _written_plan(plan: Plan) -> dict[str, object]:
    return {one.name: _written_choice(getattr(plan, one.name)) for one in fields(plan)}


def _written_choice(value: object) -> object:
    """Sets as sorted lists, so that equal plans are equal texts."""
    if isinstance(value, frozenset):
        return sorted([one[0], one[1].value] if isinstance(one, tuple) else one for one in value)
    return value.value if isinstance(value, Enum) else value


def _plan(found: Mapping[str, _WrittenChoice]) -> Plan:
    make: Callable[..., Plan] = Plan
    return make(**{name: _choice(name, value) for name, value in found.items()})


def _choice(name: str, value: _WrittenChoice) -> object:
    if name in _LINK_CHOICES:
        return frozenset((link, _LINK_CHOICES[name](one)) for link, one in cast("list[tuple[int, str]]", value))
    if name in _ENUMERATIONS:
        return _ENUMERATIONS[name](value)
    return frozenset[object](value) if isinstance(value, list) else value


# What belongs to a chosen graph as JSON.


def _hexadecimal(value: Fraction) -> tuple[str, str]:
    """Python refuses to read the longest numbers in base ten."""
    return f"{value.numerator:x}", f"{value.denominator:x}"


def _written(one: Exchanged) -> int | tuple[str, str]:
    return one if isinstance(one, int) else (one.kind.value, one.name)


def _exchanged(found: int | list[str]) -> Exchanged:
    """A node by its id, or a symbol."""
    if isinstance(found, int):
        return found
    kind, name = found
    return Symbol(Kind(kind), name)


def _tail(found: tuple[int, list[int], list[tuple[int, int]], list[bool]] | None) -> BackSubstitution | None:
    if not found:
        return None
    size, order, lower, solved = found
    return BackSubstitution(size, tuple(order), tuple((i, j) for i, j in lower), tuple(solved))
