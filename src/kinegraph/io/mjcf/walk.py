"""The bodies of a model in order: frames replaced by their content, default classes filled in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.defaults import Defaults
from kinegraph.io.mjcf.orientation import Orienter
from kinegraph.io.mjcf.replicate import is_replica, replica_place
from kinegraph.io.robot.xml import Element
from kinegraph.model.mechanism import Transform

#: Elements that stand for bodies which MuJoCo makes when it compiles the model, and what to do instead.
_EXPAND = "save the model from MuJoCo (mujoco.mj_saveLastXML), which writes the bodies out"
_GENERATED = {
    "composite": ("its bodies, joints and tendons are generated", _EXPAND),
    "flexcomp": ("deformable bodies are not described", "leave it out"),
    "attach": ("it takes bodies from another model", _EXPAND),
}
_CLASSLESS = frozenset({"body", "inertial", "frame", "freejoint"})


@dataclass(frozen=True, eq=False)
class Piece:
    """An element of a body, complete with its class; `around` are the frames between the body and it."""

    element: Element
    around: tuple[Transform, ...]
    child_class: str | None


@dataclass(frozen=True, eq=False)
class MjcfBody:
    """A body (or the world): where it stands, and what is on it apart from other bodies."""

    element: Element
    parent: MjcfBody | None
    around: tuple[Transform, ...]
    pieces: tuple[Piece, ...]

    def of(self, *tags: str) -> Iterator[Piece]:
        """The pieces that were written with one of these tags."""
        return (piece for piece in self.pieces if piece.element.tag in tags)


def bodies_of(root: Element, defaults: Defaults, orienter: Orienter) -> list[MjcfBody]:
    """The world and all bodies, parents first, as written."""
    world = Element("worldbody", {}, root.place)
    for element in root.all("worldbody"):
        world.children.extend(element.children)
    found: list[MjcfBody] = []
    pending: list[tuple[Piece, MjcfBody | None]] = [(Piece(world, (), None), None)]
    while pending:
        piece, parent = pending.pop()
        contents = list(_contents(piece, defaults, orienter))
        own = tuple(item for item in contents if item.element.tag != "body")
        body = MjcfBody(piece.element, parent, piece.around, own)
        found.append(body)
        pending.extend((item, body) for item in reversed(contents) if item.element.tag == "body")
    return found


def _inside(element: Element, orienter: Orienter) -> tuple[Transform, ...]:
    """Where the content of a frame or replica stands."""
    return replica_place(element, orienter) if is_replica(element) else orienter.place(element, "a frame")


def _contents(piece: Piece, defaults: Defaults, orienter: Orienter) -> Iterator[Piece]:
    """What a body holds; the content of its frames comes in their place."""
    child_class = piece.element.get("childclass") or piece.child_class
    pending = [Piece(child, (), child_class) for child in reversed(piece.element.children)]
    while pending:
        here = pending.pop()
        element = here.element
        if element.tag in _GENERATED:
            reason, remedy = _GENERATED[element.tag]
            raise ModelError(f"<{element.tag}> is not read: {reason}", element.place, remedy)
        if element.tag == "frame" or is_replica(element):
            inner = (*here.around, *_inside(element, orienter))
            wanted = element.get("childclass") or here.child_class
            pending.extend(Piece(child, inner, wanted) for child in reversed(element.children))
        elif element.tag in _CLASSLESS:
            yield here
        else:
            yield Piece(defaults.complete(element, here.child_class), here.around, here.child_class)
