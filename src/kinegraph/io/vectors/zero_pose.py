"""The zero pose of a joint between two links, from the vectors of the table alone (Racković, section 1.3.2.1).

Seen along the joint axis, the way from the joint to the centre of its own link continues the way from the centre of the
link before to the joint. Where a vector is parallel to the axis, x, y, z are first exchanged for y, z, x.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, sqrt

from kinegraph.model.expression import Number
from kinegraph.model.mechanism import Quaternion, Transform

Three = tuple[Fraction, Fraction, Fraction]
_Frame = tuple[Three, Three, Three]


def zero_pose(axis: Three, own: Three, axis_before: Three, before: Three) -> tuple[Transform, ...]:
    """The turn from the axes of the link before to those of the link: `own` and `before` lead from the joint to the
    centres of both, each in its link's axes."""
    link = _frame(axis, _across(axis, own))
    away = _across(axis_before, before)
    base = _frame(axis_before, (-away[0], -away[1], -away[2]))
    turned = [[sum(base[k][i] * link[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    components = quaternion([[Fraction(item) for item in row] for row in turned])
    if not any(components[1:]):
        return ()
    e0, e1, e2, e3 = map(Number, components)
    return (Quaternion((e0, e1, e2, e3)),)


def _across(axis: Three, vector: Three) -> Three:
    """The unit vector of the part across the axis."""
    x, y, z = vector
    one, zero = Fraction(1), Fraction(0)
    parts = (cross(axis, cross(along, axis)) for along in (vector, (y, z, x), (one, zero, zero)))
    return unit(next(part for part in parts if any(part)))


def _frame(axis: Three, across: Three) -> _Frame:
    along = unit(axis)
    return across, along, cross(along, across)


def cross(a: Three, b: Three) -> Three:
    """The vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def unit(vector: Three) -> Three:
    """The unit vector: exact where the length is rational, else as near as doubles are."""
    square = sum((item * item for item in vector), Fraction(0))
    if not square:
        raise ValueError("a vector of length zero has no direction")
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    length = root if root * root == square else Fraction(sqrt(square))
    return vector[0] / length, vector[1] / length, vector[2] / length


def quaternion(turn: list[list[Fraction]]) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """The quaternion of a rotation matrix, of any length, so that it stays rational; the largest component is taken
    from the diagonal, as usual."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = turn
    choices = (
        (1 + xx + yy + zz, zy - yz, xz - zx, yx - xy),
        (zy - yz, 1 + xx - yy - zz, xy + yx, xz + zx),
        (xz - zx, xy + yx, 1 - xx + yy - zz, yz + zy),
        (yx - xy, xz + zx, yz + zy, 1 - xx - yy + zz),
    )
    chosen = max(range(4), key=lambda k: choices[k][k])
    e0, e1, e2, e3 = choices[chosen]
    size = abs(choices[chosen][chosen])
    return e0 / size, e1 / size, e2 / size, e3 / size
