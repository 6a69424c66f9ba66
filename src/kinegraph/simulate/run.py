"""`simulate`: from a mechanism to its motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import same_passes
from kinegraph.derive.dynamics.state_rate import Forces
from kinegraph.errors import SolveError
from kinegraph.graph.interpret import interpret
from kinegraph.interrupt import Interrupt
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import Value, float_values, parameter_values
from kinegraph.model.expressions import TIME, Expression, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.validation.mechanism import check_values
from kinegraph.simulate import contacts
from kinegraph.simulate.checks.diagnosis import left_open, named_ending
from kinegraph.simulate.checks.singular_coordinates import singular_coordinates, singular_words
from kinegraph.simulate.control import controllers_of
from kinegraph.simulate.drift import without_drift
from kinegraph.simulate.equations import Equations, VelocityForm
from kinegraph.simulate.events import Endings, paced_by_events, read
from kinegraph.simulate.formulas import Outputs, formula, output_columns, read_outputs
from kinegraph.simulate.inputs import (
    Input,
    Start,
    check_inputs,
    check_method,
    check_rows,
    given_first_order_states,
    initial_values,
    is_autonomous,
    read_inputs,
    span_of,
    start_of,
    with_given_inputs,
)
from kinegraph.simulate.observation import Rows, checks, drift_checks, drift_facts, momentum_checks, named, observation
from kinegraph.simulate.recursive import RecursiveForm, recursive_observation, takes_recursion
from kinegraph.simulate.run_task import Task
from kinegraph.solve.execution import Decision, Native
from kinegraph.solve.methods.method import Method, Solver, StateForm, solver_of
from kinegraph.solve.methods.step_control import Adaptive, Control, FixedStep, Tolerance
from kinegraph.solve.problem import Event, Floats, Signals, require_span
from kinegraph.solve.recording import Grid, OwnSteps, Run, Save
from kinegraph.solve.solution import Check, SimulatedModel, Solution

if TYPE_CHECKING:
    from kinegraph.simulate.linkages import LinkageForm
    from kinegraph.simulate.stabilization import Baumgarte


# The form of the equations of motion.


def form_for(mechanism: Mechanism, solver: Solver) -> type[Equations]:
    """The form that a method takes for a mechanism, except recursion over bodies. Rare forms are imported here."""
    if mechanism.contacts:
        return contacts.OpenForm
    wanted = solver.capabilities.form
    if wanted is StateForm.MULTIPLIERS:
        from kinegraph.simulate.stabilization import IndexTwoForm

        return IndexTwoForm
    if wanted is StateForm.MOMENTA:
        from kinegraph.simulate.hamiltonian import ClosedMomentumForm, MomentumForm

        return ClosedMomentumForm if is_constrained(mechanism) else MomentumForm
    return VelocityForm


# `simulate`.

Events: TypeAlias = Sequence[Event] | Mapping[str, Scalar]

#: The default number of intervals to save.
INTERVALS = 1000

#: Initial accelerations above this may mean singular coordinates; up to so many nodes this is checked.
_HUGE, _MOST_INTERPRETED = 1e10, 5_000


def simulate(
    model: MechanismSource,
    duration: float,
    *,
    method: str | Method | Solver = Method.DOP853,
    state: Mapping[str, Scalar] | ArrayLike | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    events: Events = (),
    outputs: Outputs = (),
    times: int | ArrayLike | None = INTERVALS,
    t0: float = 0.0,
    rtol: float = 1e-8,
    atol: Tolerance | None = None,
    step: float | None = None,
    control: Control | None = None,
    native: Native = "auto",
    loops: bool | None = None,
    baumgarte: Baumgarte | float | Sequence[float] | None = None,
    passes: str = "",
    progress: bool | None = None,
    interrupt: Interrupt | None = None,
) -> Solution:
    """Simulate a mechanism for `duration` seconds.

    model: a Mechanism, a path, or a library name.
    method: rk4, dopri5, dop853, symplectic, adams, bdf or ida, or an integrator object.
    state: initial coordinates (`q1`), velocities (`q1'`), quasi-velocities and first-order states; others keep the
        model's values. Or an array of all positions, velocities and first-order states.
    parameters: values that replace the model's.
    inputs: forces in joints by coordinate (`q1` or `tau:q1`), and the model's inputs by name. Each is a formula of t
        and the state (`"-0.1*q1'"`), samples (`Sampled`, or a tuple (times, values)), or a Python function
        of time and state that is called at equal intervals (`Feedback(function, period)`). `tau` gives the forces of
        all joints: a formula of arrays with quantities (`"gravity + H @ (9*(1 - q) - 6*v)"`), or a `Feedback`.
    events: `Event` objects, or formulas by name; their zero crossings are recorded.
    outputs: formulas of the state, time, inputs, points and quantities (`"tip.z'"`, `"reaction:Rod[0]"`), or formulas
        by name; each becomes a column.
    times: an array of times to save at, or a number of equal intervals; None saves the integrator's own steps.
    t0: the start time.
    rtol, atol: tolerances per step; atol is a number, or numbers by name. step: the length of fixed steps instead.
    control: a step controller instead of rtol, atol and step.
    native: compile (True) or interpret (False); "auto" compiles long runs only.
    loops: use recursive algorithms; None uses them for more than 300 velocities (100 for planar linkages with loops)
        where possible.
    baumgarte: stabilize loops and constraints with these gains in 1/s (a number, two numbers, or `Baumgarte`) instead
        of projecting every state.
    passes: run these passes instead of those of quick effort: 'products, monomials(degree=4)'.
    progress: show a progress bar; None shows it in a terminal.
    interrupt: a token that lets another thread stop the run. Partial results are kept, as after Ctrl-C.
    """
    mechanism = mechanism_of(model)
    solver = solver_of(method)
    chosen = control or (FixedStep(step) if step is not None else Adaptive(rtol, atol))
    span = span_of(t0, duration, chosen)
    save = save_at(times, span)
    check_inputs(inputs or {}, feedback=True)
    forces, signal = read_inputs(mechanism, inputs or {})
    mechanism = with_given_inputs(mechanism, forces)
    values = {name: formula(value, name) for name, value in (parameters or {}).items()}
    event_list, observed = read_events(events), read_outputs(outputs)
    check_method(solver, mechanism, event_list)
    own = same_passes(passes)
    equations = (
        form_of(mechanism, solver, loops, own)(mechanism, values, forces)
        if baumgarte is None
        else _stabilized(mechanism, values, forces, baumgarte, chosen)
    ).with_passes(own)
    given, numbers = initial_values(mechanism, state), parameter_values(mechanism, values)
    if values:
        check_values(mechanism, numbers)
    q, v, note = _start(equations, given, numbers, span[0])
    z = given_first_order_states(mechanism, given, numbers)
    packed = equations.pack(q, v, np.zeros(0), span[0], z)
    chosen = paced_by_events(chosen, equations, event_list, packed, span)
    controllers = controllers_of(mechanism, inputs or {}, forces, signal, equations.names)
    kind = contacts.ContactTask if mechanism.contacts else Task
    task = kind(
        equations, solver, chosen, packed, span, signal, event_list, save, progress,
        interrupt=interrupt or Interrupt(), autonomous=is_autonomous(mechanism, forces, event_list),
        endings=_endings(equations), controllers=controllers,
    )  # fmt: skip
    _refuse_singular_start(equations, packed, span[0], numbers)
    run, decision = task.run(native)
    if task.endings is not None and run.ending.detail in task.endings.names:
        task, run, decision = _beyond_closed_form(task, run, decision, native, bool(controllers.functions))
        equations = task.equations
    # resets do not conserve first integrals
    reset = any(event.reset for event in event_list) or bool(mechanism.contacts)
    heard = controllers.signals(span[1])
    run = replace(run, ending=named_ending(equations, run, heard))
    finished = FinishedRun(equations, mechanism, solver, run, decision, values, forces, reset, heard)
    return replace(solution_of(finished, chosen.relative, observed), assembled=note)


def _stabilized(
    mechanism: Mechanism,
    values: Mapping[str, Expression],
    forces: Forces,
    baumgarte: Baumgarte | float | Sequence[float],
    control: Control,
) -> Equations:
    from kinegraph.simulate.stabilization import Baumgarte, BaumgarteForm

    return BaumgarteForm(mechanism, values, forces, gains=Baumgarte.of(baumgarte).gains(control))


def _endings(equations: Equations) -> Endings | None:
    """The conditions that end the equations of a platform with cranks. Imported only with loops, for speed."""
    if not equations.mechanism.loops:
        return None
    from kinegraph.simulate.stretched_cranks import crank_endings

    return crank_endings(equations)


def _beyond_closed_form(
    task: Task, run: Run, decision: Decision, native: Native, controlled: bool
) -> tuple[Task, Run, Decision]:
    from kinegraph.simulate.stretched_cranks import continued_with_loops, ended_at_stretched_crank

    return (task, ended_at_stretched_crank(run), decision) if controlled else continued_with_loops(task, run, native)


def _linkage_form() -> type[LinkageForm]:
    """Imports SciPy's sparse matrices, so it is imported only for a long linkage."""
    from kinegraph.simulate.linkages import LinkageForm

    return LinkageForm


