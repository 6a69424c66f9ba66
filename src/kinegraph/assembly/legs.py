"""Platforms are assembled from their ring: it stays, and the legs reach it by their closed forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinegraph.derive.constraints.conditions import Floats
from kinegraph.errors import AssemblyError, ModelError
from kinegraph.model.evaluate import Value
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognise import FoundLeg, legs_of
from kinegraph.model.platforms.start import leg_start


@dataclass(frozen=True)
class ReachingLegs:
    """The legs of a mechanism whose loops are all those of legs; none in any other mechanism."""

    mechanism: Mechanism

    @cached_property
    def legs(self) -> tuple[FoundLeg, ...]:
        """The legs, if there are no other loops."""
        found = legs_of(self.mechanism)
        return found if len(found) == len(self.mechanism.loops) and not self.mechanism.constraints else ()

    def follow(self, held: Sequence[str]) -> bool:
        """Whether the legs follow the ring: there are some, and none is held."""
        return bool(self.legs) and not self._names & {name.removesuffix("'") for name in held}

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(name for leg in legs_of(self.mechanism) for name in leg.coordinates)

    def without(self, names: Sequence[str]) -> tuple[str, ...]:
        """These names without those of legs, whose initial values follow from the ring's."""
        return tuple(name for name in names if name.removesuffix("'") not in self._names)

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The positions and velocities that are not of legs."""
        layout = self.mechanism.layout
        names = (*layout.positions, *layout.velocities)
        return tuple(name for name in names if name.removesuffix("'") not in self._names)

    def reaching(self, q: Floats, t: float, values: Mapping[str, Value]) -> Floats:
        """Positions with legs that reach the ring; an error names one that does not."""
        positions = self.mechanism.layout.positions
        at: dict[str, Value] = {**values, "t": t, **dict(zip(positions, map(float, q), strict=True))}
        try:
            found = {name: x for leg in self.legs for name, x in leg_start(self.mechanism, leg, at).items()}
        except ModelError as error:
            raise AssemblyError(f"{self.mechanism.name} cannot be assembled: {error}") from None
        return np.array([found.get(name, float(at[name])) for name in positions], dtype=float)
