"""`reactions`: the force and moment in a joint, at a state or along a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.derive.constraints.conditions import DEPENDENT
from kinegraph.derive.quantities.constraints import supported_body
from kinegraph.derive.quantities.mobility import mobility
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.axes import Axes
from kinegraph.model.changes.coordinates import joint_motion, joint_point
from kinegraph.model.constraints import Frame, Loop, is_constrained, tell_of_unknowns
from kinegraph.model.expressions import Scalar, expression
from kinegraph.model.mechanism import Axis, Body, Mechanism, Quaternion, Shift
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.formulas import formula
from kinegraph.tasks.operating_point import JACOBIAN, Floats, called_rows, kernel_of, operating_point
from kinegraph.tasks.run_states import RunStates

# Joint frames: points on both sides, the axes of motion, and the axes of the requested loads. The frames are massless
# bodies, added for their poses. The loads come from elsewhere, as force and moment in world axes about the joint's
# point on the body's side.

#: The reference point of moments: None for the joint's own on the body's side, `parent` for the parent's side, the name
#: of a body or an output point, a point of a body (`Rod(0.2, 0, 0)`), or three numbers in the fixed frame.
Point: TypeAlias = "str | Sequence[float] | None"
PARENT = "parent"


@dataclass(frozen=True)
class LoadView:
    """How loads are expressed: in which axes, about which point, and with or without drives on the joint's motion."""

    axes: Axes = Axes.WORLD
    point: Point = None
    drives: bool = True

    @property
    def words(self) -> str:
        """A description of the numbers."""
        where = {None: "the joint's point on the body", PARENT: "the joint's point on the parent"}
        point = self.point if self.point is None or isinstance(self.point, str) else f"({_listed(self.point)})"
        drives = f"{'with' if self.drives else 'without'} drives and springs on its own coordinates"
        return f"{self.axes.value} axes, moments about {where.get(point, point)}, {drives}"

    def to_dict(self) -> dict[str, object]:
        """Axes, point and drives as JSON can hold them."""
        point = self.point if self.point is None or isinstance(self.point, str) else list(self.point)
        return {"axes": self.axes.value, "point": point or "joint", "drives": self.drives}


def load_view(axes: Axes | str, point: Point, drives: bool) -> LoadView:
    """The requested view; TaskError for unknown axes or points."""
    if isinstance(point, str) or point is None:
        return LoadView(_axes(axes), point, drives)
    try:
        place = tuple(float(x) for x in point)
    except (TypeError, ValueError):
        place = ()
    if len(place) != 3 or not np.isfinite(place).all():
        raise TaskError(f"point: {point!r:.60} is neither a name nor three numbers; write e.g. point=(0, 0, 1)")
    return LoadView(_axes(axes), place, drives)


def _axes(axes: Axes | str) -> Axes:
    try:
        return Axes(getattr(axes, "value", axes))
    except ValueError:
        known = ", ".join(one.value for one in Axes)
        raise TaskError(f"axes: unknown axes {axes!r:.60}; choose from {known}") from None


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(f"{x:g}" for x in numbers)


