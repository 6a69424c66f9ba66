"""`simulator`: step a mechanism by fixed steps, with forces given from outside at every step.

For controllers, reinforcement learning and anything else that decides while the mechanism moves. `simulate` integrates
a whole motion, with error control, events and contacts; a simulator only steps, but at the speed of the kernel.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.arrays import Floats
from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.program.binding import Argument
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import runtime_names
from kinegraph.derive.dynamics.state_rate import Forces, input_symbol
from kinegraph.errors import KernelError, LeftOutWarning, SolveError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Output
from kinegraph.jit.kernel import compile_graph
from kinegraph.jit.parallel import cores, for_blocks
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.model.report import FindingKind
from kinegraph.model.states import moved_by
from kinegraph.model.validation.mechanism import check_values
from kinegraph.simulate.array_formulas import quantities_of
from kinegraph.simulate.contacts.stepped import ActiveContact, ContactSettings, SteppedContacts, SteppedForm
from kinegraph.simulate.control import SimulatorControllers, feedback_of, read_controllers
from kinegraph.simulate.equations import VelocityForm
from kinegraph.simulate.formulas import StateNames, formula
from kinegraph.simulate.inputs import (
    each_joint,
    given_first_order_states,
    initial_values,
    starting_state,
    with_given_inputs,
)
from kinegraph.solve.loops import contact_model, contact_stepping, stepping
from kinegraph.solve.loops.step import LOOPS_OPEN, NESTED, NOT_A_NUMBER, System, Work
from kinegraph.solve.loops.stepping import BASE, COUNT, STEP, TIME, Rows
from kinegraph.solve.problem import CauchyProblem, Feedback, RightHandSide, Signals, code_of

#: Trajectories that are stepped as one block: few enough for the cache, many enough for vector code.
_BLOCK = 64


def simulator(
    model: MechanismSource,
    *,
    dt: float = 1e-3,
    state: Mapping[str, Scalar] | ArrayLike | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Scalar | Feedback] | None = None,
    controls: Sequence[str] | None = None,
    runtime: str | Sequence[str] = (),
    count: int | None = None,
    t0: float = 0.0,
    threads: int | None = None,
    native: bool = True,
    contacts: bool | ContactSettings | None = None,
) -> Simulator | Simulators:
    """A mechanism that is stepped from outside: `sim.step(u)`, `sim.q`, `sim.v`, `sim.t`.

    dt: the step size in seconds, of the classical Runge-Kutta method (order 4).
    state: where it starts, by name or as an array [q, v]; loops are assembled.
    parameters: values that differ from the model's. runtime: names of parameters that may change between steps, or
        patterns (`m_*`); the property `runtime` lists them.
    inputs: formulas of t and the state that are compiled into the equations, e.g. {"q1": "-0.1*q1'"}, or for all joints
        {"tau": "gravity - 5*v"} (see `kinegraph.simulate.array_formulas`). Or Python functions that are called every
        period, {"tau": kg.Feedback(function, 0.01)}: `function(t, q, v)`, with `count` of rows for all trajectories.
    controls: what `u` holds, in this order: coordinates (a force or torque) and inputs of the model. By default every
        coordinate without a formula, in the model's order, then every declared input without one.
    count: so many trajectories side by side, each a row of `q`, `v`, `u` and `parameters`, stepped on all cores.
    native: False runs the loop in Python, slowly; its results define those of the compiled one.
    contacts: True lets the shapes of the model touch, with friction, and holds joint ranges; `ContactSettings` says
        how. None: only the rigid contacts that the model declares. False is refused if it declares any.
    """
    mechanism = mechanism_of(model)
    settings = _contact_settings(mechanism, contacts)
    if contacts and (soft := mechanism.report.summary(FindingKind.CONTACTS)):
        message = f"{mechanism.name}: left out of rigid {soft}; `kinegraph check` and `mechanism.report` say more"
        warnings.warn(message, LeftOutWarning, stacklevel=2)
    if not mechanism.layout.velocities:
        raise SolveError(f"{mechanism.name} has no coordinates: nothing can move; declare `coordinates q;`")
    if not isfinite(t0):
        raise SolveError(f"t0 is {t0!r}: give a finite time in seconds")
    functions = {name: one for name, one in (inputs or {}).items() if isinstance(one, Feedback)}
    held = tuple(symbol for _, found in feedback_of(mechanism, functions).values() for symbol in found)
    formulas = {name: one for name, one in each_joint(mechanism, inputs or {}).items() if not isinstance(one, Feedback)}
    given = {input_symbol(mechanism, name): formula(value) for name, value in formulas.items()}  # type: ignore[arg-type]
    symbols = _control_symbols(mechanism, controls, {**given, **dict.fromkeys(held)})
    forces = Forces(given, (*symbols, *held), quantities_of(mechanism, given.values()))
    mechanism = with_given_inputs(mechanism, forces)
    values = {name: formula(value, name) for name, value in (parameters or {}).items()}
    numbers = parameter_values(mechanism, values)
    if values:
        check_values(mechanism, numbers)
    try:
        names_at_run_time = runtime_names(mechanism, runtime)
    except KernelError as error:
        raise SolveError(str(error)) from None
    names = _control_names(mechanism, symbols, controls)
    if settings is None:
        open_form = VelocityForm(mechanism, values, forces, names_at_run_time)
        plan = _Plan(mechanism, open_form, names, numbers, native, None, functions)
    else:
        stepped = SteppedForm(mechanism, values, forces, names_at_run_time)
        stepped_contacts = SteppedContacts(mechanism, stepped, numbers, settings, native)
        plan = _Plan(mechanism, stepped, names, numbers, native, stepped_contacts, functions)
    if count is None:
        return Simulator(plan, state, _step_size(dt), t0)
    if not (isinstance(count, int) and count > 0):
        raise SolveError(f"count is {count!r}: give the number of trajectories, at least 1")
    return Simulators(plan, state, _step_size(dt), t0, count, threads or cores())


@dataclass(frozen=True)
class Snapshot:
    """State, time, held controls and run-time parameters of a simulator; can be pickled.

    names: the model, and what the entries of the arrays are called. forces, contacts: what contacts take over from the
    latest step; empty without contacts. calls: how often controllers were called, and since when.
    """

    names: tuple[str, ...]
    t: float
    state: Floats
    u: Floats
    parameters: Floats
    forces: Floats
    contacts: Floats
    calls: Floats


#: What contacts take over, if there are none.
_NONE = np.zeros((0, 0))


class _Plan:
    """What all copies of a simulator share: equations and compiled code."""

    def __init__(
        self,
        mechanism: Mechanism,
        equations: VelocityForm,
        controls: tuple[str, ...],
        values: Mapping[str, object],
        native: bool,
        contacts: SteppedContacts | None = None,
        functions: Mapping[str, Feedback] = MappingProxyType({}),
    ) -> None:
        self.mechanism, self.equations, self.controls = mechanism, equations, controls
        self.contacts, self.functions = contacts, functions
        self.inputs = len(equations.forces.sampled)  # the controls, then what controllers give
        self.rhs: RightHandSide = equations.right_hand_side(native=native)
        self.native = native and all(kernel.addressable for kernel in self.rhs.kernels)
        self.values = values
        self.defaults = np.array([float(values[name]) for name in equations.runtime])  # type: ignore[arg-type]
        layout = mechanism.layout
        self._constants = np.concatenate([self.defaults, np.zeros(len(equations.flags))])
        self.q, self.v, self.z = layout.position_part.slice, layout.velocity_part.slice, layout.state_part.slice
        self.names = layout.initial
        self.label = (mechanism.name, *self.names, *equations.forces.sampled, *equations.runtime)

    def start(self, state: Mapping[str, Scalar] | ArrayLike | None, t: float) -> Floats:
        """y where a run begins: loops are closed, quaternions have unit length."""
        given = initial_values(self.mechanism, state)
        q, v = starting_state(self.mechanism, given, self.values, t)  # type: ignore[arg-type]
        z = given_first_order_states(self.mechanism, given, self.values)  # type: ignore[arg-type]
        return self.equations.pack(q, v, self.defaults, t, z)

    def problem(self, y: Floats, t: float) -> CauchyProblem:
        """Memory for one trajectory is made from it."""
        held = Signals(np.array([0.0, 1.0]), np.zeros((1, self.inputs, 4)))
        return CauchyProblem(self.rhs, y, t, t + 1.0, self._constants, held, self.native)

    def system(self) -> System:
        """The right-hand side as loops take it; held inputs stay in x."""
        signals, rhs = Signals.none(), self.rhs
        quaternions = np.array(rhs.quaternions, dtype=np.int64)
        return System(code_of(rhs.code), signals.knots, signals.coefficients, quaternions, code_of(rhs.projection))

    def work(self, y: Floats, t: float) -> Work:
        """The memory of one trajectory: x = [y, t, u, p] and four slopes."""
        problem, size = self.problem(y, t), len(y)
        x = np.zeros(self.rhs.input_size)
        x[:size], x[size], x[len(x) - len(self._constants) :] = y, t, self._constants
        none = np.zeros((1, size))
        return Work(x, y.copy(), y.copy(), np.zeros((4, size)), none, none, np.zeros(size), problem.projected(), NESTED)

    def controllers(self, u: Floats, state: Floats, t: float, dt: float) -> SimulatorControllers | None:
        """The controllers, which write behind the controls in u; None without any."""
        if not self.functions:
            return None
        read = read_controllers(self.mechanism, self.functions, self.equations.names)
        return SimulatorControllers(read, u[..., len(self.controls) :], state, t, dt)

    def observer(self, outputs: Sequence[Scalar]) -> Kernel:
        """Formulas of the state, time, inputs and run-time parameters, as a kernel of rows [y, t, u, p]."""
        builder = GraphBuilder()
        read = StateNames(builder, self.equations).read([formula(one, "outputs") for one in outputs])
        graph = builder.graph([Output("outputs", (len(read),), tuple(one.index for one in read))])
        return compile_graph(graph, [Argument("x", self.equations.symbols)])

    def place(self, name: str) -> int:
        """Where in the state a coordinate, velocity or first-order state is."""
        if name not in self.names:
            raise SolveError(f"there is no coordinate or velocity {name!r}{did_you_mean(name, list(self.names))}")
        return self.names.index(name)


class Simulator:
    """One mechanism, stepped from outside. `q`, `v`, `u` and `parameters` are views of its memory.

    Nothing is derived, compiled or allocated in a step. The same steps from the same state give the same bits.
    """

    def __init__(self, plan: _Plan, state: Mapping[str, Scalar] | ArrayLike | None, dt: float, t0: float) -> None:
        self._plan, self._initial = plan, state
        y = plan.start(state, t0)
        self._work = plan.work(y, t0)
        self._clock = _clock(t0, dt)
        size = len(y)
        inputs, parameters = size + 1 + plan.inputs, len(plan.defaults)
        self._inputs = self._work.x[size + 1 : inputs]
        self._u = self._inputs[: len(plan.controls)]
        self._controllers = plan.controllers(self._inputs, self._work.y, t0, dt)
        self._parameters = self._work.x[inputs : inputs + parameters]
        self._forces = self._work.x[inputs + parameters :]
        self._previous = _NONE if plan.contacts is None else plan.contacts.previous()
        self._call: Callable[[int], int] = self._loop(plan.problem(y, t0))

    def _loop(self, problem: CauchyProblem) -> Callable[[int], int]:
        system, contacts = self._plan.system(), self._plan.contacts
        if contacts is None:
            return problem.bound(stepping.take_steps, system, self._work, self._clock)
        loop, memory = contact_stepping.take_contact_steps, contacts.memory()
        return problem.bound(loop, system, self._work, contacts.model, memory, self._previous, self._clock)

    @property
    def contacts(self) -> tuple[ActiveContact, ...]:
        """The contacts at the end of the latest step, with their mean forces in it."""
        return () if self._plan.contacts is None else self._plan.contacts.touches(self._previous)

    @property
    def residual(self) -> float:
        """How far the impulses of the latest step are from settled: the last change of a speed (m/s or rad/s)."""
        return float(self._previous[0, contact_model.RESIDUAL]) if len(self._previous) else 0.0

    @property
    def t(self) -> float:
        """The time, in seconds."""
        return float(self._clock[TIME])

    @property
    def dt(self) -> float:
        """The step size, in seconds."""
        return float(self._clock[STEP])

    @property
    def q(self) -> Floats:
        """Positions, in the model's order (a view; use `reset` to change them)."""
        return _read_only(self._work.y[self._plan.q])

    @property
    def v(self) -> Floats:
        """Velocities, in the model's order (a view)."""
        return _read_only(self._work.y[self._plan.v])

    @property
    def z(self) -> Floats:
        """First-order states, in the model's order (a view)."""
        return _read_only(self._work.y[self._plan.z])

    @property
    def state(self) -> Floats:
        """[q, v, z] (a view)."""
        return _read_only(self._work.y[: self._plan.z.stop])

    @property
    def u(self) -> Floats:
        """The controls that are held, in the order of `controls`; may be written."""
        return self._u

    @property
    def parameters(self) -> Floats:
        """The run-time parameters, in the order they were named; may be written."""
        return self._parameters

    @property
    def controls(self) -> tuple[str, ...]:
        """What the entries of `u` act on."""
        return self._plan.controls

    @property
    def runtime(self) -> tuple[str, ...]:
        """The names of the entries of `parameters`."""
        return tuple(self._plan.equations.runtime)

    @property
    def names(self) -> tuple[str, ...]:
        """The entries of `state`."""
        return self._plan.names

    def __getitem__(self, name: str) -> float:
        """A coordinate or velocity by name: `sim["q1"]`, `sim["q1'"]`."""
        return float(self._work.y[self._plan.place(name)])

    def observer(self, outputs: Sequence[Scalar]) -> Callable[[], Floats]:
        """A function that returns the values of formulas at the current state: `tip.z`, `energy`, `q1'`."""
        kernel, work, size = self._plan.observer(outputs), self._work, len(self._work.y)

        def observed() -> Floats:
            work.x[:size], work.x[size] = work.y, self._clock[TIME]
            found = kernel(work.x)
            assert isinstance(found, np.ndarray)
            return found

        return observed

    def step(self, u: ArrayLike | None = None, dt: float | None = None, steps: int = 1) -> None:
        """Hold the controls `u` (those of before if None) for `steps` steps of `dt` seconds.

        SolveError if the state leaves the range of numbers or a loop cannot close; state and time are then those
        before the step that failed.
        """
        if u is not None:
            try:
                _require_all(u, len(self._u))
                self._u[:] = u
            except (TypeError, ValueError):
                raise _wrong_shape(u, self._plan.controls) from None
        if dt is not None and dt != self._clock[STEP]:
            _change_step(self._clock, dt)
        if self._controllers is None:
            ending = self._call(steps if steps == 1 else _whole(steps))
        else:
            ending = self._controllers.steps(self._call, self._clock, TIME, STEP, _whole(steps))
        if ending:
            raise SolveError(_why(ending, self._plan, self.t))

    def step_until(self, t: float, u: ArrayLike | None = None) -> None:
        """Hold the controls up to the time t: whole steps, and one shorter step at the end if they do not fit."""
        left, dt = float(t) - self.t, self.dt
        if not isfinite(left):
            raise SolveError(f"step_until({t}): give a finite time in seconds")
        if not left >= -1e-9 * dt:
            raise SolveError(f"step_until({t}): the time is already {self.t}; reset the simulator to go back")
        whole = int(left / dt * (1.0 + 1e-12) + 1e-9)
        self.step(u, steps=whole)
        rest = float(t) - self.t
        if rest > 1e-9 * dt:
            self.step(dt=rest)
            _change_step(self._clock, dt)

    def reset(self, state: Mapping[str, Scalar] | ArrayLike | None = None, t0: float = 0.0) -> None:
        """Start again, from the initial state of the simulator or from another one; controls become zero."""
        self._work.y[:] = self._plan.start(self._initial if state is None else state, t0)
        self._inputs[:], self._forces[:], self._previous[:] = 0.0, 0.0, 0.0
        self._clock[:] = _clock(t0, self.dt)
        if self._controllers is not None:
            self._controllers.restart(t0)

    def save(self) -> Snapshot:
        """All that the next steps depend on."""
        return _saved(self._plan, self.t, self._memory)

    @property
    def _memory(self) -> tuple[Floats, ...]:
        return self._work.y, self._inputs, self._parameters, self._forces, self._previous, _calls(self._controllers)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this simulator or of one of the same model."""
        _restore(self._plan, self._memory, snapshot)
        self._clock[:] = _clock(snapshot.t, self.dt)

    def copy(self) -> Self:
        """A simulator in the same state, with memory of its own; equations and code are shared."""
        found = type(self)(self._plan, self._initial, self.dt, 0.0)
        found.restore(self.save())
        return found


class Simulators:
    """Many trajectories of one mechanism, stepped together on all cores; each is a row of `q`, `v`, `u`."""

    def __init__(
        self,
        plan: _Plan,
        state: Mapping[str, Scalar] | ArrayLike | None,
        dt: float,
        t0: float,
        count: int,
        threads: int,
    ) -> None:
        self._plan, self._initial, self._threads, self.count = plan, state, threads, count
        y = plan.start(state, t0)
        self._states = np.tile(y, (count, 1))
        self._inputs = np.zeros((count, plan.inputs))
        self._u = self._inputs[:, : len(plan.controls)]
        self._controllers = plan.controllers(self._inputs, self._states, t0, dt)
        self._parameters = np.tile(plan.defaults, (count, 1))
        self._forces = np.zeros((count, len(plan.equations.flags)))
        self._previous = np.zeros((count, *(_NONE if plan.contacts is None else plan.contacts.previous()).shape))
        self._endings = np.zeros(count, dtype=np.int64)
        self._clock = _clock(t0, dt)
        self._blocks = [self._block(first, y, t0) for first in range(0, count, _BLOCK)]

    def _block(self, first: int, y: Floats, t0: float) -> tuple[Floats, Callable[[int], int]]:
        """The loop of a block of rows, with a clock of its own."""
        plan, rows, size = self._plan, slice(first, min(first + _BLOCK, self.count)), len(y)
        if plan.contacts is not None:
            return self._block_with_contacts(rows, y, t0, plan.contacts)
        number = rows.stop - rows.start
        batch = plan.rhs.batch if plan.native else 0
        memory = Rows(
            batch,
            self._states[rows],
            self._inputs[rows],
            self._parameters[rows],
            np.zeros((number, size)),
            np.zeros(number),
            np.zeros((4, number * size)),
            self._endings[rows],
        )
        clock = self._clock.copy()
        problem = plan.problem(y, t0)
        return clock, problem.bound(stepping.take_steps_of_rows, plan.system(), memory, plan.work(y, t0), clock)

    def _block_with_contacts(
        self, rows: slice, y: Floats, t0: float, contacts: SteppedContacts
    ) -> tuple[Floats, Callable[[int], int]]:
        plan, clock = self._plan, self._clock.copy()
        memory = contact_stepping.ContactRows(
            self._states[rows], self._inputs[rows], self._parameters[rows], self._forces[rows], self._previous[rows],
            self._endings[rows],
        )  # fmt: skip
        loop, work = contact_stepping.take_contact_steps_of_rows, plan.work(y, t0)
        call = plan.problem(y, t0).bound(loop, plan.system(), memory, work, contacts.model, contacts.memory(), clock)
        return clock, call

    def contacts(self, row: int) -> tuple[ActiveContact, ...]:
        """The contacts of one row at the end of the latest step, with their mean forces in it."""
        return () if self._plan.contacts is None else self._plan.contacts.touches(self._previous[row])

    @property
    def residuals(self) -> Floats:
        """For each row, how far the impulses of the latest step are from settled: the last change of a speed."""
        return self._previous[:, 0, contact_model.RESIDUAL].copy() if self._previous.size else np.zeros(self.count)

    @property
    def t(self) -> float:
        """The time of all rows, in seconds."""
        return float(self._clock[TIME])

    @property
    def dt(self) -> float:
        """The step size, in seconds."""
        return float(self._clock[STEP])

    @property
    def q(self) -> Floats:
        """Positions, a row for each trajectory (a view)."""
        return _read_only(self._states[:, self._plan.q])

    @property
    def v(self) -> Floats:
        """Velocities, a row for each trajectory (a view)."""
        return _read_only(self._states[:, self._plan.v])

    @property
    def z(self) -> Floats:
        """First-order states, a row for each trajectory (a view)."""
        return _read_only(self._states[:, self._plan.z])

    @property
    def state(self) -> Floats:
        """[q, v, z], a row for each trajectory (a view)."""
        return _read_only(self._states[:, : self._plan.z.stop])

    @property
    def u(self) -> Floats:
        """The held controls by row; may be written."""
        return self._u

    @property
    def parameters(self) -> Floats:
        """The run-time parameters by row; may be written."""
        return self._parameters

    @property
    def controls(self) -> tuple[str, ...]:
        """What the columns of `u` act on."""
        return self._plan.controls

    @property
    def runtime(self) -> tuple[str, ...]:
        """The names of the columns of `parameters`."""
        return tuple(self._plan.equations.runtime)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of `state`."""
        return self._plan.names

    @property
    def failed(self) -> NDArray[np.bool_]:
        """The rows whose latest step failed; they keep the state before it."""
        return np.asarray(self._endings != 0)

    def observer(self, outputs: Sequence[Scalar]) -> Callable[..., Floats]:
        """A function that returns the values of formulas in the current states, a row for each trajectory.

        It takes the time `t` of each row, if formulas depend on it and rows began at different times.
        """
        kernel = self._plan.observer(outputs)

        def observed(t: ArrayLike | None = None) -> Floats:
            times = np.broadcast_to(np.asarray(self.t if t is None else t, dtype=float), (self.count,))
            found = kernel.batch(
                np.hstack([self._states, times[:, None], self._inputs, self._parameters, self._forces])
            )
            assert isinstance(found, np.ndarray)
            return found

        return observed

    def step(self, u: ArrayLike | None = None, dt: float | None = None, steps: int = 1, check: bool = True) -> None:
        """Hold the controls `u` (one row for each trajectory, or one for all) for `steps` steps of `dt` seconds.

        SolveError names rows whose step failed; with check=False they are only marked in `failed`.
        """
        if u is not None:
            try:
                _require_all(u, self._u.shape[1])
                self._u[...] = u
            except (TypeError, ValueError):
                raise _wrong_shape(u, self._plan.controls) from None
        if dt is not None and dt != self._clock[STEP]:
            _change_step(self._clock, dt)
        begun = float(self._clock[TIME])
        if self._controllers is None:
            self._take(_whole(steps))
        else:
            self._controllers.steps(self._take, self._clock, TIME, STEP, _whole(steps))
        if check and self._endings.any():
            rows = np.flatnonzero(self._endings)
            listed = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
            raise SolveError(f"row {listed}: {_why(int(self._endings[rows[0]]), self._plan, begun)}")

    def _take(self, steps: int) -> int:
        """Take steps with all rows; 0, because other rows go on where one fails."""
        blocks, begun = self._blocks, self._clock.copy()

        def run(first: int, last: int) -> None:
            for clock, call in blocks[first:last]:
                clock[:] = begun
                call(steps)

        for_blocks(run, len(blocks), 1, self._threads)
        self._clock[:] = blocks[0][0]
        return 0

    def reset(
        self,
        state: Mapping[str, Scalar] | ArrayLike | None = None,
        t0: float | None = None,
        rows: ArrayLike | None = None,
    ) -> None:
        """Start again: all rows, or some (indices or a mask). An array with a row for each of them gives each its own.

        t0: the time, of all rows; unchanged if only some rows start again.
        """
        chosen = np.arange(self.count) if rows is None else np.arange(self.count)[np.asarray(rows)]
        time = t0 if t0 is not None else 0.0 if rows is None else self.t
        given = self._initial if state is None else state
        if not isinstance(given, Mapping) and given is not None and np.ndim(given) == 2:
            table = np.asarray(given, dtype=float)
            if len(table) != len(chosen):
                raise SolveError(f"state has {len(table)} rows, {len(chosen)} trajectories start again")
            for row, one in zip(chosen.tolist(), table, strict=True):
                self._states[row] = self._plan.start(one, time)
        else:
            self._states[chosen] = self._plan.start(given, time)
        self._inputs[chosen], self._endings[chosen], self._forces[chosen], self._previous[chosen] = 0.0, 0, 0.0, 0.0
        if rows is None or t0 is not None:
            self._clock[:] = _clock(time, self.dt)
        if self._controllers is not None and (rows is None or t0 is not None):
            self._controllers.restart(time)
        elif self._controllers is not None:
            self._controllers.refresh(chosen)

    def save(self) -> Snapshot:
        """All that the next steps depend on."""
        return _saved(self._plan, self.t, self._memory)

    @property
    def _memory(self) -> tuple[Floats, ...]:
        return self._states, self._inputs, self._parameters, self._forces, self._previous, _calls(self._controllers)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this or of equal simulators."""
        _restore(self._plan, self._memory, snapshot)
        self._endings[:] = 0
        self._clock[:] = _clock(snapshot.t, self.dt)


def _contact_settings(mechanism: Mechanism, contacts: bool | ContactSettings | None) -> ContactSettings | None:
    """How contacts are treated; None without contacts."""
    if isinstance(contacts, ContactSettings):
        return contacts
    if contacts:
        return ContactSettings()
    if not mechanism.contacts:
        return None
    if contacts is None:
        return ContactSettings(shapes=False, limits=False)
    raise SolveError(
        f"{mechanism.name} declares contacts, which contacts=False would ignore: remove them from the model"
    )


def _control_symbols(
    mechanism: Mechanism, controls: Sequence[str] | None, given: Mapping[str, object]
) -> tuple[str, ...]:
    """The symbols of `u`."""
    if controls is None:
        known = (*mechanism.layout.forces, *mechanism.input_names)
        return tuple(name for name in known if name not in given)
    symbols = tuple(input_symbol(mechanism, name) for name in controls)
    for name, symbol in zip(controls, symbols, strict=True):
        if symbol in given or symbols.count(symbol) > 1:
            raise SolveError(f"controls: {name!r} is given twice; a control has one formula or one place in u")
    return symbols


def _control_names(mechanism: Mechanism, symbols: Sequence[str], controls: Sequence[str] | None) -> tuple[str, ...]:
    """What users call the entries of `u`."""
    return tuple(controls) if controls is not None else tuple(moved_by(one) for one in symbols)


def _step_size(dt: object) -> float:
    if not (isinstance(dt, int | float | np.floating) and 0 < dt < float("inf")):
        raise SolveError(f"dt is {dt!r}: give the step size in seconds, above zero")
    return float(dt)


def _whole(steps: object) -> int:
    if not (isinstance(steps, int | np.integer) and steps >= 0):
        raise SolveError(f"steps is {steps!r}: give a whole number of steps, at least 0")
    return int(steps)


def _clock(t: float, dt: float) -> Floats:
    return np.array([t, dt, t, 0.0])


def _change_step(clock: Floats, dt: float) -> None:
    """Steps of another size are counted from now on."""
    clock[STEP], clock[BASE], clock[COUNT] = _step_size(dt), clock[TIME], 0.0


def _require_all(u: ArrayLike, size: int) -> None:
    """ValueError if an array of one number would act on all controls."""
    shape = u.shape if isinstance(u, np.ndarray) else np.shape(u)
    if shape and shape[-1] != size:
        raise ValueError


def _wrong_shape(u: ArrayLike, entries: Sequence[str]) -> SolveError:
    wanted = f"{len(entries)} numbers ({', '.join(entries[:8])}{', ...' if len(entries) > 8 else ''})"
    return SolveError(f"u has shape {np.shape(u)}: give {wanted}")


def _saved(plan: _Plan, t: float, memory: Sequence[Floats]) -> Snapshot:
    y, u, parameters, forces, contacts, calls = (part.copy() for part in memory)
    return Snapshot(plan.label, t, y, u, parameters, forces, contacts, calls)


def _calls(controllers: SimulatorControllers | None) -> Floats:
    """What a snapshot keeps of the controllers."""
    return np.zeros(0) if controllers is None else controllers.calls


def _restore(plan: _Plan, memory: Sequence[Floats], snapshot: Snapshot) -> None:
    parts = snapshot.state, snapshot.u, snapshot.parameters, snapshot.forces, snapshot.contacts, snapshot.calls
    if snapshot.names != plan.label or any(
        mine.shape != other.shape for mine, other in zip(memory, parts, strict=True)
    ):
        raise SolveError("the snapshot is of another model or of another number of trajectories")
    for mine, other in zip(memory, parts, strict=True):
        mine[...] = other


def _why(ending: int, plan: _Plan, t: float) -> str:
    """Why a step failed."""
    if ending == NOT_A_NUMBER:
        reason = "the state is not a finite number any more: take a smaller dt, or smaller controls"
    elif ending == LOOPS_OPEN:
        reason = "the loops cannot be closed after the step: the mechanism is at its limit, or dt is too large"
    elif ending == contact_stepping.TOO_MANY_CONTACTS and plan.contacts is not None:
        most = plan.contacts.settings.most
        reason = f"more than {most} contacts at once: give ContactSettings(most={4 * most})"
    elif ending == contact_stepping.NO_MASS:
        reason = "the mass matrix is not positive definite there: a coordinate moves no mass, or is singular"
    else:
        reason = f"the step failed (code {ending})"
    return f"{plan.mechanism.name} at t = {t:.6g}: {reason}"


def _read_only(view: Floats) -> Floats:
    view.flags.writeable = False
    return view
