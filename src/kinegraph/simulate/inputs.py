"""The arguments of a run, checked and resolved: times, methods, input signals, controllers, and the initial state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.dynamics.state_rate import Forces, input_symbol
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.errors import SolveError
from kinegraph.model.constraints import is_constrained, tell_of_unknowns
from kinegraph.model.evaluate import Value, initial_positions, initial_states, initial_velocities, number
from kinegraph.model.expressions import PI, TIME, Expression, Scalar, expressions, names
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.model.robot_data import actuator_inputs, named_state
from kinegraph.simulate.array_formulas import JOINTS, joint_formulas, quantities_of
from kinegraph.simulate.formulas import formula
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem import Event, Feedback, Floats, Sampled, Signals, signals

# Validation of the arguments of `simulate` and `sweep`.

_SHORTEST_RUN = 1e-24  # seconds, a thousand times the least step near t = 0
_LONGEST_RUN = 1e12  # seconds, more than thirty thousand years
_MOST_STEPS = 1e10
_MOST_ROWS = 10_000_000
_FEWEST_TIMES = 1000  # floating-point numbers between the start of a run and its end


def seconds(name: str, value: object) -> float:
    """A time given by the user."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise SolveError(f"{name} is {value!r}: give a number of seconds, e.g. simulate(model, 10)") from None
    if not isfinite(number):
        raise SolveError(f"{name} is {value!r}: give a finite number of seconds")
    return number


def span_of(t0: object, duration: object, control: Control) -> tuple[float, float]:
    """Start and end of a run; SolveError if it would never finish."""
    beginning = seconds("t0", t0)
    span = beginning, beginning + seconds("duration", duration)
    check_length(span, control)
    return span


def check_method(solver: Solver, mechanism: Mechanism, events: Sequence[Event]) -> None:
    """SolveError if the method does not support the mechanism or its events."""
    if not mechanism.layout.velocities:
        raise SolveError(f"{mechanism.name} has no coordinates, so nothing can move: declare `coordinates q;`")
    able = solver.capabilities
    if is_constrained(mechanism) and not able.projection:
        raise SolveError(f"{solver.name} does not support loops or constraints: use another method, e.g. dop853")
    if mechanism.contacts and (able.symplectic or not able.resets):
        raise SolveError(f"{solver.name} does not support contacts: use another method, e.g. dop853")
    if any(event.reset for event in events) and not able.resets:
        raise SolveError(f"{solver.name} does not support events that reset the state: use another method, e.g. dop853")


def check_length(span: tuple[float, float], control: Control) -> None:
    """SolveError for a run that would never finish, is shorter than a step, or has indistinguishable times."""
    length, apart = span[1] - span[0], float(np.spacing(max(map(abs, span))))
    if 0 < length < _FEWEST_TIMES * apart:
        message = f"the run is from t = {span[0]} to {span[1]}, where adjacent times are {apart:.2g} s apart"
        raise SolveError(f"{message}: start nearer to t = 0, or run longer")
    if 0 < length < _SHORTEST_RUN:
        message = f"a run of {length:.3g} s is shorter than the shortest step; give at least {_SHORTEST_RUN:.0e} s"
        raise SolveError(f"{message}, or choose a smaller unit of time in the model")
    if length > _LONGEST_RUN:
        raise SolveError(f"a run of {length:.3g} s would never finish; the limit is {_LONGEST_RUN:.0e} s")
    if not control.adaptive and length / control.step > _MOST_STEPS:
        message = f"steps of {control.step:.3g} s over {length:.3g} s are {length / control.step:.1e} steps"
        raise SolveError(f"{message}; the limit is {_MOST_STEPS:.0e}: give a longer step")


def check_rows(intervals: int) -> None:
    """SolveError for more saved states than memory holds."""
    if intervals > _MOST_ROWS:
        # The integer may be too large for a float.
        many = f"{intervals}" if intervals < 10**15 else f"1e{len(str(intervals)) - 1}"
        message = f"times={many} would save more states than fit in memory"
        raise SolveError(f"{message}; the limit is {_MOST_ROWS}: save fewer, or give an array of times")


def initial_values(mechanism: Mechanism, given: Mapping[str, Scalar] | ArrayLike | None) -> Mapping[str, Scalar]:
    """Initial values by name.

    An array holds all positions, then all velocities, then all states; a string names a keyframe.
    """
    if given is None:
        return {}
    if isinstance(given, str):
        return named_state(mechanism, given)
    if isinstance(given, Mapping):
        return given
    names = mechanism.layout.initial
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise SolveError(f"state is {given!r}: give values by name, e.g. state={{{names[0]!r}: 1}}") from None
    if values.shape != (len(names),):
        message = f"state has shape {values.shape}, but {mechanism.name} takes {len(names)} numbers"
        raise SolveError(f"{message}: {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}")
    return dict(zip(names, values.tolist(), strict=True))