@dataclass(frozen=True, eq=False)
class JointPlace:
    """One joint at many states, in the fixed frame: its point, the requested point, axes as rows of a matrix.

    directions: of its motion, unit vectors by state, motion and component, through `origins`. turns: which are
    rotations.
    """

    point: Floats
    about: Floats
    axes: Floats
    directions: Floats
    origins: Floats
    turns: tuple[bool, ...]
    drives: bool

    def seen(self, wrenches: Floats) -> Floats:
        """Forces and moments (by state, six components, and any number of columns) as requested."""
        if not self.drives and self.turns:
            wrenches = self._without_drives(wrenches)
        force, moment = wrenches[:, :3], wrenches[:, 3:]
        moment = moment + np.cross((self.point - self.about)[:, :, None], force, axis=1)
        return np.concatenate([self.axes @ force, self.axes @ moment], axis=1)

    def _without_drives(self, wrenches: Floats) -> Floats:
        """The loads without couples about rotation axes and forces along sliding axes that do work on the joint's
        motion."""
        nothing = np.zeros_like(self.directions)
        arms = np.cross(self.directions, self.point[:, None] - self.origins)
        rotary = np.array(self.turns)[None, :, None]
        twists = np.concatenate(
            [np.where(rotary, arms, self.directions), np.where(rotary, self.directions, nothing)], 2
        )
        drives = np.concatenate(
            [np.where(rotary, nothing, self.directions), np.where(rotary, self.directions, nothing)], axis=2
        )
        found = np.linalg.pinv(twists @ np.swapaxes(drives, 1, 2), rcond=1e-9) @ twists @ wrenches
        return np.asarray(wrenches - np.swapaxes(drives, 1, 2) @ found)


def joint_places(
    mechanism: Mechanism,
    joints: Mapping[str, str],
    view: LoadView,
    values: Mapping[str, Floats | float],
    parameters: Mapping[str, Scalar] | None,
) -> dict[str, JointPlace]:
    """The joint places by requested name; joints: the body or loop of each name."""
    marks = {name: _Marks.of(mechanism, target, f"{k}") for k, (name, target) in enumerate(joints.items())}
    tree = replace(mechanism, loops=(), constraints=(), elements=(), contacts=(), unknowns=())
    bodies = (*tree.bodies, *(mark for one in marks.values() for mark in one.bodies))
    place = _point_of_body(mechanism, view.point)
    bodies = bodies if place is None else (*bodies, place)
    named = [view.point] if isinstance(view.point, str) and view.point != PARENT and place is None else []
    for name in named:
        known = (*mechanism.body_by_name, *(one.name for one in mechanism.points))
        if name not in known:
            raise TaskError(f"point: unknown body or output {name!r}\n  {did_you_mean(name, (PARENT, *known))}")
    words = [f"pose:{mark.name}" for one in marks.values() for mark in one.bodies] + [f"pose:{name}" for name in named]
    words += [] if place is None else [f"pose:{place.name}"]
    found = called_rows(kernel_of(replace(tree, bodies=bodies), list(dict.fromkeys(words)), parameters), values)
    poses = {word.removeprefix("pose:"): pose for word, pose in found.items()}
    if place is not None:
        poses[str(view.point)] = poses[place.name]
    return {name: _place(one, view, poses) for name, one in marks.items()}


_BODY_POINT = re.compile(r"\s*([^\W\d_][\w$]*)\s*\((.*)\)\s*")


def _point_of_body(mechanism: Mechanism, point: Point) -> Body | None:
    """A frame at a point written as in elements, `Rod(l/2, 0, 0)`; None if the point is something else."""
    found = _BODY_POINT.fullmatch(point) if isinstance(point, str) else None
    if found is None:
        return None
    if found[1] not in mechanism.body_by_name:
        raise TaskError(f"point: unknown body {found[1]!r}\n  {did_you_mean(found[1], mechanism.body_by_name)}")
    parts = found[2].split(",")
    if len(parts) != len(Axis):
        raise TaskError(f"point: {point!r:.60} needs three coordinates, e.g. {found[1]}(0.2, 0, 0)")
    shifts = tuple(Shift(axis, formula(part, "point")) for axis, part in zip(Axis, parts, strict=True))
    return Body("mark point", found[1], shifts)


