"""`tolerances`: which tolerance contributes how much to an output: exact first order, and a check by random samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import KinegraphError, TaskError
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import Expression, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.seeds import generator
from kinegraph.simulate.formulas import formula
from kinegraph.simulate.inputs import span_of
from kinegraph.simulate.run import save_at
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.tabular import Column, Tabular
from kinegraph.tasks.cycle import Cycle
from kinegraph.tasks.differentiated_run import DifferentiatedRun, RunSettings, variables
from kinegraph.tasks.goals import KINDS, measure
from kinegraph.tasks.least_squares import MOST_STEPS
from kinegraph.tasks.operating_point import Floats, name_index, named_values, operating_point
from kinegraph.tasks.synthesize_cycle import cycle_motion, cycle_times

#: Values and slopes of all outputs for values of the parameters.
Outputs: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]
NORMAL, UNIFORM = "normal", "uniform"
#: A normal distribution reaches the tolerance at this many standard deviations.
_SIGMAS = 3.0
#: The spread of samples differs from that of first order by more than this many of its standard errors, and by more
#: than this fraction: the output is not linear within the tolerances.
_DOUBT, _BENT = 4.0, 0.02
_MOVING_SAMPLES, _SAMPLES = 200, 2000


@dataclass(frozen=True)
class ToleranceOutput:
    """One output: its nominal value, and how far tolerances move it.

    slopes: by each parameter. shares: of the variance, to first order; they add up to one. spread: the standard
    deviation to first order. worst: the largest deviation to first order. sampled: mean and standard deviation of the
    samples, and the range that holds 99.73 % of them. linear: whether the samples agree with first order.
    """

    name: str
    nominal: float
    slopes: Floats
    shares: Floats
    spread: float
    worst: float
    sampled_mean: float
    sampled_spread: float
    sampled_range: tuple[float, float]
    linear: bool


@dataclass(frozen=True)
class Tolerances(Tabular):
    """The contribution of every tolerance to every output. samples: how many were drawn; failed: of which had no value.

    The first order uses exact derivatives; samples are whole nonlinear evaluations.
    """

    model: str
    parameters: tuple[str, ...]
    tolerances: Floats
    distribution: str
    outputs: tuple[ToleranceOutput, ...]
    samples: int
    failed: int

    def __getitem__(self, output: str) -> ToleranceOutput:
        """One output."""
        return self.outputs[name_index(output, [one.name for one in self.outputs], "output")]

    def __contains__(self, name: object) -> bool:
        return name in [one.name for one in self.outputs]

    def pareto(self, output: str) -> list[tuple[str, float]]:
        """Parameters and their shares of the variance, largest first."""
        shares = self[output].shares
        return [(self.parameters[k], float(shares[k])) for k in np.argsort(-shares, kind="stable")]

    def __str__(self) -> str:
        lines = [f"{self.model}: {len(self.parameters)} tolerances, {self.distribution}, {self.samples} samples"]
        for one in self.outputs:
            lines.append(
                f"  {one.name} = {one.nominal:.9g}: standard deviation {one.spread:.4g} to first order, "
                f"{one.sampled_spread:.4g} in samples; at worst {one.worst:.4g}"
            )
            lines += [f"    {name}: {share:.1%}" for name, share in self.pareto(one.name) if share >= 5e-4]
            if not one.linear:
                lines.append("    not linear within the tolerances: trust the samples")
        if self.failed:
            lines.append(f"  {self.failed} samples have no value: loops do not close, or runs fail")
        return "\n".join(lines)

    def _table(self) -> Mapping[str, Column]:
        """A row for each parameter: its tolerance, and slope and share for each output."""
        columns: dict[str, Column] = {"parameter": np.array(self.parameters), "tolerance": self.tolerances}
        for one in self.outputs:
            columns |= {f"slope of {one.name}": one.slopes, f"share of {one.name}": one.shares}
        return columns

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        outputs = [
            {
                "name": one.name, "nominal": one.nominal, "spread": one.spread, "worst": one.worst,
                "slopes": dict(zip(self.parameters, one.slopes.tolist(), strict=True)),
                "shares": dict(zip(self.parameters, one.shares.tolist(), strict=True)),
                "sampled_mean": _number(one.sampled_mean), "sampled_spread": _number(one.sampled_spread),
                "sampled_range": [_number(side) for side in one.sampled_range], "linear": one.linear,
            }
            for one in self.outputs
        ]  # fmt: skip
        return {
            "tolerances": dict(zip(self.parameters, self.tolerances.tolist(), strict=True)),
            "distribution": self.distribution, "outputs": outputs, "samples": self.samples, "failed": self.failed,
        }  # fmt: skip


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def tolerances(
    model: MechanismSource,
    outputs: Sequence[str] | str,
    tolerances: Mapping[str, float],
    *,
    motion: Mapping[str, Scalar] | str | None = None,
    duration: float | None = None,
    state: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    distribution: str = NORMAL,
    samples: int | None = None,
    times: int = 180,
    t0: float = 0.0,
    seed: int = 0,
) -> Tolerances:
    """Compute which tolerance of a parameter contributes how much to an output, and check it by random samples.

    outputs: formulas of positions and points at `state` (`tip.y`); with `motion`, numbers of a cycle (`stroke:ram`, as
        in `synthesize_cycle`); with `duration` alone, formulas at the end of a run, as in `sensitivities`.
    tolerances: by parameter, the largest deviation to both sides.
    distribution: `normal`, with the tolerance at three standard deviations, or `uniform`.
    samples: number of random samples, by default 2000, of cycles and runs 200; 0 for none. seed: of the samples.
    """
    mechanism = mechanism_of(model)
    names = [outputs] if isinstance(outputs, str) else list(outputs)
    widths = _widths(mechanism, names, tolerances, distribution)
    free = tuple(tolerances)
    if motion is not None:
        begin, at = _of_cycle(mechanism, names, free, motion, duration or 1.0, parameters, times, t0)
    elif duration is not None:
        begin, at = _of_run(mechanism, names, free, duration, state, parameters, t0)
    else:
        begin, at = _of_state(mechanism, names, free, state, parameters, t0)
    count = (_SAMPLES if motion is None and duration is None else _MOVING_SAMPLES) if samples is None else samples
    if not isinstance(count, int) or count < 0:
        raise TaskError(f"samples is {samples!r}: give a number of samples, or 0 for none")
    nominal, slopes = at(begin)
    drawn = _drawn(widths, distribution, count, seed)
    values = _sampled(at, begin, drawn, len(names))
    good = values[np.isfinite(values).all(axis=1)]
    found = tuple(
        _output(name, float(nominal[k]), slopes[k], widths, distribution, good[:, k]) for k, name in enumerate(names)
    )
    return Tolerances(mechanism.name, free, widths, distribution, found, count, count - len(good))


def _widths(mechanism: Mechanism, outputs: Sequence[str], tolerances: Mapping[str, float], distribution: str) -> Floats:
    if not outputs:
        raise TaskError("outputs is empty: give formulas, e.g. ['tip.y']")
    if not isinstance(tolerances, Mapping) or not tolerances:
        raise TaskError(f"tolerances is {tolerances!r:.60}: give values by parameter, e.g. {{'l1': 0.0001}}")
    if distribution not in (NORMAL, UNIFORM):
        raise TaskError(f"distribution: unknown distribution {distribution!r}; choose from {NORMAL}, {UNIFORM}")
    variables(mechanism, tuple(tolerances), "tolerances")
    for name, width in tolerances.items():
        if name.endswith("(0)"):
            raise TaskError(f"tolerances: {name} is an initial value: name parameters")
        if not (isinstance(width, int | float) and np.isfinite(width) and width >= 0):
            raise TaskError(f"tolerances: {name} has {width!r}: give the largest deviation, a number not below zero")
    return np.array([float(width) for width in tolerances.values()])


# Outputs of a cycle, of a state, and of the end of a run.


def _of_cycle(
    mechanism: Mechanism,
    outputs: Sequence[str],
    free: tuple[str, ...],
    motion: Mapping[str, Scalar] | str,
    duration: float,
    parameters: Mapping[str, Scalar] | None,
    times: int,
    t0: float,
) -> tuple[Floats, Outputs]:
    measures = [measure(text) for text in outputs]
    formulas = {one.text: one.expression for one in measures}
    law = cycle_motion(mechanism, motion, duration, t0)
    cycle = Cycle(mechanism, law, formulas, free, parameters, cycle_times(duration, times, t0))

    def at(x: Floats) -> tuple[Floats, Floats]:
        rows = cycle.rows(x)
        pairs = [one.at(cycle, rows, x) for one in measures]
        return np.array([value for value, _ in pairs]), np.array([slope for _, slope in pairs])

    return cycle.begin, at


def _of_state(
    mechanism: Mechanism,
    outputs: Sequence[str],
    free: tuple[str, ...],
    state: Mapping[str, Scalar] | None,
    parameters: Mapping[str, Scalar] | None,
    t0: float,
) -> tuple[Floats, Outputs]:
    """At a state: the coordinates in `state`, or those declared first, stay, and the others follow from the loops."""
    for text in outputs:
        if text.partition(":")[0].strip() in KINDS:
            raise TaskError(f"outputs: {text} is a number of a cycle: give `motion`, e.g. motion='crank' (--motion)")
    point = operating_point(mechanism, {"t": t0, **named_values(mechanism, state)}, parameters)
    held = _held(mechanism, point.q, point.v, point.t, named_values(mechanism, state), parameters)
    formulas: dict[str, Expression] = {text: formula(text, text) for text in outputs}
    cycle = Cycle(mechanism, held, formulas, free, parameters, np.array([t0]))
    cycle.start_at(point.q)

    def at(x: Floats) -> tuple[Floats, Floats]:
        rows = cycle.rows(x)
        return rows.values[0], rows.slopes[0]

    return cycle.begin, at


def _held(
    mechanism: Mechanism,
    q: Floats,
    v: Floats,
    t: float,
    state: Mapping[str, Scalar],
    parameters: Mapping[str, Scalar] | None,
) -> dict[str, Scalar]:
    """The independent positions: those that are named, then those declared first."""
    positions = mechanism.layout.positions
    if not is_constrained(mechanism):
        return dict(zip(positions, q.tolist(), strict=True))
    order = [*(name for name in positions if name in state), *(name for name in positions if name not in state)]
    place = Assembler(mechanism, parameters).assembled(q, v, tuple(order), t)
    return {name: float(q[positions.index(name)]) for name in place.independent if name in positions}


def _of_run(
    mechanism: Mechanism,
    outputs: Sequence[str],
    free: tuple[str, ...],
    duration: float,
    state: Mapping[str, Scalar] | None,
    parameters: Mapping[str, Scalar] | None,
    t0: float,
) -> tuple[Floats, Outputs]:
    control = Adaptive(1e-9, None, max_steps=MOST_STEPS)
    span = span_of(t0, duration, control)
    settings = RunSettings(control, initial=state, parameters=parameters or {}, native=True, progress=False, start=t0)
    run = DifferentiatedRun(mechanism, free, settings, {text: formula(text, text) for text in outputs})
    save = save_at([span[1]], span)

    def at(x: Floats) -> tuple[Floats, Floats]:
        rows = run.at(x, span, save)
        return rows.values[-1], rows.derivatives[-1]

    return run.values, at


# Samples.


def _drawn(widths: Floats, distribution: str, count: int, seed: int) -> Floats:
    """Random deviations, a row for each sample."""
    random = generator(seed)
    if distribution == UNIFORM:
        return np.asarray(random.uniform(-1, 1, (count, len(widths))) * widths)
    return np.asarray(random.standard_normal((count, len(widths))) * widths / _SIGMAS)


def _sampled(at: Outputs, begin: Floats, deviations: Floats, outputs: int) -> Floats:
    """All outputs of all samples; NaN where one has no value."""
    values = np.full((len(deviations), outputs), np.nan)
    for row, deviation in zip(values, deviations, strict=True):
        try:
            row[:] = at(begin + deviation)[0]
        except KinegraphError:
            continue
    return values


def _output(
    name: str, nominal: float, slopes: Floats, widths: Floats, distribution: str, values: Floats
) -> ToleranceOutput:
    sigmas = widths / (_SIGMAS if distribution == NORMAL else np.sqrt(3.0))
    parts = (slopes * sigmas) ** 2
    variance = float(parts.sum())
    spread = float(np.sqrt(variance))
    shares = parts / variance if variance else parts
    worst = float(np.abs(slopes) @ widths)
    if len(values) < 2:
        nothing = float("nan")
        return ToleranceOutput(name, nominal, slopes, shares, spread, worst, nothing, nothing, (nothing, nothing), True)
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    error = deviation / np.sqrt(2 * (len(values) - 1))
    bent = abs(deviation - spread) > max(_DOUBT * error, _BENT * max(deviation, spread))
    shifted = abs(mean - nominal) > max(_DOUBT * deviation / np.sqrt(len(values)), 0.1 * deviation)
    low, high = (float(x) for x in np.quantile(values, [0.00135, 0.99865]))
    return ToleranceOutput(
        name, nominal, slopes, shares, spread, worst, mean, deviation, (low, high), not (bent or shifted)
    )
