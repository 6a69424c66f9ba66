"""Runs with exact derivatives of their results with respect to parameters and initial values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.derive.constraints.conditions import following_columns, row_rank
from kinegraph.derive.constraints.redundancy import holonomic_rows
from kinegraph.derive.dynamics.state_rate import Forces
from kinegraph.errors import TaskError
from kinegraph.graph.node import Graph
from kinegraph.model.changes.coordinates import with_unknown_parameters
from kinegraph.model.constraints import is_constrained
from kinegraph.model.definitions import named_expressions
from kinegraph.model.evaluate import float_values, parameter_values
from kinegraph.model.expressions import PI, TIME, Expression, Scalar
from kinegraph.model.expressions import names as names_in
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.checks.diagnosis import named_ending
from kinegraph.simulate.checks.first_integrals import ENERGY, MOMENTA
from kinegraph.simulate.crossings import ModalForm, Pieces, PiecewiseRun
from kinegraph.simulate.equations import row_values
from kinegraph.simulate.formulas import formula
from kinegraph.simulate.inputs import (
    Input,
    check_inputs,
    initial_values,
    read_inputs,
    span_of,
    starting_state,
    with_given_inputs,
)
from kinegraph.simulate.observation import KINETIC, POTENTIAL
from kinegraph.simulate.run_task import Task
from kinegraph.simulate.sensitivities import AdjointForm, StartDerivative, VariationalForm, switching_conditions
from kinegraph.solve.execution import Native
from kinegraph.solve.methods.method import Method, Solver, StateForm, solver_of
from kinegraph.solve.methods.step_control import Adaptive, Control, Tolerance
from kinegraph.solve.problem import Signals
from kinegraph.solve.recording import Grid, Run, Save, Statistics, Status
from kinegraph.tasks.operating_point import (
    JACOBIAN,
    RATE,
    VALUE,
    Floats,
    OperatingPoint,
    called,
    parameter_slope,
    row_kernel,
    slope,
)

# The initial state of a run with loops or constraints, and its derivatives by parameters and initial values.
# Independent coordinates and velocities start as the model or the user says. The others follow from the constraints,
# and so do their derivatives: J dq = -d(constraints)/dp, J dv = -d(rates)/dq dq - d(rates)/dp.


class AssembledStart:
    """The start of a StartDerivative, assembled at the time t.

    held: names of positions and velocities that are given. The first state decides which others are independent.
    begun: the initial state for the first values. All later starts are searched near it: near a dead point the
    guesses of the model may lead to another branch than that of the run.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        start: StartDerivative,
        values: Mapping[str, Scalar],
        runtime: Sequence[str],
        held: Sequence[str],
        first: tuple[Floats, Mapping[int, float]],
        begun: Floats,
        t: float = 0.0,
    ) -> None:
        if mechanism.layout.quaternions:
            raise TaskError(
                f"{mechanism.name}: derivatives are not available for loops with free rotations (quaternions)\n"
                "  write the rotation with Rx, Ry, Rz"
            )
        self._mechanism, self._start, self._time = mechanism, start, t
        self._values, self._runtime = dict(values), tuple(runtime)
        self._kernel = row_kernel(mechanism, self._values, self._runtime)
        size = len(mechanism.layout.positions)
        raw, _ = start.at(*first)
        declared = mechanism.declared
        place = self._assembler(first[0]).assembled(begun[:size], begun[size:], held, t, declared).required()
        jacobian = self._rows(place.q, place.v, first[0])[JACOBIAN]
        names = mechanism.layout.initial
        self._moving = size + len(mechanism.layout.velocities)  # the entries before the first-order states
        given = [names.index(name) for name in place.independent]
        self._positions = _Split(jacobian[holonomic_rows(mechanism)], [k for k in given if k < size])
        self._velocities = _Split(jacobian, [k - size for k in given if k >= size])
        self._offset = np.concatenate([place.q, place.v, raw[self._moving :]]) - raw
        independent = [*self._positions.independent, *(size + k for k in self._velocities.independent)]
        self._independent = tuple(names[k] for k in independent)
        for index in first[1]:
            if index < self._moving and index not in independent:
                free = ", ".join(name for name in place.independent if name in held) or "the other coordinates"
                raise TaskError(
                    f"{mechanism.name}: {names[index]}(0) is not independent: the loops determine it from {free}\n"
                    "  name as many initial values as there are degrees of freedom"
                )

    def raw(self, parameters: Floats) -> Floats:
        """q, v and z as written, shifted by the correction that closed the loops of the first ones."""
        return self._start.raw(parameters) + self._offset

    def at(self, parameters: Floats, given: Mapping[int, float]) -> tuple[Floats, Floats]:
        """q, v and z, and their derivatives: a column for each parameter, then one for each given initial value."""
        size = len(self._mechanism.layout.positions)
        state, columns = self._start.at(parameters, given)
        state = state + self._offset
        end = self._moving
        place = self._assembler(parameters).assembled(state[:size], state[size:end], self._independent, self._time)
        found = self._rows(place.q, place.v, parameters)
        by_parameter = {name: [found[parameter_slope(word, name)] for word in (VALUE, RATE)] for name in self._runtime}
        values, rates = np.zeros((2, len(found[VALUE]), columns.shape[1]))
        for number, (value, rate) in enumerate(by_parameter.values()):
            values[:, number], rates[:, number] = value, rate
        holonomic = holonomic_rows(self._mechanism)
        q = self._positions.filled(found[JACOBIAN][holonomic], columns[:size], values[holonomic])
        v = self._velocities.filled(found[JACOBIAN], columns[size:end], rates + found[slope(RATE, "dq")] @ q)
        return np.concatenate([place.q, place.v, state[end:]]), np.vstack([q, v, columns[end:]])

    def _assembler(self, parameters: Floats) -> Assembler:
        return Assembler(self._mechanism, self._values | dict(zip(self._runtime, parameters.tolist(), strict=True)))

    def _rows(self, q: Floats, v: Floats, parameters: Floats) -> dict[str, Floats]:
        layout = self._mechanism.layout
        given = tuple(zip(self._runtime, parameters.tolist(), strict=True))
        point = OperatingPoint(q, v, np.zeros(len(layout.forces)), np.zeros(len(layout.inputs)), self._time, given)
        return called(self._kernel, point.arguments())