@dataclass(frozen=True)
class _Marks:
    """Frames of a joint: of both sides, at its point, and after every transform of its motion, with their axes."""

    parent: Body
    begin: Body
    point: Body
    body: Body
    motion: tuple[tuple[Body, Axis, bool], ...] = ()

    @classmethod
    def of(cls, mechanism: Mechanism, target: str, number: str) -> _Marks:
        """The frames of the joint that carries a body, or that closes a loop."""
        for loop in mechanism.loops:
            if isinstance(loop, Loop) and loop.name == target:
                first, second = _mark(loop.first, f"{number} first"), _mark(loop.second, f"{number} second")
                return cls(first, first, second, second)
        body = mechanism.body(target)
        motion = joint_motion(mechanism, body)

        def after(count: int, name: str) -> Body:
            return Body(f"mark {number} {name}", body.base, body.transforms[:count])

        moving = []
        for k in motion:
            transform, frame = body.transforms[k], after(k + 1, f"motion {k}")
            kinds = tuple(Axis) if isinstance(transform, Quaternion) else (transform.axis,)
            moving += [(frame, axis, not isinstance(transform, Shift)) for axis in kinds]
        begin = after(motion[0] if motion else len(body.transforms), "begin")
        point = after(joint_point(mechanism, body), "point")
        return cls(after(0, "parent"), begin, point, after(len(body.transforms), "body"), tuple(moving))

    @property
    def bodies(self) -> tuple[Body, ...]:
        """All of them, once."""
        return tuple(dict.fromkeys((self.parent, self.begin, self.point, self.body, *(one[0] for one in self.motion))))


def _mark(frame: Frame, name: str) -> Body:
    return Body(f"mark {name}", frame.body, frame.transforms)


def _place(marks: _Marks, view: LoadView, poses: Mapping[str, Floats]) -> JointPlace:
    point = poses[marks.point.name][:, :3, 3]
    size = len(point)
    about = point
    if isinstance(view.point, str):
        about = poses[marks.begin.name if view.point == PARENT else view.point][:, :3, 3]
    elif view.point is not None:
        about = np.broadcast_to(np.array(view.point, dtype=float), (size, 3))
    frame = {Axes.PARENT: marks.parent, Axes.BODY: marks.body}.get(view.axes)
    turn = np.broadcast_to(np.eye(3), (size, 3, 3)) if frame is None else poses[frame.name][:, :3, :3]
    columns = [(poses[mark.name], list(Axis).index(axis)) for mark, axis, _ in marks.motion]
    directions = np.array([pose[:, :3, axis] for pose, axis in columns]).reshape(-1, size, 3)
    origins = np.array([pose[:, :3, 3] for pose, _ in columns]).reshape(-1, size, 3)
    return JointPlace(
        point, about, np.swapaxes(turn, 1, 2), np.swapaxes(directions, 0, 1), np.swapaxes(origins, 0, 1),
        tuple(turns for *_, turns in marks.motion), view.drives,
    )  # fmt: skip


# `reactions`.

#: Rows whose singular values are below this fraction of the largest are dependent.
_RANK = 1e-9
COMPONENTS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


@dataclass(frozen=True)
class Reaction(RichDisplay):
    """The load that the parent exerts on the body through their joint; for a loop, its first frame on its second.

    force in N, moment in N m; rows are states if there are several. view: the axes, the reference point of moments
    (by default that of the joint on the body's side), and whether forces on the joint's own coordinates (drives,
    springs `on(s)`) count: they are the moment about a revolute axis, the force along a prismatic one. about: the
    point in the fixed frame.

    determinate: for each component of force and moment, whether the motion determines it. If loop rows are redundant
    it may not; undetermined components are NaN. force_size, moment_size: the norms of the determined parts, which
    are lower bounds of the joint's load.
    """

    body: str
    force: Floats
    moment: Floats
    determinate: tuple[bool, ...]
    view: LoadView
    about: Floats
    force_size: Floats = field(repr=False)
    moment_size: Floats = field(repr=False)

    @property
    def axes(self) -> Axes:
        """The axes in which force and moment are expressed."""
        return self.view.axes

    @property
    def worst(self) -> tuple[float, float]:
        """The largest force and moment over all states."""
        force, moment = (float(np.max(size, initial=0.0)) for size in (self.force_size, self.moment_size))
        return force, moment

    @property
    def undetermined(self) -> str:
        """The components that the motion does not determine: `Fz, Mx`; empty if there are none."""
        return ", ".join(name for name, sure in zip(COMPONENTS, self.determinate, strict=True) if not sure)

    @property
    def single(self) -> Reaction:
        """The first state alone."""
        first = {name: getattr(self, name)[0] for name in ("force", "moment", "about", "force_size", "moment_size")}
        return replace(self, **first)

    def __str__(self) -> str:
        sizes = zip(("force", "moment"), self.worst, ("N", "N m"), (slice(0, 3), slice(3, 6)), strict=True)
        parts = [
            f"{word} {'' if all(self.determinate[part]) else 'at least '}{size:.6g} {unit}"
            for word, size, unit, part in sizes
        ]
        unsure = f" ({self.undetermined} not determined: loops have redundant rows)" if self.undetermined else ""
        return f"joint of {self.body}: {', '.join(parts)}{unsure}"

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        return {
            "force": self.force.tolist(), "moment": self.moment.tolist(), "about": self.about.tolist(),
            "determinate": list(self.determinate),
        }  # fmt: skip


