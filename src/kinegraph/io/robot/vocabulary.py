"""What a format can say, word by word, and what becomes of each: a table, so that nothing is left out unsaid.

A vocabulary names every element of a format, its attributes and its children. Each is understood (the reader uses it),
idle (it has no bearing on the motion), or left out. What is not in the table is reported as not understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.xml import Element
from kinegraph.model.report import FindingKind


class Bearing(Enum):
    """What becomes of a word."""

    UNDERSTOOD = "the reader uses it"
    IDLE = "it has no bearing on the motion"
    LEFT_OUT = "the equations do not have it"


_KINDS = {Bearing.IDLE: FindingKind.NOT_USED, Bearing.LEFT_OUT: FindingKind.LEFT_OUT}


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute. `harmless` is the value that says nothing: an attribute left out is not missed if it has it."""

    bearing: Bearing
    topic: str = ""
    harmless: str | None = None


Attributes = Mapping[str, Attribute]


@dataclass(frozen=True)
class Entry:
    """One element: what becomes of it, of its attributes and of its children, which are entries by other keys.

    Of an element that is idle or left out neither attributes nor children are looked at. `once` are the children of
    which the reader takes the first alone. `harmless_if` says which values of which attributes make an element that is
    left out do nothing, `harmless_texts` which texts.
    """

    bearing: Bearing = Bearing.UNDERSTOOD
    topic: str = ""
    attributes: Attributes = field(default_factory=dict)
    children: Mapping[str, str] = field(default_factory=dict)
    once: frozenset[str] = frozenset()
    harmless_if: Attributes = field(default_factory=dict)
    harmless_texts: frozenset[str] = frozenset()
    has_text: bool = False


#: Entries by key: the tag, or `outer/tag` where a tag means different things.
Vocabulary = Mapping[str, Entry]


def understood(names: str) -> Attributes:
    """Attributes the reader uses, separated by blanks."""
    return {name: Attribute(Bearing.UNDERSTOOD) for name in names.split()}


def idle(names: str) -> Attributes:
    """Attributes without bearing on the motion."""
    return {name: Attribute(Bearing.IDLE) for name in names.split()}


def missing(topic: str, **harmless: str | None) -> Attributes:
    """Attributes that are left out, each with the value that says nothing (None: every value says something)."""
    return {name: Attribute(Bearing.LEFT_OUT, topic, value) for name, value in harmless.items()}


def entry(*attributes: Attributes, children: str = "", once: str = "", has_text: bool = False) -> Entry:
    """An element the reader understands. Children are tags, or `tag=key` where the key is another; `prefix:*` and `*`
    stand for all tags of a name space, and all others."""
    known = {name: one for group in attributes for name, one in group.items()}
    pairs = [word.partition("=") for word in f"{children} {once}".split()]
    by_tag = {tag: key or tag for tag, _, key in pairs}
    single = frozenset(word.partition("=")[0] for word in once.split())
    return Entry(attributes=known, children=by_tag, once=single, has_text=has_text)


IDLE = Entry(Bearing.IDLE)


def left_out(topic: str, texts: str = "", **harmless_if: str) -> Entry:
    """An element the equations do not have, unless an attribute, or its text, has a value that switches it off."""
    off = {name: Attribute(Bearing.LEFT_OUT, topic, value) for name, value in harmless_if.items()}
    return Entry(Bearing.LEFT_OUT, topic, harmless_if=off, harmless_texts=frozenset(texts.split()))


def report_words(
    root: Element,
    key: str,
    vocabulary: Vocabulary,
    findings: Findings,
    text: FindingKind = FindingKind.NOT_UNDERSTOOD,
) -> None:
    """Report every element and attribute below `root`, which is the entry `key`, that the reader does not use.

    `text` is what text between tags is where the table does not expect it.
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
    """The entry of a child to look into; None if it has been dealt with."""
    prefix = child.tag.partition(":")[0]
    key = next((known.children[tag] for tag in (child.tag, f"{prefix}:*", "*") if tag in known.children), None)
    what = f"<{child.tag}> of <{parent.tag}>"
    if key is None:
        findings.count(FindingKind.NOT_UNDERSTOOD, "elements not understood", what, child.place, _name(child))
        return None
    if child.tag in known.once and child.tag in seen:
        findings.count(FindingKind.NOT_UNDERSTOOD, "elements stated twice", f"a second {what}", child.place)
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
    """What an element is called, or what it is about."""
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
    """Whether the value is the one that says nothing; numbers are compared as numbers."""
    if attribute.harmless is None:
        return False
    try:
        return [float(word) for word in value.split()] == [float(word) for word in attribute.harmless.split()]
    except ValueError:
        return value == attribute.harmless
