"""Data of robot files beyond rigid bodies: joint limits, friction, springs, armature, shapes; and a report of
unused data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf

from kinegraph.errors import ModelError
from kinegraph.model.elements import Damper, Element, Friction, Limit, Target
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expressions import Expression, Name, names, text
from kinegraph.model.mechanism import ZERO, Coordinate, Mechanism, QuaternionCoordinates, Transform
from kinegraph.model.names import did_you_mean
from kinegraph.model.report import Finding, FindingKind, Report

# The equations of motion do not use these records; elements, solvers and the viewer do. The `displacement` of a joint
# is one expression (an angle or distance; of a coupled joint, in terms of the other joint's coordinate), three lengths
# along x, y, z, or the four names of a quaternion.


@dataclass(frozen=True, slots=True)
class JointLimits:
    """Limits of a joint: position, velocity, and effort of its drive. None: no limit.

    For a quaternion, `upper` limits the rotation angle.
    """

    joint: str
    displacement: tuple[Expression, ...]
    lower: Expression | None = None
    upper: Expression | None = None
    velocity: Expression | None = None
    effort: Expression | None = None


@dataclass(frozen=True, slots=True)
class JointFriction:
    """The force against the motion: `damping` times the rate, plus dry friction of constant magnitude.

    `higher` contains the coefficients of rate |rate|, rate^3, rate^3 |rate| and so on.
    """

    joint: str
    displacement: tuple[Expression, ...]
    damping: Expression = ZERO
    dry: Expression = ZERO
    higher: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class JointSpring:
    """The force -(stiffness x + higher[0] x^2 + higher[1] x^3 ...), where x is the displacement from `rest`.

    `rest` has as many entries as the displacement. For three lengths, x is the distance. For a quaternion, x is the
    rotation angle from the orientation `rest`; the moment acts along the shortest rotation back.
    """

    joint: str
    displacement: tuple[Expression, ...]
    stiffness: Expression
    rest: tuple[Expression, ...]
    higher: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class JointArmature:
    """Inertia of a joint coordinate, such as a geared rotor; it adds to the diagonal of the mass matrix."""

    joint: str
    displacement: tuple[Expression, ...]
    inertia: Expression


class FileJointKind(Enum):
    """The kinds of joints of robot files that have coordinates."""

    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    BALL = "ball"
    FREE = "free"
    PLANAR = "planar"


@dataclass(frozen=True, slots=True)
class FileJoint:
    """A joint of a robot file that has coordinates of its own, under its name in the file.

    file, mujoco, pinocchio: its place in the file, and in the order of these programs when they read the same file.
    """

    name: str
    kind: FileJointKind
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    file: int
    mujoco: int
    pinocchio: int


def file_joint(
    name: str,
    kind: FileJointKind,
    coordinates: tuple[Coordinate | QuaternionCoordinates, ...],
    places: tuple[int, int, int],
) -> FileJoint:
    """A joint with these coordinates; places: in the file, in MuJoCo, in Pinocchio."""
    positions = [one for c in coordinates for one in ((c.name,) if isinstance(c, Coordinate) else c.names)]
    velocities = [one for c in coordinates for one in ((c.name + "'",) if isinstance(c, Coordinate) else c.velocities)]
    return FileJoint(name, kind, tuple(positions), tuple(velocities), *places)


class ShapeKind(Enum):
    """The kinds of shapes; the comments give their sizes."""

    BOX = "box"  # (full lengths along x, y, z)
    SPHERE = "sphere"  # (radius)
    CYLINDER = "cylinder"  # (radius, length along z)
    CAPSULE = "capsule"  # (radius, length along z between the centers of its ends)
    ELLIPSOID = "ellipsoid"  # (half axes)
    PLANE = "plane"  # (half lengths along x and y, zero for infinite)
    MESH = "mesh"  # (scale along x, y, z)


#: The kinds that are fully described by their sizes, with the names of the sizes.
FORMS: dict[ShapeKind, tuple[str, ...]] = {
    ShapeKind.BOX: ("x", "y", "z"),
    ShapeKind.SPHERE: ("radius",),
    ShapeKind.CYLINDER: ("radius", "length"),
    ShapeKind.CAPSULE: ("radius", "length"),
    ShapeKind.ELLIPSOID: ("a", "b", "c"),
}


class ShapeRole(Enum):
    """The use of a shape."""

    VISUAL = "visual"
    COLLISION = "collision"
    BOTH = "visual and collision"


@dataclass(frozen=True, slots=True)
class ShapeContact:
    """How a file lets a shape touch others: `kinegraph.simulate.contacts` uses it.

    friction: coefficient of sliding, radius of spin and of rolling (m). dimension: 1 without friction, 3 sliding,
    4 with spin, 6 with rolling. groups, touches: bits; two shapes may touch if a group of one is touched by the other.
    priority: the shape with the higher one decides alone; else the larger values count.
    """

    name: str = ""
    friction: tuple[float, float, float] = (1.0, 0.005, 0.0001)
    dimension: int = 3
    groups: int = 1
    touches: int = 1
    priority: int = 0


@dataclass(frozen=True, slots=True)
class ContactPair:
    """A pair of shapes that a file lets touch whatever their groups, by name; None: as the shapes say."""

    first: str
    second: str
    friction: tuple[float, float, float] | None = None
    dimension: int | None = None


@dataclass(frozen=True, slots=True)
class ContactRules:
    """What a file says on contacts of all its shapes.

    enabled: False if the file switches contacts off. parents: a body touches the one that carries it, too.
    excluded: pairs of bodies (None: the fixed frame) that never touch. pairs: pairs of shapes that may.
    """

    enabled: bool = True
    parents: bool = False
    excluded: tuple[tuple[str | None, str | None], ...] = ()
    pairs: tuple[ContactPair, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape on a body (the fixed frame if body is None), placed by transforms from the body's frame.

    `reference` is the mesh name in the file, `file` is its path. The color is red, green, blue, opacity. `contact` is
    None if the file does not say how it touches.
    """

    kind: ShapeKind
    body: str | None
    sizes: tuple[Expression, ...]
    place: tuple[Transform, ...] = ()
    role: ShapeRole = ShapeRole.BOTH
    reference: str = ""
    file: str | None = None
    color: tuple[float, float, float, float] | None = None
    contact: ShapeContact | None = None


