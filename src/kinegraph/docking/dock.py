"""`dock`: simulate a whole docking, phase by phase. Each phase is a run in one mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.compiler.mechanism_source import MechanismSource
from kinegraph.compiler.request import bound_parameters
from kinegraph.docking.description import Docking, Latch, docking_of
from kinegraph.docking.events import (
    AWAY,
    CAPTURE,
    HARD,
    OF,
    OVERLOAD,
    STROKE,
    TOUCH,
    catching_events,
    depths,
    fits,
    guide_places,
    hard_event,
    joined_events,
)
from kinegraph.docking.fastening import pose_names
from kinegraph.docking.latches import (
    Caught,
    Hold,
    can_hold,
    chosen,
    holds,
    place_on_ring,
    slot_values,
    spring_holds,
    spring_values,
)
from kinegraph.docking.modes import (
    BEGIN,
    HELD,
    SEAT,
    Joining,
    Mode,
    ModeEquations,
    closed,
    relative_pose,
    without_velocity_against,
)
from kinegraph.docking.result import (
    LATCH,
    DockingRun,
    Fault,
    Outcome,
    Overlap,
    Peak,
    Phase,
    Simulated,
    Stretch,
    drift,
    largest,
    observed,
    peaks_at,
)
from kinegraph.errors import SolveError
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expressions import Scalar, expression
from kinegraph.simulate.checks.first_integrals import ENERGY
from kinegraph.simulate.control import controllers_of, read_controllers
from kinegraph.simulate.inputs import (
    Input,
    check_inputs,
    given_first_order_states,
    initial_values,
    read_inputs,
    start_of,
    with_given_inputs,
)
from kinegraph.simulate.run import read_events
from kinegraph.simulate.run_task import Task
from kinegraph.solve.execution import Native
from kinegraph.solve.methods.feedback import Controllers, Samples, View
from kinegraph.solve.methods.method import Method, Solver, solver_of
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.solve.problem import Event, Feedback, Floats, Signals
from kinegraph.solve.recording import Ending, Grid, Run, Statistics, Status

# The phases of a docking: runs in one mode after the other, and the changes between them.

#: The meaning of the event that ended a phase.
_OUTCOMES = {STROKE: Outcome.OUT_OF_STROKE, OVERLOAD: Outcome.OVERLOAD, AWAY: Outcome.BOUNCED}
_NEVER = 1e9  # the start of retraction, before it is known
_FITTING = -1e-9  # latches that fit at the same time differ by rounding
_MEETING, _OVERLAP = 1e-15, 1e-9  # meters: guides just touch, guides overlap
_ENDED_EARLY = "failed"
Value = TypeVar("Value")
_INTERPRETED = 1500  # nodes up to which the interpreter starts: a docking takes thousands of evaluations


@dataclass(frozen=True)
class Integration:
    """How every phase is integrated, and the interval of saved states.

    given: Python functions by input, called at equal intervals from the start of every phase. samples: their values.
    """

    solver: Solver
    control: Adaptive
    native: Native
    interval: float
    signals: Signals
    given: Mapping[str, Feedback]
    samples: Samples


@dataclass
class DockingSequence:
    """Runs one docking, phase by phase."""

    docking: Docking
    modes: Mapping[Mode, ModeEquations]
    integration: Integration
    time: float
    state: Floats
    assembled: str | None = None
    known: dict[str, float] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)
    joinings: list[Joining] = field(default_factory=list)
    touches: list[float] = field(default_factory=list)
    latches: dict[str, float] = field(default_factory=dict)
    caught: list[Caught] = field(default_factory=list)
    held: list[Caught] = field(default_factory=list)
    peaks: list[dict[str, Peak]] = field(default_factory=list)
    fault: Fault | None = None
    runs: list[Run] = field(default_factory=list)

    def run(self, duration: float, stop_at_capture: bool) -> DockingRun:
        """All phases, as far as they go."""
        self.known |= {self.docking.schedule.begin: _NEVER, BEGIN: _NEVER}
        overlaps = self._overlaps()
        outcome = self._outcome(duration, stop_at_capture)
        momentum, energy = drift(self.phases, self.joinings)
        return DockingRun(
            outcome, tuple(self.phases), tuple(self.touches), self.latches, tuple(self.joinings),
            largest(self.peaks), momentum, energy, self._simulated(), self.fault, overlaps,
        )  # fmt: skip

    def _simulated(self) -> Simulated:
        """What was run, with the start of retraction that capture has decided."""
        free, how = self.modes[Mode.FREE], self.integration
        begin, costs = self.docking.schedule.begin, [run.statistics for run in self.runs]
        parameters = dict(bound_parameters(free.mechanism, True, free.values))
        if begin in parameters:
            parameters[begin] = expression(self.known[begin])
        totals = Statistics(*(sum(getattr(one, part.name) for one in costs) for part in fields(Statistics)))
        ending = self.runs[-1].ending if self.runs else Ending(Status.FINISHED, self.time)
        return Simulated(
            self.docking, parameters, free.given.formulas, how.solver.name, how.control.rtol, totals, ending,
            self.assembled,
        )  # fmt: skip

    def _outcome(self, duration: float, stop_at_capture: bool) -> Outcome:
        schedule = self.docking.schedule
        ended = self._until_captured(duration)
        if ended != CAPTURE:
            return self._meaning(ended, Outcome.NOT_CAPTURED)
        self._capture()
        if stop_at_capture:
            return Outcome.CAPTURED
        events = [*joined_events(self.docking, self.modes[Mode.CAPTURED].reaction), self._hard_event()]
        ended = self._phase("damping", Mode.CAPTURED, schedule.settle, events)
        if ended != "":
            return self._meaning(ended, Outcome.FAILED)
        self.known |= {schedule.begin: self.time, BEGIN: self.time}
        ended = self._phase("drawing in", Mode.CAPTURED, schedule.draw, events)
        if ended != HARD:
            return self._meaning(ended, Outcome.CAPTURED)
        self._join("hard", Mode.HARD, self.docking.chaser)
        ended = self._phase("joined", Mode.HARD, schedule.after, [])
        return Outcome.DOCKED if ended == "" else Outcome.FAILED

    def _meaning(self, ended: str, in_time: Outcome) -> Outcome:
        """The outcome of an event; `in_time` if there was none."""
        if ended == "":
            return in_time
        what, of, where = ended.partition(OF)
        if of:
            self.fault = Fault(what, where, self.time)
        return _OUTCOMES.get(what, Outcome.FAILED)

    def _overlaps(self) -> tuple[Overlap, ...]:
        """The guides that overlap now, the deepest first; any contact is recorded as a touch."""
        found: dict[str, float] = {}
        for (guide, _), depth in zip(guide_places(self.docking), self._columns(depths(self.docking)), strict=True):
            if depth > -_MEETING:
                self.touches = [self.time]  # no event rises if guides touch initially
            if depth > _OVERLAP:
                found[guide.name] = max(float(depth), found.get(guide.name, 0.0))
        return tuple(Overlap(*one) for one in sorted(found.items(), key=lambda one: -one[1]))

    # latches

    def _until_captured(self, duration: float) -> str:
        """Contact, with an increasing number of latches that hold; CAPTURE once all do, otherwise the event that
        ended it."""
        end, latches = self.time + duration, self.docking.latches
        waiting, name, mode = self._waiting(), "contact", Mode.FREE
        self._note(waiting)
        while waiting and self.time < end:
            if self.caught:
                name, mode = f"{len(self.caught)} of {len(latches)} latches", self._hold()
                slow = [latch for latch in waiting if latch in self._waiting()]
                if slow != waiting:  # the impulse slowed others down: no event rises if they fit initially
                    waiting = slow
                    self._note(waiting)
                    continue
            ended = self._phase(name, mode, end - self.time, catching_events(self.docking, waiting, self._holds(mode)))
            if ended not in (CAPTURE, *(latch.ring for latch in waiting)):
                return ended
            left = [latch for latch in waiting if latch.ring != ended and ended != CAPTURE]
            waiting = [latch for latch in self._waiting() if latch in left]
            self._note(waiting)
        return CAPTURE if not waiting else ""

    def _waiting(self) -> list[Latch]:
        """The latches that neither hold nor fit at the present state; all of them, if they close at once."""
        holding = [one.latch for one in self.caught]
        latches = [latch for latch in self.docking.latches if latch not in holding]
        texts = tuple(fits(self.docking, latch) for latch in latches)
        values = self._columns(texts)
        apart = [latch for latch, value in zip(latches, values, strict=True) if value < _FITTING]
        return latches if self.docking.at_once and apart else apart

    def _note(self, waiting: Sequence[Latch]) -> None:
        """Latches that no longer wait have engaged at the present position of their points."""
        holding = [one.latch for one in self.caught]
        for latch in self.docking.latches:
            if latch not in waiting and latch not in holding:
                self.latches.setdefault(latch.ring, self.time)
                place = self._columns(place_on_ring(self.docking, latch)) if can_hold(self.docking) else ()
                self.caught.append(Caught(latch, self.time, tuple(map(float, place))))

    def _hold(self) -> Mode:
        """Engaged latches hold from now on: by rows, whose velocities an impulse ends, or by springs."""
        if self.docking.springs:
            self.known |= spring_values(self.docking, self.caught)
            return Mode.SPRUNG
        free = self.modes[Mode.FREE]
        numbers = parameter_values(free.mechanism, free.values)
        self.held = chosen(self.docking, self.caught, numbers)
        self.known |= slot_values(self.docking, self.held, numbers)
        mode = HELD[len(self.held) - 1]
        before = self._columns((ENERGY,))[0]
        self.state, impulses = closed(self.modes[mode], self.time, self.state, self.known)
        lost = float(before - self._columns((ENERGY,))[0])
        told = {name for joining in self.joinings for name in joining.joint.split("+")}
        names = "+".join(one.latch.ring for one in self.caught if one.latch.ring not in told)
        self.joinings.append(Joining(names, self.time, impulses, lost, self._pose(self.docking.ring)))
        return mode

    def _holds(self, mode: Mode) -> tuple[Hold, ...]:
        """The latches that hold the target in a mode."""
        if mode is Mode.SPRUNG:
            return spring_holds([one.latch for one in self.caught])
        return holds([one.latch.ring for one in self.held]) if mode in HELD else ()

    def _columns(self, texts: tuple[Scalar, ...]) -> Floats:
        """Formulas of the state of all bodies, now."""
        found = self.modes[Mode.FREE].columns(texts, np.array([self.time]), self.state[None], self.known)
        return np.asarray(found[0])

    def _capture(self) -> None:
        """All latches hold: ring and target become one; the energy stored in springs is lost."""
        stored = 0.0
        if self.docking.springs and len(self.phases) > 1:
            at, before = np.array([self.time]), self.state[None]
            sprung = self.modes[Mode.SPRUNG].columns((ENERGY,), at, before, self.known)
            stored = float(sprung[0, 0] - self._columns((ENERGY,))[0])
        self._join("captured", Mode.CAPTURED, self.docking.ring, stored)

    def _hard_event(self) -> Event:
        """The hard joint closes once the model's retraction has ended; at once without one."""
        names = {one.name for one in self.docking.mechanism.parameters}
        time = self.docking.schedule.time
        return hard_event(self.docking, f"{BEGIN}+{time}" if time in names else BEGIN)

    def _phase(self, name: str, mode: Mode, duration: float, events: Sequence[Event]) -> str:
        """One run; the name of the event that ended it, "" if its time was over, the status if it failed."""
        equations, how = self.modes[mode], self.integration
        end = self.time + duration
        times = np.append(np.arange(self.time, end - 1e-9 * duration, how.interval), end)
        solver = self._controllers(equations).around(how.solver)
        task = Task(
            equations.equations, solver, how.control, equations.taken(self.state), (self.time, end), how.signals,
            read_events(events), Grid(times), False, equations.parameters(self.known), interpreted=_INTERPRETED,
        )  # fmt: skip
        run, decision = task.run(how.native)
        self.runs.append(run)
        span = self.time, float(run.times[-1])
        stretch = Stretch(equations, task.state, span, dict(self.known), how.signals, decision.execution)
        self._keep(name, equations, run)
        peaks = {} if mode is Mode.HARD else stretch.peaks(solver, how.control)  # all move as one: at saved states
        self.peaks.append(self._by_latch(mode, peaks) if peaks else peaks_at(self.phases[-1]))
        if run.ending.status is Status.EVENT:
            return run.ending.detail
        return "" if run.ending.status is Status.FINISHED else _ENDED_EARLY

    def _controllers(self, mode: ModeEquations) -> Controllers:
        """The controllers, which see the state of all bodies, whatever is joined."""
        held, known, how = self.state, self.known, self.integration

        def of_all(view: View) -> View:
            return lambda time, state: view(time, mode.complete(np.array([time]), state[None], held, known)[0])

        functions = read_controllers(self.docking.mechanism, how.given, mode.all_names)
        return Controllers(tuple(replace(one, view=of_all(one.view)) for one in functions), how.samples)

    def _keep(self, name: str, mode: ModeEquations, run: Run) -> None:
        states = mode.complete(run.times, run.states, self.state, self.known)
        columns = observed(self.modes[Mode.FREE], mode, run.times, states, run.states, self.known)
        self.phases.append(Phase(name, run.times, states, self._by_latch(mode.mode, columns), run.statistics.steps))
        self.time, self.state = float(run.times[-1]), states[-1].copy()
        for event in run.events:
            if event.name == TOUCH:
                self.touches.append(event.time)
            elif any(latch.ring == event.name for latch in self.docking.latches):
                self.latches.setdefault(event.name, event.time)

    def _by_latch(self, mode: Mode, found: Mapping[str, Value]) -> dict[str, Value]:
        """Loads of latches by name; rows have numbers."""
        names = [one.latch.ring for one in self.held] if mode in HELD else []
        called = {f"{LATCH}{slot}": f"{LATCH}{name}" for slot, name in enumerate(names)}
        return {called.get(name, name): value for name, value in found.items()}

    def _pose(self, body: str) -> tuple[float, ...]:
        """The pose of the target relative to a body."""
        q, v = self._split()
        words = f"pose:{body},pose:{self.docking.target}"
        return relative_pose(*self.modes[Mode.FREE].quantities(words, q, v, self.time, self.known))

    def _split(self) -> tuple[Floats, Floats]:
        layout = self.modes[Mode.FREE].mechanism.layout
        first, last = len(layout.positions), len(layout.velocities)
        return self.state[:first], self.state[first : first + last]

    def _join(self, joint: str, mode: Mode, body: str, stored: float = 0.0) -> None:
        """Close a joint at the present pose: the relative velocities of the bodies end."""
        free, after = self.modes[Mode.FREE], self.modes[mode]
        layout = free.mechanism.layout
        q, v = self._split()
        words = ",".join(f"pose:{one}" for one in dict.fromkeys((self.docking.ring, body, self.docking.target)))
        ring, *first, target = free.quantities(words, q, v, self.time, self.known)
        pose = relative_pose((first or [ring])[0], target)
        self.known |= zip((*pose_names(joint), *layout.positions), (*pose, *q), strict=True)
        self.known |= zip(pose_names(SEAT), relative_pose((first or [ring])[0], ring), strict=True)
        velocities, impulses, lost = without_velocity_against(after, self.time, q, v, self.known)
        self.state[len(q) : len(q) + len(v)] = velocities
        self.joinings.append(Joining(joint, self.time, impulses[-6:], lost + stored, pose))


