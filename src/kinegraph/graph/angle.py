"""Angles are linear forms: sin and cos of a sum of angles is one node, and right angles fold exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from heapq import heappop, heappush

from kinegraph.graph.node import Coefficient, Factor, Kind, Node, Polynomial, Symbol

PI = Symbol(Kind.CONSTANT, "pi")

#: A linear form: the coefficient of every monomial, the empty monomial being the constant part.
LinearForm = dict[tuple[Factor, ...], Coefficient]


def linear_form(nodes: Sequence[Node], root: int) -> LinearForm:
    """Write a node as a linear form over monomials, opening sums all the way down."""
    form: LinearForm = {}
    scales: dict[int, Coefficient] = {root: 1}
    # Parents before children, so that a node shared by many sums is opened once.
    heap = [-root]
    while heap:
        index = -heappop(heap)
        scale = scales[index]
        node = nodes[index]
        if not isinstance(node, Polynomial):
            monomial = ((index, 1),)
            form[monomial] = form.get(monomial, 0) + scale
            continue
        for coefficient, factors in node.terms:
            if len(factors) == 1 and factors[0][1] == 1:
                child = factors[0][0]
                if child not in scales:
                    heappush(heap, -child)
                scales[child] = scales.get(child, 0) + scale * coefficient
            else:
                form[factors] = form.get(factors, 0) + scale * coefficient
    return {monomial: coefficient for monomial, coefficient in form.items() if coefficient}


def quarter_turns(pi_multiple: Coefficient) -> tuple[int, Coefficient]:
    """Split r pi into k right angles (0 <= k < 4) and a rest -1/4 < rest/pi <= 1/4."""
    turns = -((1 - 4 * Fraction(pi_multiple)) // 2)  # ceil(2 r - 1/2)
    return int(turns) % 4, Fraction(pi_multiple) - Fraction(int(turns), 2)


def shifted(function: str, quarters: int) -> tuple[int, str]:
    """sin or cos of (x + quarters * pi/2) as a sign and a function of x."""
    position = (quarters + (1 if function == "cos" else 0)) % 4
    return ((1, "sin"), (1, "cos"), (-1, "sin"), (-1, "cos"))[position]


#: Sines of rational multiples of pi that are rational themselves (Niven): the rest after taking out right angles.
RATIONAL_SINES: dict[Coefficient, Coefficient] = {
    Fraction(0): 0,
    Fraction(1, 6): Fraction(1, 2),
    Fraction(-1, 6): Fraction(-1, 2),
}
