"""Links and joints of a URDF: the tree, the motion of each joint, loop joints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeVar

from kinegraph.errors import ModelError
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.joint_motion import JointMotion, NameTable, free, planar
from kinegraph.io.robot.placement import AngleReader, Direction, linear
from kinegraph.io.robot.xml import Element, Written, bound, single, vector
from kinegraph.io.urdf.links import placed
from kinegraph.model.constraints import Frame, Joint, JointType, Loop
from kinegraph.model.expressions import Expression, Name, Number
from kinegraph.model.mechanism import ZERO, Coordinate
from kinegraph.model.names import did_you_mean
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import Extra, JointFriction, JointLimits

_EXPAND = (
    "load it with xacro={} (--xacro ''; pip install 'kinegraph[xacro]') if you trust it, because this evaluates Python "
    "expressions of the file; or expand it first: `xacro robot.urdf.xacro > robot.urdf`"
)


def refuse_xacro(root: Element) -> None:
    """Raise a ModelError if the document contains a xacro macro or expression."""
    pending = [root]
    while pending:
        here = pending.pop()
        if here.tag.startswith("xacro:"):
            raise ModelError(f"<{here.tag}> is a xacro macro, not URDF", here.place, _EXPAND)
        for name, value in here.attributes.items():
            if "${" in value and not name.startswith("xmlns"):
                raise ModelError(f"{name} of <{here.tag}> is the xacro expression `{value}`", here.place, _EXPAND)
        pending.extend(reversed(here.children))


T = TypeVar("T")


class UrdfJointKind(Enum):
    """The joint types of URDF."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    FLOATING = "floating"
    PLANAR = "planar"

    @property
    def single(self) -> bool:
        """Whether it has one coordinate."""
        return self in (UrdfJointKind.REVOLUTE, UrdfJointKind.CONTINUOUS, UrdfJointKind.PRISMATIC)


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """A joint between two links."""

    name: str
    kind: UrdfJointKind
    parent: str
    child: str
    element: Element


@dataclass(frozen=True, eq=False)
class UrdfTree:
    """A robot: `order` lists each link after its parent, the root first, children in the order of their joints."""

    name: str
    links: dict[str, Element]
    joints: dict[str, UrdfJoint]
    order: tuple[str, ...]
    joint_to: dict[str, UrdfJoint]

    @property
    def root(self) -> str:
        """The link that no joint moves."""
        return self.order[0]

    @property
    def ordered_joints(self) -> list[UrdfJoint]:
        """Joints in the order of their child links."""
        return [self.joint_to[link] for link in self.order[1:]]

    def preorder(self, key: Callable[[UrdfJoint], object]) -> list[UrdfJoint]:
        """Joints depth first, those of each link sorted by a key."""
        behind: dict[str, list[UrdfJoint]] = {}
        for joint in sorted(self.joint_to.values(), key=key, reverse=True):  # type: ignore[arg-type]
            behind.setdefault(joint.parent, []).append(joint)
        found: list[UrdfJoint] = []
        waiting = list(behind.get(self.root, ()))
        while waiting:
            found.append(waiting.pop())
            waiting += behind.get(found[-1].child, ())
        return found


def read_tree(root: Element, findings: Findings) -> UrdfTree:
    """The tree of the links below a <robot> element."""
    refuse_xacro(root)
    links: dict[str, Element] = {}
    joints: dict[str, UrdfJoint] = {}
    for element in root.children:
        if element.tag == "link":
            _enter(links, element.required("name"), element, element)
        elif element.tag == "joint" and element.get("type") is not None:
            joint = _joint(element)
            _enter(joints, joint.name, joint, element)
        elif element.tag == "joint":
            findings.count(FindingKind.NOT_UNDERSTOOD, "joints without a type", "<joint> without a type", element.place)
    if not links:
        remedy = 'write at least one <link name="...">'
        if root.first("include"):
            remedy = "the file only includes other files: expand it with `xacro` first"
        elif root.first("group") or root.first("disable_collisions"):
            remedy = "this is an SRDF file: load the URDF that it belongs to"
        raise ModelError("the robot has no links", root.place, remedy)
    _add_world(links, joints.values(), findings)
    joint_to = _joints_by_child(links, joints.values())
    order = _ordered(links, joint_to, root)
    return UrdfTree(root.get("name") or "robot", links, joints, order, joint_to)