# `dock`: each phase is a run in one mode, each change of mode an event.


def dock(
    model: MechanismSource | Docking,
    duration: float = 30.0,
    *,
    state: Mapping[str, Scalar] | ArrayLike | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    interval: float = 0.01,
    rtol: float = 1e-9,
    method: str | Method = Method.DOP853,
    native: Native = "auto",
    stop_at_capture: bool = False,
) -> DockingRun:
    """Simulate a docking: contact, capture, damping, retraction, and the hard joint.

    model: a model with the bodies Chaser, Ring and Target, or a `Docking` with more settings (see `docking_of`).
    duration: how long to wait for capture, in seconds.
    state, parameters, inputs: as for `simulate`. Controllers are formulas, or Python functions (`Feedback`) that see
        the state of all bodies in every phase.
    interval: time between saved states, in seconds; peaks are searched between them.
    stop_at_capture: stop when all latches hold.
    """
    docking = model if isinstance(model, Docking) else docking_of(model)
    prepared = PreparedDocking(docking, parameters, inputs, interval, rtol, method, native)
    given, mechanism = initial_values(docking.mechanism, state), prepared.docking.mechanism
    begun, z = (
        start_of(mechanism, given, prepared.numbers),
        given_first_order_states(mechanism, given, prepared.numbers),
    )
    return prepared.run(begun.q, begun.v, z, duration, stop_at_capture, begun.note)


