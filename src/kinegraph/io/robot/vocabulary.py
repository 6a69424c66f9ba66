"""Vocabularies of formats: tables of all elements and attributes, and their use, so that every omission is reported.

Each element and attribute is understood (the reader uses it), idle (it does not affect the motion), or left out: of the
equations, or of contacts.
Everything else is reported as not understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.xml import Element
from kinegraph.model.report import FindingKind


class Bearing(Enum):
    """The use of an element or attribute."""

    UNDERSTOOD = "the reader uses it"
    IDLE = "it does not affect the motion"
    LEFT_OUT = "it is not in the equations"
    CONTACTS = "it affects contacts only, and they do without it"


_KINDS = {
    Bearing.IDLE: FindingKind.NOT_USED,
    Bearing.LEFT_OUT: FindingKind.LEFT_OUT,
    Bearing.CONTACTS: FindingKind.CONTACTS,
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute. `harmless` is the value without effect: an attribute with this value is not reported."""

    bearing: Bearing
    topic: str = ""
    harmless: str | None = None


Attributes = Mapping[str, Attribute]


@dataclass(frozen=True)
class Entry:
    """An element: its use, its attributes, and its children (keys of other entries).

    Attributes and children of an idle or left-out element are ignored. `once`: children of which only the first is
    read. `harmless_if`, `harmless_texts`: attribute values and texts that make a left-out element ineffective.
    """

    bearing: Bearing = Bearing.UNDERSTOOD
    topic: str = ""
    attributes: Attributes = field(default_factory=dict)
    children: Mapping[str, str] = field(default_factory=dict)
    once: frozenset[str] = frozenset()
    harmless_if: Attributes = field(default_factory=dict)
    harmless_texts: frozenset[str] = frozenset()
    has_text: bool = False


#: Entries by key: the tag, or another key for a tag with several meanings.
Vocabulary = Mapping[str, Entry]


def understood(names: str) -> Attributes:
    """Attributes that the reader uses, separated by spaces."""
    return {name: Attribute(Bearing.UNDERSTOOD) for name in names.split()}


def idle(names: str) -> Attributes:
    """Attributes that do not affect the motion."""
    return {name: Attribute(Bearing.IDLE) for name in names.split()}


def missing(topic: str, **harmless: str | None) -> Attributes:
    """Attributes that are left out, each with the value without effect (None: every value has an effect)."""
    return {name: Attribute(Bearing.LEFT_OUT, topic, value) for name, value in harmless.items()}


def of_contacts(**harmless: str | None) -> Attributes:
    """Attributes that only contacts, ranges and dry friction would need; like `missing`."""
    return {name: Attribute(Bearing.CONTACTS, "contacts", value) for name, value in harmless.items()}


def entry(*attributes: Attributes, children: str = "", once: str = "", has_text: bool = False) -> Entry:
    """An element that the reader uses. Children are tags, or `tag=key` with another key; `prefix:*` matches all tags of
    a namespace, `*` all other tags."""
    known = {name: one for group in attributes for name, one in group.items()}
    pairs = [word.partition("=") for word in f"{children} {once}".split()]
    by_tag = {tag: key or tag for tag, _, key in pairs}
    single = frozenset(word.partition("=")[0] for word in once.split())
    return Entry(attributes=known, children=by_tag, once=single, has_text=has_text)


IDLE = Entry(Bearing.IDLE)


def left_out(topic: str, texts: str = "", bearing: Bearing = Bearing.LEFT_OUT, **harmless_if: str) -> Entry:
    """An element that is not in the equations (or in contacts), unless an attribute or its text disables it."""
    off = {name: Attribute(bearing, topic, value) for name, value in harmless_if.items()}
    return Entry(bearing, topic, harmless_if=off, harmless_texts=frozenset(texts.split()))


def report_words(
    root: Element,
    key: str,
    vocabulary: Vocabulary,
    findings: Findings,
    text: FindingKind = FindingKind.NOT_UNDERSTOOD,
) -> None:
    """Report all elements and attributes below `root` (the entry `key`) that the reader does not use.

    `text` is the kind of finding for unexpected text between tags.
    """
    pending = [(root, vocabulary[key])]
    while pending:
        element, known = pending.pop()
        _report_attributes(element, known, findings)
        if element.text and not known.has_text:
            findings.count(text, "text", f"text inside <{element.tag}>", element.place)
        seen: set[str] = set()
        inner: list[tuple[Element, Entry]] = []
        for child in element.children:
            found = _child(child, element, known, vocabulary, seen, findings)
            if found is not None:
                inner.append((child, found))
        pending.extend(reversed(inner))


def _report_attributes(element: Element, known: Entry, findings: Findings) -> None:
    for name, value in element.attributes.items():
        if name.startswith("xmlns"):
            continue
        attribute = known.attributes.get(name)
        what = f"{name} of <{element.tag}>"
        if attribute is None:
            findings.count(FindingKind.NOT_UNDERSTOOD, "attributes not understood", what, element.place)
        elif attribute.bearing is not Bearing.UNDERSTOOD and not _harmless(attribute, value):
            findings.count(_KINDS[attribute.bearing], attribute.topic, what, element.place)


def _child(
    child: Element, parent: Element, known: Entry, vocabulary: Vocabulary, seen: set[str], findings: Findings
) -> Entry | None:
    """The entry of a child to visit; None if it is ignored."""
    prefix = child.tag.partition(":")[0]
    key = next((known.children[tag] for tag in (child.tag, f"{prefix}:*", "*") if tag in known.children), None)
    what = f"<{child.tag}> of <{parent.tag}>"
    if key is None:
        findings.count(FindingKind.NOT_UNDERSTOOD, "elements not understood", what, child.place, _name(child))
        return None
    if child.tag in known.once and child.tag in seen:
        findings.count(FindingKind.NOT_UNDERSTOOD, "repeated elements", f"a second {what}", child.place)
        return None
    seen.add(child.tag)
    found = vocabulary[key]
    if found.bearing is Bearing.UNDERSTOOD:
        return found
    harmless = any(_harmless(one, child.get(name) or "") for name, one in found.harmless_if.items())
    if not harmless and child.text not in found.harmless_texts:
        findings.count(_KINDS[found.bearing], found.topic, what, child.place, _name(child))
    return None


def _name(element: Element) -> str:
    """The name of an element, or of what it refers to."""
    named = element.get("name") or element.get("key")
    return named or " and ".join(value for word in _ENDS if (value := element.get(word)))


_ENDS = [
    "joint",
    "tendon",
    "site",
    "body",
    "body1",
    "body2",
    "joint1",
    "joint2",
    "site1",
    "site2",
    "tendon1",
    "tendon2",
    "geom1",
    "geom2",
    "reference",
]


def _harmless(attribute: Attribute, value: str) -> bool:
    """Whether the value has no effect; numbers are compared as numbers."""
    if attribute.harmless is None:
        return False
    try:
        return [float(word) for word in value.split()] == [float(word) for word in attribute.harmless.split()]
    except ValueError:
        return value == attribute.harmless
