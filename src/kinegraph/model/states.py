"""The layout of the vectors of a mechanism: q, v, z, a, tau, p, u, and the state that a simulation integrates.

The order of all vectors is defined here. The number of velocities is not the number of degrees of freedom:
constraints remove some of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

_FORCE, _MOMENTUM = "tau:", "p:"


class Segment(NamedTuple):
    """The start and stop index of a part of a vector."""

    start: int
    stop: int

    @property
    def slice(self) -> slice:
        """The part as a slice."""
        return slice(self.start, self.stop)


@dataclass(frozen=True)
class StateLayout:
    """The names of all entries, in their order.

    positions: q. velocities: v, which is q' for an ordinary coordinate and the angular velocity for a quaternion.
    inputs: u, the free inputs of the model, then its unknowns. quaternions: where in q the four components of each
    begin. states: z, of first-order equations. multipliers: one for each constraint row. integrals: of
    quasi-velocities. balances: dissipated and supplied energy.
    """

    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    quaternions: tuple[int, ...] = ()
    multipliers: tuple[str, ...] = ()
    integrals: tuple[str, ...] = ()
    balances: tuple[str, ...] = ()
    states: tuple[str, ...] = ()

    @cached_property
    def accelerations(self) -> tuple[str, ...]:
        """a, the time derivatives of v."""
        return tuple(name + "'" for name in self.velocities)

    @cached_property
    def initial(self) -> tuple[str, ...]:
        """The variables with initial values: q, v and z."""
        return (*self.positions, *self.velocities, *self.states)

    @cached_property
    def forces(self) -> tuple[str, ...]:
        """tau, the generalized force of each velocity: `tau:q1` belongs to q1'."""
        return tuple(force_on(name) for name in self.velocities)

    @cached_property
    def momenta(self) -> tuple[str, ...]:
        """p, one momentum for each entry of q: `p:q1`."""
        return tuple(momentum_of(name) for name in self.positions)

    @cached_property
    def state(self) -> tuple[str, ...]:
        """y, the state that a simulation integrates: positions, velocities, first-order states, integrals, balances."""
        return (*self.positions, *self.velocities, *self.states, *self.integrals, *self.balances)

    @property
    def position_part(self) -> Segment:
        """The segment of q in y."""
        return Segment(0, len(self.positions))

    @property
    def velocity_part(self) -> Segment:
        """The segment of v in y."""
        return self._after(self.position_part, self.velocities)

    @property
    def state_part(self) -> Segment:
        """The segment of the first-order states z in y."""
        return self._after(self.velocity_part, self.states)

    @property
    def integral_part(self) -> Segment:
        """The segment of the integrals in y."""
        return self._after(self.state_part, self.integrals)

    @staticmethod
    def _after(part: Segment, names: tuple[str, ...]) -> Segment:
        return Segment(part.stop, part.stop + len(names))

    def force(self, called: str) -> str | None:
        """The entry of tau named `q1` or `tau:q1`; None if it does not exist."""
        name = force_on(called.removeprefix(_FORCE))
        return name if name in self.forces else None


def force_on(velocity: str) -> str:
    """The entry of tau that belongs to a velocity: `tau:q1` for `q1'` (or its coordinate `q1`)."""
    return _FORCE + velocity.removesuffix("'")


def is_force(name: str) -> bool:
    """Whether a name is an entry of tau."""
    return name.startswith(_FORCE)


def momentum_of(velocity: str) -> str:
    """The momentum that belongs to a velocity or its coordinate: `p:q1` for `q1'` and for `q1`."""
    return _MOMENTUM + velocity.removesuffix("'")


def is_momentum(name: str) -> bool:
    """Whether a name is an entry of p."""
    return name.startswith(_MOMENTUM)


def moved_by(force: str) -> str:
    """The coordinate or quasi-velocity that an entry of tau belongs to: `q1` of `tau:q1`."""
    return force.removeprefix(_FORCE)