class _Split:
    """The dependent columns of a Jacobian, chosen once. Given values are independent if possible."""

    def __init__(self, jacobian: Floats, given: Sequence[int]) -> None:
        self._rows = list(row_rank(jacobian).independent)
        self._dependent = sorted(following_columns(jacobian, given))
        self.independent = [k for k in range(jacobian.shape[1]) if k not in self._dependent]

    def filled(self, jacobian: Floats, columns: Floats, missing: Floats) -> Floats:
        """Columns whose dependent entries make J columns + missing vanish."""
        found = columns.copy()
        if self._dependent:
            right = jacobian[self._rows][:, self.independent] @ columns[self.independent] + missing[self._rows]
            found[self._dependent] = -np.linalg.solve(jacobian[np.ix_(self._rows, self._dependent)], right)
        return found


# Runs with exact derivatives of their results, for many values of parameters and initial values.

#: Formulas by name, or formulas that are their own names.
Results: TypeAlias = Mapping[str, Scalar] | Sequence[str] | str

_AT_START = "(0)"


@dataclass(frozen=True)
class RunSettings:
    """The settings of the runs, as for `simulate`."""

    control: Control
    method: str | Method | Solver = Method.DOP853
    initial: Mapping[str, Scalar] | ArrayLike | None = None
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    inputs: Mapping[str, Input] = field(default_factory=dict)
    native: Native = "auto"
    progress: bool | None = None
    start: float = 0.0


@dataclass(frozen=True)
class DifferentiatedRows:
    """Results by row of time, `derivatives[time, result, variable]`, and the cost of the run.

    rate: of the motion at the end. crossings: how many impacts and jumps there were.
    """

    times: Floats
    values: Floats
    derivatives: Floats
    statistics: Statistics
    rate: Floats = field(default_factory=lambda: np.zeros(0))
    crossings: int = 0


