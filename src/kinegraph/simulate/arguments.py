"""What users give to `simulate` and `sweep`, checked before anything starts; each error says what to write instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.errors import SolveError
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem.events import Event
from kinegraph.solve.problem.problem import Feedback

_SHORTEST_RUN = 1e-24  # seconds, a thousand times the least step near t = 0
_LONGEST_RUN = 1e12  # seconds, more than thirty thousand years
_MOST_STEPS = 1e10
_MOST_ROWS = 10_000_000
_FEWEST_TIMES = 1000  # floating-point numbers from the start of a run to its end


def seconds(name: str, value: object) -> float:
    """A time a user gives."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise SolveError(f"{name} is {value!r}: give a number of seconds, e.g. simulate(model, 10)") from None
    if not isfinite(number):
        raise SolveError(f"{name} is {value!r}: give a finite number of seconds")
    return number


def span_of(start: object, duration: object, control: Control) -> tuple[float, float]:
    """When a run begins and ends, from what a user gives; SolveError for one that would never end."""
    beginning = seconds("start", start)
    span = beginning, beginning + seconds("duration", duration)
    check_length(span, control)
    return span


def check_method(solver: Solver, mechanism: Mechanism, events: Sequence[Event]) -> None:
    """SolveError for a method that cannot do what the mechanism and its events ask for."""
    if not mechanism.layout.velocities:
        raise SolveError(f"{mechanism.name} has no coordinates: nothing moves by itself; declare `coordinates q;`")
    able = solver.capabilities
    if is_constrained(mechanism) and not able.projection:
        raise SolveError(f"{solver.name} takes no loops or constraints: choose another method, e.g. dop853")
    if mechanism.contacts and (able.symplectic or not able.resets):
        raise SolveError(f"{solver.name} takes no contacts: choose another method, e.g. dop853")
    if any(event.reset for event in events) and not able.resets:
        raise SolveError(f"{solver.name} cannot go on from another state: choose another method, e.g. dop853")


def check_length(span: tuple[float, float], control: Control) -> None:
    """SolveError for a run that would never end, is too short for a step, or whose times could not be told apart."""
    length, apart = span[1] - span[0], float(np.spacing(max(map(abs, span))))
    if 0 < length < _FEWEST_TIMES * apart:
        message = f"the run goes from t = {span[0]} to {span[1]}, and times there are {apart:.2g} s apart"
        raise SolveError(f"{message}: begin nearer to t = 0, or run longer")
    if 0 < length < _SHORTEST_RUN:
        message = f"a run of {length:.3g} s is shorter than steps can be; give at least {_SHORTEST_RUN:.0e} s"
        raise SolveError(f"{message}, or choose a shorter unit of time in the model")
    if length > _LONGEST_RUN:
        raise SolveError(f"a run of {length:.3g} s would never end; at most {_LONGEST_RUN:.0e} s can be asked for")
    if not control.adaptive and length / control.step > _MOST_STEPS:
        message = f"steps of {control.step:.3g} s over {length:.3g} s are {length / control.step:.1e} steps"
        raise SolveError(f"{message}; at most {_MOST_STEPS:.0e} can be asked for: give a longer step")


def check_rows(intervals: int) -> None:
    """SolveError for more saved states than memory holds."""
    if intervals > _MOST_ROWS:
        many = f"{intervals}" if intervals < 10**15 else f"1e{len(str(intervals)) - 1}"  # no float is as large as some
        message = f"grid={many} would save more states than memory holds"
        raise SolveError(f"{message}; at most {_MOST_ROWS} can be asked for: save fewer, or at grid=[times]")


def initial_values(mechanism: Mechanism, given: Mapping[str, Scalar] | ArrayLike | None) -> Mapping[str, Scalar]:
    """Initial values by name; an array holds all positions, then all velocities."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    names = (*mechanism.layout.positions, *mechanism.layout.velocities)
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise SolveError(f"initial is {given!r}: give values by name, e.g. initial={{{names[0]!r}: 1}}") from None
    if values.shape != (len(names),):
        message = f"initial has shape {values.shape}, {mechanism.name} takes {len(names)} numbers"
        raise SolveError(f"{message}: {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}")
    return dict(zip(names, values.tolist(), strict=True))


def check_inputs(given: object, feedback: bool = False) -> None:
    """SolveError unless inputs are given by name. feedback: whether Python functions are taken, as `Feedback`."""
    remedy = "give formulas or samples by name, e.g. inputs={'q1': \"-0.1*q1'\"} or {'q1': (times, values)}"
    if not isinstance(given, Mapping):
        raise SolveError(f"inputs is {_kind(given)}: {remedy}")
    for name, value in given.items():
        if callable(value):
            how = "; a function is given as kg.Feedback(function, period=0.01)" if feedback else ""
            raise SolveError(f"the input {name!r} is {_kind(value)}: {remedy}{how}")
        if isinstance(value, Feedback) and not feedback:
            raise SolveError(f"the input {name!r} is a Python function, which runs alone take: {remedy}")


def _kind(value: object) -> str:
    return "a Python function" if callable(value) else repr(value)
