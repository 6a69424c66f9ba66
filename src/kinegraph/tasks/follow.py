"""`follow` and `follow_by_spring`: the motion that moves points, coordinates, or bodies along a path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.assembly.initial_values import angle_names
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.errors import AssemblyError, ModelError, TaskError
from kinegraph.io import parse
from kinegraph.model.constraints import Constraint, Frame, Joint, JointType, Loop, is_constrained
from kinegraph.model.elements import Damper, Element, Linear, Spring
from kinegraph.model.expressions import TIME, Expression, Scalar, expression, names
from kinegraph.model.mechanism import ZERO, Body, Mechanism, Transform
from kinegraph.model.names import component, did_you_mean
from kinegraph.simulate.formulas import formula
from kinegraph.simulate.run import simulate
from kinegraph.solve.execution import Native
from kinegraph.solve.solution import save_columns
from kinegraph.tabular import Tabular
from kinegraph.tasks.inverse_kinematics import inverse_kinematics
from kinegraph.tasks.operating_point import (
    JACOBIAN,
    RATE,
    VALUE,
    Floats,
    called,
    called_rows,
    kernel_of,
    parameter_slope,
    refuse_quaternions,
    slope,
)
from kinegraph.tasks.prescribed_motion import SampledMotion
from kinegraph.tasks.sampled_paths import PathLaw, SampledPaths

# A path as constraints: of points, coordinates, or poses of bodies over time.

_PATH = "path "
_PATH_REMEDY = "give formulas of time, e.g. {'tip.x': '0.4*cos(t)', 'tip.z': '0.2'}"
_LEADER = "leader of "


def driven_along(mechanism: Mechanism, path: Mapping[str, Scalar]) -> Mechanism:
    """The mechanism without forces, driven along a path.

    path: formulas of time by target: `{"tip.x": "0.4*cos(t)"}` for a coordinate of a point, `{"q4": "0"}` for a
    coordinate of the mechanism, `{"L6": "Sx(0.4), Rz(t)"}` for the pose of a body.
    """
    refuse_quaternions(mechanism, "a path prescribes")
    bodies, loops, constraints = [*mechanism.bodies], [*mechanism.loops], [*mechanism.constraints]
    for subject, law in path.items():
        if subject in mechanism.body_by_name:
            leader = Body(_LEADER + subject, None, _transforms(mechanism, subject, law))
            bodies.append(leader)
            loops.append(Loop(_PATH + subject, Joint(JointType.FIXED), Frame(leader.name), Frame(subject)))
        else:
            constraints.append(
                Constraint(_PATH + subject, _subject(mechanism, subject), _prescribed(mechanism, subject, law))
            )
    constrained = replace(mechanism, bodies=tuple(bodies), loops=tuple(loops), constraints=tuple(constraints))
    return replace(constrained, unknowns=(), elements=(), contacts=())


def driven_bodies(mechanism: Mechanism) -> dict[str, str]:
    """The driven bodies, and the frames that drive them."""
    return {name.removeprefix(_LEADER): name for name in mechanism.body_by_name if name.startswith(_LEADER)}


def _subject(mechanism: Mechanism, subject: str) -> Expression:
    found = formula(subject)
    points = {*mechanism.body_by_name, *(point.name for point in mechanism.points)}
    known = {*mechanism.layout.positions, *(parameter.name for parameter in mechanism.parameters)}
    for name in names(found):
        part = component(name)
        if (part is None and name not in known) or (part and not (part.exists and part.point in points)):
            hint = did_you_mean(name.partition(".")[0], (*points, *known))
            raise TaskError(f"the path prescribes {subject!r}, but {mechanism.name} has no {name!r}\n  {hint}")
    return found


def _prescribed(mechanism: Mechanism, subject: str, law: Scalar) -> Expression:
    found = formula(law)
    known = {parameter.name for parameter in mechanism.parameters} | {TIME, "pi"}
    for name in names(found):
        if name not in known:
            hint = did_you_mean(name, known)
            raise TaskError(f"the path of {subject} uses {name!r}, but only t and parameters are allowed\n  {hint}")
    return found


def _transforms(mechanism: Mechanism, subject: str, law: Scalar) -> tuple[Transform, ...]:
    """The pose of a body, parsed as the transforms of a record."""
    if not isinstance(law, str):
        raise TaskError(f"the pose of {subject} is {law!r:.60}: write transforms of time, e.g. 'Sx(0.4), Rz(t)'")
    declared = ", ".join(parameter.name for parameter in mechanism.parameters)
    head = f"parameters {declared}; " if declared else ""
    try:
        (body,) = parse(f"{head}Body | {law} |;").bodies
    except (ModelError, ValueError) as error:
        raise TaskError(
            f"cannot parse the pose of {subject}, {law!r}: write e.g. 'Sx(0.4), Rz(t)'\n  {error}"
        ) from None
    return body.transforms


# The start of a path: the position on it that is nearest to the given state.

_CLOSE = 1e-6


def begin(
    underlying: Mechanism,
    mechanism: Mechanism,
    start: Mapping[str, Scalar],
    time: float,
    parameters: Mapping[str, Scalar] | None,
) -> Floats:
    """A position at the start of the path. `mechanism` is the driven mechanism, `underlying` the original one."""
    assembler = Assembler(mechanism, parameters)
    try:
        q, v = assembler.start(start)
    except AssemblyError as error:
        raise TaskError(str(error)) from error
    followed = driven_bodies(mechanism)
    if followed and not is_constrained(underlying):
        q = _nearest(underlying, mechanism, q, time, parameters)
    try:
        found = assembler.assembled(q, v, (), time).q
    except AssemblyError as error:
        raise TaskError(f"the path cannot be reached at its start, t = {time:.6g}: {error}") from error
    for body, leader in followed.items():
        apart = _poses(mechanism, found, time, (body, leader), parameters)
        if np.max(np.abs(apart[body] - apart[leader])) > _CLOSE:
            raise TaskError(f"{body} did not reach its pose at t = {time:.6g}: give state=, a position nearer to it")
    return found


def _nearest(
    underlying: Mechanism, mechanism: Mechanism, q: Floats, time: float, parameters: Mapping[str, Scalar] | None
) -> Floats:
    """Of all positions with the pose of the first driven body, the one nearest to q."""
    body, leader = next(iter(driven_bodies(mechanism).items()))
    wanted = _poses(mechanism, q, time, (leader,), parameters)[leader]
    found = inverse_kinematics(underlying, body, wanted, parameters=parameters, limits=False)
    if not found.solutions:
        raise TaskError(
            f"the path cannot be reached at its start, t = {time:.6g}: {body} misses its pose by at least "
            f"{found.nearest.error:.3g}"
        )
    angles = angle_names(underlying)
    turns = np.array([name in angles for name in underlying.layout.positions])
    apart = np.array([one.q - q for one in found.solutions])
    apart[:, turns] = (apart[:, turns] + np.pi) % (2 * np.pi) - np.pi
    return np.asarray(q + apart[int(np.argmin(np.linalg.norm(apart, axis=1)))])


def _poses(
    mechanism: Mechanism, q: Floats, time: float, bodies: tuple[str, ...], parameters: Mapping[str, Scalar] | None
) -> dict[str, Floats]:
    found = called(kernel_of(mechanism, [f"pose:{body}" for body in bodies], parameters), {"q": q, "t": time})
    return {body: found[f"pose:{body}"] for body in bodies}


# `follow`: the path is a set of constraints Phi(q, t) = 0. Newton's method takes positions from one time to the next,
# so the mechanism stays on its branch. Velocities and accelerations solve the differentiated constraints, J v = -Phi_t
# and J a = -(J v + Phi_t)_q v - (J v + Phi_t)_t.

_BY_POSITION, _BY_TIME = slope(RATE, "dq"), parameter_slope(RATE, TIME)
_CLOSED = 1e-13
_NEWTON_STEPS = 12
#: Allowed difference between positions and their prediction from velocities and accelerations.
_SURPRISE = 0.1
_SHORTEST = 2.0**-16
#: The path is nearly singular where the ratio of singular values of the Jacobian is below this.
NEAR_SINGULAR = 1e-3


def motion_columns(coordinates: Sequence[str], motion: SampledMotion) -> dict[str, Floats]:
    """Times, positions, velocities and accelerations by name: `t`, `q1`, `q1'`, `q1''`."""
    parts = zip(("", "'", "''"), (motion.q, motion.v, motion.a), strict=True)
    columns = {name + order: rows[:, k] for order, rows in parts for k, name in enumerate(coordinates)}
    return {TIME: motion.times, **columns}


@dataclass(frozen=True)
class PathMotion(Tabular):
    """The motion along a path. conditioning: the ratio of the smallest to the largest singular value of the Jacobian at
    each time.

    near_singular: times at which this is small. crossings: pairs of times between which a singular position is
    crossed.
    """

    coordinates: tuple[str, ...]
    motion: SampledMotion
    conditioning: Floats
    near_singular: Floats
    crossings: tuple[tuple[float, float], ...]

    def __getitem__(self, name: str) -> Floats:
        """A coordinate over time; `q1'` its velocity, `q1''` its acceleration."""
        coordinate = name.rstrip("'")
        order = len(name) - len(coordinate)
        if coordinate not in self.coordinates or order > 2:
            raise TaskError(
                f"the motion has no coordinate {name!r}; choose from {', '.join(self.coordinates)}, with ' or '' "
                "for derivatives"
            )
        rows = (self.motion.q, self.motion.v, self.motion.a)[order]
        return np.asarray(rows[:, self.coordinates.index(coordinate)])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in {c + d for c in self.coordinates for d in ("", "'", "''")}

    def _table(self) -> Mapping[str, Floats]:
        return {**motion_columns(self.coordinates, self.motion), "conditioning": self.conditioning}

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        columns = {name: column.tolist() for name, column in self._table().items()}
        return {**columns, "near_singular": self.near_singular.tolist(), "crossings": self.crossings}

    def save(self, path: str | Path) -> Path:
        """Write times, coordinates and their derivatives to a .csv, .npz or .parquet file."""
        return save_columns(path, self._table())

    def __str__(self) -> str:
        times, worst = self.motion.times, int(np.argmin(self.conditioning))
        lines = [f"{len(times)} times from {times[0]:.6g} to {times[-1]:.6g} s"]
        for name in self.coordinates:
            lines.append(f"  {name} from {self[name].min():.6g} to {self[name].max():.6g}")
        lines.append(f"  closest to a singular position at t = {times[worst]:.6g} ({self.conditioning[worst]:.2g})")
        lines += [f"  crosses a singular position between t = {a:.6g} and {b:.6g}" for a, b in self.crossings]
        return "\n".join(lines)


def follow(
    model: MechanismSource,
    path: Mapping[str, PathLaw],
    times: Sequence[float] | Floats,
    *,
    state: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
) -> PathMotion:
    """Compute positions, velocities and accelerations along a path, for trees and loops.

    path: `{"tip.x": "0.4*cos(t)", "q4": "0"}` for points and coordinates, `{"L6": "Sx(0.4), Rz(t)"}` for a body's pose.
        Samples, `{"tip.x": (times, values)}`, are interpolated by splines of degree five.
        It must determine the whole motion: lock other coordinates, or prescribe them.
    times: an array of times.
    state: where to start; it selects one of several solutions. By default the model's initial state.
    """
    given_mechanism = mechanism_of(model)
    at = np.atleast_1d(np.asarray(times, dtype=float))
    if at.ndim != 1 or not len(at) or not np.isfinite(at).all() or np.any(np.diff(at) <= 0):
        raise TaskError("the times of a path must be finite and increasing")
    if not isinstance(path, Mapping) or not path:
        raise TaskError(f"the path is {path!r:.60}: {_PATH_REMEDY}")
    samples, laws = SampledPaths.among(path)
    for one in samples.paths:
        one.require(at)
    prepared = samples.declared(given_mechanism, float(at[0])) if samples.paths else given_mechanism
    mechanism = driven_along(prepared, laws)
    begun = begin(prepared, mechanism, state or {}, float(at[0]), parameters)
    return _Follower(mechanism, parameters, samples).along(at, begun)


class _Follower:
    """The constraints of a path as machine code."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, samples: SampledPaths) -> None:
        timed, late = [_BY_TIME] if depends_on_time(mechanism) else [], samples.names
        self.mechanism, self.samples = mechanism, samples
        self.places: Kernel = kernel_of(mechanism, [VALUE, JACOBIAN], parameters, late)
        self.slopes: Kernel = kernel_of(mechanism, [JACOBIAN, RATE, _BY_POSITION, *timed], parameters, late)
        self.none = np.zeros(len(mechanism.layout.inputs))

    def along(self, times: Floats, q: Floats) -> PathMotion:
        """All times, one after the other."""
        rows, sizes, signs = [], [], []
        state = self._rates(self._newton(q, times[0]), times[0])
        for place, time in enumerate(times):
            if place:
                state = self._next(state, float(times[place - 1]), float(time), 1.0)
            rows.append(state)
            jacobian = self._jacobian(state[0], time)
            values = np.linalg.svd(jacobian, compute_uv=False)
            sizes.append(values[min(jacobian.shape) - 1] / max(values[0], 1e-300))
            square = jacobian.shape[0] == jacobian.shape[1]
            signs.append(np.linalg.slogdet(jacobian)[0] if square else 1.0)
        q, v, a = (np.array(part) for part in zip(*rows, strict=True))
        conditioning = np.array(sizes)
        crossed = np.flatnonzero(np.diff(signs) != 0)
        return PathMotion(
            self.mechanism.layout.positions,
            SampledMotion(times, q, v, a),
            conditioning,
            times[conditioning < NEAR_SINGULAR],
            tuple((float(times[k]), float(times[k + 1])) for k in crossed),
        )

    def _next(self, state: tuple[Floats, Floats, Floats], before: float, time: float, part: float) -> _State:
        """The state at the next time; the step is halved if the branch is ambiguous."""
        q, v, a = state
        step = time - before
        foretold = q + v * step + a * (step * step / 2)
        try:
            found = self._newton(foretold, time)
            if np.max(np.abs(found - foretold), initial=0.0) < _SURPRISE:
                return self._rates(found, time)
        except TaskError:
            if part < _SHORTEST:
                raise
        if part < _SHORTEST:
            raise TaskError(
                f"at t = {time:.6g} the path reaches a singular position, where branches of the motion meet"
            )
        middle = before + step / 2
        return self._next(self._next(state, before, middle, part / 2), middle, time, part / 2)

    def _newton(self, q: Floats, time: float) -> Floats:
        """The position on the path near another one."""
        for _ in range(_NEWTON_STEPS):
            found = called(self.places, self._at(q, time))
            miss = found[VALUE]
            if not np.isfinite(miss).all():
                break
            size = float(np.max(np.abs(miss), initial=0.0))
            step = np.linalg.lstsq(found[JACOBIAN], -miss, rcond=1e-12)[0]
            q = q + step
            if size < _CLOSED or (size < 1e-9 and np.max(np.abs(step), initial=0.0) < 1e-14):
                return q
        residual = float(np.max(np.abs(called(self.places, self._at(q, time))[VALUE])))
        if residual < 1e-10:
            return q
        raise TaskError(f"at t = {time:.6g} the path is out of reach by {residual:.3g}")

    def _rates(self, q: Floats, time: float) -> _State:
        values = self._at(q, time) | {"v": np.zeros(len(self._velocities))}
        found = called(self.slopes, values)
        v = self._solved(found[JACOBIAN], -found[RATE], time)
        found = called(self.slopes, values | {"v": v})
        bias = found[_BY_POSITION] @ v + found.get(_BY_TIME, 0.0)
        return q, v, self._solved(found[JACOBIAN], -bias, time)

    def _at(self, q: Floats, time: float) -> dict[str, Floats | float]:
        """The arguments of kernels at a position and time."""
        return {"q": q, "t": time, "u": self.none, "p": self.samples.numbers(time)}

    def _jacobian(self, q: Floats, time: float) -> Floats:
        return np.asarray(called(self.places, self._at(q, time))[JACOBIAN])

    @property
    def _velocities(self) -> tuple[str, ...]:
        return self.mechanism.layout.velocities

    def _solved(self, jacobian: Floats, right: Floats, time: float) -> Floats:
        found, _, rank, _ = np.linalg.lstsq(jacobian, right, rcond=1e-11)
        if rank < jacobian.shape[1]:
            free = jacobian.shape[1] - int(rank)
            names = ", ".join(self.mechanism.layout.positions)
            why = (
                "the position is singular, or the path leaves" if len(right) >= jacobian.shape[1] else "the path leaves"
            )
            raise TaskError(
                f"at t = {time:.6g} {why} {free} of {names} free: lock coordinates, or prescribe more of them"
            )
        missing = float(np.max(np.abs(jacobian @ found - right), initial=0.0))
        if missing > 1e-8 * (1 + float(np.max(np.abs(right), initial=0.0))):
            raise TaskError(
                f"at t = {time:.6g} the mechanism cannot move along the path: the velocity residual is {missing:.3g}"
            )
        return np.asarray(found, dtype=float)