def _add_world(links: dict[str, Element], joints: Iterable[UrdfJoint], findings: Findings) -> None:
    """Add the undeclared link `world`, to which Drake welds robots: it is the fixed frame."""
    welds = [joint for joint in joints if joint.parent == _WORLD]
    if _WORLD not in links and welds:
        place = welds[0].element.place
        links[_WORLD] = Element("link", {"name": _WORLD}, place)
        findings.add(FindingKind.ASSUMED, "the undeclared link world is the fixed frame", place)


_WORLD = "world"


def _enter(table: dict[str, T], name: str, item: T, element: Element) -> None:
    if name in table:
        message = f"two elements <{element.tag}> have the name {name}"
        raise ModelError(message, element.place, "rename or remove one of them")
    table[name] = item


def _joint(element: Element) -> UrdfJoint:
    name = element.required("name")
    word = element.required("type")
    try:
        kind = UrdfJointKind(word)
    except ValueError:
        remedy = did_you_mean(word, [kind.value for kind in UrdfJointKind])
        raise ModelError(f"unknown type '{word}' of the joint {name}", element.place, remedy) from None
    return UrdfJoint(name, kind, _end(element, name, "parent"), _end(element, name, "child"), element)


def _end(element: Element, joint: str, which: str) -> str:
    found = element.first(which)
    if found is None:
        raise ModelError(f"the joint {joint} has no <{which}>", element.place, f'write <{which} link="..."/>')
    return found.required("link")


def _joints_by_child(links: dict[str, Element], joints: Iterable[UrdfJoint]) -> dict[str, UrdfJoint]:
    """The joint of each child link, after checking that it is unique and that all links exist."""
    found: dict[str, UrdfJoint] = {}
    for joint in joints:
        for which, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                place = (joint.element.first(which) or joint.element).place
                message = f"unknown link '{link}' as the {which} of the joint {joint.name}"
                raise ModelError(message, place, did_you_mean(link, links))
        if joint.child in found:
            message = f"the link {joint.child} is the child of two joints: {found[joint.child].name} and {joint.name}"
            remedy = "a URDF is a tree: remove one of the joints, or close the loop with a <loop_joint>"
            raise ModelError(message, joint.element.place, remedy)
        found[joint.child] = joint
    return found


def _ordered(links: dict[str, Element], joint_to: dict[str, UrdfJoint], root: Element) -> tuple[str, ...]:
    roots = [link for link in links if link not in joint_to]
    if len(roots) > 1:
        listed = ", ".join(roots[:8]) + (", ..." if len(roots) > 8 else "")
        message = f"the robot has {len(roots)} root links: {listed}"
        raise ModelError(message, links[roots[1]].place, "connect them with fixed joints, or remove unused links")
    children: dict[str, list[str]] = {link: [] for link in links}
    for joint in joint_to.values():
        children[joint.parent].append(joint.child)
    order: list[str] = []
    stack = list(roots)
    while stack:
        link = stack.pop()
        order.append(link)
        stack.extend(reversed(children[link]))
    if len(order) < len(links):
        _raise_cycle(next(link for link in links if link not in set(order)), joint_to)
    return tuple(order)


def _raise_cycle(link: str, joint_to: dict[str, UrdfJoint]) -> None:
    """Raise the error for a cycle of joints: follow parents from an unreachable link until they repeat."""
    path: dict[str, None] = {}
    while link not in path:
        path[link] = None
        link = joint_to[link].parent
    circle = [*list(path)[list(path).index(link) :], link]
    listed = " <- ".join(circle[:8]) + (" <- ..." if len(circle) > 8 else "")
    remedy = "one of these links must be the root: remove the joint to it"
    raise ModelError(f"the joints form a cycle: {listed}", joint_to[link].element.place, remedy)


