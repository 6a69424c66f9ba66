"""Trees lowered once for all derivations of one mechanism that differ in their plans alone.

Lowering a mechanism takes a quarter of a derivation, and a search derives by several plans. A builder in which nothing
was derived yet begins with a copy of what lowering left in another one: all nodes get the numbers they would have got.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TypeVar, cast

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.scalar import Scalar

#: A tuple of trees, or of what is made of them.
Trees = TypeVar("Trees", bound=tuple[object, ...])


class LoweredTrees:
    """The trees that were made first thing in a builder, by a word for how; with the builder as it was then."""

    def __init__(self) -> None:
        self._trees_by_plan: dict[str, tuple[GraphBuilder, object]] = {}
        self._regular = False

    def require_once(self, require: Callable[[], None]) -> None:
        """Ask once whether the inertia matrix can be solved with: all plans have the same."""
        if not self._regular:
            require()
            self._regular = True

    def trees(self, how: str, builder: GraphBuilder, make: Callable[[], Trees]) -> Trees:
        """The trees in a builder in which nothing was derived yet: those known by this word, or what `make` makes."""
        if how not in self._trees_by_plan:
            made = make()
            self._trees_by_plan[how] = builder.copy(), made
            return made
        known, trees = self._trees_by_plan[how]
        builder.become(known)
        return cast("Trees", _in_builder(trees, builder))


def _in_builder(value: object, builder: GraphBuilder) -> object:
    """The same value with its scalars in another builder, which has the same nodes."""
    if isinstance(value, Scalar):
        return Scalar(builder, value.index)
    make: Callable[..., object] = type(value)
    if isinstance(value, tuple):
        parts = [_in_builder(part, builder) for part in value]
        return make(*parts) if hasattr(value, "_fields") else tuple(parts)
    names = _field_names(make)
    if names:
        return make(**{name: _in_builder(getattr(value, name), builder) for name in names})
    if isinstance(value, Mapping):
        return {name: _in_builder(part, builder) for name, part in value.items()}
    return value


@cache
def _field_names(kind: Callable[..., object]) -> tuple[str, ...]:
    """The fields of a dataclass, found out once: a tree has thousands of records of few types."""
    return tuple(one.name for one in fields(kind)) if isinstance(kind, type) and is_dataclass(kind) else ()
