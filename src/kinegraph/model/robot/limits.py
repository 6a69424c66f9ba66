"""How far coordinates may go, as robot files state it for joints."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from kinegraph.model.evaluate import Value, number
from kinegraph.model.expression import names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.robot.data import JointLimits


def coordinate_limits(mechanism: Mechanism, values: Mapping[str, Value]) -> dict[str, tuple[float, float]]:
    """The limits of single coordinates, infinite where one side has none; `values` are those of the parameters.

    A joint that follows another (`2*q + 0.1`) limits the coordinate it follows. Limits that leave nothing are ignored,
    as are those of quaternions and of free bodies.
    """
    coordinates = set(mechanism.layout.positions)
    found: dict[str, tuple[float, float]] = {}
    for extra in mechanism.extras:
        if isinstance(extra, JointLimits) and len(extra.displacement) == 1:
            own = names(extra.displacement[0]) & coordinates
            if len(own) == 1:
                (name,) = own
                low, high = _of_coordinate(extra, name, values)
                least, most = found.get(name, (-inf, inf))
                if max(low, least) <= min(high, most):
                    found[name] = max(low, least), min(high, most)
    return {name: ends for name, ends in found.items() if ends != (-inf, inf)}


def _of_coordinate(limits: JointLimits, name: str, values: Mapping[str, Value]) -> tuple[float, float]:
    """The limits of a joint as those of the coordinate that moves it: its displacement is a linear form."""
    (displacement,) = limits.displacement
    at_zero, at_one = (float(number(displacement, {**values, name: place})) for place in (0, 1))
    factor = at_one - at_zero
    if not factor:
        return -inf, inf
    ends = [
        (default if end is None else float(number(end, values)) - at_zero) / factor
        for end, default in ((limits.lower, -inf), (limits.upper, inf))
    ]
    return min(ends), max(ends)
