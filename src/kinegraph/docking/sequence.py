"""The phases of a docking in the making: runs in one mode after the other, and what happens between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinegraph.docking.conditions import (
    AWAY,
    CAPTURE,
    HARD,
    OVERLOAD,
    STROKE,
    TOUCH,
    contact_events,
    hard_event,
    joined_events,
)
from kinegraph.docking.description import Docking
from kinegraph.docking.fastening import pose_names
from kinegraph.docking.joining import Joining, without_velocity_against
from kinegraph.docking.modes import SEAT, Mode, ModeEquations, relative_pose
from kinegraph.docking.observe import drift, observed, peaks
from kinegraph.docking.result import DockingRun, Outcome, Phase
from kinegraph.simulate.run import read_events
from kinegraph.simulate.task import Task
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem.events import Event
from kinegraph.solve.problem.execution import Native
from kinegraph.solve.problem.problem import Floats, Signals
from kinegraph.solve.results.recording import Grid, Run
from kinegraph.solve.results.status import Status

#: What the event that ended a phase means.
_OUTCOMES = {STROKE: Outcome.OUT_OF_STROKE, OVERLOAD: Outcome.OVERLOAD, AWAY: Outcome.BOUNCED}
_NEVER = 1e9  # when drawing in begins, before that is known


@dataclass(frozen=True)
class Integration:
    """How every phase is integrated, and the interval of saved states."""

    solver: Solver
    control: Control
    native: Native
    interval: float
    signals: Signals


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

    def run(self, duration: float, stop_at_capture: bool) -> DockingRun:
        """All phases, as far as they go."""
        outcome = self._outcome(duration, stop_at_capture)
        momentum, energy = drift(self.phases, self.joinings)
        return DockingRun(
            outcome, tuple(self.phases), tuple(self.touches), self.latches, tuple(self.joinings),
            peaks(self.phases), momentum, energy,
        )  # fmt: skip

    def _outcome(self, duration: float, stop_at_capture: bool) -> Outcome:
        schedule = self.docking.schedule
        self.known[schedule.begin] = _NEVER
        ended = self._phase("contact", Mode.FREE, duration, contact_events(self.docking))
        if ended != CAPTURE:
            return _OUTCOMES.get(ended, Outcome.NOT_CAPTURED if ended == "" else Outcome.FAILED)
        self._join("captured", Mode.CAPTURED, self.docking.ring)
        if stop_at_capture:
            return Outcome.CAPTURED
        ended = self._phase("damping", Mode.CAPTURED, schedule.settle, joined_events(self.docking))
        if ended != "":
            return _OUTCOMES.get(ended, Outcome.FAILED)
        self.known[schedule.begin] = self.time
        drawn = self.time + self._drawing_time()
        events = [*joined_events(self.docking), hard_event(self.docking, drawn)]
        ended = self._phase("drawing in", Mode.CAPTURED, schedule.draw, events)
        if ended != HARD:
            return _OUTCOMES.get(ended, Outcome.CAPTURED if ended == "" else Outcome.FAILED)
        self._join("hard", Mode.HARD, self.docking.chaser)
        ended = self._phase("joined", Mode.HARD, schedule.after, [])
        return Outcome.DOCKED if ended == "" else Outcome.FAILED

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
        task = Task(
            equations.equations, how.solver, how.control, equations.taken(self.state), (self.time, end), how.signals,
            read_events(events), Grid(times), False, equations.parameters(self.known),
        )  # fmt: skip
        run, _ = task.run(how.native)
        self._keep(name, equations, run)
        if run.ending.status is Status.EVENT:
            return run.events[-1].name
        return "" if run.ending.status is Status.FINISHED else run.ending.status.name

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

    def _join(self, joint: str, mode: Mode, body: str) -> None:
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
        self.joinings.append(Joining(joint, self.time, impulses[-6:], lost, pose))
