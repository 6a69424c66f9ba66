"""Names of bodies, joints and sites: legal, unique, and there even where the file gives none."""

from __future__ import annotations

from collections.abc import Iterator

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.joints import MjcfJoint, MjcfJointKind, joint_kind
from kinegraph.io.mjcf.walk import MjcfBody
from kinegraph.io.robot.naming import NameTable
from kinegraph.model.names import STATEMENTS


class BodyNames:
    """Legal names of the bodies; one without a name is called after its parent."""

    def __init__(self, bodies: list[MjcfBody]) -> None:
        moving = bodies[1:]
        self._table = NameTable((name for body in moving if (name := body.element.get("name"))), STATEMENTS)
        self._seen: set[str] = set()
        self._legal: dict[MjcfBody, str] = {}
        self.originals: dict[str, str] = {}
        for body in moving:
            self._name(body)

    def _name(self, body: MjcfBody) -> None:
        original = body.element.get("name") or ""
        if original in self._seen:
            message = f"there are two bodies called {original}"
            raise ModelError(message, body.element.place, "rename one of them")
        self._seen |= {original} - {""}
        parent = self._legal.get(body.parent) if body.parent else None
        legal = self._table[original] if original else self._table.fresh(f"{parent or 'world'}_body")
        self._legal[body] = legal
        self.originals[legal] = original

    def legal(self, body: MjcfBody) -> str | None:
        """The name of a body, None for the world."""
        return self._legal.get(body)


def joints_of(bodies: list[MjcfBody]) -> dict[MjcfBody, list[MjcfJoint]]:
    """The joints of every body, each with a name of its own: one without is called after its body."""
    taken = {piece.element.get("name") for body in bodies for piece in body.of("joint", "freejoint")}
    found: dict[MjcfBody, list[MjcfJoint]] = {}
    seen: set[str] = set()
    for body in bodies:
        found[body] = []
        for piece in body.of("joint", "freejoint"):
            name = piece.element.get("name") or _unused(f"{body.element.get('name') or 'body'}_joint", taken)
            if name in seen:
                raise ModelError(f"there are two joints called {name}", piece.element.place, "rename one of them")
            seen.add(name)
            taken.add(name)
            found[body].append(MjcfJoint(name, joint_kind(piece.element), piece.element, piece.around))
    return found


def _unused(wanted: str, taken: set[str | None]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def single_names(joints: dict[MjcfBody, list[MjcfJoint]]) -> Iterator[str]:
    """Names of the joints that move by one coordinate, which is called like the joint."""
    single = (MjcfJointKind.HINGE, MjcfJointKind.SLIDE)
    return (joint.name for own in joints.values() for joint in own if joint.kind in single)


def site_names(bodies: list[MjcfBody]) -> Iterator[str]:
    """Names of the sites that have one."""
    return (name for body in bodies for piece in body.of("site") if (name := piece.element.get("name")))