def check_inputs(given: object, feedback: bool = False) -> None:
    """SolveError unless inputs are given by name. feedback: whether Python functions (`Feedback`) are allowed."""
    remedy = "give formulas or samples by name, e.g. inputs={'q1': \"-0.1*q1'\"} or {'q1': (times, values)}"
    if not isinstance(given, Mapping):
        raise SolveError(f"inputs is {_kind(given)}: {remedy}")
    for name, value in given.items():
        if callable(value):
            how = "; pass a function as kg.Feedback(function, period=0.01)" if feedback else ""
            raise SolveError(f"input {name!r} is {_kind(value)}: {remedy}{how}")
        if isinstance(value, Feedback) and not feedback:
            raise SolveError(f"input {name!r} is a Python function, which only a single run supports: {remedy}")


def _kind(value: object) -> str:
    return "a Python function" if callable(value) else repr(value)


# Inputs given by the user: formulas, samples, and Python functions.

Input: TypeAlias = "Scalar | Sampled | Feedback | tuple[ArrayLike, ArrayLike]"


def read_inputs(mechanism: Mechanism, inputs: Mapping[str, Input]) -> tuple[Forces, Signals]:
    """Joint forces and inputs of the model, from what the user gives."""
    formulas: dict[str, Expression] = {}
    sampled: dict[str, Sampled] = {}
    for called, given in each_joint(mechanism, inputs).items():
        name = input_symbol(mechanism, called)
        if name in formulas or name in sampled:
            raise SolveError(f"inputs: {called!r} is given twice, under two names")
        if isinstance(given, Sampled):
            sampled[name] = given
        elif isinstance(given, Feedback):
            sampled[name] = Sampled((0.0, 1.0), (0.0, 0.0))  # until the function is called
        elif isinstance(given, tuple):
            sampled[name] = Sampled(*given)
        else:
            formulas[name] = formula(given)
    for name in actuator_inputs(mechanism):  # a robot whose actuators get no control
        if name not in sampled:
            formulas.setdefault(name, ZERO)
    tell_of_unknowns(mechanism, (*formulas, *sampled))
    forces = Forces(formulas, tuple(sampled), quantities_of(mechanism, formulas.values()))
    return forces, signals(list(sampled.values()))


def are_together(mechanism: Mechanism, name: str) -> bool:
    """Whether this input gives the forces of all joints together: `tau`, unless the model has an input of this name."""
    return name == JOINTS and name not in mechanism.input_names and not mechanism.layout.force(name)


def each_joint(mechanism: Mechanism, inputs: Mapping[str, Input]) -> dict[str, Input]:
    """The inputs with what is given for all joints together (`tau`) divided among them."""
    if JOINTS not in inputs or not are_together(mechanism, JOINTS):
        return dict(inputs)
    given, others = inputs[JOINTS], {name: one for name, one in inputs.items() if name != JOINTS}
    for name in others:
        if input_symbol(mechanism, name) in mechanism.layout.forces:
            raise SolveError(f"inputs: {JOINTS!r} gives the forces of all joints, also that of {name!r}: give one")
    if isinstance(given, Feedback):
        return {**others, **dict.fromkeys(mechanism.layout.forces, given)}
    if not isinstance(given, str):
        raise SolveError(
            f"inputs: {JOINTS} is {given!r:.80}: give a formula of arrays, or kg.Feedback(function, period)"
        )
    return {**others, **joint_formulas(mechanism, given)}


def with_given_inputs(mechanism: Mechanism, forces: Forces) -> Mechanism:
    """The mechanism without its own expressions for inputs that the user gives. An input that drives a constraint is
    replaced by the given formula."""
    leading = {name for one in expressions(mechanism.constraints) for name in names(one)}
    given = {*forces.formulas, *forces.sampled}
    inputs = tuple(
        replace(one, value=_driving_formula(mechanism, one.name, forces) if one.name in leading else None)
        if one.name in given
        else one
        for one in mechanism.inputs
    )
    return replace(mechanism, inputs=inputs) if inputs != mechanism.inputs else mechanism