_State = tuple[Floats, Floats, Floats]


# `follow_by_spring`: inverse kinematics by dynamics (KiDyM). The mechanism moves without gravity and other forces,
# pulled by k (path - point) + c (path - point)'. It lags by about its inertia times its acceleration over k: this is
# `deviation`, and halves as k doubles.

#: The duration of the start of a path that is evaluated, in seconds.
_SHORTLY = 1e-5


@dataclass(frozen=True)
class SpringMotion(Tabular):
    """A motion found by springs. deviation: the largest distance from the path, by target."""

    coordinates: tuple[str, ...]
    motion: SampledMotion
    deviation: Mapping[str, float]
    stiffness: float
    damping: float

    def _table(self) -> Mapping[str, Floats]:
        return motion_columns(self.coordinates, self.motion)

    def save(self, path: str | Path) -> Path:
        """Write times, coordinates and their derivatives to a .csv, .npz or .parquet file."""
        return save_columns(path, self._table())

    def __str__(self) -> str:
        lines = [f"springs of {self.stiffness:.6g} N/m with dampers of {self.damping:.6g} N s/m"]
        return "\n".join([*lines, *(f"  {name}: off the path by {miss:.3g}" for name, miss in self.deviation.items())])


def follow_by_spring(
    model: MechanismSource,
    path: Mapping[str, PathLaw],
    times: Sequence[float] | Floats,
    *,
    stiffness: float = 1e7,
    damping: float | None = None,
    state: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    native: Native = "auto",
) -> SpringMotion:
    """Compute the motion along a path, pulled by springs between points and path; `path` is given as for `follow`.

    stiffness, damping: of the springs and dampers; damping is about critical by default.
    state: where to start.
    """
    given_mechanism = mechanism_of(model)
    for name, value in (("stiffness", stiffness), ("damping", 1.0 if damping is None else damping)):
        if not 0 < value < float("inf"):
            raise TaskError(f"{name} is {value!r}: give a positive number")
    at = np.atleast_1d(np.asarray(times, dtype=float))
    samples, laws = SampledPaths.among(path)
    if samples.paths:
        raise TaskError("springs follow formulas of time only: for samples, use follow")
    rows = driven_along(given_mechanism, laws)
    if len(rows.loops) > len(given_mechanism.loops):
        raise TaskError("springs can drive points and coordinates only; for a body, drive three of its points")
    first = follow(given_mechanism, path, [at[0], at[0] + _SHORTLY], state=state, parameters=parameters)
    bare = replace(given_mechanism, elements=(), unknowns=(), inputs=(), contacts=(), states=())
    free = replace(bare, gravity=(ZERO, ZERO, ZERO))
    beginning = _Beginning(free, rows, first, parameters)
    chosen = float(damping or 2 * np.sqrt(stiffness * beginning.mass))
    pulled = replace(free, elements=_pulls(given_mechanism, rows, stiffness, chosen))
    initial = beginning.state(stiffness, chosen)
    run = simulate(
        pulled, float(at[-1] - at[0]), t0=float(at[0]), times=at, state=initial, parameters=parameters,
        rtol=1e-11, method="bdf" if stiffness > 1e9 else "dop853", native=native, progress=False,
    )  # fmt: skip
    q, v = run.array(*run.positions), run.array(*run.velocities)
    none = np.zeros_like(v)
    a = called_rows(kernel_of(pulled, "qdd", parameters), {"q": q, "v": v, "tau": none, "t": at})["qdd"]
    names = [one.name.removeprefix("path ") for one in rows.constraints[len(given_mechanism.constraints) :]]
    misses = called_rows(kernel_of(rows, "constraints", parameters), {"q": q, "t": at})["constraints"]
    off = np.max(np.abs(misses[:, -len(names) :]), axis=0)
    return SpringMotion(
        given_mechanism.layout.positions,
        SampledMotion(at, q, v, a),
        dict(zip(names, off.tolist(), strict=True)),
        stiffness,
        chosen,
    )


