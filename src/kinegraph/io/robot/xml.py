"""Untrusted XML as a small tree with line numbers, and exact numbers from its attributes."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from xml.parsers import expat

from kinegraph.errors import ModelError, Place
from kinegraph.files import read_input

# Document types, entities, and files beyond the limits of size, depth or number are errors.

#: Maximum file size in bytes, nesting depth, and numbers of elements and attributes.
MAX_BYTES = 20_000_000
MAX_DEPTH = 1000
MAX_ELEMENTS = 300_000
MAX_ATTRIBUTES = 1_000_000


@dataclass(eq=False, slots=True)
class Element:
    """An element: its tag, attributes and children in order, its text, and its place in the file."""

    tag: str
    attributes: dict[str, str]
    place: Place
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def __repr__(self) -> str:
        return f"<{self.tag}> ({self.place})"

    def get(self, name: str) -> str | None:
        """An attribute as written, or None."""
        return self.attributes.get(name)

    def first(self, tag: str) -> Element | None:
        """The first child of this tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, tag: str) -> Iterator[Element]:
        """All children of this tag."""
        return (child for child in self.children if child.tag == tag)

    def required(self, name: str) -> str:
        """A required, nonempty attribute."""
        value = self.get(name)
        if not value:
            raise ModelError(f"<{self.tag}> has no {name}", self.place, f'write <{self.tag} {name}="...">')
        return value


def read_xml(path: str | PathLike[str]) -> Element:
    """The root element of a file."""
    return parse_xml(read_input(path, MAX_BYTES), str(path))


def encoded(text: str | bytes) -> bytes:
    """The bytes of a document given as text or bytes."""
    return text.encode() if isinstance(text, str) else text


def parse_xml(content: bytes, source: str = "") -> Element:
    """The root element of a document; `source` is its name in error messages."""
    if len(content) > MAX_BYTES:
        raise _limit(f"the document has {len(content)} bytes; the limit is {MAX_BYTES}", Place(1, 1, source))
    reader = _Reader(source)
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        place = Place(error.lineno, error.offset + 1, source)
        message = f"the file is not well-formed XML: {expat.ErrorString(error.code)}"
        raise ModelError(message, place, "check the tags before this place") from None
    except (LookupError, ValueError):  # an unknown or multibyte encoding
        raise ModelError("the encoding of the file is not supported", Place(1, 1, source), "save it as UTF-8") from None
    assert reader.root is not None  # expat rejects a document without an element
    return reader.root


class _Reader:
    """Builds elements from parser events, and rejects document types and entities."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.root: Element | None = None
        self._open: list[Element] = []
        self._texts: list[list[str]] = []
        self._elements = self._attributes = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.parser.EntityDeclHandler = self._refuse_entity
        self.parser.ExternalEntityRefHandler = self._refuse_entity

    def _here(self) -> Place:
        return Place(self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1, self.source)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self._here())
        self._elements += 1
        self._attributes += len(attributes)
        if self._elements > MAX_ELEMENTS or self._attributes > MAX_ATTRIBUTES:
            message = f"more than {MAX_ELEMENTS} elements or {MAX_ATTRIBUTES} attributes"
            raise _limit(message, element.place)
        if len(self._open) >= MAX_DEPTH:
            raise _limit(f"elements nest deeper than {MAX_DEPTH}", element.place)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)
        self._texts.append([])

    def _characters(self, text: str) -> None:
        if not text.isspace():
            self._texts[-1].append(text)

    def _end(self, tag: str) -> None:
        self._open.pop().text = "".join(self._texts.pop()).strip()

    def _refuse_doctype(self, *_: object) -> None:
        remedy = "remove <!DOCTYPE ...>: document types and entities are not allowed in model files"
        raise ModelError("the file declares a document type", self._here(), remedy)

    def _refuse_entity(self, *_: object) -> int:
        remedy = "write the text itself: entities are not allowed in model files"
        raise ModelError("the file declares an entity", self._here(), remedy)


def _limit(message: str, place: Place) -> ModelError:
    return ModelError(message, place, "build a model of this size in Python, with kinegraph.Builder")


# Exact numbers in attributes

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?([0-9]*)|\.([0-9]+))(?:[eE]([+-]?[0-9]{1,4}))?")
_LONGEST = 400
_LARGEST = Fraction(sys.float_info.max)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Written:
    """A decimal number with its number of decimals: 1.5708 has four."""

    value: Fraction
    decimals: int = 0


def read_number(text: str, element: Element, name: str) -> Written:
    """A single number; an error names the attribute."""
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None or abs(int(match[3] or 0)) > _LONGEST or abs(value := Fraction(text)) > _LARGEST:
        shortened = text if len(text) <= 40 else text[:37] + "..."
        message = f"{name} of <{element.tag}> is `{shortened}`, not a finite number"
        raise ModelError(message, element.place, "write a decimal number, e.g. 0.25 or 1e-3")
    decimals = len(match[1] or match[2] or "") - int(match[3] or 0)
    return Written(value, max(decimals, 0))


def numbers(element: Element, name: str) -> tuple[Written, ...] | None:
    """The numbers of an attribute, separated by spaces; None if the attribute is missing or blank."""
    text = element.get(name)
    if text is None or not text.strip():
        return None
    return tuple(read_number(word, element, name) for word in text.split())


def vector(element: Element, name: str, count: int) -> tuple[Written, ...] | None:
    """Exactly `count` numbers, or None if the attribute is missing."""
    found = numbers(element, name)
    if found is not None and len(found) != count:
        message = f"{name} of <{element.tag}> takes {count} numbers, found {len(found)}"
        raise ModelError(message, element.place, f'write {name}="{" ".join(["0"] * count)}" with your numbers')
    return found


def single(element: Element, name: str) -> Fraction | None:
    """A single number, or None if the attribute is missing."""
    found = vector(element, name, 1)
    return None if found is None else found[0].value


def bound(element: Element, name: str) -> Fraction | None:
    """A single number; None if the attribute is missing or infinite."""
    text = (element.get(name) or "").strip()
    return None if _INFINITE.fullmatch(text) else single(element, name)