@dataclass(frozen=True, slots=True)
class PassiveElement:
    """A passive force of a robot file as an element, such as gravity compensation; `owner` is the body it acts on."""

    owner: str
    topic: str
    element: Element


@dataclass(frozen=True, slots=True)
class ActuatorData:
    """An actuator of a robot file: its name there, its inputs, and the range of each input (None: no range).

    state: the first-order state that is its activation; empty if it has none.
    """

    actuator: str
    inputs: tuple[str, ...]
    ranges: tuple[tuple[Expression, Expression] | None, ...]
    state: str = ""


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A named state of a robot file: positions, velocities and first-order states by name, and values of inputs."""

    name: str
    state: tuple[tuple[str, Expression], ...]
    inputs: tuple[tuple[str, Expression], ...] = ()


JointData = JointLimits | JointFriction | JointSpring | JointArmature
Extra = JointData | Shape | PassiveElement | ActuatorData | Keyframe | ContactRules


def described(extra: Extra) -> str:
    """One line that describes a record; printable, so that it can be written as a comment."""
    if isinstance(extra, Shape):
        named = f" {extra.reference}" if extra.reference else ""
        words = f"{extra.role.value} {extra.kind.value}{named} on {extra.body or 'the fixed frame'}"
        return _printable(f"{words}, size {_listed(extra.sizes)}")
    if isinstance(extra, PassiveElement):
        return _printable(f"{extra.topic}: {extra.owner}")
    if isinstance(extra, ContactRules):
        return _printable(
            f"contacts: {len(extra.pairs)} pairs of shapes, {len(extra.excluded)} pairs of bodies excluded"
        )
    if isinstance(extra, ActuatorData):
        return _printable(f"actuator: {extra.actuator}, inputs {', '.join(extra.inputs)}")
    if isinstance(extra, Keyframe):
        values = (f"{name} = {text(value)}" for name, value in (*extra.state, *extra.inputs))
        return _printable(f"keyframe: {extra.name}, {', '.join(values)}")
    facts = [f"joint {extra.joint}", f"displacement {_listed(extra.displacement)}"]
    for name in type(extra).__slots__[2:]:
        value = getattr(extra, name)
        if isinstance(value, tuple):
            facts += [f"{name} {_listed(value)}"] if any(item != ZERO for item in value) else []
        elif value is not None and (value != ZERO or isinstance(extra, JointLimits)):
            facts.append(f"{name} {text(value)}")
    return _printable(f"{_WORDS[type(extra)]}: {', '.join(facts)}")


_WORDS = {JointLimits: "limits", JointFriction: "friction", JointSpring: "spring", JointArmature: "armature"}


def _listed(expressions: tuple[Expression, ...]) -> str:
    return ", ".join(text(item) for item in expressions)


def _printable(line: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in line)


def coordinate_limits(mechanism: Mechanism, values: Mapping[str, Value]) -> dict[str, tuple[float, float]]:
    """The limits of single coordinates, infinite on a side without a limit; `values` are those of the parameters.

    A joint that follows another (`2*q + 0.1`) limits the coordinate it follows. Empty ranges are ignored, and so are
    limits of quaternions and free bodies.
    """
    coordinates = set(mechanism.layout.positions)
    found: dict[str, tuple[float, float]] = {}
    for extra in mechanism.extras:
        if isinstance(extra, JointLimits) and len(extra.displacement) == 1:
            own = names(extra.displacement[0]) & coordinates
            if len(own) == 1:
                (name,) = own
                low, high = _of_coordinate(extra, name, values)
                least, most = found.get(name, (-inf, inf))
                if max(low, least) <= min(high, most):
                    found[name] = max(low, least), min(high, most)
    return {name: ends for name, ends in found.items() if ends != (-inf, inf)}


def _of_coordinate(limits: JointLimits, name: str, values: Mapping[str, Value]) -> tuple[float, float]:
    """The limits of a joint in terms of its coordinate; the displacement is linear in it."""
    (displacement,) = limits.displacement
    at_zero, at_one = (float(number(displacement, {**values, name: place})) for place in (0, 1))
    factor = at_one - at_zero
    if not factor:
        return -inf, inf
    ends = [
        (default if end is None else float(number(end, values)) - at_zero) / factor
        for end, default in ((limits.lower, -inf), (limits.upper, inf))
    ]
    return min(ends), max(ends)


_NAMES = 12  # maximum number of joints named in one finding


def full_report(mechanism: Mechanism) -> Report:
    """The report of the reader, with findings on joint data that is not in the equations.

    Such findings that the report already has (as that of `kg.load`) are updated.
    """
    others = (finding for finding in mechanism.report.findings if not is_of_joints(finding))
    return Report((*others, *_unused(mechanism)))


def tells_of_joints(report: Report) -> bool:
    """Whether a report has findings on joint data that is not in the equations."""
    return any(map(is_of_joints, report.findings))


def is_of_joints(finding: Finding) -> bool:
    """Whether a finding is on joint data that is not in the equations; that data is also in `extras`."""
    return finding.kind is FindingKind.LEFT_OUT and finding.place is None and finding.topic in _TOPICS


def _unused(mechanism: Mechanism) -> Iterator[Finding]:
    joints: dict[str, dict[str, None]] = {}
    for extra in mechanism.extras:
        if isinstance(extra, PassiveElement):
            joints.setdefault(extra.topic, {})[extra.owner] = None
        elif isinstance(extra, JointData):
            for topic in _topics(extra, mechanism):
                joints.setdefault(topic, {})[extra.joint] = None
    for topic, named in joints.items():
        listed = ", ".join(list(named)[:_NAMES]) + (", ..." if len(named) > _NAMES else "")
        yield Finding(FindingKind.LEFT_OUT, f"{topic}: {listed}", topic=topic, count=len(named))


_RANGES, _DAMPING, _FRICTION = "joint ranges", "joint damping", "dry friction in joints"
_SPRINGS, _ARMATURE = "joint springs", "armature"
#: Topics of passive elements.
GRAVITY_COMPENSATION, FLUID = "gravity compensation", "fluid forces"
_TOPICS = frozenset({_RANGES, _DAMPING, _FRICTION, _SPRINGS, _ARMATURE, GRAVITY_COMPENSATION, FLUID})


def _topics(extra: JointData, mechanism: Mechanism) -> Iterator[str]:
    match extra:
        case JointLimits(displacement=displacement, lower=lower, upper=upper):
            if (lower is not None or upper is not None) and not _targets(mechanism, Limit) & set(displacement):
                yield _RANGES
        case JointFriction(displacement=displacement, damping=damping, dry=dry):
            rates = set(_rates(displacement, mechanism))
            if damping != ZERO and not rates & _targets(mechanism, Damper, Friction):
                yield _DAMPING
            if dry != ZERO and not rates & _targets(mechanism, Friction):
                yield _FRICTION
        case JointSpring():
            yield _SPRINGS
        case JointArmature():
            yield _ARMATURE


@dataclass(frozen=True, slots=True)
class DryFriction:
    """Dry friction of a joint or tendon: the largest force against the rate of `place`, or `place` as a velocity."""

    joint: str
    place: Expression
    dry: Expression


def dry_friction(mechanism: Mechanism) -> Iterator[DryFriction]:
    """All dry friction that is not in the equations; that of a ball joint acts about each of its axes."""
    elements = _targets(mechanism, Friction)
    for extra in mechanism.extras:
        if isinstance(extra, JointFriction) and extra.dry != ZERO:
            places = (place for place in _rates(extra.displacement, mechanism) if place not in elements)
            yield from (DryFriction(extra.joint, place, extra.dry) for place in places)


def _targets(mechanism: Mechanism, *kinds: type[Damper | Friction | Limit]) -> set[Target]:
    """The targets of all elements of these kinds."""
    return {element.on for element in mechanism.elements if isinstance(element, kinds)}


def _rates(displacement: tuple[Expression, ...], mechanism: Mechanism) -> tuple[Expression, ...]:
    """The targets of friction on a displacement: itself, or the angular velocity of a quaternion."""
    names = tuple(item.text for item in displacement if isinstance(item, Name))
    groups = [one for one in mechanism.coordinates if isinstance(one, QuaternionCoordinates) and one.names == names]
    return tuple(Name(velocity) for group in groups for velocity in group.velocities) or displacement


def named_state(mechanism: Mechanism, name: str) -> dict[str, Expression]:
    """The positions and velocities of a keyframe of a robot file, by name."""
    known = {one.name: one for one in mechanism.extras if isinstance(one, Keyframe)}
    if name not in known:
        remedy = did_you_mean(name, known) or "give values by name, e.g. {'q1': 0.3}: the model has no keyframes"
        raise ModelError(f"unknown keyframe '{name}' of {mechanism.name}", remedy=remedy)
    layout = mechanism.layout
    moving = {*layout.positions, *layout.velocities}  # some may be locked
    return {one: value for one, value in known[name].state if one in moving}


def actuator_inputs(mechanism: Mechanism) -> tuple[str, ...]:
    """The inputs that belong to actuators of a robot file."""
    return tuple(name for one in mechanism.extras if isinstance(one, ActuatorData) for name in one.inputs)
