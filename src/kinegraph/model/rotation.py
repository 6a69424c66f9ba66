"""How far a quaternion turns, as an expression: what springs and limits of ball joints work on."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kinegraph.model.expression import Call, Expression, Number, Operation, Scalar, expression

#: Added to a squared length below its root. It is lost in rounding as soon as there is any length, and where there is
#: none it makes the root's derivatives zero: a spring at rest pulls in no direction.
_VANISHING = Number(Fraction(1, 10**200))

_NO_ROTATION = (1, 0, 0, 0)


def length(components: Sequence[Scalar]) -> Expression:
    """The length of a vector, with derivatives that are finite where it is zero."""
    squares = [Operation("^", (expression(item), expression(2))) for item in components]
    return Call("sqrt", (sum(squares[1:], start=squares[0]) + _VANISHING,))


def rotation_angle(quaternion: Sequence[Scalar], reference: Sequence[Scalar] = _NO_ROTATION) -> Expression:
    """The angle, from 0 to pi, of the rotation from the orientation `reference` to that of `quaternion`.

    Both are given scalar part first; the reference need not be of unit length. A spring on this angle turns the joint
    back along the shortest way. At zero its derivatives are finite; at pi the direction of the shortest way jumps.
    """
    e0, *e = (expression(item) for item in quaternion)
    r0, *r = (expression(item) for item in reference)
    scalar = _combined([(r0, e0), *zip(r, e, strict=True)], (1, 1, 1, 1))
    turned = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        turned.append(_combined([(r0, e[i]), (r[k], e[j]), (r[i], e0), (r[j], e[k])], (1, 1, -1, -1)))
    return 2 * Call("atan2", (length(turned), Call("abs", (scalar,))))


_ZERO, _ONE = Number(Fraction(0)), Number(Fraction(1))


def _combined(terms: Sequence[tuple[Expression, Expression]], sign: Sequence[int]) -> Expression:
    """The sum of signed products, without those by zero."""
    total: Expression = _ZERO
    for (factor, item), way in zip(terms, sign, strict=True):
        if factor == _ZERO:
            continue
        product = item if factor == _ONE else factor * item
        if total == _ZERO:
            total = product if way > 0 else -product
        else:
            total = total + product if way > 0 else total - product
    return total
