"""The modes of a docking (free, rings joined, all joined) and the impulses that join moving bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np

from kinegraph.compiler.request import bound_parameters
from kinegraph.compiler.stored import derived_at_once
from kinegraph.derive.dynamics.state_rate import Forces
from kinegraph.docking.description import Docking, without_springs
from kinegraph.docking.fastening import (
    Fastening,
    Joined,
    can_be_fastened,
    fasten,
    free_by_quaternion,
    in_new_names,
    placed,
    pose_names,
    pose_parameters,
    with_legs_held,
)
from kinegraph.docking.latches import (
    force_names,
    given_names,
    row_expressions,
    row_values,
    slot_names,
    with_latches_that_hold,
    with_points_held,
)
from kinegraph.docking.mode_equations import IMPULSES, STATE, HeldForm, ModeForm, docking_balances
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Output
from kinegraph.model.constraints import Frame, Joint, JointType, Loop
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import ZERO, Mechanism, Parameter
from kinegraph.model.states import is_force
from kinegraph.simulate.formulas import StateNames, formula
from kinegraph.solve.methods.feedback import Samples
from kinegraph.solve.problem import Floats, Signals

# The modes of a docking: free, the rings joined, and all joined; each has its own mechanism, joined exactly.

#: Ring and target, chaser and target; seat: the pose of the ring on the chaser then.
CAPTURED, HARD, SEAT = "captured", "hard", "seat"

#: The parameter for the start of retraction, also of models without one.
BEGIN = "begin$"


class Mode(Enum):
    """The joined bodies."""

    FREE = "free"
    ONE = "the rows of one latch"
    TWO = "the rows of two latches"
    THREE = "the rows of three latches"
    SPRUNG = "some latches hold by springs"
    CAPTURED = "captured"
    HARD = "hard"


#: Modes in which latches hold exactly, by the number that give rows.
HELD = (Mode.ONE, Mode.TWO, Mode.THREE)


@dataclass(frozen=True)
class ModeEquations:
    """One mode of a docking: its mechanism and equations.

    Joined free bodies become one (`fastening`), so that neither joint nor platform needs multipliers; any other
    bodies are connected by a fixed loop. The poses of the bodies at the time they were joined are runtime
    parameters, so no docking needs its own code; so is the start of retraction.
    """

    docking: Docking
    mode: Mode
    values: Mapping[str, Scalar]
    given: Forces
    signals: Signals | Samples
    _graphs: dict[tuple[Scalar, ...], Graph] = field(default_factory=dict, repr=False, compare=False)

    @property
    def joints(self) -> tuple[str, ...]:
        """The closed joints."""
        return {Mode.CAPTURED: (CAPTURED,), Mode.HARD: (CAPTURED, HARD)}.get(self.mode, ())

    @property
    def slots(self) -> int:
        """How many latches hold by rows."""
        return HELD.index(self.mode) + 1 if self.mode in HELD else 0

    @cached_property
    def fastened(self) -> Joined | None:
        """The mechanism in which joined bodies are one; None if they are connected by loops, or free."""
        docking, given = self.docking, self._without_guides
        names = (docking.chaser, docking.ring, docking.target)
        chaser, ring, target = (free_by_quaternion(docking.mechanism, name) for name in names)
        acting = {name for name in (*self.given.formulas, *self.given.sampled) if is_force(name)}
        if not self.joints or acting or not can_be_fastened(docking.mechanism, names):
            return None
        assert chaser is not None and ring is not None and target is not None
        on_ring = Fastening(target, ring, CAPTURED)
        if self.mode is Mode.CAPTURED:
            return fasten(given, [on_ring])
        bare = without_springs(given, docking.chaser, docking.ring)
        return with_legs_held(fasten(bare, [on_ring, Fastening(ring, chaser, SEAT)]), docking.mechanism)

    @cached_property
    def mechanism(self) -> Mechanism:
        """Ring and target without guides if they are joined: these would act within one rigid body."""
        if self.mode is Mode.FREE:
            return self.docking.mechanism
        if self.mode is Mode.SPRUNG:
            return with_latches_that_hold(self.docking)
        if self.slots:
            return with_points_held(self.docking, self.slots)
        return self.with_loops if self.fastened is None else self.fastened.mechanism

    @cached_property
    def with_loops(self) -> Mechanism:
        """The same joints as loops: all bodies keep their coordinates."""
        given, docking = self._without_guides, self.docking
        sides = {CAPTURED: docking.ring, HARD: docking.chaser}
        loops = tuple(
            Loop(joint, Joint(JointType.FIXED), Frame(sides[joint], placed(joint)), Frame(docking.target))
            for joint in self.joints
        )
        parameters = tuple(one for joint in self.joints for one in pose_parameters(joint))
        return replace(given, parameters=(*given.parameters, *parameters), loops=(*given.loops, *loops))

    @property
    def _without_guides(self) -> Mechanism:
        given, guides = self.docking.mechanism, {one.name for one in self.docking.guides}
        retained = tuple(one for one in given.elements if one.name not in guides)
        return replace(given, elements=retained, parameters=(*given.parameters, Parameter(BEGIN, ZERO)))

    @property
    def reaction(self) -> str:
        """The quantity of the force and moment of the ring on the target if they are joined."""
        return f"reaction:{CAPTURED if self.fastened is None else self.docking.target}"

    @property
    def runtime(self) -> tuple[str, ...]:
        """Runtime parameters."""
        if self.mode is Mode.SPRUNG:
            held = (name for one in self.docking.latches for name in given_names(one))
            return (*self._given_for(()), *held)
        if self.slots:
            return (*self._given_for(()), *(name for slot in range(self.slots) for name in slot_names(slot)))
        if self.fastened is None:
            return self._given_for(self.joints)
        fastened = tuple({HARD: SEAT}.get(joint, joint) for joint in self.joints)
        return (*self._given_for(fastened), *self.fastened.locked)

    def _given_for(self, joints: tuple[str, ...]) -> tuple[str, ...]:
        """The start of retraction, if the model has it, and the poses of joints."""
        begin = self.docking.schedule.begin
        own = (begin,) if any(one.name == begin for one in self.docking.mechanism.parameters) else ()
        own = (*own, BEGIN) if joints else own
        return (*own, *(name for joint in joints for name in pose_names(joint)))

    @cached_property
    def equations(self) -> ModeForm:
        """The equations of motion."""
        forces = self.given
        if self.fastened is not None:
            forces = replace(forces, formulas=in_new_names(forces.formulas, self.fastened.meanings))
        if self.slots:
            rows = zip(row_expressions(self.docking, self.slots), row_values(self.slots), strict=True)
            return HeldForm(
                self.mechanism, self.values, forces, self.runtime, force_names(self.slots), [a - b for a, b in rows]
            )
        return ModeForm(self.mechanism, self.values, forces, self.runtime, self.reaction if self.joints else None)

    @property
    def held(self) -> HeldForm:
        """The equations of a mode in which latches hold exactly."""
        assert isinstance(self.equations, HeldForm)
        return self.equations

    @cached_property
    def all_names(self) -> tuple[str, ...]:
        """The entries of the state of all bodies free."""
        return replace(self.docking.mechanism.layout, balances=docking_balances(self.given)).state

    def parameters(self, known: Mapping[str, float]) -> Floats:
        """The values of `runtime`."""
        return np.array([known[name] for name in self.runtime])

    def taken(self, state: Floats) -> Floats:
        """The integrated entries of this mode, from the state of all bodies."""
        values = dict(zip(self.all_names, state, strict=True))
        return np.array([values.get(name, 0.0) for name in self.equations.names])

    def complete(self, times: Floats, states: Floats, held: Floats, known: Mapping[str, float]) -> Floats:
        """States of all bodies from those that this mode integrates; other entries stay unchanged."""
        own = dict(zip(self.equations.names, states.T, strict=True))
        if self.fastened is not None:
            meanings = {name: one for name, one in self.fastened.meanings.items() if name not in own}
            own |= zip(meanings, self.columns(tuple(meanings.values()), times, states, known).T, strict=True)
        before = dict(zip(self.all_names, held, strict=True))
        return np.array([np.broadcast_to(own.get(name, before[name]), times.shape) for name in self.all_names]).T

    def columns(self, texts: tuple[Scalar, ...], times: Floats, states: Floats, known: Mapping[str, float]) -> Floats:
        """Formulas of the state for rows of states: one column each."""
        parameters = np.tile(self.parameters(known), (len(times), 1))
        rows = np.hstack([states, times[:, None], self.signals.values(times), parameters])
        found = self.equations.rows_of(self.graph(texts), rows)
        return np.array(np.broadcast_to(found, (len(times), len(texts))))

    def graph(self, texts: tuple[Scalar, ...]) -> Graph:
        """Formulas of the state as one graph."""
        if texts not in self._graphs:
            self._graphs[texts] = self.equations.stored("columns", texts, lambda: self._read(texts))
        return self._graphs[texts]

    def _read(self, texts: tuple[Scalar, ...]) -> Graph:
        builder = GraphBuilder()
        found = StateNames(builder, self.equations).read([formula(text) for text in texts])
        return builder.graph([Output("columns", (len(found),), tuple(one.index for one in found))])

    def quantities(
        self, words: str, q: Floats, v: Floats, time: float, known: Mapping[str, float]
    ) -> tuple[Floats, ...]:
        """Quantities of all bodies at one state, connected by loops if joined, without forces in coordinates."""
        given = self._given_for(self.joints)
        bound = bound_parameters(self.with_loops, True, self.values)
        graph = derived_at_once(self.with_loops, words, {name: one for name, one in bound.items() if name not in given})
        layout = self.with_loops.layout
        values = dict.fromkeys((*layout.forces, *layout.accelerations), 0.0) | {"t": time}
        values |= zip((*layout.positions, *layout.velocities), [*q, *v], strict=True)
        found = interpret(graph, values | {name: known[name] for name in given})
        return tuple(np.asarray(found[one.name]) for one in graph.outputs)


def relative_pose(first: Floats, second: Floats) -> tuple[float, ...]:
    """The pose of the second body in the axes of the first, from two homogeneous matrices, as `pose_names` has it."""
    from scipy.spatial.transform import Rotation

    turn = first[:3, :3].T @ second[:3, :3]
    shift = first[:3, :3].T @ (second[:3, 3] - first[:3, 3])
    x, y, z, w = Rotation.from_matrix(turn).as_quat()
    return (*map(float, shift), float(w), float(x), float(y), float(z))


# Joining moving bodies: an impulse that removes their relative velocity exactly.


@dataclass(frozen=True)
class Joining:
    """A joint that closed: when, the impulse between the bodies, the energy absorbed by the latch.

    impulse: force and moment impulse on the target, along the axes of the first body, at the joint [N s, N m s].
    misalignment [m, rad]: the relative translation and rotation of the bodies.
    """

    joint: str
    time: float
    impulse: Floats
    lost: float
    pose: tuple[float, ...]

    @property
    def shift(self) -> float:
        """The lateral distance of the two frames [m]."""
        return float(np.hypot(self.pose[0], self.pose[1]))

    @property
    def tilt(self) -> float:
        """The angle between the two frames, roll included [rad]."""
        return float(2 * np.arctan2(np.linalg.norm(self.pose[4:]), abs(self.pose[3])))


def closed(mode: ModeEquations, time: float, state: Floats, known: Mapping[str, float]) -> tuple[Floats, Floats]:
    """The state of all bodies after rows have closed at the present pose, and the impulses along the rows."""
    form, values = mode.held, dict(zip(mode.all_names, state, strict=True))
    row = np.concatenate([mode.taken(state), [time], mode.signals.values(np.array([time]))[0], mode.parameters(known)])
    found = interpret(form.closing, {symbol.name: value for symbol, value in zip(form.symbols, row, strict=True)})
    values |= {name: value for name, value in zip(form.names, found[STATE], strict=True) if name in values}
    return np.array([values[name] for name in mode.all_names]), np.asarray(found[IMPULSES])


def without_velocity_against(
    mode: ModeEquations, time: float, q: Floats, v: Floats, known: Mapping[str, float]
) -> tuple[Floats, Floats, float]:
    """Velocities after the joints of a mode have closed, the impulses in all rows, and the energy lost.

    M (v+ - v) = J^T p with J v+ = 0: the lost energy is that of the velocities that J sees. Redundant rows get the
    least impulses.
    """
    inertia, rows = mode.quantities("H,constraint_jacobian", q, v, time, known)
    opening = rows @ v
    moved = np.linalg.solve(inertia, rows.T)
    compliance = rows @ moved
    seen = np.diag(compliance)
    scale = np.divide(1, np.sqrt(seen), out=np.zeros_like(seen), where=seen > 0)
    impulses = -scale * (np.linalg.pinv(scale[:, None] * compliance * scale, rcond=1e-10) @ (scale * opening))
    after = v + moved @ impulses
    lost = 0.5 * (v @ inertia @ v - after @ inertia @ after)
    return after, impulses, float(lost)
