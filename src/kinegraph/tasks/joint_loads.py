"""`joint_loads`: the loads of joints along a run or a prescribed motion, with their peaks and the times of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import TaskError
from kinegraph.model.axes import Axes
from kinegraph.model.changes.coordinates import RELEASED, released
from kinegraph.model.constraints import Loop, is_constrained
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.solve.solution import Solution, save_columns
from kinegraph.tabular import Tabular, by_name
from kinegraph.tasks.force_equations import with_inputs
from kinegraph.tasks.operating_point import JACOBIAN, Floats, called_rows, kernel_of
from kinegraph.tasks.prescribed_motion import SampledMotion
from kinegraph.tasks.reactions import (
    COMPONENTS,
    JointPlace,
    LoadView,
    Point,
    Reaction,
    SelfStresses,
    independent_count,
    joint_places,
    load_view,
    reaction_rows,
    seen_reaction,
    self_stresses,
)
from kinegraph.tasks.run_states import Driving, between, run_model, run_states
from kinegraph.tasks.unknown_forces import ForceProblem, UnknownForces

# Joint loads in a given motion under given forces, by the principle of release. No accelerations are solved for, so
# massless bodies are allowed. With loops, the multipliers are those that cause the motion together with the given
# forces: J^T lambda = tau needed - tau given.

_SIX = len(RELEASED)
_SMALL = 1e-9


@dataclass(frozen=True, eq=False)
class MotionLoads:
    """A motion of a mechanism, and the forces on coordinates, tau, and inputs, u, that act in it."""

    mechanism: Mechanism
    parameters: Mapping[str, Scalar] | None
    motion: SampledMotion
    tau: Floats
    u: Floats

    def reactions(self, joints: Sequence[str], view: LoadView) -> tuple[Reaction, ...]:
        """The loads that parents exert on bodies through their joints, and first frames of loops on second ones;
        rows are times."""
        loops = {one.name for one in self.mechanism.loops if isinstance(one, Loop)}
        for name in joints:
            if name not in self.mechanism.body_by_name and name not in loops:
                known = (*self.mechanism.body_by_name, *loops)
                raise TaskError(f"unknown body or loop {name!r}\n  {did_you_mean(name, known)}")
        values = self._values(padded=False)
        places = joint_places(self.mechanism, {name: name for name in joints}, view, values, self.parameters)
        return tuple((self._of_loop if name in loops else self._reaction)(name, view, places[name]) for name in joints)

    def _of_loop(self, loop: str, view: LoadView, place: JointPlace) -> Reaction:
        word = f"transmission:{loop}"
        passed = called_rows(
            kernel_of(_constraint_loads(self.mechanism), word, self.parameters), self._values(padded=False)
        )[word]
        wrench = passed @ self._multipliers[:, :, None]
        return seen_reaction(loop, view, place, wrench[:, :, 0], passed, self._stresses)

    def _reaction(self, body: str, view: LoadView, place: JointPlace) -> Reaction:
        freed = released(self.mechanism, body)
        pose, values = f"pose:{freed.joint}", self._values(padded=True)
        found = called_rows(kernel_of(_tree(freed.mechanism), ["tau", pose], self.parameters), values)
        turn = np.kron(np.eye(2), found[pose][:, :3, :3])
        wrench, passed, stresses = found["tau"][:, -_SIX:, None], None, None
        if is_constrained(self.mechanism):
            rows = called_rows(kernel_of(_constraint_loads(freed.mechanism), JACOBIAN, self.parameters), values)[
                JACOBIAN
            ]
            passed, stresses = np.swapaxes(rows[:, :, -_SIX:], 1, 2), self._stresses
            wrench = wrench - passed @ self._multipliers[:, :, None]
            passed = turn @ passed
        return seen_reaction(body, view, place, (turn @ wrench)[:, :, 0], passed, stresses)

    def _values(self, padded: bool) -> dict[str, Floats | float]:
        motion = self.motion
        parts = {"q": motion.q, "v": motion.v, "a": motion.a}
        if padded:
            parts = {name: np.hstack([part, np.zeros((len(part), _SIX))]) for name, part in parts.items()}
        return {**motion.arguments, **parts, "u": self.u}

    @cached_property
    def _jacobians(self) -> Floats:
        return called_rows(
            kernel_of(_constraint_loads(self.mechanism), JACOBIAN, self.parameters), self._values(False)
        )[JACOBIAN]

    @cached_property
    def _stresses(self) -> SelfStresses:
        return self_stresses(self._jacobians, independent_count(self.mechanism, self.parameters))

    @cached_property
    def _multipliers(self) -> Floats:
        needed = called_rows(kernel_of(_tree(self.mechanism), "tau", self.parameters), self._values(False))["tau"]
        pairs = zip(self._jacobians, needed - self.tau, strict=True)
        return np.array([np.linalg.lstsq(jacobian.T, force, rcond=_SMALL)[0] for jacobian, force in pairs])


def motion_loads(problem: ForceProblem, motion: SampledMotion, values: Floats) -> MotionLoads:
    """A motion with the unknown forces found for it; rows are times."""
    mechanism = with_inputs(problem.mechanism, problem.names)
    acting = dict(zip(problem.names, values.T, strict=True))
    nothing = np.zeros(len(motion.times))
    tau, u = (
        np.reshape([acting.get(name, nothing) for name in names], (-1, len(motion.times))).T
        for names in (mechanism.layout.forces, mechanism.layout.inputs)
    )
    return MotionLoads(mechanism, problem.parameters, motion, tau, u)


def _tree(mechanism: Mechanism) -> Mechanism:
    return replace(mechanism, loops=(), constraints=())


def _constraint_loads(mechanism: Mechanism) -> Mechanism:
    return replace(mechanism, elements=())


# `joint_loads`: the largest loads are also searched between the times, at some points within each step, and refined
# around the largest of these.

#: Points within a step, peaks to refine, points per refinement, and number of refinements.
_LOOKS, _PEAKS, _CLOSELY, _TIMES = 3, 2, 9, 5


@dataclass(frozen=True)
class WorstLoad:
    """The largest force and moment in a joint, and when they occur.

    determinate: whether the motion determines the force, and the moment, completely; otherwise these are lower
    bounds.
    """

    joint: str
    force: float
    force_time: float
    moment: float
    moment_time: float
    determinate: tuple[bool, bool] = (True, True)


@dataclass(frozen=True)
class ComponentRange:
    """The smallest and largest value of one component of a joint's load, with signs, and their times.

    component: Fx, Fy, Fz in N, Mx, My, Mz in N m. NaN if the motion does not determine it.
    """

    joint: str
    component: str
    low: float
    low_time: float
    high: float
    high_time: float


@dataclass(frozen=True)
class JointLoads(Tabular):
    """Joint loads at many times: a `Reaction` with rows for each joint, and the worst of each.

    ranges: the extremes of every component with their signs, six for each joint.
    searched: the fraction of the time steps in which the worst loads were searched; in the others (rows of a run
    separated by events or coarse steps, sampled motions) only the times themselves count.
    """

    model: str
    times: Floats
    view: LoadView
    reactions: tuple[Reaction, ...]
    worst: tuple[WorstLoad, ...]
    ranges: tuple[ComponentRange, ...]
    searched: float

    @property
    def axes(self) -> Axes:
        """The axes in which forces and moments are expressed."""
        return self.view.axes

    def __getitem__(self, joint: str) -> Reaction:
        """One joint."""
        for one in self.reactions:
            if one.body == joint:
                return one
        raise TaskError(f"unknown joint {joint!r}; choose from {', '.join(one.body for one in self.reactions)}")

    def __contains__(self, name: object) -> bool:
        return name in {one.body for one in self.reactions}

    def range(self, joint: str, component: str) -> ComponentRange:
        """The extremes of one component, such as `range("Rod", "Fx")`."""
        for one in self.ranges:
            if (one.joint, one.component) == (self[joint].body, component):
                return one
        raise TaskError(f"unknown component {component!r}; choose from {', '.join(COMPONENTS)}")

    def save(self, path: str | Path) -> Path:
        """Write times and components to a .csv, .npz or .parquet file: columns t, Rod.Fx, ..., Rod.Mz."""
        return save_columns(path, self._table())

    def __str__(self) -> str:
        lines = [f"{self.model}: the largest loads from t = {self.times[0]:.6g} to {self.times[-1]:.6g} s"]
        for one, reaction in zip(self.worst, self.reactions, strict=True):
            sure = [" " if known else " at least " for known in one.determinate]
            force = f"force{sure[0]}{one.force:.6g} N at t = {one.force_time:.6g}"
            moment = f"moment{sure[1]}{one.moment:.6g} N m at t = {one.moment_time:.6g}"
            unsure = (
                f" ({reaction.undetermined} not determined: loops have redundant rows)" if reaction.undetermined else ""
            )
            lines.append(f"  {one.joint}: {force}, {moment}{unsure}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    @property
    def notes(self) -> list[str]:
        """What the numbers mean, and what was not searched."""
        notes = [self.view.words]
        if self.searched < 1:
            notes.append(f"{1 - self.searched:.1%} of the steps were not searched between their ends")
        return notes

    def _table(self) -> Mapping[str, Floats]:
        """A row for each time; six columns for each joint, such as `Rod.Fx` and `Rod.Mz`."""
        columns = {"t": self.times}
        for one in self.reactions:
            columns |= by_name([f"{one.body}.{part}" for part in COMPONENTS], np.hstack([one.force, one.moment]))
        return columns

    def to_dict(self) -> dict[str, object]:
        """Times and the largest loads as JSON can hold them."""
        worst, ranges = [vars(one) for one in self.worst], [vars(one) for one in self.ranges]
        return {
            **self.view.to_dict(), "t": self.times.tolist(), "worst": worst, "ranges": ranges,
            "searched": self.searched,
        }  # fmt: skip


def joint_loads(
    motion: Solution | UnknownForces,
    joints: Sequence[str] = (),
    *,
    axes: Axes | str = Axes.WORLD,
    point: Point = None,
    drives: bool = True,
) -> JointLoads:
    """Compute the reactions in joints along a run, or along a motion with forces from `unknown_forces`.

    joints: bodies, for the joints that carry them, and loops; by default all. axes, point, drives: as in `reactions`.
    """
    view = load_view(axes, point, drives)
    if isinstance(motion, Solution):
        return _of_run(motion, joints, view)
    if not isinstance(motion, UnknownForces):
        raise TaskError(f"joint_loads takes a run or a result of unknown_forces, not {motion!r:.60}")
    return _of_forces(motion, joints, view)


def all_joints(mechanism: Mechanism) -> tuple[str, ...]:
    """Every body, for its joint, and every loop of two frames."""
    loops = (one.name for one in mechanism.loops if isinstance(one, Loop))
    return (*(body.name for body in mechanism.bodies), *loops)


def _of_run(run: Solution, joints: Sequence[str], view: LoadView) -> JointLoads:
    states, driving = run_states(run), Driving(run_model(run))
    names = tuple(joints) or all_joints(states.mechanism)
    rows = reaction_rows(states, names, view)
    times, sizes = states.times, _sizes(rows)
    known = np.isfinite(sizes)
    known = known[:, known.any(axis=0)]  # components that no time determines are NaN, as those out of a plane
    increasing = len(times) > 1 and bool(np.all(np.diff(times) > 0)) and bool(known.all())
    if not (increasing and driving.of_states):
        return _loads(states.mechanism, times, view, rows, _largest(times, sizes), float(len(times) < 2))
    dense = between(states, driving)
    nodes = dense.states.times

    def at(places: Floats) -> Floats:
        return _sizes(reaction_rows(dense.at(places), names, view))

    steps = list(zip(nodes[:-1][dense.covered], nodes[1:][dense.covered], strict=True))
    worst = _searched(times, sizes, steps, at)
    searched = np.mean(np.isin(times[:-1], nodes[:-1][dense.covered]))
    return _loads(states.mechanism, times, view, rows, worst, float(searched))


def _of_forces(found: UnknownForces, joints: Sequence[str], view: LoadView) -> JointLoads:
    if not np.isfinite(found.values).all():
        raise TaskError(
            "the motion does not determine all unknown forces, so the joint loads are not determined either"
        )
    mechanism = found.problem.mechanism
    names = tuple(joints) or all_joints(mechanism)

    def loads(one: UnknownForces) -> tuple[Reaction, ...]:
        return motion_loads(one.problem, one.motion, one.values).reactions(names, view)

    rows = loads(found)
    times, sizes = found.times, _sizes(rows)
    if len(times) < 2 or not found.prescribed or np.any(np.diff(times) <= 0):
        return _loads(mechanism, times, view, rows, _largest(times, sizes), float(len(times) < 2))
    steps = [(a, b) for a, b in pairwise(times.tolist()) if (a, b) not in found.crossings]
    try:
        worst = _searched(times, sizes, steps, lambda places: _sizes(loads(found.between(places))))
    except TaskError:  # times too far apart to follow loops between them, or forces without values between them
        return _loads(mechanism, times, view, rows, _largest(times, sizes), 0.0)
    return _loads(mechanism, times, view, rows, worst, len(steps) / (len(times) - 1))


def _loads(
    mechanism: Mechanism, times: Floats, view: LoadView, rows: tuple[Reaction, ...], worst: Floats, searched: float
) -> JointLoads:
    found: list[WorstLoad] = []
    ranges: list[ComponentRange] = []
    for one, extremes in zip(rows, worst.reshape(len(rows), -1, 2).tolist(), strict=True):
        (force_time, force), (moment_time, moment), *signed = extremes
        known = all(one.determinate[:3]), all(one.determinate[3:])
        found.append(WorstLoad(one.body, force, force_time, moment, moment_time, known))
        for name, sure, high, low in zip(COMPONENTS, one.determinate, signed[:_SIX], signed[_SIX:], strict=True):
            entry = (-low[1] + 0.0, low[0], high[1] + 0.0, high[0]) if sure else (float("nan"),) * 4
            ranges.append(ComponentRange(one.body, name, *entry))
    return JointLoads(mechanism.name, times, view, rows, tuple(found), tuple(ranges), searched)


def _sizes(rows: Sequence[Reaction]) -> Floats:
    """For every joint the sizes of force and moment, the six components and the negatives of these; rows are times."""
    parts = []
    for one in rows:
        signed = np.hstack([one.force, one.moment])
        parts.append(np.column_stack([one.force_size, one.moment_size, signed, -signed]))
    return np.hstack(parts)


def _largest(times: Floats, sizes: Floats) -> Floats:
    """The largest value of every column, with the time before it."""
    at = np.argmax(np.where(np.isfinite(sizes), sizes, -np.inf), axis=0)
    return np.column_stack([times[at], sizes[at, np.arange(sizes.shape[1])]])


def _searched(
    times: Floats, sizes: Floats, steps: Sequence[tuple[float, float]], at: Callable[[Floats], Floats]
) -> Floats:
    """The same, searched within steps."""
    best = _largest(times, sizes)
    if not steps:
        return best
    ends = np.array(steps)
    looks = ends[:, :1] + np.diff(ends, axis=1) * np.arange(1, _LOOKS + 1) / (_LOOKS + 1)
    places = np.concatenate([times, looks.ravel()])
    values = np.vstack([sizes, at(looks.ravel())])
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    tops = _tops(values)
    middles, heights = places[tops[:, 1]], values[tops[:, 1], tops[:, 0]]
    gaps = np.append(0.0, np.append(np.diff(places), 0.0))
    reach = np.maximum(gaps[tops[:, 1]], gaps[tops[:, 1] + 1])
    for _ in range(_TIMES):
        near = middles[:, None] + reach[:, None] * np.linspace(-1, 1, _CLOSELY)
        near = _within(near, ends, middles)
        looked = at(near.ravel()).reshape(*near.shape, -1)[np.arange(len(tops)), :, tops[:, 0]]
        k = np.argmax(np.where(np.isfinite(looked), looked, -np.inf), axis=1)
        middles, heights = near[np.arange(len(tops)), k], looked[np.arange(len(tops)), k]
        reach = reach * 2 / (_CLOSELY - 1)
    for (column, _), time, height in zip(tops.tolist(), middles, heights, strict=True):
        if height > best[column, 1]:
            best[column] = time, height
    return best


def _tops(values: Floats) -> NDArray[np.int64]:
    """Columns and rows of the largest local peaks of every column."""
    sizes = np.where(np.isfinite(values), values, -np.inf)
    edge = np.full((1, sizes.shape[1]), -np.inf)
    higher = (sizes >= np.vstack([sizes[1:], edge])) & (sizes >= np.vstack([edge, sizes[:-1]]))
    found = []
    for column in range(sizes.shape[1]):
        rows = np.flatnonzero(higher[:, column])
        found += [(column, int(row)) for row in rows[np.argsort(-sizes[rows, column])][:_PEAKS]]
    return np.array(found)


def _within(near: Floats, ends: Floats, middles: Floats) -> Floats:
    """Points within a step; others are moved back to the center of their refinement."""
    k = np.clip(np.searchsorted(ends[:, 0], near, side="right") - 1, 0, None)
    inside = (near >= ends[k, 0]) & (near <= ends[k, 1])
    return np.where(inside, near, middles[:, None])
