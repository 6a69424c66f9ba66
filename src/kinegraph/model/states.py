"""What the vectors of a mechanism hold, entry by entry: q, v, a, tau, p, u, and the state that a run integrates.

Every part of the program that needs the order of a vector takes it from here. The number of velocities is not the
number of degrees of freedom: constraints, whose forces are the multipliers, take some of them away.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

_FORCE, _MOMENTUM = "tau:", "p:"


class Segment(NamedTuple):
    """Where a part of a vector begins and ends."""

    start: int
    stop: int

    @property
    def slice(self) -> slice:
        """The part as an index of arrays."""
        return slice(self.start, self.stop)


@dataclass(frozen=True)
class StateLayout:
    """The names of all entries, in their order.

    positions: q. velocities: v, which is q' for an ordinary coordinate and the angular velocity for a quaternion.
    inputs: u. quaternions: where in q the four components of each begin.
    multipliers: one for every row of the constraints. integrals: of quasi-velocities. balances: where energy went.
    """

    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    quaternions: tuple[int, ...] = ()
    multipliers: tuple[str, ...] = ()
    integrals: tuple[str, ...] = ()
    balances: tuple[str, ...] = ()

    @cached_property
    def accelerations(self) -> tuple[str, ...]:
        """a, the time derivatives of v."""
        return tuple(name + "'" for name in self.velocities)

    @cached_property
    def forces(self) -> tuple[str, ...]:
        """tau, the generalized force that works on each velocity: `tau:q1` works on q1'."""
        return tuple(force_on(name) for name in self.velocities)

    @cached_property
    def momenta(self) -> tuple[str, ...]:
        """p, one momentum for every entry of q: `p:q1`."""
        return tuple(momentum_of(name) for name in self.positions)

    @cached_property
    def state(self) -> tuple[str, ...]:
        """y, what a run integrates: positions, velocities, integrals, balances of energy."""
        return (*self.positions, *self.velocities, *self.integrals, *self.balances)

    @property
    def position_part(self) -> Segment:
        """Where q stands in y."""
        return Segment(0, len(self.positions))

    @property
    def velocity_part(self) -> Segment:
        """Where v stands in y."""
        return self._after(self.position_part, self.velocities)

    @property
    def integral_part(self) -> Segment:
        """Where the integrals stand in y."""
        return self._after(self.velocity_part, self.integrals)

    @staticmethod
    def _after(part: Segment, names: tuple[str, ...]) -> Segment:
        return Segment(part.stop, part.stop + len(names))

    def force(self, called: str) -> str | None:
        """The entry of tau that a user calls `q1` or `tau:q1`; None if there is none."""
        name = force_on(called.removeprefix(_FORCE))
        return name if name in self.forces else None


def force_on(velocity: str) -> str:
    """The entry of tau that works on a velocity: `tau:q1` for `q1'` (or its coordinate `q1`)."""
    return _FORCE + velocity.removesuffix("'")


def is_force(name: str) -> bool:
    """Whether a name is an entry of tau."""
    return name.startswith(_FORCE)


def momentum_of(velocity: str) -> str:
    """The momentum that belongs to a velocity or its coordinate: `p:q1` for `q1'` and for `q1`."""
    return _MOMENTUM + velocity.removesuffix("'")


def is_momentum(name: str) -> bool:
    """Whether a name is that of a momentum."""
    return name.startswith(_MOMENTUM)


def moved_by(force: str) -> str:
    """The coordinate or quasi-velocity an entry of tau works on: `q1` of `tau:q1`."""
    return force.removeprefix(_FORCE)