class DifferentiatedRun:
    """Equations of the motion and of its derivatives, compiled once; `at` runs them for values of the variables.

    by: parameters (`m1`) and initial values (`q1(0)`, `q1'(0)`). An initial value named here does not depend on
    parameters. results: formulas of the state, time, parameters, points, energies, momenta and integrals. piecewise:
    whether to go through impacts of rigid contacts and jumps of forces.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        by: tuple[str, ...],
        settings: RunSettings,
        results: Mapping[str, Expression] | None = None,
        integrands: Mapping[str, Expression] | None = None,
        piecewise: bool = False,
    ) -> None:
        _require_motion(mechanism)
        self._settings = settings
        self._solver = solver_of(settings.method)
        if self._solver.capabilities.form is not StateForm.VELOCITIES:
            raise TaskError("derivatives need a method in velocities, e.g. method='dop853'")
        self.by = by
        check_inputs(settings.inputs)
        forces, self.signals = read_inputs(mechanism, settings.inputs)
        mechanism = with_given_inputs(mechanism, forces)
        self._parameters = tuple(name for name in by if not name.endswith(_AT_START))
        self._initial = tuple(name for name in by if name.endswith(_AT_START))
        names = (*self._parameters, *self._initial)
        apart = replace(mechanism, contacts=()) if piecewise else mechanism
        self.form = _form(apart, settings, forces, names, integrands or {})
        if piecewise and (mechanism.contacts or switching_conditions(self.form.motion) is not None):
            form = self.form
            modal = ModalForm(mechanism, form.values, forces, form.runtime, form.by, form.integrands)
            modal.derived_motion = form.motion
            modal = modal.watching_jumps()
            self.form = modal if modal.endings.names else form
        self.formulas = results or {name: formula(name) for name in self.form.motion_names}
        self.results = tuple(self.formulas)
        _check_formulas(self.form, self.formulas)
        self._start, self.values = self._beginning(replace(mechanism, contacts=()), settings)

    def _beginning(
        self, mechanism: Mechanism, settings: RunSettings
    ) -> tuple[StartDerivative | AssembledStart, Floats]:
        """The start of the runs, and the values of the variables in the model and the settings."""
        numbers = parameter_values(mechanism, settings.parameters)
        initial = initial_values(mechanism, settings.initial)
        # raises an error that names the unknown
        begun = np.concatenate(starting_state(mechanism, initial, numbers, settings.start))
        known = float_values(numbers)
        start = StartDerivative(mechanism, initial, self.form.bound, self._parameters)
        parameters = np.array([known[name] for name in self._parameters])
        raw = start.raw(parameters)
        if is_constrained(mechanism):
            raw[: len(begun)] = begun
        state = dict(zip(self._state_names, raw.tolist(), strict=True))
        found = {**known, **{name + _AT_START: value for name, value in state.items()}}
        values = np.array([found[name] for name in self.by], dtype=float)
        if not is_constrained(mechanism):
            return start, values
        given = [name.removesuffix(_AT_START) for name in self._initial]
        first = parameters, {self._state_names.index(name): state[name] for name in given}
        held = tuple(name for name in (*initial, *given) if name not in mechanism.layout.states)
        names = settings.parameters, self._parameters, held
        return AssembledStart(mechanism, start, *names, first, begun, settings.start), values

    @cached_property
    def motion(self) -> VariationalForm:
        """The motion alone, without derivatives."""
        form = self.form
        if isinstance(form, ModalForm):
            return form.without_derivatives()
        return VariationalForm(form.mechanism, form.values, form.forces, form.runtime, (), form.integrands)

    @cached_property
    def adjoint(self) -> AdjointForm:
        """The adjoint equations of results at the end, backward in time."""
        return AdjointForm(self.motion)

    @cached_property
    def _graph(self) -> Graph:
        return self.form.results(tuple(self.formulas.values()))

    @property
    def _state_names(self) -> tuple[str, ...]:
        return self.form.mechanism.layout.initial

    def started(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        """The parameters, the first state, and its derivatives: parameters first, then initial values."""
        by_name = dict(zip(self.by, values.tolist(), strict=True))
        parameters = np.array([by_name[name] for name in self._parameters], dtype=float)
        given = {self._state_names.index(name.removesuffix(_AT_START)): by_name[name] for name in self._initial}
        return (parameters, *self._start.at(parameters, given))

    def in_order(self, columns: Floats) -> Floats:
        """Columns by parameter and initial value, in the order of `by`."""
        order = [(*self._parameters, *self._initial).index(name) for name in self.by]
        return np.asarray(columns[..., order])

    def at(self, values: Floats, span: tuple[float, float], save: Save) -> DifferentiatedRows:
        """One run; TaskError if it does not reach its end."""
        parameters, state, columns = self.started(values)
        motion = len(self.form.motion_names)
        first = np.zeros((1 + len(self.by), motion))
        first[0, : len(state)], first[1:, : len(state)] = state, columns.T
        form, crossings = self.form, 0
        if isinstance(form, ModalForm):
            pieces = self.pieces(form, parameters)
            run: Run | PiecewiseRun = pieces.run(first.ravel(), _grid_times(save, span))
            assert isinstance(run, PiecewiseRun)
            rows, crossings = np.hstack([self.rows(run, parameters), run.flags]), run.crossings
        else:
            run = self.integrated(form, first.ravel(), span, self.signals, save, parameters)
            rows = self.rows(run, parameters)
            require_continuous(form, rows)
        found = row_values(self._graph, self.form.symbols, rows)
        count = len(run.times)
        results = np.broadcast_to(found["values"], (count, len(self.results)))
        slopes = np.broadcast_to(found["derivatives"], (count, len(self.results), len(self.by)))
        rate = np.broadcast_to(row_values(form.motion, form.symbols, rows[-1:])["rate"], (1, motion))[0]
        slopes = self.in_order(np.array(slopes))
        return DifferentiatedRows(run.times, np.array(results), slopes, run.statistics, np.array(rate), crossings)

    def pieces(self, form: ModalForm, parameters: Floats) -> Pieces:
        """Runs of a form through impacts and jumps."""
        settings = self._settings
        return Pieces(form, self._solver, settings.control, self.signals, settings.native, parameters)

    def states(self, first: Floats, times: Floats, parameters: Floats) -> Floats:
        """The motion alone at increasing times, from its state at the first."""
        form = self.motion
        if isinstance(form, ModalForm):
            return self.pieces(form, parameters).run(first, times).states
        span = (float(times[0]), float(times[-1]))
        return self.integrated(form, first, span, self.signals, Grid(times), parameters).states

    def integrated(
        self,
        form: VariationalForm,
        state: Floats,
        span: tuple[float, float],
        signals: Signals,
        save: Save,
        parameters: Floats,
    ) -> Run:
        """A run of any form of these equations; TaskError if it does not reach its end."""
        settings, control = self._settings, self._settings.control
        if isinstance(form, AdjointForm) and control.adaptive:
            control = replace(control, atol=control.common_atol)  # names of the state have no meaning for an adjoint
        task = Task(form, self._solver, control, state, span, signals, (), save, settings.progress, parameters)
        run, _ = task.run(settings.native)
        if run.ending.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if not run.ending.status.good:
            ending = run.ending if isinstance(form, AdjointForm) else named_ending(form, run, signals, parameters)
            raise TaskError(
                f"{self.form.mechanism.name}: the run stopped before its end, so there are no derivatives: {ending}"
            )
        return run

    def tolerances(self, states: Floats) -> Floats:
        """The tolerance of every component of the motion."""
        control = self._settings.control
        assert control.adaptive
        return np.asarray(control.absolute(self.motion.names) + control.rtol * np.abs(states).max(axis=0))

    def rows(self, run: Run | PiecewiseRun, parameters: Floats) -> Floats:
        """The arguments of all graphs by row: state, time, inputs, parameters."""
        count = len(run.times)
        return np.hstack(
            [run.states, run.times[:, None], self.signals.values(run.times), np.tile(parameters, (count, 1))]
        )


def _grid_times(save: Save, span: tuple[float, float]) -> Floats:
    assert isinstance(save, Grid)
    times = np.asarray(save.times, dtype=float)
    return np.unique(np.concatenate([[span[0]], times, [span[1]]]))


def require_continuous(form: VariationalForm, rows: Floats) -> None:
    """TaskError if forces are discontinuous between rows of a run."""
    time = form.jump(rows)
    if time is not None:
        raise TaskError(
            f"{form.mechanism.name}: a force is discontinuous at about t = {time:.6g} (sign or select in a "
            "formula)\n"
            "  derivatives across a discontinuity are not available: use a continuous formula, e.g. "
            "tanh(v/0.01) for sign(v)"
        )


def run_request(
    model: MechanismSource,
    duration: float,
    t0: float,
    tolerances: tuple[float, Tolerance | None],
    method: str | Method | Solver,
    state: Mapping[str, Scalar] | ArrayLike | None,
    parameters: Mapping[str, Scalar] | None,
    inputs: Mapping[str, Input] | None,
    native: Native,
    progress: bool | None,
) -> tuple[Mechanism, tuple[float, float], RunSettings]:
    """The mechanism, the time span and the settings of a run, from the arguments of a task."""
    control = Adaptive(*tolerances)
    span = span_of(t0, duration, control)
    settings = RunSettings(control, method, state, parameters or {}, inputs or {}, native, progress, span[0])
    return mechanism_of(model), span, settings


def differentiated(
    mechanism: Mechanism,
    by: Sequence[str] | str,
    settings: RunSettings,
    results: Results | None,
    integrals: Mapping[str, Scalar] | None,
) -> DifferentiatedRun:
    """The requested run, with all names and formulas checked."""
    mechanism = with_free_forces(mechanism, by)
    names = variables(mechanism, by)
    return DifferentiatedRun(mechanism, names, settings, formulas(results, "outputs"), formulas(integrals, "integrals"))


def with_free_forces(mechanism: Mechanism, by: Iterable[str]) -> Mechanism:
    """The mechanism with the unknowns that the user names as parameters: zero in the run, differentiated by."""
    names = by.split(",") if isinstance(by, str) else by if isinstance(by, Iterable) else ()
    return with_unknown_parameters(mechanism, [name.strip() for name in names if isinstance(name, str)])


def variables(mechanism: Mechanism, by: Sequence[str] | str, what: str = "by") -> tuple[str, ...]:
    """The parameters and initial values that the user names, checked."""
    names = tuple(name.strip() for name in by.split(",")) if isinstance(by, str) else by
    if not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise TaskError(f"{what} is {names!r:.80}: name parameters and initial values, e.g. ['m1', 'q1(0)']")
    names = tuple(names)
    state = mechanism.layout.initial
    known = (*(one.name for one in mechanism.parameters), *(name + _AT_START for name in state))
    if not names or names == ("",):
        raise TaskError(f"{what} is empty: name parameters and initial values, such as {', '.join(known[:12])}")
    for place, name in enumerate(names):
        if name in state:
            raise TaskError(f"{what}: {name!r} is not a parameter; its initial value is {name + _AT_START!r}")
        if name not in known:
            raise TaskError(
                f"{what}: {mechanism.name} has no parameter or initial value {name!r}\n"
                f"  {did_you_mean(str(name), known)}"
            )
        if name in names[:place]:
            raise TaskError(f"{what}: {name!r} is given twice")
    return names


def formulas(given: Results | None, what: str) -> dict[str, Expression]:
    """The user's formulas by name."""
    if given is None:
        return {}
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Mapping | Sequence):
        raise TaskError(f"{what} is {given!r:.80}: give formulas, e.g. ['tip.x'] or {{'height': 'tip.z + 1'}}")
    named = given if isinstance(given, Mapping) else {text: text for text in given}
    return {str(name): formula(value, str(name)) for name, value in named.items()}