def _start(equations: Equations, given: Mapping[str, Scalar], numbers: Mapping[str, Value], t: float) -> Start:
    """The initial state of a run. Long linkages have their own assembly."""
    if isinstance(equations, RecursiveForm) and is_constrained(equations.mechanism):
        assert isinstance(equations, _linkage_form())
        return equations.assembled(given, numbers)
    return start_of(equations.mechanism, given, numbers, t)


def _refuse_singular_start(equations: Equations, state: Floats, t: float, numbers: Mapping[str, Value]) -> None:
    """SolveError if coordinates are singular up to rounding: the accelerations would be huge and meaningless."""
    if not isinstance(equations, VelocityForm) or is_constrained(equations.mechanism):
        return
    if equations.by_loops or len(equations.rate) > _MOST_INTERPRETED:
        return
    values = {symbol.name: 0.0 for symbol in equations.symbols}
    values |= float_values(numbers) | {TIME: t}
    values |= zip((symbol.name for symbol in equations.state_symbols), state.tolist(), strict=True)
    with np.errstate(all="ignore"):
        (rates,) = interpret(equations.rate, values).values()
    layout = equations.mechanism.layout
    found = rates[len(layout.positions) :][: len(layout.velocities)]
    if not np.isfinite(found).all() or np.max(np.abs(found), initial=0.0) < _HUGE:
        return  # a value that is not finite ends the run with its name
    if lost := singular_coordinates(equations.mechanism, state[: len(layout.positions)], t, None, equations.bound):
        raise SolveError(f"the run cannot start: {singular_words(equations.mechanism, lost)}")


