"""The factoring every search starts from: long sums broken up in the best of several orders, then fast extract."""

from __future__ import annotations

from collections.abc import Callable

from kinegraph.passes.factoring.convert import Translation
from kinegraph.passes.factoring.extract import greedy
from kinegraph.passes.factoring.horner import Order, break_up, has_long_sums
from kinegraph.passes.factoring.tidy import tidy

#: How many of the orders are factored in full; the others are judged by their Horner schemes alone.
TRIED = 2

#: More expressions than this are tidied before their candidates are indexed: far fewer are then entered and left again.
_MANY = 2000


def factored(make: Callable[[], Translation]) -> Translation:
    """A translation, greedily factored. `make` gives a fresh one each time it is called."""
    translation = make()
    if not has_long_sums(translation.system):
        return _greedily(translation)
    schemes = []
    for order in Order:
        candidate = make()
        break_up(candidate.system, order)
        schemes.append(candidate)
    schemes.sort(key=lambda scheme: scheme.system.cost)
    return min((_greedily(scheme) for scheme in schemes[:TRIED]), key=lambda scheme: scheme.system.cost)


def _greedily(translation: Translation) -> Translation:
    if len(translation.system.expressions) > _MANY:
        tidy(translation.system)
    translation.system.build_index()
    greedy(translation.system)
    return translation
