"""Several models of an SDF file as one: nested and included models, whose links get names such as `hand::palm`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from kinegraph.errors import ModelError
from kinegraph.io.meshes import MeshFinder
from kinegraph.io.model_format import ModelFormat, require_root
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.xml import Element, read_xml
from kinegraph.io.sdf.frames import MODEL, WORLD, flag
from kinegraph.model.report import FindingKind

#: What a scope of names is made of: models, and the frames that belong to them.
_MODELS = ("model", "include")
_FRAMES = ("link", "joint", "frame")
#: Attributes and elements whose value is the name of a frame.
_NAMES = ("relative_to", "attached_to", "expressed_in")
_NAMED_BY_TEXT = ("parent", "child", "gearbox_reference_body")
#: Models may include each other to this depth.
_MOST_DEPTH = 20
#: Models in all: few files that include each other can describe more links than any memory holds.
_MOST_MODELS = 1000

Checked = Callable[[Element], None]


def is_old(root: Element) -> bool:
    """Whether axes of joints are in the model's frame, as before version 1.5."""
    major, _, minor = (root.get("version") or "").strip().partition(".")
    return major == "1" and minor.isdigit() and int(minor) < 5


@dataclass(frozen=True)
class _File:
    """A file that models are read from: where its references start, and whether its axes are those of old files."""

    finder: MeshFinder
    old: bool
    around: tuple[Path, ...] = ()


@dataclass
class Nesting:
    """Makes one model of the models of a world, or of a model with others inside. `check` reports the words of an
    included file that are not used."""

    findings: Findings
    check: Checked
    models: int = 0
    files: dict[Path, Element] = field(default_factory=dict)

    def model(self, root: Element, finder: MeshFinder) -> Element:
        """The only model that moves, with all models inside it; several models of a world as one model without pose."""
        world = root.first("world")
        around = root if world is None else world
        file = _File(finder, is_old(root))
        every = [self._included(one, file) for one in around.children if one.tag in _MODELS]
        joints = [one for one in around.children if one.tag in ("joint", "frame")] if world is not None else []
        chosen = every if joints else [pair for pair in every if not flag(pair[0], "static")] or every[:1]
        if not chosen:
            message = "the file has no model"
            raise ModelError(message, around.place, "write at least one <model> with links")
        for model, _ in every:
            if all(model is not one for one, _ in chosen):
                what = "<model> that is static"
                self.findings.count(FindingKind.LEFT_OUT, "static models", what, model.place, model.get("name") or "")
        if len(chosen) == 1 and not joints:
            return self._flat(*chosen[0])
        name = (world.get("name") if world is not None else None) or "world"
        return self._flat(Element("model", {"name": name}, around.place, joints), file, chosen)

    def _flat(
        self, model: Element, file: _File, inner: list[tuple[Element, _File]] | None = None, depth: int = 0
    ) -> Element:
        """The model with the links, joints and frames of all models inside it."""
        if depth > _MOST_DEPTH:
            raise ModelError(f"models are nested more than {_MOST_DEPTH} deep", model.place, "nest fewer models")
        self.models += 1
        if self.models > _MOST_MODELS:
            raise ModelError(f"there are more than {_MOST_MODELS} models", model.place, "include fewer models")
        if inner is None:
            inner = [self._included(one, file) for one in model.children if one.tag in _MODELS]
        own = [one for one in model.children if one.tag not in _MODELS]
        if file.old:
            own = [_with_old_axes(one) if one.tag == "joint" else one for one in own]
        taken = {one.get("name") for one in own}
        for nested, source in inner:
            flat = self._flat(nested, source, depth=depth + 1)
            own += self._prefixed(flat, self._name(flat, taken))
        return Element(model.tag, dict(model.attributes), model.place, own, model.text)

    def _name(self, model: Element, taken: set[str | None]) -> str:
        """The name of a nested model; a number is added if a model has it already."""
        wanted = name = model.required("name")
        number = 1
        while name in taken or name in (WORLD, MODEL):
            number += 1
            name = f"{wanted}_{number}"
        if name != wanted:
            message = f"the model {wanted} is called {name}, because the name is taken"
            self.findings.add(FindingKind.ASSUMED, message, model.place, "names of models")
        taken.add(name)
        return name

    def _prefixed(self, model: Element, name: str) -> Iterator[Element]:
        """The frame of a nested model, and its parts with its name before theirs."""
        if model.get("placement_frame"):
            message = f"placement_frame of the nested model {name} is not supported"
            raise ModelError(message, model.place, "place the frame of the model itself")
        parts = [one for one in model.children if one.tag in _FRAMES]
        links = [one for one in parts if one.tag == "link"]
        if not links:
            raise ModelError(f"the nested model {name} has no links", model.place, "write a link in it, or remove it")
        canonical = model.get("canonical_link") or links[0].required("name")
        pose = model.first("pose") or Element("pose", {}, model.place)
        attributes = {"relative_to": MODEL, **pose.attributes}
        placed = Element("pose", attributes, pose.place, [], pose.text)
        frame = {"name": name, "attached_to": f"{name}::{canonical}"}
        yield Element("frame", frame, model.place, [placed])
        for part in parts:
            yield _renamed(part, name)
            if part.tag == "link" and flag(model, "static"):
                yield _weld(part, name)
        for child in model.children:
            if child.tag not in (*_FRAMES, "pose", "static"):
                yield child

    # included files

    def _included(self, element: Element, file: _File) -> tuple[Element, _File]:
        """A model, or that of the file which <include> names, with the name and pose that <include> gives it."""
        if element.tag != "include":
            return element, file
        uri = element.first("uri")
        reference = uri.text.strip() if uri is not None else ""
        path = self._model_file(reference, file.finder)
        if path is None:
            message = f"the included model {reference[:100] or '(no uri)'} was not found"
            remedy = "name the folder that contains its folder: --package-root DIR"
            raise ModelError(message, element.place, remedy)
        if path in file.around:
            raise ModelError(f"{path.name} includes itself", element.place, "remove one <include>")
        if path not in self.files:
            self.files[path] = read_xml(path)
            require_root(self.files[path], ModelFormat.SDF)
            self.check(self.files[path])
        root = self.files[path]
        models = list(root.all("model"))
        if len(models) != 1:
            message = f"{path.name} has {len(models)} models outside a world; <include> takes files with one"
            raise ModelError(message, element.place, "include a file with one model")
        (model,) = models
        attributes = dict(model.attributes)
        for word in ("name", "placement_frame"):
            stated = element.first(word)
            if stated is not None:
                attributes[word] = stated.text
        given = [one for word in ("pose", "static") if (one := element.first(word)) is not None]
        replaced = {one.tag for one in given}
        children = [*given, *(one for one in model.children if one.tag not in replaced)]
        folders = [file.finder.folder] if file.finder.folder else []
        finder = MeshFinder(path.parent, (*file.finder.roots, *folders))
        included = Element("model", attributes, model.place, children, model.text)
        _resolve_meshes(included, finder)
        return included, _File(finder, is_old(root), (*file.around, path))

    def _model_file(self, reference: str, finder: MeshFinder) -> Path | None:
        """The file of a reference: itself, or the model in a folder, as its model.config says."""
        if found := finder.file(reference):
            return Path(found)
        configuration = finder.file(f"{reference}/model.config")
        if configuration is None:
            return next((Path(one) for one in [finder.file(f"{reference}/model.sdf")] if one), None)
        named = [one.text.strip() for one in read_xml(configuration).all("sdf")]
        found = finder.file(f"{reference}/{named[-1]}") if named else None
        return Path(found) if found else None


