"""Statistics of a study: confidence intervals, summaries, sensitivity indices, and stopping rules."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import StudyError
from kinegraph.extras import extra
from kinegraph.model.names import did_you_mean
from kinegraph.studies.cases import CaseTable
from kinegraph.studies.outcomes import Column, OutcomeTable
from kinegraph.studies.sampling import Design, Samples

# Confidence intervals of probabilities, means and quantiles.

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number with its confidence interval."""

    value: float
    low: float
    high: float
    confidence: float
    count: int

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return 0.5 * (self.high - self.low)

    def __str__(self) -> str:
        interval = f"{self.low:.6g} to {self.high:.6g} with {100 * self.confidence:g} %"
        return f"{self.value:.6g} ({interval}, {self.count} cases)"

    def to_dict(self) -> dict[str, object]:
        """The estimate as JSON can hold it."""
        return {
            "value": self.value, "low": self.low, "high": self.high, "confidence": self.confidence, "cases": self.count,
        }  # fmt: skip


def check_confidence(confidence: float) -> float:
    """StudyError unless it is between 0 and 1."""
    if not 0 < confidence < 1:
        raise StudyError(f"confidence is {confidence!r}: give a number between 0 and 1, such as 0.95")
    return confidence


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Estimate:
    """A probability from successes in trials, with Wilson's score interval (Wilson 1927)."""
    from scipy.special import ndtri

    if trials == 0:
        return Estimate(float("nan"), 0.0, 1.0, confidence, 0)
    z = float(ndtri(0.5 + 0.5 * check_confidence(confidence)))
    p = successes / trials
    middle = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    reach = z / (1 + z * z / trials) * sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else max(middle - reach, 0.0)
    high = 1.0 if successes == trials else min(middle + reach, 1.0)
    return Estimate(p, low, high, confidence, trials)


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> Estimate:
    """A probability with the exact, conservative interval (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv

    if trials == 0:
        return Estimate(float("nan"), 0.0, 1.0, confidence, 0)
    rest = 0.5 * (1 - check_confidence(confidence))
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, rest))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - rest))
    return Estimate(successes / trials, low, high, confidence, trials)


def mean(values: Floats, confidence: float = 0.95) -> Estimate:
    """The mean with Student's interval."""
    from scipy.special import stdtrit

    count = len(values)
    if count < 2:
        value = float(values[0]) if count else float("nan")
        return Estimate(value, -np.inf, np.inf, confidence, count)
    reach = (
        float(stdtrit(count - 1, 0.5 + 0.5 * check_confidence(confidence))) * float(values.std(ddof=1)) / sqrt(count)
    )
    value = float(values.mean())
    return Estimate(value, value - reach, value + reach, confidence, count)


def quantile(values: Floats, level: float, confidence: float = 0.95) -> Estimate:
    """A quantile with the interval of order statistics, which holds for every distribution (David and Nagaraja,
    7.1)."""
    if not 0 <= level <= 1:
        raise StudyError(f"the level of a quantile is {level!r}: give a number between 0 and 1")
    count = len(values)
    if count == 0:
        return Estimate(float("nan"), -np.inf, np.inf, confidence, 0)
    ordered = np.sort(values)
    rest = 0.5 * (1 - check_confidence(confidence))
    below = _successes(rest, count, level) - 1
    above = _successes(1 - rest, count, level)
    low = float(ordered[below]) if below >= 0 else -np.inf
    high = float(ordered[above]) if above < count else np.inf
    return Estimate(float(np.quantile(ordered, level)), low, high, confidence, count)


def _successes(probability: float, trials: int, chance: float) -> int:
    """The quantile of the binomial distribution: the fewest successes that reach this probability.

    SciPy's own is in `scipy.stats`, whose import takes longer than most summaries.
    """
    from scipy.special import bdtr, bdtrik

    if chance in (0, 1):
        return int(chance * trials)
    found = int(np.ceil(bdtrik(probability, trials, chance)))
    return found - 1 if found > 0 and bdtr(found - 1, trials, chance) >= probability else found


# Statistics of a study: summaries of outcomes, probabilities of classes, and sensitivity indices.

_FEWEST_EXPLAINED, _MOST_BINS = 12, 24
_FEWEST_FOR_INDICES = 65  # cases before indices are meaningful: some for each of the frequencies used
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True)
class Summary:
    """One outcome over all successful cases: the number of values, mean, deviation, range and quantiles."""

    name: str
    count: int
    missing: int
    mean: Estimate
    deviation: float
    low: float
    high: float
    quantiles: Mapping[float, Estimate]


def summary(name: str, column: Column, confidence: float = 0.95) -> Summary:
    """The summary of a column; NaN counts as missing."""
    numbers = np.asarray(column, dtype=float)
    values = numbers[np.isfinite(numbers)]
    count = len(values)
    low, high = (float(values.min()), float(values.max())) if count else (float("nan"), float("nan"))
    deviation = float(values.std(ddof=1)) if count > 1 else float("nan")
    quantiles = {level: quantile(values, level, confidence) for level in QUANTILES}
    return Summary(name, count, len(numbers) - count, mean(values, confidence), deviation, low, high, quantiles)


