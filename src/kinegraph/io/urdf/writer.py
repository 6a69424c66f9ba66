"""Write a mechanism as URDF, with notes on all omissions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree

from kinegraph.errors import ModelError
from kinegraph.io.options import GRAVITY
from kinegraph.io.robot.joint_motion import NameTable
from kinegraph.io.urdf.joint_chains import (
    Affine,
    FreeJoint,
    Hinge,
    Joint,
    Step,
    Vector,
    affine,
    chain_of,
    located,
    origin,
    steps,
    with_offset,
)
from kinegraph.model.constraints import all_constraints, described, refuse_states
from kinegraph.model.elements import Damper, Element, Friction, Linear, Span
from kinegraph.model.evaluate import Value, number, parameter_values
from kinegraph.model.expressions import Expression, Name, Scalar, expression, names
from kinegraph.model.mechanism import ZERO, Body, Coordinate, Inertia, Mechanism
from kinegraph.model.robot_data import (
    JointArmature,
    JointFriction,
    JointLimits,
    JointSpring,
    Shape,
    ShapeKind,
    ShapeRole,
)

Stated = tuple[Affine, JointLimits | JointFriction]


@dataclass(frozen=True)
class Named:
    """A joint's name, the joint it mimics if any, the sign of its axis, and its limits and friction."""

    name: str
    leader: str | None
    sign: int
    stated: tuple[JointLimits | JointFriction, ...]


