"""Fixed transforms one behind the other, written as briefly as they can be without rounding."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from kinegraph.io.robot.placement import inverse, negative, plus
from kinegraph.io.robot.right_angles import pi_multiple
from kinegraph.model.evaluate import value
from kinegraph.model.expression import PI, Expression, Number, names
from kinegraph.model.mechanism import ZERO, Quaternion, Rotation, Shift, Transform


def simplified(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """The same motion: shifts beside each other and turns about the same axis are added, what cancels is gone."""
    found: list[Transform] = []
    for transform in transforms:
        _append(found, transform)
    return tuple(found)


def rotations(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """The turns alone: the orientation that transforms lead to."""
    return simplified(one for one in transforms if not isinstance(one, Shift))


def _append(found: list[Transform], new: Transform) -> None:
    if isinstance(new, Shift):
        _shift(found, new)
    elif isinstance(new, Quaternion) and found and (found[-1],) == inverse((new,)):
        found.pop()
    elif isinstance(new, Rotation) and found and isinstance(last := found[-1], Rotation) and last.axis is new.axis:
        found.pop()
        angle = _total(last.angle, new.angle)
        if angle != ZERO:
            found.append(Rotation(new.axis, angle))
    else:
        found.append(new)


def _shift(found: list[Transform], new: Shift) -> None:
    """Shifts commute: one along the same axis may stand before others."""
    for place in range(len(found) - 1, -1, -1):
        old = found[place]
        if not isinstance(old, Shift):
            break
        if old.axis is new.axis:
            distance = _total(old.distance, new.distance)
            found[place : place + 1] = [Shift(new.axis, distance)] if distance != ZERO else []
            return
    found.append(new)


def _total(first: Expression, second: Expression) -> Expression:
    if isinstance(first, Number) and isinstance(second, Number):
        return Number(first.value + second.value)
    if second == negative(first):
        return ZERO
    turns = [_turns(first), _turns(second)]
    if turns[0] is not None and turns[1] is not None:
        return pi_multiple(turns[0] + turns[1])
    return plus(first, second)


def _turns(angle: Expression) -> Fraction | None:
    """The factor of a multiple of pi; None for other angles."""
    if names(angle) != {PI}:
        return None
    nothing, once, twice = (value(angle, {PI: Fraction(amount)}) for amount in (0, 1, 2))
    exact = isinstance(once, Fraction) and nothing == 0 and twice == 2 * once
    return Fraction(once) if exact else None