def class_probabilities(classes: Column, confidence: float = 0.95) -> dict[str, Estimate]:
    """The probability of each class, most frequent first."""
    found, counts = np.unique(classes, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return {str(found[k]): wilson(int(counts[k]), len(classes), confidence) for k in order}


@dataclass(frozen=True)
class Sensitivity:
    """The dependence of an outcome on each varied name; `method` says by which indices.

    rank: Spearman's correlation. first, total: the part of the outcome's variance due to a name alone, and including
    its interactions; with half-widths of their intervals. Total indices need a Saltelli design.
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
    """Spearman's correlation of every column with the outcome; zero if one of them is constant."""
    if len(outcome) < 3:
        return np.zeros(inputs.shape[1])
    a, b = np.reshape([_ranks(column) for column in inputs.T], inputs.T.shape).T, _ranks(outcome)
    a, b = a - a.mean(axis=0), b - b.mean()
    size = np.sqrt((a**2).sum(axis=0) * (b**2).sum())
    return np.asarray(np.divide(a.T @ b, size, out=np.zeros(inputs.shape[1]), where=size > 0))


def total_indices(samples: Samples, values: Floats) -> Floats | None:
    """Sobol's total indices of a Saltelli design by varied name (Jansen's estimate); None for other designs.

    Names of a joint distribution, such as a disc, share the largest index of their coordinates.
    """
    size = samples.dimensions + 2
    whole = len(values) == samples.cases and len(values) % size == 0 and np.isfinite(values).all()
    if samples.design is not Design.SALTELLI or not whole or not np.ptp(values) > 0:
        return None
    table = values.reshape(-1, size)
    apart = np.mean((table[:, :1] - table[:, 1:-1]) ** 2, axis=0) / (2 * np.var(table[:, [0, -1]]))
    found, place = list[float](), 0
    for names, distribution in samples.distributions.items():
        width = distribution.dimensions(len(names))
        found += [float(np.max(apart[place : place + width]))] * len(names)
        place += width
    return np.array(found)


def explained_variance(columns: Floats, values: Floats) -> float:
    """The part of the variance of values explained by one or two columns, for any kind of dependence.

    It is the variance between cells with equal numbers of cases (the correlation ratio), corrected for chance.
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
    """The ranks of numbers, from one; ties share the mean of their ranks, and NaN gives no ranks."""
    if np.isnan(values).any():
        return np.full(len(values), np.nan)
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - 0.5 * (count - 1))[place])


def sobol_indices(samples: Samples, outcome: str, values: Floats, confidence: float = 0.95) -> Sensitivity:
    """Sobol's first-order and total indices of a Saltelli design, by SALib (extra `studies`)."""
    if not np.isfinite(values).all():
        raise StudyError(
            f"{outcome} has no value in {int((~np.isfinite(values)).sum())} cases, but Sobol indices need "
            "all of them\n"
            "  choose an outcome that every case has, or another design"
        )
    axes = samples.axes
    rank = rank_correlations(samples.cube(0, samples.cases), values)
    analyze = extra("SALib.analyze.sobol", "Sobol indices").analyze
    with _undisturbed():
        found = analyze(
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
    if good.sum() < _FEWEST_FOR_INDICES or not np.ptp(values[good]) > 0:
        return Sensitivity(outcome, tuple(names), "too few different values", rank, *[unknown] * 4)
    analyze = extra("SALib.analyze.rbd_fast", "sensitivity indices").analyze
    with _undisturbed():
        found = analyze(
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
    """Preserve NumPy's global generator, from which SALib draws."""
    state = np.random.get_state()  # noqa: NPY002
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


# Stopping rules: a sufficiently narrow confidence interval. Chunks count in the order of their cases, whichever
# finishes first: the end of a study does not depend on where it ran.

_TEXT = re.compile(r"\s*(.+?)\s*(?:\+-|±)\s*([0-9.eE+-]+)\s*(?:@\s*([0-9.]+)\s*)?")
_FEWEST_FOR_INTERVAL = 30  # cases before an interval is meaningful


@dataclass(frozen=True)
class Until:
    """Stop when the interval of an outcome's mean, or of the probability of success or of a class, is this narrow."""

    what: str
    half_width: float
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not self.half_width > 0:
            raise StudyError(f"until: the half-width is {self.half_width!r}; give a positive number")

    def check(self, outcome_table: OutcomeTable) -> None:
        """StudyError unless the study has the named column."""
        known = (
            *outcome_table.outcomes,
            *outcome_table.classes,
            *(["success"] if outcome_table.success is not None else []),
        )
        if self.what not in known:
            raise StudyError(f"until: the study has no column {self.what!r}\n  {did_you_mean(self.what, known)}")

    def estimate(self, tables: list[CaseTable], outcome_table: OutcomeTable) -> Estimate:
        """The estimate from these cases, without the nominal one."""
        if self.what in outcome_table.outcomes:
            values = np.concatenate([_drawn(table, self.what).astype(float) for table in tables])
            return mean(values[np.isfinite(values)], self.confidence)
        column = "success" if self.what == "success" else "class"
        wanted: object = True if column == "success" else self.what
        held = np.concatenate([_drawn(table, column) == wanted for table in tables])
        return wilson(int(held.sum()), len(held), self.confidence)

    def reached(self, tables: list[CaseTable], outcome_table: OutcomeTable) -> bool:
        """Whether these cases are enough."""
        found = self.estimate(tables, outcome_table)
        return found.count >= _FEWEST_FOR_INTERVAL and found.half_width <= self.half_width


def _drawn(table: CaseTable, name: str) -> np.ndarray:
    return table.columns[name][int(table.first == 0) :]


def read_until(given: Until | str | None) -> Until | None:
    """`success +- 0.01` or `success +- 0.01 @ 0.99`."""
    if given is None or isinstance(given, Until):
        return given
    found = _TEXT.fullmatch(given)
    if found is None:
        raise StudyError(f"until: cannot parse {given!r}; write e.g. 'success +- 0.01' or 'success +- 0.01 @ 0.99'")
    try:
        return Until(found[1], float(found[2]), float(found[3] or 0.95))
    except ValueError:
        raise StudyError(f"until: cannot parse {given!r}; write e.g. 'success +- 0.01'") from None
