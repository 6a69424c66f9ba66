"""Statistics of a study: summaries of outcomes, probabilities of classes, and which of the varied names matter."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import StudyError
from kinegraph.extras import extra
from kinegraph.studies.column import Column
from kinegraph.studies.sampling.samples import Design, Samples
from kinegraph.studies.statistics.intervals import Estimate, mean, quantile, wilson

Floats = NDArray[np.float64]

_FEWEST_EXPLAINED, _MOST_BINS = 12, 24
_FEWEST = 65  # cases before indices mean anything: some for each of the frequencies that are looked at
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True)
class Summary:
    """One outcome over all cases that went well: how many have a value, its mean, spread, ends and quantiles."""

    name: str
    count: int
    missing: int
    mean: Estimate
    deviation: float
    low: float
    high: float
    quantiles: Mapping[float, Estimate]


def summary(name: str, column: Column, confidence: float = 0.95) -> Summary:
    """The summary of a column; what is not a number counts as missing."""
    numbers = np.asarray(column, dtype=float)
    values = numbers[np.isfinite(numbers)]
    count = len(values)
    low, high = (float(values.min()), float(values.max())) if count else (float("nan"), float("nan"))
    deviation = float(values.std(ddof=1)) if count > 1 else float("nan")
    quantiles = {level: quantile(values, level, confidence) for level in QUANTILES}
    return Summary(name, count, len(numbers) - count, mean(values, confidence), deviation, low, high, quantiles)


def class_probabilities(classes: Column, confidence: float = 0.95) -> dict[str, Estimate]:
    """How probable each class is, most frequent first."""
    found, counts = np.unique(classes, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return {str(found[k]): wilson(int(counts[k]), len(classes), confidence) for k in order}


@dataclass(frozen=True)
class Sensitivity:
    """What an outcome depends on, a number for each varied name; `method` says by which indices.

    rank: Spearman's correlation. first, total: the part of the outcome's variance that goes back to a name alone, and
    with all others together; with half-widths of their intervals. Total indices need a Saltelli design.
    """

    outcome: str
    names: tuple[str, ...]
    method: str
    rank: Floats
    first: Floats
    first_half_width: Floats
    total: Floats
    total_half_width: Floats


def rank_correlations(inputs: Floats, outcome: Floats) -> Floats:
    """Spearman's correlation of every column with the outcome; zero where one of them is constant."""
    if len(outcome) < 3:
        return np.zeros(inputs.shape[1])
    a, b = np.reshape([_ranks(column) for column in inputs.T], inputs.T.shape).T, _ranks(outcome)
    a, b = a - a.mean(axis=0), b - b.mean()
    size = np.sqrt((a**2).sum(axis=0) * (b**2).sum())
    return np.asarray(np.divide(a.T @ b, size, out=np.zeros(inputs.shape[1]), where=size > 0))


def total_indices(samples: Samples, values: Floats) -> Floats | None:
    """Sobol's total indices of a Saltelli design by the names that are varied (Jansen's estimate); None for others.

    Names that are drawn together, in a disc, share the largest of their coordinates.
    """
    size = samples.dimensions + 2
    whole = len(values) == samples.cases and len(values) % size == 0 and np.isfinite(values).all()
    if samples.design is not Design.SALTELLI or not whole or not np.ptp(values) > 0:
        return None
    table = values.reshape(-1, size)
    apart = np.mean((table[:, :1] - table[:, 1:-1]) ** 2, axis=0) / (2 * np.var(table[:, [0, -1]]))
    found, place = list[float](), 0
    for names, law in samples.laws.items():
        width = law.dimensions(len(names))
        found += [float(np.max(apart[place : place + width]))] * len(names)
        place += width
    return np.array(found)


def explained_variance(columns: Floats, values: Floats) -> float:
    """The part of the variance of values that goes back to one or two columns, however they depend on them.

    It is that between cells of equally many cases (the correlation ratio), less what chance would give.
    """
    count, sides = columns.shape
    if count < _FEWEST_EXPLAINED or not np.ptp(values) > 0:
        return 0.0
    bins = max(2, min(_MOST_BINS, round(count ** (1 / (sides + 2)))))
    cells = np.zeros(count, dtype=np.int64)
    for column in columns.T:
        cells = cells * bins + np.minimum(((_ranks(column) - 0.5) / count * bins).astype(np.int64), bins - 1)
    _, cells, sizes = np.unique(cells, return_inverse=True, return_counts=True)
    if len(sizes) < 2 or len(sizes) >= count:
        return 0.0
    means = np.bincount(cells, values) / sizes
    within = float(np.sum((values - means[cells]) ** 2) / (count - len(sizes)))
    return max(0.0, 1 - within / float(np.var(values, ddof=1)))


def _ranks(values: Floats) -> Floats:
    """The ranks of numbers, from one; equal ones share the middle of theirs, and what is no number leaves no ranks."""
    if np.isnan(values).any():
        return np.full(len(values), np.nan)
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - 0.5 * (count - 1))[place])


def sobol_indices(samples: Samples, outcome: str, values: Floats, confidence: float = 0.95) -> Sensitivity:
    """Sobol's first-order and total indices of a Saltelli design, by SALib (extra `studies`)."""
    if not np.isfinite(values).all():
        raise StudyError(
            f"{outcome} has no value in {int((~np.isfinite(values)).sum())} cases: Sobol indices need all of them\n"
            "  choose an outcome that every case has, or another design"
        )
    axes = samples.axes
    rank = rank_correlations(samples.cube(0, samples.cases), values)
    analyse = extra("SALib.analyze.sobol", "Sobol indices").analyze
    with _undisturbed():
        found = analyse(
            _problem(axes), values, calc_second_order=False, conf_level=confidence, print_to_console=False, seed=0
        )  # fmt: skip
    return Sensitivity(
        outcome, axes, "Sobol indices of a Saltelli design", rank, np.asarray(found["S1"]),
        np.asarray(found["S1_conf"]), np.asarray(found["ST"]), np.asarray(found["ST_conf"]),
    )  # fmt: skip


def first_order_indices(
    names: Sequence[str], inputs: Floats, outcome: str, values: Floats, confidence: float = 0.95
) -> Sensitivity:
    """First-order indices of any cases by random balance designs (RBD-FAST), by SALib (extra `studies`)."""
    good = np.isfinite(values)
    rank = rank_correlations(inputs[good], values[good])
    unknown = np.full(len(names), np.nan)
    if good.sum() < _FEWEST or not np.ptp(values[good]) > 0:
        return Sensitivity(outcome, tuple(names), "too few different values", rank, *[unknown] * 4)
    analyse = extra("SALib.analyze.rbd_fast", "sensitivity indices").analyze
    with _undisturbed():
        found = analyse(
            _problem(names), inputs[good], values[good], conf_level=confidence, print_to_console=False, seed=0
        )  # fmt: skip
    return Sensitivity(
        outcome, tuple(names), "first-order indices of the cases as they are (RBD-FAST)", rank,
        np.asarray(found["S1"]), np.asarray(found["S1_conf"]), unknown, unknown,
    )  # fmt: skip


def _problem(names: Sequence[str]) -> dict[str, object]:
    return {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}


@contextmanager
def _undisturbed() -> Iterator[None]:
    """SALib draws from NumPy's global generator: who uses that finds it as it was."""
    state = np.random.get_state()  # noqa: NPY002
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
