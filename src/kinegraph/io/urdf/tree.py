"""Links and joints of a URDF as a tree, or an error that says where it is none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from kinegraph.errors import ModelError
from kinegraph.io.robot.report import Findings
from kinegraph.io.robot.xml import Element
from kinegraph.io.urdf.xacro import refuse_xacro
from kinegraph.model.names import did_you_mean
from kinegraph.model.report import FindingKind

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
        """Moves by one coordinate."""
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
    """A robot: `order` lists every link after its parent, the root first, children as their joints are written."""

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
        """Joints in the order of the links they lead to."""
        return [self.joint_to[link] for link in self.order[1:]]


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
            remedy = "the file only includes others, which is not URDF: expand it with `xacro` first"
        elif root.first("group") or root.first("disable_collisions"):
            remedy = "this is SRDF, which says more about the robot of a URDF: give that URDF"
        raise ModelError("the robot has no links", root.place, remedy)
    _add_world(links, joints.values(), findings)
    joint_to = _joints_by_child(links, joints.values())
    order = _ordered(links, joint_to, root)
    return UrdfTree(root.get("name") or "robot", links, joints, order, joint_to)


def _add_world(links: dict[str, Element], joints: Iterable[UrdfJoint], findings: Findings) -> None:
    """Drake welds robots to a link `world` that no file declares: it is the fixed frame."""
    welds = [joint for joint in joints if joint.parent == _WORLD]
    if _WORLD not in links and welds:
        place = welds[0].element.place
        links[_WORLD] = Element("link", {"name": _WORLD}, place)
        findings.add(FindingKind.ASSUMED, "the link world, which the file does not declare, is the fixed frame", place)


_WORLD = "world"


def _enter(table: dict[str, T], name: str, item: T, element: Element) -> None:
    if name in table:
        message = f"there are two elements <{element.tag}> called {name}"
        raise ModelError(message, element.place, "rename or remove one of them")
    table[name] = item


def _joint(element: Element) -> UrdfJoint:
    name = element.required("name")
    word = element.required("type")
    try:
        kind = UrdfJointKind(word)
    except ValueError:
        remedy = did_you_mean(word, [kind.value for kind in UrdfJointKind])
        raise ModelError(f"the joint {name} is of an unknown type `{word}`", element.place, remedy) from None
    return UrdfJoint(name, kind, _end(element, name, "parent"), _end(element, name, "child"), element)


def _end(element: Element, joint: str, which: str) -> str:
    found = element.first(which)
    if found is None:
        raise ModelError(f"the joint {joint} has no <{which}>", element.place, f'write <{which} link="..."/>')
    return found.required("link")


def _joints_by_child(links: dict[str, Element], joints: Iterable[UrdfJoint]) -> dict[str, UrdfJoint]:
    """The joint that leads to each link, after checking that it is one and that all links exist."""
    found: dict[str, UrdfJoint] = {}
    for joint in joints:
        for which, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                place = (joint.element.first(which) or joint.element).place
                message = f"the {which} of the joint {joint.name} is {link}, which is no link"
                raise ModelError(message, place, did_you_mean(link, links))
        if joint.child in found:
            message = f"the link {joint.child} hangs on two joints: {found[joint.child].name} and {joint.name}"
            remedy = "URDF describes trees: remove one of the joints; closed loops need a constraint instead"
            raise ModelError(message, joint.element.place, remedy)
        found[joint.child] = joint
    return found


def _ordered(links: dict[str, Element], joint_to: dict[str, UrdfJoint], root: Element) -> tuple[str, ...]:
    roots = [link for link in links if link not in joint_to]
    if len(roots) > 1:
        listed = ", ".join(roots[:8]) + (", ..." if len(roots) > 8 else "")
        message = f"the robot has {len(roots)} roots: no joint leads to {listed}"
        raise ModelError(message, links[roots[1]].place, "connect them with fixed joints, or remove what is not used")
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
        _complain_of_circle(next(link for link in links if link not in set(order)), joint_to)
    return tuple(order)


def _complain_of_circle(link: str, joint_to: dict[str, UrdfJoint]) -> None:
    """Follow parents from a link that no root leads to until they repeat."""
    path: dict[str, None] = {}
    while link not in path:
        path[link] = None
        link = joint_to[link].parent
    circle = [*list(path)[list(path).index(link) :], link]
    listed = " <- ".join(circle[:8]) + (" <- ..." if len(circle) > 8 else "")
    remedy = "one of these links must be the root: remove the joint that leads to it"
    raise ModelError(f"the joints go in a circle: {listed}", joint_to[link].element.place, remedy)
