"""<attach> of MJCF: a body of another model, with all that refers to it, under prefixed names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.settings import ATTACHED_DEFAULT
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.xml import Element
from kinegraph.model.report import FindingKind

#: Attributes that name an object, or refer to one.
_NAMES = frozenset({
    "name", "class", "childclass", "joint", "joint1", "joint2", "jointinparent", "body", "body1", "body2", "site",
    "site1", "site2", "slidersite", "cranksite", "refsite", "sidesite", "geom", "geom1", "geom2", "tendon",
    "tendon1", "tendon2", "mesh", "material", "hfield", "texture", "target", "objname", "refname", "actuator",
})  # fmt: skip
#: Attributes of references to bodies, joints, sites, geoms and tendons, which must be in the attached part.
_PARTS = _NAMES - {"name", "class", "childclass", "mesh", "material", "hfield", "texture"}
#: Sections whose elements come along if they refer only to what is attached.
_SECTIONS = ("contact", "tendon", "equality", "actuator", "sensor")
#: Settings that change how the elements of a model are read.
_SETTINGS = (
    "angle", "eulerseq", "autolimits", "inertiafromgeom", "inertiagrouprange", "boundmass", "boundinertia",
    "balanceinertia", "settotalmass", "coordinate", "fitaabb", "exactmeshinertia", "alignfree", "strippath",
)  # fmt: skip
#: The settings that name the folder of a file, by its element.
_FOLDERS = {"mesh": ("meshdir", "assetdir"), "hfield": ("assetdir",)}
_MAIN = "main"
#: The document of a model file and its folder, by its reference; its own <attach> and includes are resolved.
Opener = Callable[[str, Element], tuple[Element, Path]]


@dataclass
class Attacher:
    """Replaces <attach> in the bodies of a model. `open_model` reads the file of a <model>."""

    root: Element
    open_model: Opener
    findings: Findings
    _defaults: set[str] = field(default_factory=set)
    _assets: set[str] = field(default_factory=set)

    def attached(self) -> Element:
        """The model with the attached parts in it."""
        for parent, element in list(_attaching(self.root)):
            place = parent.children.index(element)
            parent.children[place : place + 1] = self._parts(element)
        return self.root

    def _parts(self, element: Element) -> list[Element]:
        prefix = element.get("prefix") or ""
        child, folder = self._model(element)
        self._check_settings(child, element)
        wanted = element.get("body") or element.get("frame")
        tag = "body" if element.get("body") else "frame"
        if wanted:
            every = (one for one in _below(_worldbody(child)) if one.tag == tag)
            found = next((one for one in every if one.get("name") == wanted), None)
            if found is None:
                raise ModelError(f"the attached model has no {tag} {wanted}", element.place, "check its name")
            chosen = [found]
        else:
            chosen = _worldbody(child).children
        inside = {name for top in chosen for one in (top, *_below(top)) if (name := one.get("name"))}
        self._take_defaults(child, prefix)
        self._take_assets(child, prefix, folder)
        self._take_sections(child, prefix, inside)
        parts = [_prefixed(one, prefix) for one in chosen]
        return [Element("frame", {"childclass": prefix + _MAIN}, element.place, parts)]

    def _model(self, element: Element) -> tuple[Element, Path]:
        name = element.required("model")
        for asset in self.root.all("asset"):
            for one in asset.all("model"):
                if (one.get("name") or Path(one.get("file") or "").stem) == name:
                    return self.open_model(one.required("file"), one)
        message = f"unknown model '{name}' of <attach>"
        raise ModelError(message, element.place, f'write <asset><model name="{name}" file="..."/></asset>')

    def _check_settings(self, child: Element, element: Element) -> None:
        """Raise a ModelError if the child is read with other settings."""
        mine, its = (_settings(one) for one in (self.root, child))
        different = [word for word in _SETTINGS if mine.get(word) != its.get(word)]
        if different:
            message = f"the attached model has another {', '.join(different)} of <compiler>"
            raise ModelError(message, element.place, "write the same <compiler> in both, or save the model from MuJoCo")
        for word in ("option", "keyframe"):
            if any(one.attributes or one.children for one in child.all(word)):
                what, name = f"<{word}> of the attached model", element.get("prefix") or ""
                self.findings.count(FindingKind.LEFT_OUT, "attached models", what, element.place, name)

    def _take_defaults(self, child: Element, prefix: str) -> None:
        """The classes of the child, which inherit nothing from those of the model."""
        if prefix in self._defaults:
            return
        self._defaults.add(prefix)
        top = Element(ATTACHED_DEFAULT, {"class": prefix + _MAIN}, child.place)
        for one in child.all("default"):
            top.children += [_prefixed(inner, prefix) for inner in one.children]
        self.root.children.append(top)

    def _take_assets(self, child: Element, prefix: str, folder: Path) -> None:
        if prefix in self._assets:
            return
        self._assets.add(prefix)
        settings = _settings(child)
        taken = Element("asset", {}, child.place)
        for one in (inner for asset in child.all("asset") for inner in asset.children if inner.tag != "model"):
            copy = self._in_class(_prefixed(one, prefix), prefix)
            if file := one.get("file"):
                if not one.get("name"):
                    copy.attributes["name"] = prefix + Path(file).stem
                own = next((settings[word] for word in _FOLDERS.get(one.tag, ()) if settings.get(word)), "")
                copy.attributes["file"] = str((folder / own / file).resolve())
            taken.children.append(copy)
        self.root.children.append(taken)

    def _take_sections(self, child: Element, prefix: str, inside: set[str]) -> None:
        """Tendons, actuators, ... that refer only to what is attached; tendons first, because others refer to them."""
        known = set(inside)
        for section in ("tendon", *(one for one in _SECTIONS if one != "tendon")):
            taken = Element(section, {}, child.place)
            for one in (inner for group in child.all(section) for inner in group.children):
                parts = (one, *_below(one))
                used = {value for part in parts for word, value in part.attributes.items() if word in _PARTS}
                if used and used <= known | {"world"}:
                    taken.children.append(self._in_class(_prefixed(one, prefix), prefix))
                    known |= {one.get("name") or ""} if section == "tendon" else set()
            if taken.children:
                self.root.children.append(taken)

    @staticmethod
    def _in_class(element: Element, prefix: str) -> Element:
        element.attributes.setdefault("class", prefix + _MAIN)
        return element


def _settings(root: Element) -> dict[str, str]:
    return {word: value for one in root.all("compiler") for word, value in one.attributes.items()}


def _worldbody(root: Element) -> Element:
    world = Element("worldbody", {}, root.place)
    for one in root.all("worldbody"):
        world.children += one.children
    return world


def _below(root: Element) -> Iterator[Element]:
    """All elements inside an element, in the order of the file."""
    pending = list(reversed(root.children))
    while pending:
        here = pending.pop()
        yield here
        pending.extend(reversed(here.children))


def _attaching(root: Element) -> Iterator[tuple[Element, Element]]:
    for parent in (one for world in root.all("worldbody") for one in (world, *_below(world))):
        for child in parent.children:
            if child.tag == "attach":
                yield parent, child


def _prefixed(root: Element, prefix: str) -> Element:
    """A copy of an element with a prefix on all names, except that of the world."""
    copy = Element(root.tag, {}, root.place, [], root.text)
    pending = [(root, copy)]
    while pending:
        source, target = pending.pop()
        for word, value in source.attributes.items():
            named = word in _NAMES and value and value != "world"
            target.attributes[word] = prefix + value if named else value
        for child in source.children:
            target.children.append(Element(child.tag, {}, child.place, [], child.text))
            pending.append((child, target.children[-1]))
    return copy
