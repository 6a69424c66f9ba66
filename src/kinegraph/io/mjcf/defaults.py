"""<default> classes: the attributes elements have when they do not say otherwise."""

from __future__ import annotations

from kinegraph.errors import ModelError
from kinegraph.io.robot.xml import Element
from kinegraph.model.names import did_you_mean

_MAIN = "main"
#: Attributes that state an orientation: one in the element replaces any other in its class.
ORIENTATIONS = frozenset({"quat", "axisangle", "xyaxes", "zaxis", "euler"})

_Attributes = dict[str, dict[str, str]]


class Defaults:
    """The classes of a model, each complete with what it inherits."""

    def __init__(self, root: Element) -> None:
        self._classes: dict[str, _Attributes] = {_MAIN: {}}
        for element in root.all("default"):
            self._enter(element)

    def _enter(self, top: Element) -> None:
        if (top.get("class") or _MAIN) != _MAIN:
            remedy = f'leave the class out, and put <default class="{top.get("class")}"> into it'
            raise ModelError("the outermost <default> is the class main", top.place, remedy)
        pending: list[tuple[Element, str, str]] = [(top, _MAIN, _MAIN)]
        while pending:
            element, name, parent = pending.pop()
            if element is not top and name in self._classes:
                message = f"there are two default classes of the name {name}"
                raise ModelError(message, element.place, "give every class a name of its own")
            own = {tag: dict(attributes) for tag, attributes in self._classes[parent].items()}
            self._classes[name] = own
            for child in element.children:
                if child.tag == "default":
                    pending.append((child, child.required("class"), name))
                else:
                    own[child.tag] = _combined(own.get(child.tag, {}), child.attributes)

    def complete(self, element: Element, inherited_class: str | None, tag: str | None = None) -> Element:
        """The element with the attributes of its class (its own, or the nearest `childclass` around it) filled in;
        `tag` is what classes call such elements where that is not their own tag."""
        name = element.get("class") or inherited_class or _MAIN
        if name not in self._classes:
            raise ModelError(f"there is no default class {name}", element.place, did_you_mean(name, self._classes))
        filled = _combined(self._classes[name].get(tag or element.tag, {}), element.attributes)
        return Element(element.tag, filled, element.place, element.children)


def _combined(general: dict[str, str], special: dict[str, str]) -> dict[str, str]:
    if ORIENTATIONS & special.keys():
        general = {name: value for name, value in general.items() if name not in ORIENTATIONS}
    return {**general, **special}