_DEFAULT_AXIS = (Written(Fraction(1)), Written(Fraction(0)), Written(Fraction(0)))


class UrdfJointReader:
    """Reads the joints of a tree; the coordinate of an independent joint has the joint's name.

    Unless `coupled`, joints with <mimic> are independent as well.
    """

    def __init__(self, tree: UrdfTree, angle_reader: AngleReader, coupled: bool) -> None:
        self.joints = tree.joints
        self.angle_reader = angle_reader
        self.coupled = coupled
        self.names = NameTable(j.name for j in tree.ordered_joints if j.kind.single and self._mimic(j) is None)

    def _mimic(self, joint: UrdfJoint) -> Element | None:
        return joint.element.first("mimic") if self.coupled else None

    def motion(self, joint: UrdfJoint) -> JointMotion:
        """The motion of a joint."""
        if joint.kind is UrdfJointKind.FIXED:
            return JointMotion()
        if joint.kind is UrdfJointKind.FLOATING:
            return free(self.names, joint.name)
        if joint.kind is UrdfJointKind.PLANAR:
            return planar(self.names, joint.name, self._direction(joint))
        displacement = self.displacement(joint)
        direction = self._direction(joint)
        prismatic = joint.kind is UrdfJointKind.PRISMATIC
        moves = direction.translation(displacement) if prismatic else direction.rotation(displacement)
        own = () if self._mimic(joint) else (Coordinate(self.names[joint.name]),)
        return JointMotion(moves, own, ((displacement,),))

    def displacement(self, joint: UrdfJoint) -> Expression:
        """The angle or distance of a joint: its own coordinate, or a linear expression of the mimicked one."""
        factor, offset = Fraction(1), Fraction(0)
        seen = {joint.name}
        while (mimic := self._mimic(joint)) is not None:
            multiplier = single(mimic, "multiplier")
            offset += factor * (single(mimic, "offset") or 0)
            factor *= Fraction(1) if multiplier is None else multiplier
            joint = self._mimicked(mimic.required("joint"), joint)
            if joint.name in seen:
                message = f"joints mimic each other in a cycle, including {joint.name}"
                raise ModelError(message, mimic.place, "remove one <mimic>")
            seen.add(joint.name)
        if joint.kind is UrdfJointKind.FIXED:
            return Number(offset)
        return linear(factor, Name(self.names[joint.name]), Number(offset))

    def _mimicked(self, name: str, by: UrdfJoint) -> UrdfJoint:
        mimic = by.element.first("mimic") or by.element
        if name not in self.joints:
            guess = did_you_mean(name, self.joints)
            remedy = f"{guess if guess.startswith('did') else ''} mimic=False makes all joints independent".lstrip()
            raise ModelError(f"the joint {by.name} mimics the unknown joint '{name}'", mimic.place, remedy)
        found = self.joints[name]
        if found.kind in (UrdfJointKind.FLOATING, UrdfJointKind.PLANAR):
            message = f"the joint {by.name} mimics {name}, a {found.kind.value} joint"
            raise ModelError(message, mimic.place, "mimic a revolute, continuous or prismatic joint")
        return found

    def _direction(self, joint: UrdfJoint) -> Direction:
        element = joint.element.first("axis")
        xyz = (vector(element, "xyz", 3) if element is not None else None) or _DEFAULT_AXIS
        return self.angle_reader.direction(xyz, element or joint.element, f"the joint {joint.name}")


