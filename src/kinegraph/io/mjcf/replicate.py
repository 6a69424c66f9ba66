"""<replicate count="..." offset="..." euler="...">: its content several times, each further on by the same step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.numeric import cleaned, pose
from kinegraph.io.mjcf.orientation import Orienter
from kinegraph.io.robot.attributes import Written, single, vector
from kinegraph.io.robot.placement import shifts
from kinegraph.io.robot.xml import MAX_ELEMENTS, Element
from kinegraph.model.mechanism import Transform

#: One of the copies, with the place it has among them; no model can hold an element of this name.
REPLICA = "replica of "
_INDEX = "index"


def with_replicas(root: Element) -> Element:
    """The document with every <replicate> replaced by its copies, inner ones first: so the names' endings are given."""
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
        raise ModelError("<replicate> has no count", element.place, 'write count="..." with a whole number')
    if count * _size(element) > room:
        message = f"the replicas are more than {MAX_ELEMENTS} elements"
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
    """A copy of an element in which all names have an ending."""
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
    """Whether an element is one of the copies that `with_replicas` made."""
    return element.tag.startswith(REPLICA)


def replica_place(element: Element, orienter: Orienter) -> tuple[Transform, ...]:
    """Where a copy stands: its angles are its index times those stated, its position the sum of all steps before it."""
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
