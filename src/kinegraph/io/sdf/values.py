"""What SDFormat writes as text of elements: flags, names, and numbers that are read as attributes of other formats."""

from __future__ import annotations

from kinegraph.errors import ModelError
from kinegraph.io.robot.xml import Element

_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def stated(element: Element) -> Element:
    """The element with the texts of its children as attributes, the first of each."""
    texts = {child.tag: child.text for child in reversed(element.children)}
    return Element(element.tag, texts, element.place)


def flag(element: Element, tag: str) -> bool:
    """Whether a child says `true`; a missing one says `false`."""
    child = element.first(tag)
    if child is None:
        return False
    if child.text not in _FLAGS:
        raise ModelError(f"<{tag}> is `{child.text[:40]}`", child.place, "write true or false")
    return _FLAGS[child.text]