class JointNames:
    """Names of all hinges: from extras, else from coordinates. One joint per coordinate leads, the others mimic it."""

    def __init__(self, hinges: Sequence[Hinge], stated: Sequence[Stated], links: Iterable[str]) -> None:
        self._stated = list(stated)
        self._taken_links = set(links)
        self._taken: set[str] = set()
        self._named: dict[Hinge, Named] = {}
        groups: dict[str, list[Hinge]] = {}
        for hinge in hinges:
            assert hinge.moved.coordinate is not None
            groups.setdefault(hinge.moved.coordinate, []).append(hinge)
        for coordinate, group in groups.items():
            self._name_group(coordinate, group)

    def __getitem__(self, hinge: Hinge) -> Named:
        return self._named[hinge]

    def fresh(self, wanted: str) -> str:
        """A name that no link or joint has."""
        name, number = wanted, 1
        while name in self._taken or name in self._taken_links:
            number += 1
            name = f"{wanted}_{number}"
        self._taken_links.add(name)
        return name

    def free_joint(self, coordinates: Sequence[str], child: str) -> str:
        """NAME of a joint whose coordinates are NAME_x, NAME_y, ..., as in readers; else the name of its link."""
        return self._joint(coordinates[0].removesuffix("_x") if coordinates[0].endswith("_x") else child)

    def _joint(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def _name_group(self, coordinate: str, group: Sequence[Hinge]) -> None:
        able = [hinge for hinge in group if abs(hinge.moved.factor) == 1]
        if not able:
            moved = f"{float(group[0].moved.factor):g}*{coordinate}"
            remedy = f"a URDF joint is driven by its coordinate: use {coordinate} without a factor in one joint"
            raise ModelError(f"{coordinate} drives joints only as {moved}", remedy=remedy)
        owner = self._owner(coordinate, able)
        stated = self._take(owner.moved, lambda joint: coordinate_name(joint) == coordinate, without_offset=True)
        name = self._joint(stated[0].joint if stated else coordinate)
        self._named[owner] = Named(name, None, 1 if owner.moved.factor > 0 else -1, tuple(stated))
        for copy, hinge in enumerate((one for one in group if one is not owner), start=2):
            self._follow(hinge, name, f"{coordinate}_{copy}")

    def _owner(self, coordinate: str, able: Sequence[Hinge]) -> Hinge:
        """The joint that has the name of the coordinate, among joints of equal motion."""
        equal = [extra.joint for moved, extra in self._stated if moved == Affine(coordinate, 1, 0)]
        order = list(dict.fromkeys(equal))
        without_offset = [hinge for hinge in able if not hinge.moved.offset]
        for hinge, joint in zip(without_offset, order, strict=False):
            if coordinate_name(joint) == coordinate:
                return hinge
        return (without_offset or able)[0]

    def _follow(self, hinge: Hinge, leader: str, wanted: str) -> None:
        for sign, moved in ((1, hinge.moved), (-1, hinge.moved.reversed())):
            stated = self._take(moved, lambda joint: True)
            if stated:
                self._named[hinge] = Named(self._joint(stated[0].joint), leader, sign, tuple(stated))
                return
        self._named[hinge] = Named(self._joint(wanted), leader, 1, ())

    def _take(
        self, moved: Affine, fits: Callable[[str], bool], without_offset: bool = False
    ) -> list[JointLimits | JointFriction]:
        """The limits and friction of the first joint with this motion and a fitting name; each is used once."""
        wanted = Affine(moved.coordinate, 1, 0) if without_offset else moved
        joint = next((extra.joint for form, extra in self._stated if form == wanted and fits(extra.joint)), None)
        if joint is None:
            return []
        found = [pair for pair in self._stated if pair[0] == wanted and pair[1].joint == joint]
        self._stated = [pair for pair in self._stated if pair not in found]
        return [extra for _, extra in found]


def coordinate_name(joint: str) -> str:
    """The coordinate name that a reader gives to a joint, unless it is taken."""
    return NameTable([joint])[joint]


# Dampers and friction in joints, as <dynamics>


@dataclass(frozen=True)
class Dynamics:
    """Limits and friction of joints, including friction of elements, and notes for the user."""

    stated: tuple[Stated, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Brake:
    """Resistance to the rate of a coordinate: damping times the rate, and a dry force."""

    coordinate: str
    damping: float
    dry: float


def with_friction(mechanism: Mechanism, values: Mapping[str, Value], stated: Sequence[Stated]) -> Dynamics:
    """Add elements that resist the motion of one coordinate to the data of its joint.

    Raises a ModelError for an element that URDF does not support.
    """
    refuse_states(mechanism, "URDF")
    found = list(stated)
    notes: list[str] = []
    for element in mechanism.elements:
        _add(found, _brake(element, mechanism, values))
        if isinstance(element, Friction):
            notes.append(f"friction {element.name} is dry in URDF: its smoothing width is lost")
    return Dynamics(tuple(found), tuple(notes))


def _brake(element: Element, mechanism: Mechanism, values: Mapping[str, Value]) -> _Brake:
    if not isinstance(element, Damper | Friction):
        raise _refused(element, "URDF has only bodies, joints, and damping and friction in joints")
    damping, dry = (_number(item, values, element) for item in _strength(element))
    moved = _moved(element, mechanism, values)
    if moved.coordinate is None:
        raise _refused(element, "it does not depend on a coordinate")
    factor = float(moved.factor)
    return _Brake(moved.coordinate, damping * factor**2, dry * abs(factor))


def _strength(element: Damper | Friction) -> tuple[Expression, Expression]:
    """The damping and the dry force on the target of an element."""
    if isinstance(element, Friction):
        return element.viscous, element.coulomb
    if isinstance(element.law, Linear):
        return element.law.coefficient, ZERO
    raise _refused(element, "damping in URDF is linear")


def _moved(element: Damper | Friction, mechanism: Mechanism, values: Mapping[str, Value]) -> Affine:
    """The target of an element in terms of one coordinate or its rate."""
    if isinstance(element.on, Span):
        raise _refused(element, "URDF has damping and friction only in joints, not between points")
    coordinates = {one.name: one.name for one in mechanism.coordinates if isinstance(one, Coordinate)}
    rates = {f"{name}'": name for name in coordinates}
    try:
        moved = affine(element.on, coordinates | rates, values)
    except ModelError as error:
        raise located(error, f"{_kind(element)} {element.name}") from None
    if moved.coordinate in rates and moved.offset:
        raise _refused(element, "friction in URDF opposes the motion of a joint, not relative to a given rate")
    return moved._replace(coordinate=(coordinates | rates).get(moved.coordinate or ""))


def _number(item: Expression, values: Mapping[str, Value], element: Element) -> float:
    unknown = sorted(names(item) - values.keys())
    if unknown:
        remedy = "<dynamics> of URDF takes only numbers: export to records or fmu"
        raise ModelError(f"{_kind(element)} {element.name} depends on {', '.join(unknown)}", remedy=remedy)
    return number(item, values)


def _add(stated: list[Stated], brake: _Brake) -> None:
    """Add resistance to the joint that leads a coordinate."""
    itself = Affine(brake.coordinate, 1, 0)
    named = (one.joint for moved, one in stated if moved == itself and coordinate_name(one.joint) == brake.coordinate)
    joint = next(named, brake.coordinate)
    for place, (moved, one) in enumerate(stated):
        if moved == itself and isinstance(one, JointFriction) and one.joint == joint:
            more = replace(one, damping=one.damping + brake.damping, dry=one.dry + brake.dry)
            stated[place] = moved, more
            return
    friction = JointFriction(joint, (Name(brake.coordinate),), expression(brake.damping), expression(brake.dry))
    stated.append((itself, friction))


def _refused(element: Element, why: str) -> ModelError:
    remedy = f"{why}: remove it, or export to records or fmu"
    return ModelError(f"{_kind(element)} {element.name} cannot be written as URDF", remedy=remedy)


def _kind(element: Element) -> str:
    return type(element).__name__.lower()


XML = ElementTree.Element

#: The limits of a prismatic joint without limits, because URDF requires them.
FAR = 1e6

#: The coordinates of a floating base in the URDF reader.
_BASE = ("base_x", "base_y", "base_z", "base_e0", "base_e1", "base_e2", "base_e3")


@dataclass(frozen=True)
class Urdf:
    """The text of a URDF file, and notes for the user."""

    text: str
    notes: tuple[str, ...]


def write_urdf(mechanism: Mechanism, values: Mapping[str, Scalar] | None = None, heading: str = "") -> Urdf:
    """A mechanism as URDF, with numeric parameters; `heading` becomes a comment.

    The file has the same links, coordinates and equations. Raises a ModelError for what URDF does not support.
    """
    for constraint in all_constraints(mechanism):
        remedy = "URDF has only trees of bodies: remove it, or export to another format"
        raise ModelError(f"URDF does not support {described(constraint)}", remedy=remedy)
    return _Writer(mechanism, values or {}).urdf(heading)


class _Writer:
    def __init__(self, mechanism: Mechanism, values: Mapping[str, Scalar]) -> None:
        self.mechanism = mechanism
        self.values = parameter_values(mechanism, values)
        self.root = XML("robot", name=mechanism.name)
        self.chains = {body.name: chain_of(body, mechanism, self.values) for body in mechanism.bodies}
        dynamics = with_friction(mechanism, self.values, self._stated())
        self.notes = list(dynamics.notes)
        self.links = {body.name for body in mechanism.bodies}
        hinges = [joint for chain in self.chains.values() for joint in chain.joints if isinstance(joint, Hinge)]
        self.names = JointNames(hinges, dynamics.stated, self.links)

    def _stated(self) -> list[tuple[Affine, JointLimits | JointFriction]]:
        """Limits and friction, with their displacements."""
        found = []
        for extra in self.mechanism.extras:
            if isinstance(extra, JointLimits | JointFriction) and len(extra.displacement) == 1:
                moved = affine(extra.displacement[0], self.mechanism.layout.positions, self.values)
                found.append((moved, extra))
        return found

    def urdf(self, heading: str) -> Urdf:
        world = self._world()
        for body in _bases_first(self.mechanism):
            self._body(body, world if body.base is None else body.base)
        self._points(world)
        self._note_omissions()
        ElementTree.indent(self.root, "  ")
        lines = ['<?xml version="1.0"?>', *([f"<!-- {heading} -->"] if heading else [])]
        lines.append(ElementTree.tostring(self.root, encoding="unicode"))
        return Urdf("\n".join(lines) + "\n", tuple(self.notes))

    # links

    def _world(self) -> str | None:
        """The fixed frame as a link; None if the only body without a base can be the root."""
        roots = [body for body in self.mechanism.bodies if body.base is None]
        if len(roots) == 1 and not any(point.body is None for point in self.mechanism.points):
            chain = self.chains[roots[0].name]
            if not chain.joints and not chain.rest:
                return None
            if not chain.rest and len(chain.joints) == 1 and chain.joints[0] == FreeJoint((), _BASE):
                self.notes.append("the base is floating: read the file with --floating")
                return None
        return self._link(self.names.fresh("world"))

    def _link(self, name: str) -> str:
        ElementTree.SubElement(self.root, "link", name=name)
        return name

    def _body(self, body: Body, base: str | None) -> None:
        chain = self.chains[body.name]
        if base is not None:
            *inner, last = (*chain.joints, chain.rest) if chain.rest or not chain.joints else chain.joints
            for place, joint in enumerate(inner, start=1):
                base = self._joined(joint, base, self._link(self.names.fresh(f"{body.name}_{place}")))
            self._joined(last, base, body.name)
        link = ElementTree.SubElement(self.root, "link", name=body.name)
        self._inertial(link, body)
        for extra in self.mechanism.extras:
            if isinstance(extra, Shape) and extra.body == body.name:
                self._shape(link, extra)

    def _inertial(self, link: XML, body: Body) -> None:
        inertia, where = body.inertia, f"the inertia of {body.name}"
        if inertia == Inertia():
            return
        inertial = ElementTree.SubElement(link, "inertial")
        _origin(inertial, steps(inertia.central, self.values, where))
        ElementTree.SubElement(inertial, "mass", value=self._number(inertia.mass, where))
        moments = {"ixx": inertia.Jx, "iyy": inertia.Jy, "izz": inertia.Jz}
        products = {"ixy": inertia.Jxy, "iyz": inertia.Jyz, "ixz": inertia.Jxz}  # with a minus sign in the tensor
        entries = {name: self._number(item, where) for name, item in moments.items()}
        entries |= {name: _text(-self._float(item, where)) for name, item in products.items()}
        ElementTree.SubElement(inertial, "inertia", entries)

    def _shape(self, link: XML, shape: Shape) -> None:
        if shape.kind not in _SIZES:
            self.notes.append(f"a {shape.kind.value} of {shape.body} is left out: URDF has no such shape")
            return
        where = f"a shape of {shape.body}"
        sizes = [self._number(size, where) for size in shape.sizes]
        roles = ("visual", "collision") if shape.role is ShapeRole.BOTH else (shape.role.value,)
        for role in roles:
            element = ElementTree.SubElement(link, role)
            _origin(element, steps(shape.place, self.values, where))
            geometry = ElementTree.SubElement(element, "geometry")
            form = ElementTree.SubElement(geometry, shape.kind.value, _sized(shape.kind, sizes))
            if shape.kind is ShapeKind.MESH:
                form.set("filename", shape.reference)
            if shape.color is not None:
                rgba = " ".join(map(_text, shape.color))
                material = ElementTree.SubElement(element, "material", name=f"rgba {rgba}")
                ElementTree.SubElement(material, "color", rgba=rgba)

    # joints

    def _joined(self, joint: Joint | Sequence[Step], parent: str, child: str) -> str:
        if isinstance(joint, FreeJoint):
            name = self.names.free_joint(joint.names, child)
            if joint.names[0] != f"{name}_x":
                self.notes.append(f"the coordinates of {child} are {name}_x, {name}_y, ... when the file is read")
            self._joint(name, "floating", joint.path, parent, child)
        elif isinstance(joint, Hinge):
            self._hinge(joint, parent, child)
        else:
            self._joint(self.names.fresh(f"{child}_fixed"), "fixed", joint, parent, child)
        return child

    def _joint(self, name: str, kind: str, path: Sequence[Step], parent: str, child: str) -> XML:
        element = ElementTree.SubElement(self.root, "joint", name=name, type=kind)
        _origin(element, path)
        ElementTree.SubElement(element, "parent", link=parent)
        ElementTree.SubElement(element, "child", link=child)
        return element

    def _hinge(self, hinge: Hinge, parent: str, child: str) -> None:
        named = self.names[hinge]
        if named.leader is None:
            hinge = with_offset(hinge)
        limits = next((one for one in named.stated if isinstance(one, JointLimits)), None)
        ranged = limits is not None and limits.lower is not None and limits.upper is not None
        kind = "prismatic" if hinge.prismatic else "revolute" if ranged else "continuous"
        element = self._joint(named.name, kind, hinge.path, parent, child)
        x, y, z = (named.sign * part for part in hinge.axis)
        ElementTree.SubElement(element, "axis", xyz=_triple((x, y, z)))
        self._limit(element, named.name, limits, hinge.prismatic)
        for friction in named.stated:
            if isinstance(friction, JointFriction):
                where = f"the friction of {named.name}"
                stated = {"damping": friction.damping, "friction": friction.dry}
                ElementTree.SubElement(
                    element, "dynamics", {name: self._number(item, where) for name, item in stated.items()}
                )
        if named.leader is not None:
            factor, offset = (_text(named.sign * float(part)) for part in (hinge.moved.factor, hinge.moved.offset))
            ElementTree.SubElement(element, "mimic", joint=named.leader, multiplier=factor, offset=offset)

    def _limit(self, element: XML, name: str, limits: JointLimits | None, prismatic: bool) -> None:
        if limits is not None:
            stated = {word: getattr(limits, word) for word in ("lower", "upper", "velocity", "effort")}
            where = f"the limits of {name}"
            given = {word: self._number(item, where) for word, item in stated.items() if item is not None}
            ElementTree.SubElement(element, "limit", given)
        elif prismatic:
            self.notes.append(f"joint {name} has no limits; URDF requires them, so they are {FAR:g}")
            far = {word: _text(FAR) for word in ("upper", "velocity", "effort")}
            ElementTree.SubElement(element, "limit", {"lower": _text(-FAR), **far})

    # the rest

    def _points(self, world: str | None) -> None:
        for point in self.mechanism.points:
            name = self.names.fresh(point.name)
            where = f"the output {point.name}"
            parent = point.body or world
            assert parent is not None  # _world made a link for points of the fixed frame
            element = ElementTree.SubElement(self.root, "joint", name=self.names.fresh(f"{name}_fixed"), type="fixed")
            _origin(element, steps(point.transforms, self.values, where))
            ElementTree.SubElement(element, "parent", link=parent)
            ElementTree.SubElement(element, "child", link=self._link(name))
            self.notes.append(f"the output point {point.name} became the massless link {name}")

    def _note_omissions(self) -> None:
        """Notes on data that URDF does not support."""
        mechanism = self.mechanism
        if mechanism.gravity != tuple(map(expression, GRAVITY)):
            self.notes.append("gravity is not part of URDF: set it when the file is read")
        if any(_moves_at_first(coordinate) for coordinate in mechanism.coordinates):
            self.notes.append("initial positions and velocities are not part of URDF")
        lost = {type(extra) for extra in mechanism.extras if not isinstance(extra, Shape) or extra.body is None}
        if any(armature != ZERO for armature in mechanism.armature):
            lost.add(JointArmature)
        words = [word for kind, word in _LOST.items() if kind in lost]
        if words:
            self.notes.append(f"left out, because URDF does not support them: {', '.join(words)}")

    def _float(self, item: Expression, where: str) -> float:
        try:
            return number(item, self.values)
        except ModelError as error:
            raise located(error, where) from None

    def _number(self, item: Expression, where: str) -> str:
        return _text(self._float(item, where))


_LOST: Mapping[type, str] = {
    JointSpring: "springs of joints",
    JointArmature: "armature of joints",
    Shape: "shapes of the fixed frame",
}
_SIZES: Mapping[ShapeKind, Sequence[tuple[str, int]]] = {
    ShapeKind.BOX: (("size", 3),),
    ShapeKind.SPHERE: (("radius", 1),),
    ShapeKind.CYLINDER: (("radius", 1), ("length", 1)),
    ShapeKind.CAPSULE: (("radius", 1), ("length", 1)),
    ShapeKind.MESH: (("scale", 3),),
}


def _sized(kind: ShapeKind, sizes: Sequence[str]) -> dict[str, str]:
    found, place = {}, 0
    for word, count in _SIZES[kind]:
        found[word] = " ".join(sizes[place : place + count])
        place += count
    return found


def _bases_first(mechanism: Mechanism) -> Iterable[Body]:
    """Bodies depth first, children in the order of the model, as readers number coordinates."""
    children: dict[str | None, list[Body]] = {}
    for body in mechanism.bodies:
        children.setdefault(body.base, []).append(body)
    stack = list(reversed(children.get(None, [])))
    while stack:
        body = stack.pop()
        yield body
        stack.extend(reversed(children.get(body.name, [])))


def _moves_at_first(coordinate: object) -> bool:
    if isinstance(coordinate, Coordinate):
        return (coordinate.position, coordinate.velocity) != (ZERO, ZERO)
    return False


def _origin(parent: XML, path: Sequence[Step]) -> None:
    if path:
        xyz, rpy = origin(path)
        ElementTree.SubElement(parent, "origin", xyz=_triple(xyz), rpy=_triple(rpy))


def _triple(vector: Vector) -> str:
    return " ".join(map(_text, vector))


def _text(value: float | Value) -> str:
    """The shortest decimal of a double."""
    written = repr(float(value) + 0.0)  # no minus sign before zero
    return written.removesuffix(".0")
