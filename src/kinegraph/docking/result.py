"""The result of a docking: outcome, phases, loads and their peaks, energy and momentum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path

import numpy as np

from kinegraph.display import RichDisplay
from kinegraph.docking.description import Docking
from kinegraph.docking.events import TOUCH, guide_places, interface_force, is_ring_first, squares
from kinegraph.docking.latches import Hold, holds, in_fixed_axes, spring_holds
from kinegraph.docking.modes import Joining, Mode, ModeEquations
from kinegraph.errors import SolveError
from kinegraph.model.expressions import TIME, Expression
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.checks.first_integrals import ENERGY, MOMENTA
from kinegraph.simulate.observation import KINETIC, energy_error
from kinegraph.solve.ensemble import CaseProblem, CaseRows, Outputs
from kinegraph.solve.execution import Execution
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem import CauchyProblem, Floats, Signals
from kinegraph.solve.recording import Ending, EventRecord, Statistics, Status
from kinegraph.solve.solution import Chart, Check, SimulatedModel, Solution, save_columns

# Loads as formulas of the state: in every leg, of all legs on the ring, between the rings.

LEG, LATCH, INTERFACE, BENDING, RING = "load:", "latch:", "interface", "bending", "ring"
LENGTH, PHASE = "length:", "phase"


def signed_loads(mode: ModeEquations) -> dict[str, str]:
    """Forces along moving legs."""
    return {} if mode.mode is Mode.HARD else {f"{LEG}{leg.name}": leg.load for leg in mode.docking.legs}


def squared_loads(mode: ModeEquations) -> dict[str, str]:
    """Squares of the other loads: of all legs on the ring, between the rings (force, moment), in latches that hold."""
    docking = mode.docking
    ring = {} if mode.mode is Mode.HARD else {RING: squares(_on_ring(docking))}
    if mode.joints:
        force, moment = ([f"{mode.reaction}[{entry}]" for entry in some] for some in (range(3), range(3, 6)))
        return ring | {INTERFACE: squares(force), BENDING: squares(moment)}
    sprung = spring_holds(docking.latches) if mode.mode is Mode.SPRUNG else ()
    holding = (*sprung, *holds([str(slot) for slot in range(mode.slots)]))
    between = [interface_force(docking, axis, holding) for axis in range(3)]
    latches = {f"{LATCH}{one.name}": squares(one.force) for one in holding}
    return ring | {INTERFACE: squares(between), BENDING: squares(_moment(docking, holding))} | latches


def _on_ring(docking: Docking) -> list[str]:
    """The force of all legs on the ring, in fixed axes."""
    return ["+".join(f"({leg.load})*({leg.along[axis]})" for leg in docking.legs) for axis in range(3)]


def _moment(docking: Docking, holding: Sequence[Hold]) -> list[str]:
    """The moment of all guides and latches on the ring, about its origin, in fixed axes."""
    pairs = list(_forces(docking, holding))
    turns = [(1, 2), (2, 0), (0, 1)]
    return ["0" + "".join(f"+({at[i]}*{f[j]}-{at[j]}*{f[i]})" for at, f in pairs) for i, j in turns]


def _forces(docking: Docking, holding: Sequence[Hold]) -> Iterator[tuple[list[str], list[str]]]:
    """The points at which guides and latches press on the ring, from its origin, and the forces."""
    origin = [f"pose:{docking.ring}[{row},3]" for row in range(3)]
    for one, place in guide_places(docking):
        sign = "" if is_ring_first(docking, one) else "-"
        entries = [f"contact:{one.name}[{place},{entry}]" for entry in range(1, 7)]
        yield _differences(entries[3:], origin), [f"({sign}{force})" for force in entries[:3]]
    for one_more in holding:
        point = [f"pose:{one_more.point}[{row},3]" for row in range(3)]
        yield _differences(point, origin), [f"(-{force})" for force in in_fixed_axes(docking, one_more.force)]


def _differences(a: Sequence[str], b: Sequence[str]) -> list[str]:
    return [f"({one}-{other})" for one, other in zip(a, b, strict=True)]


# The largest loads of a phase: searched inside every step, on its dense output, as in studies.


@dataclass(frozen=True)
class Peak:
    """The largest value of a load [N, N m], its time, and its place: the leg or the latch, otherwise ""."""

    value: float
    time: float
    where: str = ""

    def text(self, name: str) -> str:
        """The peak of the load of this name, in words."""
        where, unit = f" {self.where}" if self.where else "", "N m" if name == BENDING else "N"
        return f"{name}{where} {self.value:.4g} {unit} at {self.time:.3f} s"


@dataclass(frozen=True)
class Stretch:
    """A phase as it was run: its initial state, its time span, its code."""

    mode: ModeEquations
    state: Floats
    span: tuple[float, float]
    known: Mapping[str, float]
    signals: Signals
    execution: Execution

    def peaks(self, solver: Solver, control: Control) -> dict[str, Peak]:
        """The largest loads by name; empty for methods without dense output.

        The phase is run once more, to its end and without events.
        """
        tableau = solver.capabilities.lanes
        if tableau is None or not self.span[1] > self.span[0]:
            return {}
        signed, squared = signed_loads(self.mode), squared_loads(self.mode)
        wanted = (*(frozenset({"high", "low"}) for _ in signed), *(frozenset({"high"}) for _ in squared))
        graph = self.mode.graph((*signed.values(), *squared.values()))
        outputs = Outputs(self.mode.equations.function(graph, self._native), wanted)
        problem = self._problem()
        rows = CaseProblem(tableau, problem, control, outputs=outputs, lanes=False).run(
            self.state[None], problem.parameters[None]
        )
        return _named([*signed, *squared], rows, len(signed))

    @property
    def _native(self) -> bool:
        return self.execution is not Execution.INTERPRETED

    def _problem(self) -> CauchyProblem:
        rhs = self.mode.equations.right_hand_side(native=self._native)
        parameters = self.mode.parameters(self.known)
        loops = self.execution is Execution.NATIVE
        return CauchyProblem(rhs, self.state, *self.span, parameters, self.signals, loops)


def _named(names: Sequence[str], rows: CaseRows, signed: int) -> dict[str, Peak]:
    """Peaks by name: of signed loads the larger of both signs, of squares the root."""
    found = {}
    for place, name in enumerate(names):
        high, low = float(rows.high[0, place]), float(rows.low[0, place])
        if place >= signed:
            found[name] = Peak(float(np.sqrt(max(high, 0.0))), float(rows.high_at[0, place]))
        else:
            at = rows.high_at if abs(high) >= abs(low) else rows.low_at
            found[name] = Peak(max(abs(high), abs(low)), float(at[0, place]))
    return found


def largest(phases: Sequence[Mapping[str, Peak]]) -> dict[str, Peak]:
    """The largest of all phases: `leg`, `latch`, `ring`, `interface`, `bending`."""
    found: dict[str, Peak] = {}
    for one in phases:
        for name, peak in one.items():
            kind, colon, where = name.partition(":")
            kind = {LEG: "leg", LATCH: "latch"}.get(f"{kind}{colon}", kind)
            if kind not in found or peak.value > found[kind].value:
                found[kind] = replace(peak, where=where)
    return found


# The result of a docking.


class Outcome(Enum):
    """How a docking ended; the value is the message."""

    DOCKED = "hard joint closed"
    CAPTURED = "captured; the hard joint did not close"
    BOUNCED = "bounced off"
    OUT_OF_STROKE = "a leg left its stroke"
    OVERLOAD = "a leg or the interface was overloaded"
    NOT_CAPTURED = "not captured in time"
    FAILED = "the integration ended early"


@dataclass(frozen=True)
class Fault:
    """The exceeded limit: `stroke` or `overload`, of which leg, latch or `interface` or `bending`, and when [s]."""

    what: str
    where: str
    time: float


@dataclass(frozen=True)
class Overlap:
    """A guide whose shapes overlap at the start, and how deep [m]."""

    guide: str
    depth: float


@dataclass(frozen=True)
class Phase:
    """A phase of a docking: contact, damping, drawing in, joined. Columns by name, all of the length of the times."""

    name: str
    times: Floats
    states: Floats
    columns: Mapping[str, Floats]
    steps: int


@dataclass(frozen=True)
class Simulated:
    """What was run: the docking, the parameters with the start of retraction, the method, the cost of all phases, and
    how the last of them ended.

    assembled: which declared initial values loops have moved, in words; None if all hold.
    """

    docking: Docking
    parameters: Mapping[str, Expression]
    inputs: Mapping[str, Expression]
    method: str
    rtol: float
    statistics: Statistics
    ending: Ending
    assembled: str | None = None


@dataclass(frozen=True)
class DockingRun(RichDisplay):
    """A docking from first contact to its end.

    touches: when the guides touched after they had been apart, and the start if they touch there. latches: when each
        latch engaged, by its point (if they close at once: when each was first ready).
    fault: the exceeded limit, if the run ended so.
    peaks: largest forces [N] and moments [N m]: `leg`, `ring` (all legs on the ring), `interface`, `bending`, `latch`.
    momentum, energy: their relative changes along all phases; the loss at capture is accounted for.
    overlaps: guides that overlap at the start, the deepest first: forces there are not physical.
    simulated: what was run, and how.
    """

    outcome: Outcome
    phases: tuple[Phase, ...]
    touches: tuple[float, ...]
    latches: Mapping[str, float]
    joinings: tuple[Joining, ...]
    peaks: Mapping[str, Peak]
    momentum: float
    energy: float
    simulated: Simulated
    fault: Fault | None = None
    overlaps: tuple[Overlap, ...] = ()

    @property
    def docking(self) -> Docking:
        """The docking with its latches, legs, limits and schedule."""
        return self.simulated.docking

    @property
    def captured(self) -> float | None:
        """When all latches engaged; None if never."""
        return next((one.time for one in self.joinings if one.joint == "captured"), None)

    @property
    def times(self) -> Floats:
        """The times of all phases; where two meet there are two, before and after."""
        return np.concatenate([np.zeros(0), *(phase.times for phase in self.phases)])

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the phases that have them."""
        return tuple(dict.fromkeys(name for phase in self.phases for name in phase.columns))

    def __getitem__(self, name: str) -> Floats:
        """A column along all phases: a coordinate, a velocity, `energy`, `interface`, the length of a leg.

        NaN in phases without it: a latch has a force of its own only while it holds alone.
        """
        if self.phases and name not in self:
            raise SolveError(f"the docking has no column {name!r}\n  {did_you_mean(name, self.names)}")
        empty = (phase.columns.get(name, np.full(len(phase.times), np.nan)) for phase in self.phases)
        return np.concatenate([np.zeros(0), *empty])

    def __contains__(self, name: object) -> bool:
        return any(name in phase.columns for phase in self.phases)

    def columns(self) -> dict[str, Floats]:
        """Time and all columns. Where two phases meet there are two rows of one time, before and after."""
        return {TIME: self.times} | {name: self[name] for name in self.names}

    def solution(self) -> Solution:
        """The whole docking as one `Solution` of the free bodies: for files, pages, and tools that take solutions."""
        mechanism, run = self.docking.mechanism, self.simulated
        if not self.phases:
            raise SolveError(f"the docking ended at its start ({self.outcome.value}): no motion to save or draw")
        layout = mechanism.layout
        return Solution(
            mechanism.name, run.method, self.columns(), layout.positions, layout.velocities, self._ending(),
            tuple(self._events()), (Check("momentum", self.momentum), Check("energy", self.energy)), run.statistics,
            SimulatedModel(mechanism, run.parameters, run.rtol, run.inputs), states=layout.states,
            charts=tuple(self._charts()), assembled=run.assembled,
        )  # fmt: skip

    def _charts(self) -> Iterator[Chart]:
        """What one looks at first: strokes, forces in legs, and what is between the rings."""
        struts, cranks = ([leg.name for leg in self.docking.legs if leg.turns is turns] for turns in (False, True))
        between = [name for name in self.names if name in (INTERFACE, RING) or name.startswith(LATCH)]
        charts = [
            Chart("Leg lengths", "m", tuple(f"{LENGTH}{name}" for name in struts)),
            Chart("Crank angles", "rad", tuple(f"{LENGTH}{name}" for name in cranks)),
            Chart("Forces along legs", "N", tuple(f"{LEG}{leg.name}" for leg in self.docking.legs)),
            Chart("Forces between the rings", "N", tuple(between)),
            Chart("Bending moment", "N m", (BENDING,)),
        ]
        return (chart for chart in charts if chart.names and all(name in self for name in chart.names))

    def _ending(self) -> Ending:
        """How the last phase ended, with the outcome in words."""
        last = self.simulated.ending
        if self.outcome is Outcome.FAILED:
            return last
        return Ending(Status.FINISHED if last.status is Status.FINISHED else Status.EVENT, last.time,
                      detail=self.outcome.value)  # fmt: skip

    def _events(self) -> Iterator[EventRecord]:
        """Touches, latches, joints and phases, in the order of their times."""
        found = [*((TOUCH, time) for time in self.touches), *self.latches.items()]
        found += [(one.joint, one.time) for one in self.joinings if one.joint not in self.latches]
        found += [(phase.name, float(phase.times[0])) for phase in self.phases]
        for name, time in sorted(found, key=lambda one: one[1]):
            yield EventRecord(name, time, np.zeros(0))

    def save(self, path: str | Path) -> Path:
        """Write all columns and the phase of every row to a .csv, .npz or .parquet file; `Solution.load` reads the last
        two."""
        found = self.solution()
        phases = np.array([phase.name for phase in self.phases for _ in phase.times], dtype=str)
        return save_columns(path, {**found.columns, PHASE: phases}, found.facts())

    def __str__(self) -> str:
        lines = [f"{self.outcome.value}; touches: {len(self.touches)}"]
        if self.fault is not None:
            lines.append(f"  {self.fault.what} of {self.fault.where} at {self.fault.time:.6f} s")
        if self.outcome is Outcome.FAILED:
            lines.append(f"  {self.simulated.ending}")
        if self.simulated.assembled:
            lines.append(f"  {self.simulated.assembled}")
        if self.latches:
            lines.append("  latches: " + ", ".join(f"{name} {time:.4f} s" for name, time in self.latches.items()))
        lines += [
            f"  {one.name:<11} {one.times[0]:9.4f} s to {one.times[-1]:9.4f} s, {one.steps} steps"
            for one in self.phases
        ]
        lines += [
            f"  {one.joint} at {one.time:.6f} s: {1e3 * one.shift:.2f} mm beside, {one.lost:.4g} J lost"
            for one in self.joinings
        ]
        if self.peaks:
            lines.append("  peaks: " + ", ".join(one.text(name) for name, one in self.peaks.items()))
        lines.append(f"  momentum moved by {self.momentum:.1e}, the balance of energy by {self.energy:.1e}")
        return "\n".join([*lines, *self._overlap_lines()])

    def _overlap_lines(self) -> Iterator[str]:
        """Guides that overlap at the start, and which coordinates move them apart."""
        if not self.overlaps:
            return
        given = self.docking
        guides = ", ".join(f"{one.guide} {1e3 * one.depth:.4g} mm deep" for one in self.overlaps)
        yield f"  guides overlap at the start: {guides}"
        apart = f"{given.target} and {given.ring} apart, by --state of {', '.join(given.coordinates(given.target))}"
        yield f"  forces there are not physical: start with {apart}"

    def __repr__(self) -> str:
        return f"<DockingRun: {self}>"

    def to_dict(self) -> dict[str, object]:
        """The result as data for JSON."""
        return {
            "outcome": self.outcome.name.lower(),
            "message": self.outcome.value,
            "captured": self.captured,
            "touches": list(self.touches),
            "latches": dict(self.latches),
            "phases": [
                {"name": one.name, "from": float(one.times[0]), "to": float(one.times[-1]), "steps": one.steps}
                for one in self.phases
            ],
            "joints": [
                {"joint": one.joint, "time": one.time, "impulse": one.impulse.tolist(), "energy lost": one.lost,
                 "shift": one.shift, "tilt": one.tilt}
                for one in self.joinings
            ],
            "peaks": {name: asdict(one) for name, one in self.peaks.items()},
            "fault": None if self.fault is None else asdict(self.fault),
            "overlaps": [asdict(one) for one in self.overlaps],
            "momentum": self.momentum,
            "energy": self.energy,
        }  # fmt: skip