def _driving_formula(mechanism: Mechanism, name: str, forces: Forces) -> Expression:
    """The formula of an input that drives a constraint. It is differentiated, so it may depend on time and parameters
    only."""
    found = forces.formulas.get(name)
    if found is None or names(found) - {TIME, PI, *(one.name for one in mechanism.parameters)}:
        raise SolveError(
            f"inputs: {name!r} drives a constraint: give a formula of t and parameters, which can be differentiated"
        )
    return found


def is_autonomous(mechanism: Mechanism, forces: Forces, events: Sequence[Event]) -> bool:
    """Whether the model, its inputs and its events are all independent of time."""
    formulas = [*forces.formulas.values()]
    for event in events:
        formulas += [one for one in (event.condition, *event.reset.values()) if isinstance(one, Expression)]
    timed = any(TIME in names(one) for one in formulas)
    return not (timed or forces.sampled or depends_on_time(mechanism))


# The initial state: the model's initial values, overridden by the user's.


def given_state(
    mechanism: Mechanism, initial: Mapping[str, Scalar], parameters: Mapping[str, Value]
) -> tuple[Floats, Floats]:
    """q and v as given: values of `state` by name (`q1`, `q1'`, a quasi-velocity), others from the model."""
    known = mechanism.layout.initial
    for name in initial:
        if name not in known:
            raise SolveError(f"state: {mechanism.name} has no variable {name!r}\n  {did_you_mean(name, known)}")
    given = {name: number(formula(value, name), parameters) for name, value in initial.items()}
    q = dict(zip(mechanism.layout.positions, initial_positions(mechanism, parameters), strict=True))
    v = dict(zip(mechanism.layout.velocities, initial_velocities(mechanism, parameters), strict=True))
    positions = np.array([given.get(name, value) for name, value in q.items()], dtype=float)
    velocities = np.array([given.get(name, value) for name, value in v.items()], dtype=float)
    for start in mechanism.layout.quaternions:
        normalize(mechanism, positions, start)
    return positions, velocities


def given_first_order_states(
    mechanism: Mechanism, initial: Mapping[str, Scalar], parameters: Mapping[str, Value]
) -> Floats:
    """z at the start: values of `state` by name, others from the model."""
    start = zip(mechanism.layout.states, initial_states(mechanism, parameters), strict=True)
    return np.array(
        [number(formula(initial[name], name), parameters) if name in initial else value for name, value in start],
        dtype=float,
    )


class Start(NamedTuple):
    """q and v at the start of a run. `note` says which declared values were changed to close loops, if any."""

    q: Floats
    v: Floats
    note: str | None = None


def starting_state(
    mechanism: Mechanism, initial: Mapping[str, Scalar], parameters: Mapping[str, Value], t: float = 0.0
) -> tuple[Floats, Floats]:
    """q and v at the start, see `start_of`."""
    found = start_of(mechanism, initial, parameters, t)
    return found.q, found.v


def start_of(
    mechanism: Mechanism, initial: Mapping[str, Scalar], parameters: Mapping[str, Value], t: float = 0.0
) -> Start:
    """q and v at the start. A mechanism with loops or constraints is assembled at t: the given values hold first, then
    those that the model declares. SolveError if they cannot."""
    positions, velocities = given_state(mechanism, initial, parameters)
    if not (mechanism.loops or mechanism.constraints):
        return Start(positions, velocities)
    assembler = Assembler(mechanism, parameters)
    held = tuple(name for name in initial if name not in mechanism.layout.states)
    fitting = assembler.assembled(positions, velocities, held, t, mechanism.declared).required()
    if singular := assembler.singular_rows(fitting.q, t):
        raise SolveError(
            f"{mechanism.name} starts in a singular position: {', '.join(singular)} depends on other "
            "constraint rows there\n"
            "  the motion can continue in several directions, so accelerations are not determined: start "
            "slightly beside it"
        )
    return Start(fitting.q, fitting.v, fitting.note)


def normalize(mechanism: Mechanism, q: Floats, start: int) -> None:
    """Scale a quaternion (of one state or of many rows) to unit length."""
    part = q[..., start : start + 4]
    largest = np.max(np.abs(part), axis=-1, keepdims=True)
    part /= np.where(largest > 0, largest, 1.0)  # squares of very large or small numbers would overflow or underflow
    length = np.linalg.norm(part, axis=-1, keepdims=True)
    if not np.all(length > 0):
        names = ", ".join(mechanism.layout.positions[start : start + 4])
        raise SolveError(f"the initial quaternion ({names}) is zero: give it a direction")
    part /= length
