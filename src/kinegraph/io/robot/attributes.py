"""Numbers in XML attributes, exact as they are written."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.robot.xml import Element

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?([0-9]*)|\.([0-9]+))(?:[eE]([+-]?[0-9]{1,4}))?")
_LONGEST = 400
_LARGEST = Fraction(sys.float_info.max)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Written:
    """A decimal number with how many decimals it was written: 1.5708 has four."""

    value: Fraction
    decimals: int = 0


def read_number(text: str, element: Element, name: str) -> Written:
    """One number; anything else is an error that names the attribute."""
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None or abs(int(match[3] or 0)) > _LONGEST or abs(value := Fraction(text)) > _LARGEST:
        shortened = text if len(text) <= 40 else text[:37] + "..."
        message = f"{name} of <{element.tag}> is `{shortened}`, which is no finite number"
        raise ModelError(message, element.place, "write a decimal number, e.g. 0.25 or 1e-3")
    decimals = len(match[1] or match[2] or "") - int(match[3] or 0)
    return Written(value, max(decimals, 0))


def numbers(element: Element, name: str) -> tuple[Written, ...] | None:
    """The numbers of an attribute, separated by blanks; None if the attribute is missing or blank."""
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
    """One number, or None if the attribute is missing."""
    found = vector(element, name, 1)
    return None if found is None else found[0].value


def bound(element: Element, name: str) -> Fraction | None:
    """One number; None if the attribute is missing or infinite."""
    text = (element.get(name) or "").strip()
    return None if _INFINITE.fullmatch(text) else single(element, name)
