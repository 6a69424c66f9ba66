"""`flywheel`: the inertia that keeps the fluctuation of a machine's speed within a limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.evaluate import float_values, parameter_values
from kinegraph.model.expressions import Scalar
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.inputs import Input
from kinegraph.tasks.periodic_motion import PeriodicMotion, periodic_motion

_MOST_STEPS = 40
#: The relative accuracy of the fluctuation that is reached.
_REACHED = 1e-9
#: The largest factor by which the inertia changes in one step.
_LARGEST_FACTOR = 8.0


@dataclass(frozen=True)
class Flywheel(RichDisplay):
    """The value of the parameter `inertia` at which `speed` fluctuates as wanted, and the motion with it.

    before: the fluctuation with the model's own value. motion: the periodic motion with the value found.
    """

    model: str
    inertia: str
    value: float
    speed: str
    fluctuation: float
    before: float
    motion: PeriodicMotion

    def __str__(self) -> str:
        one = self.motion.over_cycle(self.speed)
        return (
            f"{self.model}: {self.inertia} = {self.value:.9g} keeps {self.speed} within a fluctuation of "
            f"{self.fluctuation:.6g} (before: {self.before:.6g})\n"
            f"  {self.speed}: mean {one.mean:.9g}, from {one.low:.9g} to {one.high:.9g}"
        )

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        return {
            "inertia": self.inertia, "value": self.value, "speed": self.speed, "fluctuation": self.fluctuation,
            "before": self.before, "motion": self.motion.to_dict(),
        }  # fmt: skip


def flywheel(
    model: MechanismSource,
    inertia: str,
    speed: str,
    fluctuation: float,
    period: float | None = None,
    *,
    settle: float = 0.0,
    state: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    times: int = 200,
) -> Flywheel:
    """Find the value of a parameter, such as a flywheel's inertia, at which a speed fluctuates by a wanted fraction.

    inertia: the parameter; its value in the model is the first guess and must be above zero.
    speed: a velocity or formula, such as `crank'`. fluctuation: (largest - smallest)/mean over a cycle.
    The other arguments are those of `periodic_motion`. Every step uses the exact derivative of the fluctuation.
    """
    mechanism = mechanism_of(model)
    known = float_values(parameter_values(mechanism, parameters))
    if inertia not in known:
        raise TaskError(f"{mechanism.name} has no parameter {inertia!r}\n  {did_you_mean(inertia, known)}")
    if not 0 < fluctuation < 2:
        raise TaskError(f"fluctuation is {fluctuation!r}: give (largest - smallest)/mean, e.g. 0.02")
    value = known[inertia]
    if not value > 0:
        raise TaskError(f"{inertia} is {value:g}: give a value above zero to start from, e.g. {inertia}=1")

    def motion(at: float, start: Mapping[str, Scalar] | None, wait: float) -> PeriodicMotion:
        return periodic_motion(
            mechanism, period, outputs=[speed], by=[inertia], settle=wait, state=start,
            parameters={**(parameters or {}), inertia: at}, inputs=inputs, times=times,
        )  # fmt: skip

    found = motion(value, state, settle)
    before = _fluctuation(found, speed)
    for _ in range(_MOST_STEPS):
        here = _fluctuation(found, speed)
        if abs(here / fluctuation - 1) <= _REACHED:
            return Flywheel(mechanism.name, inertia, value, speed, here, before, found)
        factor = _factor(found, speed, inertia, value, fluctuation)
        for _ in range(6):
            try:
                found, value = motion(value * factor, found.state, 0.0), value * factor
                break
            except TaskError:
                factor = factor**0.25
        else:
            break
    raise TaskError(
        f"{mechanism.name}: no value of {inertia} was found at which {speed} fluctuates by {fluctuation:g}; at "
        f"{inertia} = {value:.6g} it fluctuates by {_fluctuation(found, speed):.6g}\n"
        f"  {inertia} may not be the inertia that smooths this speed"
    )


def _fluctuation(found: PeriodicMotion, speed: str) -> float:
    size = found.over_cycle(speed).fluctuation
    if not np.isfinite(size):
        raise TaskError(f"{found.model}: {speed} has no mean, so its fluctuation is not defined")
    return size


def _factor(found: PeriodicMotion, speed: str, inertia: str, value: float, wanted: float) -> float:
    """The next factor of the inertia: Newton's step for the logarithms of fluctuation and inertia."""
    one = found.over_cycle(speed)
    mean, _, low, high = one.derivatives[inertia]
    slope = value * ((high - low) / one.stroke - mean / one.mean) if one.stroke else 0.0
    if not slope:
        raise TaskError(f"{found.model}: the fluctuation of {speed} does not depend on {inertia}")
    step = float(np.log(wanted / one.fluctuation) / slope)
    return float(np.exp(np.clip(step, -np.log(_LARGEST_FACTOR), np.log(_LARGEST_FACTOR))))
