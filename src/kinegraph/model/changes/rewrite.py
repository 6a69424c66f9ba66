"""The same change to every expression of a record, and of the records it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from kinegraph.model.expression import Defined, Expression, Name, renamed
from kinegraph.model.places import Places

T = TypeVar("T")


def rewritten(item: T, change: Callable[[Name | Defined], Expression], places: Places | None = None) -> T:
    """A record (a mechanism, a body, a tuple of them) with its names changed; what does not change is the same object.

    `places` learn where the new objects stand.
    """
    new: object = item
    if isinstance(item, Expression):
        new = renamed(item, change)
    elif isinstance(item, tuple):
        parts = tuple(rewritten(part, change, places) for part in item)
        new = parts if any(a is not b for a, b in zip(parts, item, strict=True)) else item
    elif is_dataclass(item) and not isinstance(item, type):
        old = {field.name: getattr(item, field.name) for field in fields(item) if field.init}
        found = {name: rewritten(value, change, places) for name, value in old.items()}
        changed = {name: value for name, value in found.items() if value is not old[name]}
        new = replace(item, **changed) if changed else item
    if places is not None and new is not item:
        places.renew(item, new)
    return cast(T, new)


def expressions(item: object) -> Iterator[Expression]:
    """Every expression of a record, and of the records it is made of."""
    stack = [item]
    while stack:
        here = stack.pop()
        if isinstance(here, Expression):
            yield here
        elif isinstance(here, tuple):
            stack.extend(reversed(here))
        elif is_dataclass(here) and not isinstance(here, type):
            stack.extend(getattr(here, field.name) for field in reversed(fields(here)) if field.init)