def form_of(mechanism: Mechanism, solver: Solver, loops: bool | None, passes: str = "") -> type[Equations]:
    """The equations of motion in the form that a run of this mechanism takes."""
    if not mechanism.contacts and takes_recursion(mechanism, solver, loops, passes):
        return _linkage_form() if is_constrained(mechanism) else RecursiveForm
    return form_for(mechanism, solver)


def save_at(grid: int | ArrayLike | None, span: tuple[float, float]) -> Save:
    """The times to save at."""
    if grid is None:
        return OwnSteps()
    if isinstance(grid, int):
        if grid < 1:
            raise SolveError(f"times is {grid}: give at least one interval, an array of times, or None for all steps")
        check_rows(grid)
        require_span(*span)
        return Grid(np.linspace(*span, grid + 1))
    return Grid.within(grid, span)


def read_events(events: Events) -> list[Event]:
    """The events given by the user, with their formulas parsed."""
    if isinstance(events, Mapping):
        events = [Event(name, condition) for name, condition in events.items()]
    for event in events:
        if not isinstance(event, Event):
            raise SolveError(f"events contains {event!r:.80}; give Event(name, condition), or {{name: condition}}")
    names = [event.name for event in events]
    if len(set(names)) < len(names):
        raise SolveError(f"several events have the same name: {', '.join(names)}")
    return [read(event) for event in events]


@dataclass(frozen=True)
class FinishedRun:
    """A run, with its model and settings."""

    equations: Equations
    mechanism: Mechanism
    solver: Solver
    run: Run
    decision: Decision
    values: Mapping[str, Scalar]
    forces: Forces
    reset: bool
    signals: Signals


