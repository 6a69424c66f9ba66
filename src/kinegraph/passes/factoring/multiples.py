"""Expressions that are equal up to a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from kinegraph.passes.factoring.coefficients import ONE
from kinegraph.passes.factoring.system import System

#: Terms (monomial, coefficient), the first coefficient 1 where all can be divided by it.
Normal: TypeAlias = tuple[tuple[int, int], ...]


def normalised(system: System, terms: Mapping[int, int]) -> tuple[Normal, int]:
    """The same terms for all multiples of a sum, and what this one is a multiple by."""
    table = system.coefficients
    ordered = sorted(terms.items())
    scale = ordered[0][1]
    quotients = [(monomial, table.divide(coefficient, scale)) for monomial, coefficient in ordered]
    if any(quotient is None for _, quotient in quotients):
        return tuple(ordered), ONE
    return tuple((monomial, quotient) for monomial, quotient in quotients if quotient is not None), scale
