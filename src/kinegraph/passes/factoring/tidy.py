"""Keeping a system free of what is never worth its own expression: dead ones, other names, single uses."""

from __future__ import annotations

from kinegraph.passes.factoring.coefficients import MINUS_ONE, ONE, ZERO
from kinegraph.passes.factoring.system import System

#: Products are not joined to longer ones: every pair of their factors is a candidate for sharing.
MOST_FACTORS = 32

#: Sums are not joined to longer ones either: every pair of terms is a candidate, and chains of n bodies took n^3.
MOST_TERMS = 100


def tidy(system: System) -> None:
    """Visit what has changed; take in expressions used once where that costs nothing."""
    touched = system.touched
    while touched:
        for literal in list(touched):  # what is touched meanwhile comes after these
            del touched[literal]
            if literal in system.arguments:
                _drop_argument(system, system.arguments[literal])
            terms = system.expressions.get(literal)
            if terms is None or literal in system.roots:
                continue
            if not system.uses.get(literal):
                system.delete(literal)
            elif _worth_inlining(system, literal, terms):
                inline(system, literal)


def _drop_argument(system: System, argument: int) -> None:
    """Remove what sines and cosines are taken of once none of them is used."""
    if argument in system.expressions and not any(map(system.used, system.dependants[argument])):
        inline(system, argument)
        system.delete(argument)


def _worth_inlining(system: System, literal: int, terms: dict[int, int]) -> bool:
    uses = system.uses[literal]
    if len(terms) == 1:
        ((monomial, coefficient),) = terms.items()
        if system.monomials.degree[monomial] <= 1 and coefficient in (ONE, MINUS_ONE):
            return True
        if len(uses) == 1 or system.monomials.degree[monomial] <= 1:
            return _inlining_cost(system, literal, terms) <= 0
        return False
    if not terms:
        return True
    if len(uses) > 1:
        return False
    ((expression, monomial),) = uses
    if len(terms) + len(system.expressions[expression]) > MOST_TERMS:
        return False
    return system.monomials.degree[monomial] == 1 and _inlining_cost(system, literal, terms) <= 0


def _inlining_cost(system: System, literal: int, terms: dict[int, int]) -> int:
    """Operations added by inlining an expression everywhere; like terms are not foreseen."""
    degree, multiply = system.monomials.degree, system.coefficients.multiply
    change = -(sum(system.term_cost(m, c) + 1 for m, c in terms.items()) - 1)
    for expression, monomial in system.uses[literal]:
        times = system.monomials.literals[monomial].count(literal)
        if times > 1 and len(terms) > 1:
            return 1
        outer = system.expressions[expression][monomial]
        change -= system.term_cost(monomial, outer) + 1
        for m, c in terms.items():
            size = degree[monomial] + times * (degree[m] - 1)
            if size > MOST_FACTORS:
                return 1
            product = outer
            for _ in range(times):
                product = multiply(product, c)
            change += (size - (product in (ONE, MINUS_ONE)) if size else 0) + 1
    return change


def inlined_size(system: System, literal: int) -> int:
    """The number of terms inlining would write."""
    terms = len(system.expressions[literal])
    total = 0
    for _, monomial in system.uses.get(literal, ()):
        total += terms ** system.monomials.literals[monomial].count(literal)
    return total


def inline(system: System, literal: int) -> None:
    """Write an expression out in all its uses; it is deleted unless it is a root."""
    terms = dict(system.expressions[literal])
    for expression, monomial in sorted(system.uses.get(literal, ())):
        outer = system.expressions[expression][monomial]
        literals = system.monomials.literals[monomial]
        times = literals.count(literal)
        rest = system.monomials.intern(tuple(x for x in literals if x != literal))
        system.set_term(expression, monomial, ZERO)
        for product, coefficient in expanded(system, rest, outer, terms, times).items():
            system.add_term(expression, product, coefficient)
    if literal not in system.roots:
        system.delete(literal)


def expanded(system: System, monomial: int, outer: int, terms: dict[int, int], times: int) -> dict[int, int]:
    """outer * monomial * (sum of terms)^times, written out."""
    result = {monomial: outer}
    for _ in range(times):
        product: dict[int, int] = {}
        for left, c in result.items():
            for right, d in terms.items():
                key = system.monomials.times(left, system.monomials.literals[right])
                value = system.coefficients.multiply(c, d)
                product[key] = system.coefficients.add(product.get(key, ZERO), value)
        result = product
    return result