def _pulls(mechanism: Mechanism, rows: Mechanism, stiffness: float, damping: float) -> tuple[Element, ...]:
    """A spring and a damper for every row of the path."""
    found: list[Element] = []
    for one in rows.constraints[len(mechanism.constraints) :]:
        found.append(Spring(f"spring of {one.name}", one.residual, Linear(expression(stiffness))))
        found.append(Damper(f"damper of {one.name}", one.residual, Linear(expression(damping))))
    return tuple(found)


class _Beginning:
    """The initial state in which springs and dampers already pull as the path requires: otherwise the motion rings."""

    def __init__(
        self, free: Mechanism, rows: Mechanism, first: PathMotion, parameters: Mapping[str, Scalar] | None
    ) -> None:
        motion = first.motion
        values: dict[str, Floats | float] = {"q": motion.q, "v": motion.v, "a": motion.a, "t": motion.times}
        found = called_rows(kernel_of(free, ["tau", "H"], parameters), values)
        jacobians = called_rows(kernel_of(rows, JACOBIAN, parameters), values)[JACOBIAN]
        self._motion, self._inverse = motion, np.linalg.pinv(jacobians)
        pulls = [np.linalg.lstsq(j.T, f, rcond=None)[0] for j, f in zip(jacobians, found["tau"], strict=True)]
        self._pull, self._growth = pulls[0], (pulls[1] - pulls[0]) / _SHORTLY
        self.mass = float(np.max(np.linalg.eigvalsh(self._inverse[0].T @ found["H"][0] @ self._inverse[0])))

    def state(self, stiffness: float, damping: float) -> Floats:
        """Positions and velocities with the steady lag behind the path."""
        lag = (self._pull - damping / stiffness * self._growth) / stiffness
        inverse, inverse_later = self._inverse
        slower = inverse @ self._growth + (inverse_later - inverse) @ self._pull / _SHORTLY
        q, v = self._motion.q[0], self._motion.v[0]
        return np.concatenate([q - inverse @ lag, v - slower / stiffness])
