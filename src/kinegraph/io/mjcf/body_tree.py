"""The body tree of an MJCF file after includes, replicates and frames are expanded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.settings import Defaults
from kinegraph.io.mjcf.transforms import Orienter, cleaned
from kinegraph.io.robot.placement import shifts
from kinegraph.io.robot.xml import MAX_ELEMENTS, Element, Written, read_xml, single, vector
from kinegraph.model.mechanism import Transform
from kinegraph.model.poses import pose

#: Maximum number of files of a model.
MAX_FILES = 200


def with_includes(root: Element, folder: Path | None, roots: Sequence[Path] = ()) -> Element:
    """The document with each <include> replaced by the content of its file, which must be below `folder` or the roots.

    Names are relative to `folder`, or else to the including file; with None, includes are not allowed.
    """
    return _Includer(folder, roots).expanded(root)


class _Includer:
    def __init__(self, folder: Path | None, roots: Sequence[Path]) -> None:
        self.folder = folder
        self.roots = roots
        self._seen: set[Path] = set()
        self._size = 0

    def expanded(self, root: Element) -> Element:
        pending = [root]
        while pending:
            here = pending.pop()
            children: list[Element] = []
            waiting = list(reversed(here.children))
            while waiting:
                child = waiting.pop()
                self._count(child)
                if child.tag == "include":
                    waiting.extend(reversed(self._content(child)))
                else:
                    children.append(child)
            here.children[:] = children
            pending.extend(children)
        return root

    def _content(self, include: Element) -> list[Element]:
        path = self._path(include)
        if path in self._seen or len(self._seen) >= MAX_FILES:
            message = f"{include.get('file')} is included twice, or the model has more than {MAX_FILES} files"
            raise ModelError(message, include.place, "include each file once")
        self._seen.add(path)
        return read_xml(path).children

    def _path(self, include: Element) -> Path:
        name = include.required("file")
        if self.folder is None:
            message = f"{name} cannot be included: the model was not read from a file"
            raise ModelError(message, include.place, "load the model from a file")
        folder = self.folder.resolve()
        try:
            path = (folder / name).resolve()
            beside = (Path(include.place.source).parent / name).resolve()
            path = beside if not path.exists() and beside.exists() else path
        except (OSError, ValueError, RuntimeError):  # RuntimeError: a link to itself
            raise ModelError(f"{name!r} is not a valid file name", include.place) from None
        if not any(path.is_relative_to(allowed) for allowed in (folder, *(root.resolve() for root in self.roots))):
            message = f"{name} is outside the model's folder"
            remedy = f"move the file to {folder} or below, or name a common folder: --package-root DIR"
            raise ModelError(message, include.place, remedy)
        return path

    def _count(self, element: Element) -> None:
        self._size += 1
        if self._size > MAX_ELEMENTS:
            raise ModelError(f"the model has more than {MAX_ELEMENTS} elements", element.place)


#: The tag prefix of copies of a <replicate>; no model can contain an element of this name.
REPLICA = "replica of "
_INDEX = "index"


def with_replicas(root: Element) -> Element:
    """The document with each <replicate> replaced by its copies; inner ones first, as in the names of copies."""
    order, pending = [root], [root]
    while pending:
        children = pending.pop().children
        order.extend(children)
        pending.extend(children)
    room = MAX_ELEMENTS
    for element in reversed(order):
        if any(child.tag == "replicate" for child in element.children):
            element.children[:] = [copy for child in element.children for copy in _copies(child, room)]
            room -= sum(_size(child) for child in element.children)
    return root


def _copies(element: Element, room: int) -> list[Element]:
    """The copies of a <replicate>; any other element as it is."""
    if element.tag != "replicate":
        return [element]
    count = single(element, "count")
    if count is None or count.denominator != 1:
        raise ModelError("<replicate> has no count", element.place, 'write count="..." with an integer')
    if count * _size(element) > room:
        message = f"the replicas have more than {MAX_ELEMENTS} elements"
        raise ModelError(message, element.place, "write a smaller count")
    if any(child.tag in ("joint", "freejoint") for child in element.children):
        raise ModelError("a joint cannot be replicated", element.place, "put it into a <body>")
    digits, separator = len(str(count)), element.get("sep") or ""
    return [_copy(element, index, f"{separator}{index:0{digits}}") for index in range(int(count))]


def _copy(element: Element, index: int, ending: str) -> Element:
    attributes = {**element.attributes, _INDEX: str(index)}
    copies = [_renamed(child, ending) for child in element.children]
    return Element(REPLICA + element.tag, attributes, element.place, copies)


def _renamed(root: Element, ending: str) -> Element:
    """A copy of an element with a suffix on all names."""
    top = Element(root.tag, {}, root.place)
    pending = [(root, top)]
    while pending:
        source, copy = pending.pop()
        copy.attributes.update(source.attributes)
        if name := source.get("name"):
            copy.attributes["name"] = name + ending
        for child in source.children:
            copy.children.append(Element(child.tag, {}, child.place))
            pending.append((child, copy.children[-1]))
    return top


def _size(root: Element) -> int:
    count, pending = 0, [root]
    while pending:
        count += 1
        pending.extend(pending.pop().children)
    return count


def is_replica(element: Element) -> bool:
    """Whether an element is a copy made by `with_replicas`."""
    return element.tag.startswith(REPLICA)


def replica_place(element: Element, orienter: Orienter) -> tuple[Transform, ...]:
    """The placement of a copy: its index times the given angles, and the sum of all previous offsets."""
    index = int(element.attributes[_INDEX])
    offset = vector(element, "offset", 3)
    euler = vector(element, "euler", 3)
    turns = _multiple(euler, index, element, orienter)
    if offset is None:
        return turns
    step = [item.value for item in offset]
    if euler is None or index < 2:
        return (*shifts([index * item for item in step]), *turns)
    position = np.zeros(3)
    for before in range(index):
        rotation, _ = pose(_multiple(euler, before, element, orienter))
        position += rotation @ [float(item) for item in step]
    return (*shifts([item.value for item in cleaned(position)]), *turns)


def _multiple(
    euler: Sequence[Written] | None, index: int, element: Element, orienter: Orienter
) -> tuple[Transform, ...]:
    if euler is None:
        return ()
    angles = [Written(index * item.value, item.decimals) for item in euler]
    return orienter.euler(angles, element, "a replica")


#: Elements from which MuJoCo generates bodies: why they are refused, and what to do instead.
_EXPAND = "save the model from MuJoCo (mujoco.mj_saveLastXML), which writes the bodies out"
GENERATED = {
    "composite": ("its bodies, joints and tendons are generated", _EXPAND),
    "flexcomp": ("deformable bodies are not supported", "remove it"),
}
_CLASSLESS = frozenset({"body", "inertial", "frame", "freejoint"})


@dataclass(frozen=True, eq=False)
class Piece:
    """An element of a body, completed with its class; `around` are the frames between the body and the element."""

    element: Element
    around: tuple[Transform, ...]
    child_class: str | None


@dataclass(frozen=True, eq=False)
class MjcfBody:
    """A body (or the world): its placement, and its elements except other bodies."""

    element: Element
    parent: MjcfBody | None
    around: tuple[Transform, ...]
    pieces: tuple[Piece, ...]

    def of(self, *tags: str) -> Iterator[Piece]:
        """The pieces with one of these tags."""
        return (piece for piece in self.pieces if piece.element.tag in tags)


def bodies_of(root: Element, defaults: Defaults, orienter: Orienter) -> list[MjcfBody]:
    """The world and all bodies, parents first, in the order of the file."""
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
    """The placement of the content of a frame or replica."""
    return replica_place(element, orienter) if is_replica(element) else orienter.place(element, "a frame")


def _contents(piece: Piece, defaults: Defaults, orienter: Orienter) -> Iterator[Piece]:
    """The elements of a body; frames are replaced by their content."""
    child_class = piece.element.get("childclass") or piece.child_class
    pending = [Piece(child, (), child_class) for child in reversed(piece.element.children)]
    while pending:
        here = pending.pop()
        element = here.element
        if element.tag in GENERATED:
            reason, remedy = GENERATED[element.tag]
            raise ModelError(f"<{element.tag}> is not supported: {reason}", element.place, remedy)
        if element.tag == "frame" or is_replica(element):
            inner = (*here.around, *_inside(element, orienter))
            wanted = element.get("childclass") or here.child_class
            pending.extend(Piece(child, inner, wanted) for child in reversed(element.children))
        elif element.tag in _CLASSLESS:
            yield here
        else:
            yield Piece(defaults.complete(element, here.child_class), here.around, here.child_class)
