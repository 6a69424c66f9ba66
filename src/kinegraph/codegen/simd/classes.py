"""The nodes that are one value of several lanes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kinegraph.codegen.program.binding import Bound
from kinegraph.codegen.simd.orbits import Exchanged, Signed, exchanged_nodes, orbits, without_sign
from kinegraph.graph.node import Symbol, children


class LaneOfClass(NamedTuple):
    """A node is sign times this lane of the value whose formula is that of `first`."""

    first: int
    lane: int
    sign: int


class Classes:
    """The nodes that are computed side by side."""

    def __init__(self, binding: Bound, exchange: Mapping[Exchanged, Exchanged]) -> None:
        self.binding = binding
        self.graph = binding.graph
        self.orbits = orbits(binding.graph, exchange)
        #: Nodes with formulas of their own: single numbers, joined where they are used.
        self.single = frozenset(exchanged_nodes(binding.graph.nodes, exchange))
        #: The lanes of every value of several, by the node that is its first.
        self.lanes: dict[int, tuple[Signed, ...]] = {}
        self.places: dict[int, LaneOfClass] = {}
        for index in range(len(self.graph)):
            if index in self.orbits and index not in binding.statics and index not in self.places:
                self._add(index)

    def _add(self, index: int) -> None:
        orbit = self.orbits[index][:-1]
        node = self.graph.nodes[index]
        if len(orbit) == 1 or isinstance(node, Symbol) or index in self.single:
            return  # what arrives as single numbers is joined where it is used
        first = max((one.node for one in orbit), key=self._aligned)
        self.lanes[first] = self.orbits[first][:-1]
        for lane, one in enumerate(self.lanes[first]):
            self.places[one.node] = LaneOfClass(first, lane, one.sign)

    def _aligned(self, index: int) -> tuple[int, int]:
        """How many operands are first lanes themselves; then they need not be moved from lane to lane."""
        count = sum(self.places[child].lane == 0 for child in children(self.graph.nodes[index]) if child in self.places)
        return count, -index

    def width(self, index: int) -> int:
        """How many lanes the value has that a node is computed in."""
        return len(self.members(self.first(index)))

    def lanes_of(self, index: int, width: int) -> list[int]:
        """The nodes that a value of so many lanes is made of, where one of its operands is this node in the first."""
        if width == 1 or index not in self.orbits:
            return [index]
        return list(dict.fromkeys(self.exchanged(index, lane).node for lane in range(width)))

    def members(self, first: int) -> tuple[Signed, ...]:
        """What the lanes of a value are."""
        return self.lanes.get(first, (Signed(1, first),))

    def first(self, index: int) -> int:
        """The node whose formula computes this one."""
        place = self.places.get(index)
        return place.first if place else index

    def without_sign(self, index: int) -> Signed:
        """A node without the signs in front of it."""
        return without_sign(self.graph.nodes, index)

    def exchanged(self, index: int, times: int) -> Signed:
        """What a node becomes by so many exchanges."""
        *orbit, again = self.orbits[index]
        rounds, rest = divmod(times, len(orbit))
        return Signed(orbit[rest].sign * again.sign**rounds, orbit[rest].node)