def read_extras(joint: UrdfJoint, motion: JointMotion) -> Iterator[Extra]:
    """Limits and friction of a joint, if given."""
    limit, dynamics = joint.element.first("limit"), joint.element.first("dynamics")
    for displacement in motion.displacements:
        if limit is not None:
            ranged = joint.kind in (UrdfJointKind.REVOLUTE, UrdfJointKind.PRISMATIC)
            # urdfdom reads a missing end of the range as zero
            ends = tuple(_stated(limit, end, Fraction(0)) for end in ("lower", "upper")) if ranged else (None, None)
            speed_and_force = (_stated(limit, name) for name in ("velocity", "effort"))
            yield JointLimits(joint.name, displacement, *ends, *speed_and_force)
        if dynamics is not None:
            damping, dry = (_stated(dynamics, name) or ZERO for name in ("damping", "friction"))
            if (damping, dry) != (ZERO, ZERO):
                yield JointFriction(joint.name, displacement, damping, dry)


def _stated(element: Element, name: str, missing: Fraction | None = None) -> Expression | None:
    value = bound(element, name) if element.get(name) is not None else missing
    return None if value is None else Number(value)


# <loop_joint>: joints that close loops, an extension of URDF in Isaac Sim and earlier in Drake.
#
#     <loop_joint name="pin" type="revolute">
#       <link1 link="coupler" xyz="1.2 0 0" rpy="0 0 0"/>
#       <link2 link="rocker" xyz="0.8 0 0" rpy="0 0 0"/>
#       <axis xyz="0 0 1"/>
#     </loop_joint>
#
# The axis is given in both frames. The documentation of Isaac Sim writes both ends as <link1>.

_TYPES = {
    "spherical": JointType.SPHERICAL,
    "ball": JointType.SPHERICAL,
    "revolute": JointType.REVOLUTE,
    "continuous": JointType.REVOLUTE,
    "prismatic": JointType.PRISMATIC,
    "fixed": JointType.FIXED,
}
_WITH_AXIS = (JointType.REVOLUTE, JointType.PRISMATIC)


def read_loops(root: Element, tree: UrdfTree, links: NameTable, angle_reader: AngleReader) -> tuple[Loop, ...]:
    """The loops of a <robot> element."""
    elements = list(root.all("loop_joint"))
    names = NameTable([element.required("name") for element in elements], links.values)
    return tuple(_LoopReader(tree, links, angle_reader).loop(one, names[one.required("name")]) for one in elements)


class _LoopReader:
    def __init__(self, tree: UrdfTree, links: NameTable, angle_reader: AngleReader) -> None:
        self._tree, self._links, self._angle_reader = tree, links, angle_reader

    def loop(self, element: Element, name: str) -> Loop:
        what = f"the loop joint {element.required('name')}"
        kind = self._kind(element, what)
        ends = [*element.all("link1"), *element.all("link2")]
        if len(ends) != 2:
            remedy = 'write <link1 link="..." xyz="..." rpy="..."/> and <link2 .../>'
            raise ModelError(f"{what} needs 2 links, found {len(ends)}", element.place, remedy)
        directions = (self._direction(element, what),) if kind in _WITH_AXIS else ()
        turns = directions[0].turns if directions else ()
        first, second = (Frame(self._body(end, what), (*placed(end, self._angle_reader, what), *turns)) for end in ends)
        return Loop(name, Joint(kind, tuple(one.axis for one in directions)), first, second)

    def _kind(self, element: Element, what: str) -> JointType:
        written = element.required("type")
        if written not in _TYPES:
            raise ModelError(f"unknown type '{written}' of {what}", element.place, f"choose one of {', '.join(_TYPES)}")
        return _TYPES[written]

    def _body(self, end: Element, what: str) -> str:
        link = end.required("link")
        if link not in self._tree.links:
            raise ModelError(f"unknown link '{link}' of {what}", end.place, did_you_mean(link, self._tree.links))
        return self._links[link]

    def _direction(self, element: Element, what: str) -> Direction:
        axis = element.first("axis")
        xyz = (vector(axis, "xyz", 3) if axis is not None else None) or _DEFAULT_AXIS
        return self._angle_reader.direction(xyz, axis or element, what)
