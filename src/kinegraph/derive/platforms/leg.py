"""What a leg is to the ring: an inertia and a load at its joint there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from kinegraph.derive.platforms.constants import LegNumbers
from kinegraph.derive.platforms.ring import RingMotion
from kinegraph.derive.tree.algebra import Symmetric, Vector
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

    `place` and `velocity` are seen from the joint on the base; `fall` is gravity less the acceleration of that joint.
    """

    place: Vector
    velocity: Vector
    fall: Vector
    base_axis: Vector


@dataclass(frozen=True)
class Acceleration:
    """Accelerations a leg is computed for: of its joint on the ring less gravity, and of the ring's rotation."""

    joint: Vector
    ring: Vector | None = None


class Leg(ABC):
    """One leg at one state. What it takes as `forces` are those on its coordinates beside inertia and gravity."""

    def __init__(self, numbers: LegNumbers, ring: RingMotion, joint: JointMotion) -> None:
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

    @abstractmethod
    def on_base(self, acceleration: Acceleration, load: Load) -> tuple[Vector, Vector]:
        """Force and moment, about its joint there, that it exerts on the base, in ring axes."""

    @abstractmethod
    def turns(self, base: tuple[Vector, Vector, Vector]) -> tuple[Turn | None, ...]:
        """Sine and cosine of its coordinates, the driven one first, nothing for a length; `base` are the axes of its
        frame on the base in ring axes."""

    @abstractmethod
    def lengths(self) -> tuple[Scalar, ...]:
        """Those of its coordinates that are lengths, the driven one."""

    def positions(self, base: tuple[Vector, Vector, Vector]) -> tuple[Scalar, ...]:
        """Its coordinates, the driven one first."""
        turns = [turn for turn in self.turns(base) if turn is not None]
        return (*self.lengths(), *(turn.sine.apply("atan2", turn.cosine) for turn in turns))

    @abstractmethod
    def rates(self) -> tuple[Scalar, ...]:
        """The rates of its coordinates."""

    @abstractmethod
    def accelerations(self, acceleration: Acceleration) -> tuple[Scalar, ...]:
        """The second derivatives of its coordinates."""

    @abstractmethod
    def pivots(self) -> tuple[Scalar, ...]:
        """How far it is from a singular position, 1 to 0."""
