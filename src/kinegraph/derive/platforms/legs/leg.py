"""What a leg is to the ring: an inertia and a load at its joint there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from kinegraph.derive.platforms.legs.constants import LegNumbers
from kinegraph.derive.platforms.ring import FreeMotion
from kinegraph.derive.tree.algebra import Matrix, Symmetric, Vector, cross, minus, plus, times
from kinegraph.derive.tree.inertia import MassMoments
from kinegraph.graph.scalar import Scalar


@dataclass(frozen=True)
class Forces:
    """Generalized forces on the coordinates of a leg; the twist's is nothing where there is none."""

    drive: Scalar
    alpha: Scalar
    beta: Scalar
    twist: Scalar | None = None

    @property
    def on_angles(self) -> bool:
        """Whether something acts on more than the drive."""
        return any(item is not None and not item.is_zero for item in (self.alpha, self.beta, self.twist))


@dataclass(frozen=True)
class Turn:
    """An angle by its sine and cosine."""

    sine: Scalar
    cosine: Scalar

    @property
    def angle(self) -> Scalar:
        """The angle from -pi to pi."""
        return self.sine.apply("atan2", self.cosine)

    def near(self, coordinate: Scalar) -> Scalar:
        """The angle that differs from a coordinate by less than half a turn: springs and stops count whole turns."""
        sine, cosine = coordinate.sin(), coordinate.cos()
        ahead = self.sine * cosine - self.cosine * sine
        return coordinate + ahead.apply("atan2", self.cosine * cosine + self.sine * sine)


@dataclass(frozen=True)
class LegInertia:
    """The inertia of a leg at its joint on the ring, in ring axes; `spin` where the ring makes the leg turn."""

    at_joint: Symmetric
    spin: SpinInertia | None = None


@dataclass(frozen=True)
class SpinInertia:
    """The spin that the ring causes: how it is coupled with the joint's velocity, its own inertia, and what of the
    ring's angular velocity it is."""

    coupling: Vector
    itself: Scalar
    reach: Vector


@dataclass(frozen=True)
class Load:
    """What the ring does to a leg at its joint, in ring axes, for the leg to move so; without the leg's mass that is
    counted with the ring."""

    force: Vector
    moment: Vector | None = None


@dataclass(frozen=True)
class JointMotion:
    """The motion of the joint on the ring, in ring axes.

    `place` and `velocity` are seen from the joint on the base, `velocity` by an observer who does not turn;
    `base_spin` is the angular velocity of the base, nothing if it does not turn. `ahead` is the place along the base's
    axis.
    """

    place: Vector
    velocity: Vector
    base_axis: Vector
    ahead: Scalar
    base_spin: Vector | None = None


@dataclass(frozen=True)
class Acceleration:
    """Accelerations a leg is computed for: of its joint on the ring against that on the base, of the rotations of both.

    `fall` is gravity less the acceleration of its joint on the base. Rotations left out do not change.
    """

    seen: Vector
    fall: Vector
    ring: Vector | None = None
    base: Vector | None = None

    @property
    def joint(self) -> Vector:
        """Of the joint on the ring less gravity."""
        return minus(self.seen, self.fall)


@dataclass(frozen=True)
class Momenta:
    """Momentum, and moment of momentum about the joint on the ring, of a leg on a base at rest, in ring axes.

    Both are matrices, to be multiplied by the velocity of the joint on the ring; `spin` where the ring makes the leg
    turn as well.
    """

    linear: Matrix
    angular: Matrix
    spin: SpinMomentum | None = None


@dataclass(frozen=True)
class SpinMomentum:
    """The same by the spin that the ring causes, which is `reach` times the ring's angular velocity."""

    linear: Vector
    angular: Vector
    reach: Vector


class Leg(ABC):
    """One leg at one state. What it takes as `forces` are those on its coordinates beside inertia and gravity."""

    def __init__(self, numbers: LegNumbers, ring: FreeMotion, joint: JointMotion) -> None:
        self.numbers = numbers
        self.ring = ring
        self.joint = joint

    @abstractmethod
    def inertia(self) -> LegInertia:
        """Its inertia at the joint on the ring."""

    @abstractmethod
    def load(self, acceleration: Acceleration, forces: Forces) -> Load:
        """What it takes to move it so."""

    @abstractmethod
    def effort(self) -> Vector:
        """The load that a unit effort of its drive takes away, a force in ring axes."""

    @property
    @abstractmethod
    def base_mass(self) -> Scalar:
        """The mass counted as a point at its joint on the base."""

    @abstractmethod
    def moments(self) -> MassMoments:
        """Its mass distribution about its joint on the ring, in ring axes, without the points at its ends."""

    @abstractmethod
    def momenta(self) -> Momenta:
        """What momentum it has by its motion relative to the base, without the points at its ends."""

    @abstractmethod
    def momentum_rate(self, acceleration: Acceleration) -> tuple[Vector, Vector]:
        """The force, and moment about its joint on the ring, that its motion takes, without the points at its ends."""

    def on_base(self, acceleration: Acceleration, load: Load) -> tuple[Vector, Vector]:
        """Force and moment, about its joint there, that it exerts on the base, in ring axes."""
        taken, about = self.momentum_rate(acceleration)
        rest = minus(load.force, taken)
        moment = minus(cross(self.joint.place, rest), about)
        force = plus(rest, times(self.base_mass, acceleration.fall))
        return force, moment if load.moment is None else plus(moment, load.moment)

    @abstractmethod
    def turns(self, base: tuple[Vector, Vector, Vector]) -> tuple[Turn | None, ...]:
        """Sine and cosine of its coordinates, the driven one first, nothing for a length; `base` are the axes of its
        frame on the base in ring axes."""

    @abstractmethod
    def lengths(self) -> tuple[Scalar, ...]:
        """Which of its coordinates are lengths: the one that a drive moves."""

    def positions(self, base: tuple[Vector, Vector, Vector]) -> tuple[Scalar, ...]:
        """Its coordinates, the driven one first."""
        turns = [turn for turn in self.turns(base) if turn is not None]
        return (*self.lengths(), *(turn.angle for turn in turns))

    @abstractmethod
    def rates(self) -> tuple[Scalar, ...]:
        """The rates of its coordinates."""

    @abstractmethod
    def accelerations(self, acceleration: Acceleration) -> tuple[Scalar, ...]:
        """The second derivatives of its coordinates."""

    @abstractmethod
    def pivots(self) -> tuple[Scalar, ...]:
        """How far it is from a singular position, 1 to 0."""
