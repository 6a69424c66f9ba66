"""What robot files say beyond rigid-body mechanics: limits, friction, springs, armature, shapes.

The equations of motion do not use these records; they are kept for the elements, the solvers and the viewer. A joint's
`displacement` is one expression (the angle or distance, for a coupled joint in terms of another's coordinate), three
lengths along x, y, z, or the four names of a quaternion.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kinegraph.model.expression import Expression
from kinegraph.model.expression_text import text
from kinegraph.model.mechanism import ZERO, Transform


@dataclass(frozen=True, slots=True)
class JointLimits:
    """How far a joint goes, how fast, and how hard its drive pushes; None: no limit stated.

    For a quaternion `upper` limits the angle of its rotation.
    """

    joint: str
    displacement: tuple[Expression, ...]
    lower: Expression | None = None
    upper: Expression | None = None
    velocity: Expression | None = None
    effort: Expression | None = None


@dataclass(frozen=True, slots=True)
class JointFriction:
    """The force against the motion: `damping` times the rate, and a dry part of constant size.

    `higher` are the coefficients of rate |rate|, rate^3, rate^3 |rate| and so on.
    """

    joint: str
    displacement: tuple[Expression, ...]
    damping: Expression = ZERO
    dry: Expression = ZERO
    higher: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class JointSpring:
    """The force -(stiffness x + higher[0] x^2 + higher[1] x^3 ...) along x, the displacement from `rest`.

    `rest` has as many entries as the displacement. Of three lengths x is the distance, of a quaternion the angle of the
    rotation from the orientation `rest`: the force (or moment) goes back along the shortest way.
    """

    joint: str
    displacement: tuple[Expression, ...]
    stiffness: Expression
    rest: tuple[Expression, ...]
    higher: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class JointArmature:
    """Inertia in a joint's coordinate, as of a rotor behind a gear: it adds to the diagonal of the inertia matrix."""

    joint: str
    displacement: tuple[Expression, ...]
    inertia: Expression


class ShapeKind(Enum):
    """What a shape is; in brackets the meaning of its sizes."""

    BOX = "box"  # (full lengths along x, y, z)
    SPHERE = "sphere"  # (radius)
    CYLINDER = "cylinder"  # (radius, length along z)
    CAPSULE = "capsule"  # (radius, length along z between the centres of its ends)
    ELLIPSOID = "ellipsoid"  # (half axes)
    PLANE = "plane"  # (half lengths along x and y, zero for infinite)
    MESH = "mesh"  # (scale along x, y, z)


#: The kinds that their sizes describe in full, and what the sizes are.
FORMS: dict[ShapeKind, tuple[str, ...]] = {
    ShapeKind.BOX: ("x", "y", "z"),
    ShapeKind.SPHERE: ("radius",),
    ShapeKind.CYLINDER: ("radius", "length"),
    ShapeKind.CAPSULE: ("radius", "length"),
    ShapeKind.ELLIPSOID: ("a", "b", "c"),
}


class ShapeRole(Enum):
    """What a shape is for."""

    VISUAL = "visual"
    COLLISION = "collision"
    BOTH = "visual and collision"


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape on a body (the fixed frame if body is None), placed by transforms from the body's frame.

    `reference` is the mesh as the file names it, `file` where it was found. Colour is red, green, blue, opacity.
    """

    kind: ShapeKind
    body: str | None
    sizes: tuple[Expression, ...]
    place: tuple[Transform, ...] = ()
    role: ShapeRole = ShapeRole.BOTH
    reference: str = ""
    file: str | None = None
    colour: tuple[float, float, float, float] | None = None


Extra = JointLimits | JointFriction | JointSpring | JointArmature | Shape


def described(extra: Extra) -> str:
    """One line of words about a record, safe to stand in a comment whatever names the file used."""
    if isinstance(extra, Shape):
        named = f" {extra.reference}" if extra.reference else ""
        words = f"{extra.role.value} {extra.kind.value}{named} on {extra.body or 'the fixed frame'}"
        return _printable(f"{words}, size {_listed(extra.sizes)}")
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