# Observed quantities: forces between the rings and in the legs, energy and momentum.


@cache
def formulas(docking: Docking) -> dict[str, str]:
    """Columns by name that do not depend on what is joined, as formulas of the state of all bodies."""
    totals = {name: name for name in (ENERGY, KINETIC, *MOMENTA)}
    return totals | {f"{LENGTH}{leg.name}": leg.length for leg in docking.legs}


def observed(
    free: ModeEquations, mode: ModeEquations, times: Floats, states: Floats, own: Floats, known: Mapping[str, float]
) -> dict[str, Floats]:
    """The columns of one phase. Energy and momentum are those of all bodies and guides, whatever is joined.

    states: of all bodies. own: the integrated entries of the mode.
    """
    whole = mode if mode.mode is Mode.SPRUNG else free
    found = _columns(whole, formulas(free.docking), times, states, known)
    loads = _columns(free, signed_loads(free), times, states, known)
    between = _columns(mode, squared_loads(mode), times, own, known)
    if mode.mode is Mode.HARD:
        between = _columns(free, squared_loads(free), times, states, known) | between
    state = dict(zip(free.equations.names, states.T, strict=True))
    return state | found | loads | {name: np.sqrt(column) for name, column in between.items()}


def _columns(
    mode: ModeEquations, texts: Mapping[str, str], times: Floats, states: Floats, known: Mapping[str, float]
) -> dict[str, Floats]:
    return dict(zip(texts, mode.columns(tuple(texts.values()), times, states, known).T, strict=True))


