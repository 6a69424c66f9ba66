"""The phases of a docking in the making: runs in one mode after the other, and what happens between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinegraph.docking.conditions import (
    AWAY,
    CAPTURE,
    HARD,
    OF,
    OVERLOAD,
    STROKE,
    TOUCH,
    catching_events,
    fits,
    hard_event,
    joined_events,
)
from kinegraph.docking.description import Docking, Latch
from kinegraph.docking.fastening import pose_names
from kinegraph.docking.holding import can_hold, given_names, hold_name, place_on_ring, rest_names, since_name
from kinegraph.docking.joining import Joining, without_velocity_against
from kinegraph.docking.modes import SEAT, Mode, ModeEquations, relative_pose
from kinegraph.docking.observe import drift, observed, peaks_at
from kinegraph.docking.peaks import Peak, Stretch, largest
from kinegraph.docking.result import DockingRun, Fault, Outcome, Phase
from kinegraph.simulate.observe import ENERGY
from kinegraph.simulate.run import asking, read_events
from kinegraph.simulate.task import Task
from kinegraph.solve.methods.feedback import Samples, View
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem.events import Event
from kinegraph.solve.problem.execution import Native
from kinegraph.solve.problem.problem import Feedback, Floats, Signals
from kinegraph.solve.results.recording import Grid, Run
from kinegraph.solve.results.status import Status

#: What the event that ended a phase means.
_OUTCOMES = {STROKE: Outcome.OUT_OF_STROKE, OVERLOAD: Outcome.OVERLOAD, AWAY: Outcome.BOUNCED}
_NEVER = 1e9  # when drawing in begins, before that is known
_FITTING = -1e-9  # latches that fit at the same moment differ by rounding
_ENDED_EARLY = "failed"


@dataclass(frozen=True)
class Integration:
    """How every phase is integrated, and the interval of saved states.

    controllers: Python functions, asked at equal intervals from the start of every phase; samples: what they said.
    """

    solver: Solver
    control: Control
    native: Native
    interval: float
    signals: Signals
    controllers: tuple[Feedback, ...]
    samples: Samples


@dataclass
class DockingSequence:
    """A docking in the making."""

    docking: Docking
    modes: Mapping[Mode, ModeEquations]
    integration: Integration
    time: float
    state: Floats
    known: dict[str, float] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)
    joinings: list[Joining] = field(default_factory=list)
    touches: list[float] = field(default_factory=list)
    latches: dict[str, float] = field(default_factory=dict)
    peaks: list[dict[str, Peak]] = field(default_factory=list)
    fault: Fault | None = None

    def run(self, duration: float, stop_at_capture: bool) -> DockingRun:
        """All phases, as far as they go."""
        outcome = self._outcome(duration, stop_at_capture)
        momentum, energy = drift(self.phases, self.joinings)
        return DockingRun(
            outcome, tuple(self.phases), tuple(self.touches), self.latches, tuple(self.joinings),
            largest(self.peaks), momentum, energy, self.fault,
        )  # fmt: skip

    def _outcome(self, duration: float, stop_at_capture: bool) -> Outcome:
        schedule = self.docking.schedule
        self.known[schedule.begin] = _NEVER
        ended = self._until_captured(duration)
        if ended != CAPTURE:
            return self._meaning(ended, Outcome.NOT_CAPTURED)
        self._capture()
        if stop_at_capture:
            return Outcome.CAPTURED
        events = joined_events(self.docking, self.modes[Mode.CAPTURED].reaction)
        ended = self._phase("damping", Mode.CAPTURED, schedule.settle, events)
        if ended != "":
            return self._meaning(ended, Outcome.FAILED)
        self.known[schedule.begin] = self.time
        drawn = self.time + self._drawing_time()
        ended = self._phase("drawing in", Mode.CAPTURED, schedule.draw, [*events, hard_event(self.docking, drawn)])
        if ended != HARD:
            return self._meaning(ended, Outcome.CAPTURED)
        self._join("hard", Mode.HARD, self.docking.chaser)
        ended = self._phase("joined", Mode.HARD, schedule.after, [])
        return Outcome.DOCKED if ended == "" else Outcome.FAILED

    def _meaning(self, ended: str, in_time: Outcome) -> Outcome:
        """The outcome that an event stands for; `in_time` where none happened."""
        if ended == "":
            return in_time
        what, of, where = ended.partition(OF)
        if of:
            self.fault = Fault(what, where, self.time)
        return _OUTCOMES.get(what, Outcome.FAILED)

    # latches

    def _until_captured(self, duration: float) -> str:
        """Contact, with more and more latches that hold; CAPTURE once all do, else what ended it."""
        end, latches = self.time + duration, self.docking.latches
        holding: list[Latch] = []
        waiting, name, mode = self._waiting(holding), "contact", Mode.FREE
        while waiting and self.time < end:
            events = catching_events(self.docking, waiting, holding)
            ended = self._phase(name, mode, end - self.time, events)
            if ended not in (CAPTURE, *(latch.ring for latch in waiting)):
                return ended
            caught = [latch for latch in waiting if latch.ring == ended or ended == CAPTURE]
            waiting = [latch for latch in self._waiting(holding) if latch not in caught]
            holding = [latch for latch in latches if latch not in waiting]
            self._hold(holding)
            name, mode = f"{len(holding)} of {len(latches)} latches", Mode.LATCHED
        return CAPTURE if not waiting else ""

    def _waiting(self, holding: Sequence[Latch]) -> list[Latch]:
        """The latches that neither hold nor fit where the bodies are now; all of them, if these close at once."""
        latches = [latch for latch in self.docking.latches if latch not in holding]
        texts = tuple(fits(self.docking, latch) for latch in latches)
        values = self.modes[Mode.FREE].columns(texts, np.array([self.time]), self.state[None], self.known)[0]
        apart = [latch for latch, value in zip(latches, values, strict=True) if value < _FITTING]
        return latches if self.docking.at_once and apart else apart

    def _hold(self, holding: Sequence[Latch]) -> None:
        """Latches that begin to hold do so where the points are."""
        for name in (name for one in self.docking.latches for name in given_names(one)):
            self.known.setdefault(name, 0.0)
        for latch in (one for one in holding if not self.known[hold_name(one)]):
            self.latches.setdefault(latch.ring, self.time)
            self.known |= {hold_name(latch): 1.0, since_name(latch): self.time}
            if can_hold(self.docking):
                at, state = np.array([self.time]), self.state[None]
                place = self.modes[Mode.FREE].columns(place_on_ring(self.docking, latch), at, state, self.known)[0]
                self.known |= zip(rest_names(latch), map(float, place), strict=True)

    def _capture(self) -> None:
        """All latches hold: ring and target become one; what their springs store is lost."""
        self._hold(self.docking.latches)
        stored = 0.0
        if self.phases and len(self.phases) > 1:
            at, before = np.array([self.time]), self.state[None]
            energies = [
                self.modes[m].columns((ENERGY,), at, before, self.known)[0, 0] for m in (Mode.LATCHED, Mode.FREE)
            ]
            stored = float(energies[0] - energies[1])
        self._join("captured", Mode.CAPTURED, self.docking.ring, stored)

    def _drawing_time(self) -> float:
        """How long the law of drawing in goes on, by the model's parameter of that name; at once without one."""
        from kinegraph.model.evaluate import parameter_values

        free = self.modes[Mode.FREE]
        numbers = parameter_values(free.mechanism, free.values)
        return float(numbers.get(self.docking.schedule.time, 0.0))

    def _phase(self, name: str, mode: Mode, duration: float, events: Sequence[Event]) -> str:
        """One run; the name of the event that ended it, "" if its time was over, the status if it failed."""
        equations, how = self.modes[mode], self.integration
        end = self.time + duration
        times = np.append(np.arange(self.time, end - 1e-9 * duration, how.interval), end)
        solver = asking(how.solver, how.controllers, how.samples, self._view(equations))
        task = Task(
            equations.equations, solver, how.control, equations.taken(self.state), (self.time, end), how.signals,
            read_events(events), Grid(times), False, equations.parameters(self.known),
        )  # fmt: skip
        run, decision = task.run(how.native)
        span = self.time, float(run.times[-1])
        stretch = Stretch(equations, task.state, span, dict(self.known), how.signals, decision.execution)
        self._keep(name, equations, run)
        self.peaks.append(stretch.peaks(solver, how.control) or peaks_at(self.phases[-1]))
        if run.ending.status is Status.EVENT:
            return run.events[-1].name
        return "" if run.ending.status is Status.FINISHED else _ENDED_EARLY

    def _view(self, mode: ModeEquations) -> View:
        """The state of all bodies by name, whatever is joined."""
        held, known = self.state, self.known

        def view(time: float, state: Floats) -> dict[str, float]:
            row = mode.complete(np.array([time]), state[None], held, known)[0]
            return dict(zip(mode.all_names, row.tolist(), strict=True))

        return view

    def _keep(self, name: str, mode: ModeEquations, run: Run) -> None:
        states = mode.complete(run.times, run.states, self.state, self.known)
        columns = observed(self.modes[Mode.FREE], mode, run.times, states, run.states, self.known)
        self.phases.append(Phase(name, run.times, states, columns, run.statistics.steps))
        self.time, self.state = float(run.times[-1]), states[-1].copy()
        for event in run.events:
            if event.name == TOUCH:
                self.touches.append(event.time)
            elif any(latch.ring == event.name for latch in self.docking.latches):
                self.latches.setdefault(event.name, event.time)

    def _join(self, joint: str, mode: Mode, body: str, stored: float = 0.0) -> None:
        """Close a joint where the bodies are: their velocities against each other end."""
        free, after = self.modes[Mode.FREE], self.modes[mode]
        layout = free.mechanism.layout
        q, v = np.split(self.state[: len(layout.positions) + len(layout.velocities)], [len(layout.positions)])
        words = ",".join(f"pose:{one}" for one in dict.fromkeys((self.docking.ring, body, self.docking.target)))
        ring, *first, target = free.quantities(words, q, v, self.time, self.known)
        pose = relative_pose((first or [ring])[0], target)
        self.known |= zip((*pose_names(joint), *layout.positions), (*pose, *q), strict=True)
        self.known |= zip(pose_names(SEAT), relative_pose((first or [ring])[0], ring), strict=True)
        velocities, impulses, lost = without_velocity_against(after, self.time, q, v, self.known)
        self.state[len(q) : len(q) + len(v)] = velocities
        self.joinings.append(Joining(joint, self.time, impulses[-6:], lost + stored, pose))