class PreparedDocking:
    """A docking with the equations of all its modes, made once for any number of runs. See `dock`."""

    def __init__(
        self,
        docking: Docking,
        parameters: Mapping[str, Scalar] | None = None,
        inputs: Mapping[str, Input] | None = None,
        interval: float = 0.01,
        rtol: float = 1e-9,
        method: str | Method | Solver = Method.DOP853,
        native: Native = "auto",
    ) -> None:
        if not interval > 0:
            raise SolveError(f"interval is {interval}: give a positive number of seconds")
        check_inputs(inputs or {}, feedback=True)
        forces, signals = read_inputs(docking.mechanism, inputs or {})
        docking = replace(docking, mechanism=with_given_inputs(docking.mechanism, forces))
        functions = {name: one for name, one in (inputs or {}).items() if isinstance(one, Feedback)}
        samples = controllers_of(docking.mechanism, functions, forces, signals, docking.mechanism.layout.state).samples
        values, given = parameters or {}, samples if functions else signals
        self.docking = docking if can_hold(docking) else replace(docking, at_once=True)
        self.modes = {mode: ModeEquations(self.docking, mode, values, forces, given) for mode in Mode}
        self.numbers = parameter_values(docking.mechanism, values)
        solver = solver_of(method)
        self.integration = Integration(solver, Adaptive(rtol), native, interval, signals, functions, samples)

    def run(
        self, q: Floats, v: Floats, z: Floats, duration: float = 30.0, stop_at_capture: bool = False,
        assembled: str | None = None,
    ) -> DockingRun:  # fmt: skip
        """One docking from positions, velocities and first-order states; duration: how long to wait for capture [s]."""
        if not duration > 0:
            raise SolveError(f"duration is {duration}: give a positive number of seconds")
        packed = self.modes[Mode.FREE].equations.pack(q, v, np.zeros(0), z=z)
        sequence = DockingSequence(self.docking, self.modes, self.integration, 0.0, packed, assembled)
        return sequence.run(duration, stop_at_capture)