def peaks_at(phase: Phase) -> dict[str, Peak]:
    """The largest loads at the saved states, for methods without dense output."""
    found = {}
    for name, column in phase.columns.items():
        if name.partition(":")[0] in ("load", "latch", "ring", "interface", "bending"):
            place = int(np.argmax(np.abs(column)))
            found[name] = Peak(float(abs(column[place])), float(phase.times[place]))
    return found


def drift(phases: Sequence[Phase], joinings: Sequence[Joining]) -> tuple[float, float]:
    """The relative changes of momentum and of the energy balance; zero without a phase."""
    if not phases:
        return 0.0, 0.0
    momenta = np.hstack([[phase.columns[name] for name in MOMENTA] for phase in phases])
    energies = []
    for phase in phases:
        lost = sum(one.lost for one in joinings if one.time <= phase.times[0])
        zero = np.zeros(len(phase.times))
        given = phase.columns.get("supplied", zero) - phase.columns.get("dissipated", zero)
        energies.append(phase.columns[ENERGY] - given + lost)
    energy = np.concatenate(energies)
    kinetic = np.concatenate([phase.columns[KINETIC] for phase in phases])
    potential = np.concatenate([phase.columns[ENERGY] for phase in phases]) - kinetic
    moved = np.abs(momenta - momenta[:, :1]).max() / max(np.abs(momenta).max(), np.finfo(float).tiny)
    left = float(np.abs(energy - energy[0]).max())
    return float(moved), energy_error(left, kinetic, potential, ())
