"""What joints are called when a mechanism is written as URDF: as its extras say, else after their coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kinegraph.errors import ModelError
from kinegraph.io.robot.naming import NameTable
from kinegraph.io.urdf.writing.affine import Affine
from kinegraph.io.urdf.writing.chain import Hinge
from kinegraph.model.robot.data import JointFriction, JointLimits

Stated = tuple[Affine, JointLimits | JointFriction]


@dataclass(frozen=True)
class Named:
    """A joint's name, the joint it mimics if it does, whether its axis is reversed, and what is stated about it."""

    name: str
    leader: str | None
    sign: int
    stated: tuple[JointLimits | JointFriction, ...]


class JointNames:
    """Names for all hinges. The joint that moves by a coordinate itself leads; others with it mimic that joint."""

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
        """A name that no link and no joint has yet."""
        name, number = wanted, 1
        while name in self._taken or name in self._taken_links:
            number += 1
            name = f"{wanted}_{number}"
        self._taken_links.add(name)
        return name

    def free_joint(self, coordinates: Sequence[str], child: str) -> str:
        """NAME of a joint whose coordinates are NAME_x, NAME_y, ..., as readers name them; else that of its link."""
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
            remedy = f"a joint of URDF moves by its coordinate: let one joint be moved by {coordinate} itself"
            raise ModelError(f"{coordinate} moves no joint by itself, only by {moved}", remedy=remedy)
        owner = self._owner(coordinate, able)
        stated = self._take(owner.moved, lambda joint: spelt(joint) == coordinate, without_offset=True)
        name = self._joint(stated[0].joint if stated else coordinate)
        self._named[owner] = Named(name, None, 1 if owner.moved.factor > 0 else -1, tuple(stated))
        for number, hinge in enumerate((one for one in group if one is not owner), start=2):
            self._follow(hinge, name, f"{coordinate}_{number}")

    def _owner(self, coordinate: str, able: Sequence[Hinge]) -> Hinge:
        """Of joints that move equally, the one whose place among the stated names is that of the coordinate."""
        equal = [extra.joint for moved, extra in self._stated if moved == Affine(coordinate, 1, 0)]
        order = list(dict.fromkeys(equal))
        without_offset = [hinge for hinge in able if not hinge.moved.offset]
        for hinge, joint in zip(without_offset, order, strict=False):
            if spelt(joint) == coordinate:
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
        """What is stated about the first joint that is moved so and whose name fits; it is not given twice."""
        wanted = Affine(moved.coordinate, 1, 0) if without_offset else moved
        joint = next((extra.joint for form, extra in self._stated if form == wanted and fits(extra.joint)), None)
        if joint is None:
            return []
        found = [pair for pair in self._stated if pair[0] == wanted and pair[1].joint == joint]
        self._stated = [pair for pair in self._stated if pair not in found]
        return [extra for _, extra in found]


def spelt(joint: str) -> str:
    """What a reader calls the coordinate of a joint, unless the name is taken."""
    return NameTable([joint])[joint]