def _form(
    mechanism: Mechanism,
    settings: RunSettings,
    forces: Forces,
    by: Sequence[str],
    integrands: Mapping[str, Expression],
) -> VariationalForm:
    parameters = [name for name in by if not name.endswith(_AT_START)]
    form = VariationalForm(mechanism, settings.parameters, forces, parameters, by, integrands)
    for name in integrands:
        if name in _own_names(form) or not name:
            raise TaskError(f"integrals: the name {name!r} is already in use: choose another")
    _check_formulas(form, integrands)
    return form


def _known_names(form: VariationalForm) -> set[str]:
    return {*_own_names(form), *form.integrands}


def _own_names(form: VariationalForm) -> set[str]:
    """The names that formulas may contain, without the integrals that a user adds."""
    mechanism = form.mechanism
    known = {*mechanism.layout.initial, TIME, PI, KINETIC, POTENTIAL, ENERGY, *MOMENTA}
    known |= {one.name for one in mechanism.parameters} | {one.name for one in named_expressions(mechanism)}
    known |= {one.name for one in mechanism.inputs if one.value is not None or one.name in form.forces.sampled}
    return known | {f"{point.name}.{axis}" for point in mechanism.points for axis in "xyz"}


def _check_formulas(form: VariationalForm, wanted: Mapping[str, Expression]) -> None:
    known = _known_names(form)
    for name, one in wanted.items():
        for used in sorted(names_in(one) - known):
            raise TaskError(f"{name}: {form.mechanism.name} has no variable {used!r}\n  {did_you_mean(used, known)}")


