"""What a value is made of, as a digest: the names under which things are stored are made of this and nothing else.

Never of a display text: that may be shortened, rounded or ambiguous. Two values have the same digest exactly if their
types and complete contents are the same; 1, 1.0 and True differ, as do 0.0 and -0.0. Nothing here recurses: a sum of
50,000 terms is 50,000 levels deep.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from typing import NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import KernelError


def digest(*values: object) -> str:
    """The digest of these values, in this order, as 64 hexadecimal digits.

    Takes numbers, texts, enums, tuples, lists, sets, mappings (in any order), arrays, and dataclasses of these.
    Raises KernelError for anything else, for then the digest would not be complete.
    """
    return _Digests().of(values).hex()


class _Digests:
    """The digests of all composite parts of one value, each computed once however often the part is used."""

    def __init__(self) -> None:
        self._found: dict[int, bytes] = {}
        self._alive: list[object] = []  # an id is only good as long as its object lives

    def of(self, root: object) -> bytes:
        stack: list[tuple[object, list[object] | None]] = [(root, None)]
        while stack:
            here, parts = stack.pop()
            if id(here) in self._found:
                continue
            if parts is None:
                parts = _splitter(type(here)).parts(here)
                stack.append((here, parts))
                stack.extend((part, None) for part in parts if _encoder(type(part)) is None)
            else:
                self._found[id(here)] = self._digest(here, parts)
                self._alive.append(here)
        return self._found[id(root)]

    def _digest(self, here: object, parts: list[object]) -> bytes:
        splitter = _splitter(type(here))
        encoded = [self._encoded(part) for part in parts]
        if splitter.order is _Order.NONE:
            encoded.sort()
        elif splitter.order is _Order.PAIRS:
            encoded = [b"".join(pair) for pair in sorted(zip(encoded[::2], encoded[1::2], strict=True))]
        return sha256(splitter.head + b"".join(encoded)).digest()

    def _encoded(self, part: object) -> bytes:
        """With its length in front, so that no two sequences of parts run into the same bytes."""
        encoder = _encoder(type(part))
        data = b"#" + self._found[id(part)] if encoder is None else encoder(part)
        return b"%d:%b" % (len(data), data)


T = TypeVar("T")
_Encoder: TypeAlias = Callable[[object], bytes]


class _Order(Enum):
    """What the order of the parts of a composite means."""

    GIVEN = "given"
    NONE = "none"
    PAIRS = "pairs of key and value, in any order"


class _Splitter(NamedTuple):
    """How the parts of a type's objects are found; `head` is the type, with a length in front."""

    head: bytes
    parts: Callable[[object], list[object]]
    order: _Order = _Order.GIVEN


def _leaf(kind: type[T], encode: Callable[[T], bytes]) -> tuple[type, _Encoder]:
    """A row of the table below: the type and how its objects are written, which nobody asks of another type."""
    return kind, cast("_Encoder", encode)


#: The types without parts. Whole numbers are written in base sixteen: in base ten Python refuses the longest.
_LEAVES: dict[type, _Encoder] = dict(
    [
        _leaf(type(None), lambda value: b"none"),
        _leaf(bool, lambda value: b"bool %d" % value),
        _leaf(int, lambda value: b"int %x" % value),
        _leaf(float, lambda value: b"float " + struct.pack(">d", value)),
        _leaf(str, lambda value: b"text " + value.encode("utf-8", "surrogatepass")),
        _leaf(bytes, lambda value: b"bytes " + value),
        _leaf(Fraction, lambda value: b"fraction %x/%x" % (value.numerator, value.denominator)),
        _leaf(Decimal, lambda value: b"decimal %b" % str(value.as_tuple()).encode()),
    ]
)


def _encoder(kind: type) -> _Encoder | None:
    """How objects of a type without parts are written; None for composites."""
    if kind not in _LEAVES and issubclass(kind, Enum):
        name = _class_name(kind)
        _LEAVES[kind] = _leaf(Enum, lambda value: f"enum {name}.{value.name}".encode())[1]
    return _LEAVES.get(kind)


_SPLITTERS: dict[type, _Splitter] = {}


def _splitter(kind: type) -> _Splitter:
    """How objects of a composite type are taken apart."""
    if kind not in _SPLITTERS:
        _SPLITTERS[kind] = _new_splitter(kind)
    return _SPLITTERS[kind]


def _new_splitter(kind: type) -> _Splitter:
    head = b"%d:%b" % (len(_class_name(kind)), _class_name(kind).encode())
    if issubclass(kind, tuple | list):
        return _Splitter(head, _members)
    if issubclass(kind, frozenset | set):
        return _Splitter(head, _members, _Order.NONE)
    if issubclass(kind, Mapping):
        return _Splitter(b"7:mapping", _pairs, _Order.PAIRS)
    if issubclass(kind, np.ndarray):
        return _Splitter(head, _array_parts)
    if is_dataclass(kind):
        # What is not given when an object is made follows from what is (a hash that differs between processes).
        names = tuple(field.name for field in fields(kind) if field.init)
        return _Splitter(head, lambda value: [*names, *(getattr(value, name) for name in names)])
    raise KernelError(f"a {_class_name(kind)} has no contents that a name could be made of")


def _members(value: object) -> list[object]:
    return list(cast("Iterable[object]", value))


def _pairs(value: object) -> list[object]:
    return [part for pair in cast("Mapping[object, object]", value).items() for part in pair]


def _array_parts(found: object) -> list[object]:
    value = cast("NDArray[np.generic]", found)
    if value.dtype.hasobject:
        raise KernelError("an array of objects has no contents that a name could be made of")
    return [value.dtype.str, value.shape, value.tobytes()]


def _class_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
