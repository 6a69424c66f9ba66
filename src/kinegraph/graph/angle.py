"""Angles as linear forms: equal angles share one node for sin and cos, and right angles fold exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from heapq import heappop, heappush

from kinegraph.graph.node import Coefficient, Factor, Kind, Node, Polynomial, Symbol, Term

PI = Symbol(Kind.CONSTANT, "pi")

#: A linear form: the coefficient of every monomial. The empty monomial is the constant part.
LinearForm = dict[tuple[Factor, ...], Coefficient]


def linear_form(nodes: Sequence[Node], root: int, known: dict[int, LinearForm | None] | None = None) -> LinearForm:
    """Write a node as a linear form over monomials: expand nested sums and products.

    known: expanded forms of nodes from earlier calls; this call adds its own.
    """
    form: LinearForm = {}
    known = {} if known is None else known
    scales: dict[int, Coefficient] = {root: 1}
    # Parents before children, so that a node shared by many sums is expanded once.
    heap = [-root]
    while heap:
        index = -heappop(heap)
        scale = scales[index]
        node = nodes[index]
        if not isinstance(node, Polynomial):
            form[((index, 1),)] = form.get(((index, 1),), 0) + scale
            continue
        for coefficient, factors in node.terms:
            if len(factors) == 1 and factors[0][1] == 1:
                child = factors[0][0]
                if child not in scales:
                    heappush(heap, -child)
                scales[child] = scales.get(child, 0) + scale * coefficient
            else:
                product = _product(nodes, factors, known)
                for monomial, inner in ({factors: 1} if product is None else product).items():
                    form[monomial] = form.get(monomial, 0) + scale * coefficient * inner
    return {monomial: coefficient for monomial, coefficient in form.items() if coefficient}


#: Products of sums are expanded up to this many terms; larger products are left unchanged.
_MOST_TERMS = 64

#: Powers of numbers with more bits are not computed.
_MOST_BITS = 4096


def _product(
    nodes: Sequence[Node], factors: tuple[Factor, ...], known: dict[int, LinearForm | None]
) -> LinearForm | None:
    """An expanded product; None if it is too long.

    Passes regroup products: 2 (pi t), (2 pi) t and t (pi + pi) must give one form. Therefore the limit applies to the
    result with like terms collected, and a product is never expanded in part: neither depends on the grouping.
    """
    total: LinearForm | None = {(): 1}
    for child, exponent in factors:
        inner = _expanded(nodes, child, known)
        if inner is None or total is None:
            return None
        total = _times_power(total, inner, exponent)
    return total


def _times_power(total: LinearForm, inner: LinearForm, exponent: int) -> LinearForm | None:
    """total * inner^exponent; None if it is too long."""
    if len(inner) == 1:
        ((monomial, coefficient),) = inner.items()
        bits = max(coefficient.numerator.bit_length(), coefficient.denominator.bit_length())
        if bits > 1 and exponent * bits > _MOST_BITS:
            return None
        inner, exponent = {tuple((child, e * exponent) for child, e in monomial): coefficient**exponent}, 1
    if exponent > _MOST_TERMS:
        return None
    for _ in range(exponent):
        total = _times(total, inner)
        if len(total) > _MOST_TERMS:
            return None
    return total


def _expanded(nodes: Sequence[Node], root: int, known: dict[int, LinearForm | None]) -> LinearForm | None:
    """A node as a sum of monomials in symbols and functions, found iteratively; None if it is too long."""
    pending = [root] if root not in known else []
    while pending:
        index = pending[-1]
        node = nodes[index]
        terms = node.terms if isinstance(node, Polynomial) else ()
        missing = [child for _, factors in terms for child, _ in factors if child not in known]
        if missing:
            pending += missing
            continue
        pending.pop()
        known[index] = _sum(nodes, terms, known) if isinstance(node, Polynomial) else {((index, 1),): 1}
    return known[root]


def _sum(nodes: Sequence[Node], terms: Sequence[Term], known: dict[int, LinearForm | None]) -> LinearForm | None:
    total: LinearForm = {}
    for coefficient, factors in terms:
        product = _product(nodes, factors, known)
        if product is None:
            return None
        for monomial, inner in product.items():
            total[monomial] = total.get(monomial, 0) + coefficient * inner
    total = {monomial: coefficient for monomial, coefficient in total.items() if coefficient}
    return total if len(total) <= _MOST_TERMS else None


def _times(left: LinearForm, right: LinearForm) -> LinearForm:
    total: LinearForm = {}
    for a, x in left.items():
        for b, y in right.items():
            powers = dict(a)
            for child, exponent in b:
                powers[child] = powers.get(child, 0) + exponent
            monomial = tuple(sorted(powers.items()))
            total[monomial] = total.get(monomial, 0) + x * y
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def quarter_turns(pi_multiple: Coefficient) -> tuple[int, Coefficient]:
    """Split r pi into k right angles (0 <= k < 4) and a remainder with -1/4 < remainder/pi <= 1/4."""
    if not pi_multiple:
        return 0, 0
    turns = -((1 - 4 * Fraction(pi_multiple)) // 2)  # ceil(2 r - 1/2)
    return int(turns) % 4, Fraction(pi_multiple) - Fraction(int(turns), 2)


def shifted(function: str, quarters: int) -> tuple[int, str]:
    """sin or cos of (x + quarters * pi/2) as a sign and a function of x."""
    position = (quarters + (1 if function == "cos" else 0)) % 4
    return ((1, "sin"), (1, "cos"), (-1, "sin"), (-1, "cos"))[position]


#: The rational sines of rational multiples of pi (Niven's theorem), without right angles.
RATIONAL_SINES: dict[Coefficient, Coefficient] = {
    Fraction(0): 0,
    Fraction(1, 6): Fraction(1, 2),
    Fraction(-1, 6): Fraction(-1, 2),
}
