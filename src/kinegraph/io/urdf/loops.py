"""<loop_joint>: joints that close loops, an extension of URDF in use with Isaac Sim and, earlier, with Drake.

    <loop_joint name="pin" type="revolute">
      <link1 link="coupler" xyz="1.2 0 0" rpy="0 0 0"/>
      <link2 link="rocker" xyz="0.8 0 0" rpy="0 0 0"/>
      <axis xyz="0 0 1"/>
    </loop_joint>

The two frames are made to fit; an axis is given in them. Isaac Sim's own page writes both ends as <link1>.
"""

from __future__ import annotations

from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.robot.attributes import Written, vector
from kinegraph.io.robot.naming import NameTable
from kinegraph.io.robot.placement import AngleReader, Direction
from kinegraph.io.robot.xml import Element
from kinegraph.io.urdf.origin import placed
from kinegraph.io.urdf.tree import UrdfTree
from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.constraints.records import Frame, Joint, Loop
from kinegraph.model.names import did_you_mean

_TYPES = {
    "spherical": JointType.SPHERICAL,
    "ball": JointType.SPHERICAL,
    "revolute": JointType.REVOLUTE,
    "continuous": JointType.REVOLUTE,
    "prismatic": JointType.PRISMATIC,
    "fixed": JointType.FIXED,
}
_WITH_AXIS = (JointType.REVOLUTE, JointType.PRISMATIC)
_DEFAULT_AXIS = (Written(Fraction(1)), Written(Fraction(0)), Written(Fraction(0)))


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
            raise ModelError(f"{what} ties {len(ends)} links in place of two", element.place, remedy)
        directions = (self._direction(element, what),) if kind in _WITH_AXIS else ()
        turns = directions[0].turns if directions else ()
        first, second = (Frame(self._body(end, what), (*placed(end, self._angle_reader, what), *turns)) for end in ends)
        return Loop(name, Joint(kind, tuple(one.axis for one in directions)), first, second)

    def _kind(self, element: Element, what: str) -> JointType:
        written = element.required("type")
        if written not in _TYPES:
            raise ModelError(f"{what} is of type {written}", element.place, f"write one of {', '.join(_TYPES)}")
        return _TYPES[written]

    def _body(self, end: Element, what: str) -> str:
        link = end.required("link")
        if link not in self._tree.links:
            raise ModelError(f"{what} ties {link}, which is no link", end.place, did_you_mean(link, self._tree.links))
        return self._links[link]

    def _direction(self, element: Element, what: str) -> Direction:
        axis = element.first("axis")
        xyz = (vector(axis, "xyz", 3) if axis is not None else None) or _DEFAULT_AXIS
        return self._angle_reader.direction(xyz, axis or element, what)