def reactions(
    model: MechanismSource,
    joint: str,
    state: Mapping[str, Scalar] | None = None,
    *,
    axes: Axes | str = Axes.WORLD,
    point: Point = None,
    drives: bool = True,
    parameters: Mapping[str, Scalar] | None = None,
) -> Reaction:
    """Compute the force and moment in a joint at a state of the moving mechanism.

    joint: the body that it carries, a coordinate that moves it alone, or a loop.
    state: `q1`, `q1'`, `tau:q1`, an input, `t`. axes: `world`, `parent` or `body`.
    point: reference point of moments. None is the joint's point on the body's side, `parent` that on the parent's side;
        or the name of a body or output, a point of a body such as `Rod(0.2, 0, 0)`, or three numbers in the fixed
        frame.
    drives: include forces on the joint's own coordinates; without them, only the load of the bearing.
    """
    (found,) = reactions_at(mechanism_of(model), (joint,), state, load_view(axes, point, drives), parameters)
    return found


def reactions_at(
    mechanism: Mechanism,
    joints: Sequence[str],
    at: Mapping[str, Scalar] | None,
    view: LoadView,
    parameters: Mapping[str, Scalar] | None,
) -> tuple[Reaction, ...]:
    """The same for several joints."""
    tell_of_unknowns(mechanism, at or ())
    state = operating_point(mechanism, at, parameters)
    rows = (part[None] for part in (state.q, state.v, state.tau, state.u, state.z))
    states = RunStates(mechanism, parameters, np.array([state.t]), *rows)
    found = tuple(one.single for one in reaction_rows(states, joints, view))
    lost = [one.body for one in found if not np.isfinite([one.force_size, one.moment_size]).all()]
    if lost and is_constrained(mechanism):
        words = ", ".join(f"reaction:{name}" for name in lost)
        message = Assembler(mechanism, parameters).singular_message(words, state.q, state.t)
        if message:
            raise TaskError(message)
    return found


def reaction_rows(states: RunStates, joints: Sequence[str], view: LoadView) -> tuple[Reaction, ...]:
    """The reactions in joints at many states."""
    mechanism, parameters = states.mechanism, states.parameters
    words = {name: f"reaction:{name}" for name in joints}
    found = called_rows(kernel_of(mechanism, list(words.values()), parameters), states.arguments)
    places = joint_places(mechanism, _targets(mechanism, joints), view, states.arguments, parameters)
    passed: dict[str, Floats] = {}
    stresses: SelfStresses | None = None
    if is_constrained(mechanism):
        ways = [f"transmission:{name}" for name in joints]
        passed = called_rows(kernel_of(mechanism, [*ways, JACOBIAN], parameters), states.arguments)
        stresses = self_stresses(passed[JACOBIAN], independent_count(mechanism, parameters))
    return tuple(
        seen_reaction(name, view, places[name], found[word], passed.get(f"transmission:{name}"), stresses)
        for name, word in words.items()
    )