def _require_motion(mechanism: Mechanism) -> None:
    if not mechanism.layout.positions:
        raise TaskError(f"{mechanism.name} has no coordinates, so it cannot move")


# Derivatives at the end of a run, as text.


def derivative_columns(
    times: Floats, outputs: Sequence[str], by: Sequence[str], values: Floats, derivatives: Floats
) -> dict[str, Floats]:
    """`t`, the outputs, and the derivatives `d(OUTPUT)/d(NAME)`, as columns over time."""
    columns = {"t": times} | {name: values[:, k] for k, name in enumerate(outputs)}
    for row, output in enumerate(outputs):
        columns |= {f"d({output})/d({name})": derivatives[:, row, k] for k, name in enumerate(by)}
    return columns


def derivative_table(
    title: str, results: Sequence[str], by: Sequence[str], derivatives: Floats, values: Floats | None = None
) -> str:
    """One line per variable, one column per result; the values of the results first, if given."""
    width = max(14, *(len(name) + 2 for name in (*results, *by)))

    def line(head: str, texts: Iterable[str]) -> str:
        return "".join(f"{text:>{width}}" for text in (head, *texts))

    rows = [] if values is None else [("value", values)]
    rows += zip(by, derivatives.T, strict=True)
    return "\n".join([title, line("by", results), *(line(name, (f"{x:.6g}" for x in row)) for name, row in rows)])
