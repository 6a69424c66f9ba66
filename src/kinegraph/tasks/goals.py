"""Goals over a cycle: stroke, extremes, mean, time ratio, transmission angle, and points of a path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.errors import TaskError
from kinegraph.model.expressions import Expression, Name, Operation, expression
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.formulas import formula
from kinegraph.tasks.cycle import Cycle, CycleRows, Extreme, extreme
from kinegraph.tasks.operating_point import Floats

STROKE, MAX, MIN, MEAN, TIME_RATIO, TRANSMISSION = "stroke", "max", "min", "mean", "time_ratio", "transmission"
KINDS = (STROKE, MAX, MIN, MEAN, TIME_RATIO, TRANSMISSION)

#: What a goal asks for: a value, or limits, of which one may be None.
Wanted: TypeAlias = "float | tuple[float | None, float | None]"


@dataclass(frozen=True)
class Measure:
    """One number of a cycle: `stroke:ram`, `max:F.y`, `time_ratio:ram`, `transmission:A,B,C`."""

    text: str
    kind: str
    expression: Expression

    def at(self, cycle: Cycle, rows: CycleRows, x: Floats) -> tuple[float, Floats]:
        """The number and its slopes by the free parameters."""
        k = cycle.outputs.index(self.text)
        if self.kind == MEAN:
            span = rows.times[-1] - rows.times[0]
            slopes = np.trapezoid(rows.slopes[:, k], rows.times, axis=0) / span
            return float(np.trapezoid(rows.values[:, k], rows.times) / span), np.asarray(slopes)
        if self.kind in (MAX, MIN):
            found = extreme(cycle, rows, x, k, self.kind == MAX)
            return found.value, found.slopes
        if self.kind == TRANSMISSION:
            found = extreme(cycle, rows, x, k, highest=False)
            sine = np.sqrt(np.clip(found.value, 0.0, 1.0))
            steep = 2 * sine * np.sqrt(max(1 - sine**2, 1e-300))
            return float(np.arcsin(sine)), found.slopes / max(steep, 1e-12)
        high, low = (extreme(cycle, rows, x, k, highest) for highest in (True, False))
        if self.kind == STROKE:
            return high.value - low.value, high.slopes - low.slopes
        return _time_ratio(high, low, float(rows.times[-1] - rows.times[0]))


def _time_ratio(high: Extreme, low: Extreme, period: float) -> tuple[float, Floats]:
    """The longer of the times between the extremes over the shorter one."""
    rise = (high.time - low.time) % period
    ratio, slope = rise / (period - rise), period / (period - rise) ** 2
    slopes = slope * (high.time_slopes - low.time_slopes)
    return (ratio, slopes) if ratio >= 1 else (1 / ratio, -slopes / ratio**2)


_GOAL = re.compile(r"\s*(\w+)\s*:\s*(.+?)\s*")


def measure(text: str) -> Measure:
    """The measure that a text names; TaskError if it is unknown."""
    found = _GOAL.fullmatch(text) if isinstance(text, str) else None
    if found is None or found[1] not in KINDS:
        word = found[1] if found else str(text)
        raise TaskError(
            f"goal {text!r:.80}: write KIND:FORMULA, e.g. stroke:ram or max:tip.y\n  {did_you_mean(word, KINDS)}"
        )
    if found[1] == TRANSMISSION:
        return Measure(text, TRANSMISSION, _square_of_sine(text, found[2]))
    return Measure(text, found[1], formula(found[2], text))


def _square_of_sine(text: str, argument: str) -> Expression:
    """sin^2 of the angle at B between the lines to A and C: 1 at the best transmission angle, 90 degrees."""
    points = [part.strip() for part in argument.split(",")]
    if len(points) != 3 or not all(points):
        raise TaskError(f"goal {text!r}: name three points, e.g. transmission:A,B,C for the angle at B")
    first, corner, second = points

    def arm(end: str) -> list[Expression]:
        return [Operation("-", (Name(f"{end}.{axis}"), Name(f"{corner}.{axis}"))) for axis in "xyz"]

    def dot(a: Sequence[Expression], b: Sequence[Expression]) -> Expression:
        x, y, z = (Operation("*", pair) for pair in zip(a, b, strict=True))
        return Operation("+", (Operation("+", (x, y)), z))

    one, other = arm(first), arm(second)
    cosine = Operation("/", (_square(dot(one, other)), Operation("*", (dot(one, one), dot(other, other)))))
    return Operation("-", (expression(1), cosine))


def _square(one: Expression) -> Expression:
    return Operation("*", (one, one))


def limits(text: str, wanted: object) -> tuple[float, float]:
    """The lower and upper limit of a goal; equal for a value."""
    pair = wanted if isinstance(wanted, tuple | list) else (wanted, wanted)
    try:
        low, high = (side if one is None else float(one) for one, side in zip(pair, (-np.inf, np.inf), strict=True))
    except (TypeError, ValueError):
        raise TaskError(
            f"goal {text}: {wanted!r:.60} is neither a number nor (low, high) with None for no limit"
        ) from None
    if not low <= high or not (isfinite(low) or isfinite(high)):
        raise TaskError(f"goal {text}: give a number, or limits of which the first is smaller, not {wanted!r:.60}")
    return low, high


def path_outputs(path: Mapping[str, ArrayLike]) -> tuple[dict[str, Expression], dict[str, Floats]]:
    """Formulas of the coordinates of points that should draw paths, and the points to pass: x, y and perhaps z."""
    outputs: dict[str, Expression] = {}
    wanted: dict[str, Floats] = {}
    for name, given in path.items():
        points = np.atleast_2d(np.asarray(given, dtype=float))
        if points.ndim != 2 or points.shape[1] not in (2, 3) or not np.isfinite(points).all():
            raise TaskError(f"path of {name}: give points as rows of x, y or x, y, z")
        wanted[name] = points
        outputs |= {f"{name}.{axis}": Name(f"{name}.{axis}") for axis in "xyz"[: points.shape[1]]}
    return outputs, wanted


def path_misses(cycle: Cycle, rows: CycleRows, x: Floats, point: str, wanted: Floats) -> tuple[Floats, Floats, Floats]:
    """From every wanted point to the nearest one of the drawn path: the difference, its slopes, and the distance.

    The slopes are those across the path, because the nearest point moves along it.
    """
    places = [cycle.outputs.index(f"{point}.{axis}") for axis in "xyz"[: wanted.shape[1]]]
    away = np.linalg.norm(rows.values[:, None, places] - wanted[None], axis=2)
    nearest = np.argmin(away, axis=0)
    times = rows.times[nearest].astype(float)
    step = float(rows.times[1] - rows.times[0])
    for _ in range(8):  # Gauss-Newton along the path
        here = cycle.at(times, rows, x)
        difference = here.values[:, places] - wanted
        along = here.rates[:, places]
        change = -np.sum(difference * along, axis=1) / np.maximum(np.sum(along**2, axis=1), 1e-300)
        times = np.clip(times + np.clip(change, -step, step), rows.times[0], rows.times[-1])
    here = cycle.at(times, rows, x)
    difference, along = here.values[:, places] - wanted, here.rates[:, places]
    unit = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    slopes = here.slopes[:, places]
    across = slopes - unit[:, :, None] * np.einsum("ki,kij->kj", unit, slopes)[:, None, :]
    return difference, across, np.linalg.norm(difference, axis=1)
