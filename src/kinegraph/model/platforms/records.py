"""The rows of a leg table: what a leg is before it becomes bodies, coordinates and a loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from kinegraph.errors import ModelError
from kinegraph.model.elements import DEFAULT_WIDTH
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import ONE, ZERO, Inertia, Transform


class LegType(Enum):
    """The joints of a leg from the base to the ring: universal, prismatic, spherical, cylindrical, revolute.

    The first three change their length (Gough-Stewart); the last two have a crank and a rod (Hunt).
    """

    UPS = "UPS"
    SPU = "SPU"
    UCU = "UCU"
    RUS = "RUS"
    RSU = "RSU"

    @property
    def has_crank(self) -> bool:
        """A crank turned by its drive, and a rod; else two parts that slide along each other."""
        return self in (LegType.RUS, LegType.RSU)

    @property
    def universal_at_ring(self) -> bool:
        """Whether the joint at the ring is universal; else it is spherical."""
        return self in (LegType.SPU, LegType.UCU, LegType.RSU)

    @property
    def parts(self) -> tuple[str, str]:
        """What its two bodies are called."""
        return ("crank", "rod") if self.has_crank else ("lower", "upper")

    @property
    def drive(self) -> str:
        """What its driven coordinate is called."""
        return "theta" if self.has_crank else "l"

    @property
    def passive(self) -> tuple[str, ...]:
        """What its other coordinates are called."""
        twist = {LegType.SPU: ("gamma",), LegType.UCU: ("phi",), LegType.RSU: ("gamma",)}
        return ("alpha", "beta", *twist.get(self, ()))


def leg_type(word: str) -> LegType:
    """The type of this name; UUU, which the legs of a platform cannot be, has a message of its own."""
    if word in LegType.__members__:
        return LegType[word]
    known = ", ".join(LegType.__members__)
    if word == "UUU":
        message = "a leg UUU has no closed form, and six of them leave the ring no six degrees of freedom in general"
        raise ModelError(message, remedy=f"write its bodies and loops out, or choose one of {known}")
    raise ModelError(f"{word} is no type of leg", remedy=f"known are {known}")


@dataclass(frozen=True, slots=True)
class Screw:
    """A ball screw between motor and leg: `lead` metres a turn, `inertia` of what turns.

    `efficiency` is the part of the power that arrives when the motor drives the leg, `back_driving` when the leg
    drives the motor.
    """

    lead: Expression
    inertia: Expression = ZERO
    efficiency: Expression = ONE
    back_driving: Expression = ONE


@dataclass(frozen=True, slots=True)
class Drive:
    """What acts in a leg's driven joint; everything left out is absent.

    `damping` and `stiffness` (about `rest`) act on the joint; `coulomb` is dry friction, smoothed over rates of the
    size of `width`. `powered`: there is an input of the leg's own, a force or torque, or with a screw the torque of its
    motor. `effort` is the same by a formula, in which `l` (of a crank `theta`) is the leg's own coordinate and `l'` its
    rate. Both together are cut off at `limit`. `stop` is the stiffness of the ends of the stroke, from `shortest` to
    `longest`.
    """

    damping: Expression = ZERO
    stiffness: Expression = ZERO
    rest: Expression = ZERO
    coulomb: Expression = ZERO
    width: Expression = DEFAULT_WIDTH
    powered: bool = False
    effort: Expression = ZERO
    limit: Expression | None = None
    screw: Screw | None = None
    shortest: Expression | None = None
    longest: Expression | None = None
    stop: Expression = ZERO


@dataclass(frozen=True, slots=True)
class LegKind:
    """What the legs of one table share: type, ring, the inertia of both parts, lengths of crank and rod, the drive."""

    type: LegType
    ring: str
    first: Inertia = field(default_factory=Inertia)
    second: Inertia = field(default_factory=Inertia)
    lengths: tuple[Expression, ...] = ()
    drive: Drive = field(default_factory=Drive)


@dataclass(frozen=True, slots=True)
class LegRow:
    """One leg: the frame of its joint on the base (a body, or the fixed frame), and of its joint on the ring.

    Of legs that slide, the first universal joint turns about x of the base's frame; of legs with a crank, the drive
    turns about z. A universal joint at the ring turns about y of the ring's frame.
    """

    name: str
    at_base: tuple[Transform, ...]
    at_ring: tuple[Transform, ...]
    base: str | None = None
