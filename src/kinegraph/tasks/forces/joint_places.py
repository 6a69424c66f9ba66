"""Where joints are: their points on both sides, the axes of their motion, and the axes their loads are asked for in.

The frames are bodies without mass that are added for their poses; loads themselves come from elsewhere, as force and
moment in world axes about the joint's point on the body's side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from kinegraph.errors import TaskError
from kinegraph.model.axes import Axes
from kinegraph.model.changes.release import joint_motion, joint_point
from kinegraph.model.constraints.records import Frame, Loop
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Axis, Body, Mechanism, Quaternion, Shift
from kinegraph.model.names import did_you_mean
from kinegraph.tasks.kernels import called_rows, kernel_of
from kinegraph.tasks.operating_point import Floats

#: The point moments are about: None for the joint's own on the body's side, `parent` for the parent's side, the name of
#: a body or an output point, or three numbers in the fixed frame.
Point: TypeAlias = "str | Sequence[float] | None"
PARENT = "parent"


@dataclass(frozen=True)
class LoadView:
    """How loads are looked at: in whose axes, about which point, and whether drives on the joint's motion count."""

    axes: Axes = Axes.WORLD
    point: Point = None
    drives: bool = True

    @property
    def words(self) -> str:
        """What the numbers are."""
        where = {None: "the joint's point on the body", PARENT: "the joint's point on the parent"}
        point = self.point if self.point is None or isinstance(self.point, str) else f"({_listed(self.point)})"
        drives = f"{'with' if self.drives else 'without'} drives and springs on its own coordinates"
        return f"{self.axes.value} axes, moments about {where.get(point, point)}, {drives}"


def load_view(axes: Axes | str, point: Point, drives: bool) -> LoadView:
    """A view as it is asked for; TaskError for axes or points that are none."""
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
        raise TaskError(f"axes: there are no axes {axes!r:.60}; write one of {known}") from None


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(f"{x:g}" for x in numbers)


@dataclass(frozen=True, eq=False)
class JointPlace:
    """One joint at many states, in the fixed frame: its point, the point that is asked for, axes as rows of a matrix.

    directions: of its motion, unit vectors by state, motion and component, through `origins`. turns: which are turns.
    """

    point: Floats
    about: Floats
    axes: Floats
    directions: Floats
    origins: Floats
    turns: tuple[bool, ...]
    drives: bool

    def seen(self, wrenches: Floats) -> Floats:
        """Forces and moments (by state, six components, and any number side by side) as they are asked for."""
        if not self.drives and self.turns:
            wrenches = self._without_drives(wrenches)
        force, moment = wrenches[:, :3], wrenches[:, 3:]
        moment = moment + np.cross((self.point - self.about)[:, :, None], force, axis=1)
        return np.concatenate([self.axes @ force, self.axes @ moment], axis=1)

    def _without_drives(self, wrenches: Floats) -> Floats:
        """Less the couples about turning axes and forces along sliding ones that do the work of the joint's motion."""
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
    """Places of joints by the names they are asked for; joints: the body or loop each name stands for."""
    marks = {name: _Marks.of(mechanism, target, f"{k}") for k, (name, target) in enumerate(joints.items())}
    tree = replace(mechanism, loops=(), constraints=(), elements=(), contacts=(), unknowns=())
    bodies = (*tree.bodies, *(mark for one in marks.values() for mark in one.bodies))
    named = [view.point] if isinstance(view.point, str) and view.point != PARENT else []
    for name in named:
        known = (*mechanism.body_by_name, *(one.name for one in mechanism.points))
        if name not in known:
            raise TaskError(f"point: there is no body or output {name!r}\n  {did_you_mean(name, (PARENT, *known))}")
    words = [f"pose:{mark.name}" for one in marks.values() for mark in one.bodies] + [f"pose:{name}" for name in named]
    found = called_rows(kernel_of(replace(tree, bodies=bodies), list(dict.fromkeys(words)), parameters), values)
    poses = {word.removeprefix("pose:"): pose for word, pose in found.items()}
    return {name: _place(one, view, poses) for name, one in marks.items()}


@dataclass(frozen=True)
class _Marks:
    """Frames of a joint: of both sides, at its point, and behind every transform of its motion, with their axes."""

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