def _targets(mechanism: Mechanism, joints: Sequence[str]) -> dict[str, str]:
    """The body or loop of each joint."""
    loops = {one.name for one in mechanism.loops}
    return {name: name if name in loops else supported_body(mechanism, Quantity("reaction", name)) for name in joints}


def independent_count(mechanism: Mechanism, parameters: Mapping[str, Scalar] | None) -> int | None:
    """How many rows are independent in assembled positions; None if that is unknown."""
    found = mobility(mechanism, {name: expression(value, name) for name, value in (parameters or {}).items()})
    return None if found.dof is None else found.velocities - found.dof


@dataclass(frozen=True, eq=False)
class SelfStresses:
    """Multipliers without effect on the motion, by state, row and number; zeros if a state has fewer than others.

    part: smaller transmitted loads count as zero.
    """

    ways: Floats
    part: float = _RANK


def self_stresses(jacobians: Floats, independent: int | None = None) -> SelfStresses:
    """The self-stresses of loops from their rows by state; independent: the number of independent rows, if known.

    Rows that are dependent except for rounded numbers of a model are redundant: these rounding errors, not the
    motion, would distribute the load among them.
    """
    size = jacobians.shape[1]
    good = np.where(np.isfinite(jacobians), jacobians, 0.0)
    _, sizes, vectors = np.linalg.svd(np.swapaxes(good, 1, 2), full_matrices=True)
    largest = np.max(sizes, axis=1, initial=0.0)
    found = np.sum(sizes > _RANK * np.maximum(largest, 1e-300)[:, None], axis=1)
    ranks = found if independent is None else np.minimum(found, independent)
    idle = np.arange(size)[None, :] >= ranks[:, None]
    first = int(np.min(ranks, initial=size))
    ways = np.asarray(np.swapaxes(vectors * idle[:, :, None], 1, 2)[:, :, first:])
    return SelfStresses(ways, DEPENDENT if np.any(ranks < found) else _RANK)


def seen_reaction(
    name: str, view: LoadView, place: JointPlace, wrenches: Floats, passed: Floats | None, stresses: SelfStresses | None
) -> Reaction:
    """A reaction from force and moment at the joint's point in world axes, by state.

    passed: the contribution of unit multipliers. The motion does not determine what a self-stress of the loops
    changes.
    """
    seen = place.seen(wrenches[:, :, None])[:, :, 0]
    sure, open_ways = np.ones(seen.shape, dtype=bool), np.zeros((*seen.shape, 0))
    if passed is not None and stresses is not None and stresses.ways.shape[2]:
        open_ways = place.seen(passed @ stresses.ways)
        size = stresses.part * np.maximum(1.0, np.max(np.abs(passed), axis=(1, 2)))[:, None]
        sure = np.max(np.abs(open_ways), axis=2) < size
        open_ways = np.where(np.abs(open_ways) < size[:, :, None], 0.0, open_ways)
    sizes = [_determined_size(seen[:, part], open_ways[:, part]) for part in (slice(0, 3), slice(3, 6))]
    seen = np.where(sure, seen, np.nan)
    known = tuple(np.all(sure, axis=0).tolist())
    return Reaction(name, seen[:, :3], seen[:, 3:], known, view, place.about, *sizes)


def _determined_size(vectors: Floats, ways: Floats) -> Floats:
    """Norms of vectors without their parts along undetermined directions."""
    if ways.shape[2] and ways.any():
        left, sizes, _ = np.linalg.svd(ways, full_matrices=False)
        left = left * (sizes > _RANK * np.maximum(np.max(sizes, axis=1), 1e-300)[:, None])[:, None, :]
        vectors = vectors - (left @ (np.swapaxes(left, 1, 2) @ vectors[:, :, None]))[:, :, 0]
    return np.asarray(np.linalg.norm(vectors, axis=1))