def _with_old_axes(joint: Element) -> Element:
    """A joint of an old file with axes that say that they are in the model's frame."""
    children = []
    for child in joint.children:
        xyz = child.first("xyz") if child.tag in ("axis", "axis2") else None
        if xyz is None or xyz.get("expressed_in"):
            children.append(child)
            continue
        said = Element("xyz", {**xyz.attributes, "expressed_in": MODEL}, xyz.place, [], xyz.text)
        inner = [said if one is xyz else one for one in child.children]
        children.append(Element(child.tag, dict(child.attributes), child.place, inner, child.text))
    return Element(joint.tag, dict(joint.attributes), joint.place, children, joint.text)


def _renamed(part: Element, model: str) -> Element:
    """A link, joint or frame of a nested model, with the name of the model before all names of frames."""
    renamed = _names_changed(part, model)
    renamed.attributes["name"] = f"{model}::{part.required('name')}"
    if part.tag == "frame":
        renamed.attributes.setdefault("attached_to", model)
    if part.tag == "link":
        pose = renamed.first("pose")
        if pose is None:
            pose = Element("pose", {}, part.place)
            renamed.children.append(pose)
        pose.attributes.setdefault("relative_to", model)
    if part.tag == "joint":
        for axis in (one for one in renamed.children if one.tag in ("axis", "axis2")):
            xyz = axis.first("xyz")
            if xyz is not None and flag(axis, "use_parent_model_frame"):
                xyz.attributes.setdefault("expressed_in", model)
    return renamed


def _names_changed(element: Element, model: str) -> Element:
    def changed(name: str) -> str:
        inner = name.strip()
        return inner if inner == WORLD else model if inner == MODEL else f"{model}::{inner}"

    attributes = {word: changed(text) if word in _NAMES and text else text for word, text in element.attributes.items()}
    if element.tag == "mimic" and "joint" in attributes:
        attributes["joint"] = changed(attributes["joint"])
    text = changed(element.text) if element.tag in _NAMED_BY_TEXT and element.text.strip() else element.text
    children = [_names_changed(child, model) for child in element.children]
    return Element(element.tag, attributes, element.place, children, text)


def _weld(link: Element, model: str) -> Element:
    """The joint that fixes a link of a static model."""
    name = link.required("name")
    ends = [Element(tag, {}, link.place, [], text) for tag, text in (("parent", WORLD), ("child", f"{model}::{name}"))]
    return Element("joint", {"name": f"{model}::{name}::static", "type": "fixed"}, link.place, ends)


def _resolve_meshes(model: Element, finder: MeshFinder) -> None:
    """Write relative references to meshes of an included file as paths, because they start in its own folder."""
    pending = [model]
    while pending:
        element = pending.pop()
        pending += element.children
        if element.tag == "uri" and "://" not in element.text and not PurePosixPath(element.text).is_absolute():
            element.text = finder.file(element.text.strip()) or element.text
