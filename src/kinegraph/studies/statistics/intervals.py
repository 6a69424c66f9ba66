"""Intervals of confidence: of probabilities, means and quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import StudyError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number with the interval it lies in with some confidence."""

    value: float
    low: float
    high: float
    confidence: float
    count: int

    @property
    def half_width(self) -> float:
        """Half of the interval's length."""
        return 0.5 * (self.high - self.low)

    def __str__(self) -> str:
        interval = f"{self.low:.6g} to {self.high:.6g} with {100 * self.confidence:g} %"
        return f"{self.value:.6g} ({interval}, {self.count} cases)"


def check_confidence(confidence: float) -> float:
    """StudyError unless it lies between 0 and 1."""
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
    """A probability with the exact interval (Clopper and Pearson 1934): never less sure than it says."""
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
    """A quantile with the interval of order statistics, which holds for every law (David and Nagaraja, 7.1)."""
    if not 0 <= level <= 1:
        raise StudyError(f"a quantile of {level!r}: give a number between 0 and 1")
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
    """The quantile of the binomial law: the fewest successes to which this probability is reached.

    SciPy's own is in `scipy.stats`, which takes longer to import than most studies to be summed up.
    """
    from scipy.special import bdtr, bdtrik

    if chance in (0, 1):
        return int(chance * trials)
    found = int(np.ceil(bdtrik(probability, trials, chance)))
    return found - 1 if found > 0 and bdtr(found - 1, trials, chance) >= probability else found