def solution_of(finished: FinishedRun, rtol: float | None, outputs: Mapping[str, Expression] | None = None) -> Solution:
    """The columns and checks of a run."""
    equations, run = finished.equations, finished.run
    mechanism = equations.mechanism
    nothing: Floats = np.zeros(0)
    states, further = equations.saved(run, finished.signals)
    q, v = equations.unpack(states, nothing)
    drift, fitting = None, (q, v)
    if equations.closes:
        *fitted, drift = without_drift(equations, run.times, q, v, nothing)
        fitting = fitted[0], fitted[1]
        q, v = fitting if drift.closed else (q, v)
        if drift.closed and drift.left_position > drift.limit and equations.projection is not None:
            run = replace(run, ending=left_open(equations, run, q, v))
    balances = dict(zip(equations.balances, run.states.T[len(run.states.T) - len(equations.balances) :], strict=True))
    z = states[:, mechanism.layout.state_part.slice]
    rows = Rows(run.times, q, v, balances, nothing, fitting, z)
    own = _own_columns(equations, run, rows)
    observe = recursive_observation if equations.by_loops else observation
    found, integrals = observe(equations, rows)
    columns = own | balances | found | further
    wanted = {name: one for name, one in (outputs or {}).items() if name not in columns or one != formula(name)}
    if taken := sorted(wanted.keys() & columns.keys()):
        raise SolveError(f"the output {taken[0]!r} has the name of another column: give it a name of its own")
    with_contacts = bool(finished.mechanism.contacts)
    extra = output_columns(equations, wanted, rows, finished.signals, with_contacts)
    gained: tuple[Check, ...] = ()
    if finished.mechanism.contacts:
        assert isinstance(equations, contacts.OpenForm)
        gaps = equations.integrated_gaps(run, finished.signals)
        gained = contacts.contact_checks(columns, balances, gaps, q, rtol)
    conserved = checks(equations, integrals if not finished.reset else (), columns, rows, rtol)
    return Solution(
        model=mechanism.name,
        method=finished.solver.name,
        columns={name: np.ascontiguousarray(column) for name, column in (_disambiguated(columns, own) | extra).items()},
        positions=mechanism.layout.positions,
        velocities=mechanism.layout.velocities,
        ending=run.ending,
        events=run.events,
        checks=(*conserved, *_momentum_checks(finished, rows, rtol), *drift_checks(drift), *gained),
        statistics=run.statistics,
        simulated=_simulated_model(finished, rtol),
        decision=finished.decision,
        drift=drift_facts(drift, conserved),
        states=mechanism.layout.states,
        outputs=tuple(outputs or ()),
    )


def _own_columns(equations: Equations, run: Run, rows: Rows) -> dict[str, Floats]:
    """The columns named by the model itself: time, state, integrals, definitions."""
    layout = equations.mechanism.layout
    own: dict[str, Floats] = {TIME: run.times}
    own |= zip(layout.positions, rows.q.T, strict=True)
    own |= zip(layout.velocities, rows.v.T, strict=True)
    own |= zip(layout.states, rows.z.T, strict=True)
    own |= zip(layout.integrals, run.states.T[layout.integral_part.slice], strict=True)
    return own | named(equations, rows)


def _disambiguated(columns: dict[str, Floats], own: dict[str, Floats]) -> dict[str, Floats]:
    """A name in the model has precedence; a total of the same name, such as the momentum pz, gets a prefix."""
    hidden = {f"total.{name}": columns[name] for name in own if columns[name] is not own[name]}
    return columns | own | hidden


def _momentum_checks(finished: FinishedRun, rows: Rows, rtol: float | None) -> tuple[Check, ...]:
    """Further first integrals. Impacts and resets change them, and recursive algorithms do not compute them."""
    if finished.reset or finished.mechanism.contacts or finished.equations.by_loops:
        return ()
    return momentum_checks(finished.equations.in_velocities, rows, rtol)


def _simulated_model(finished: FinishedRun, rtol: float | None) -> SimulatedModel:
    forces, equations = finished.forces, finished.equations
    return SimulatedModel(
        finished.mechanism, equations.bound, rtol, forces.formulas, forces.sampled, finished.signals, forces.quantities
    )
