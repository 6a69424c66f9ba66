"""The record of a derivation, and its plan as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import TypeAlias, cast

from kinegraph.derive.choices import AxialMoment, CrossAxis, ForwardMethod, InertiaMethod, OriginShift
from kinegraph.derive.quantities.plan import Plan
from kinegraph.graph import text
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph


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


#: Fields of a plan that are enumerations, and fields that are sets of pairs: a link and an enumeration.
_ENUMERATIONS: dict[str, type[Enum]] = {"inertia": InertiaMethod, "forward": ForwardMethod}
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
