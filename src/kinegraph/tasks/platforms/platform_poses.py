"""Forward kinematics of a platform: find all its poses for given drives, by a parameter homotopy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import overload

import numpy as np
import numpy.typing as npt

from kinegraph.compiler.mechanism_source import MechanismSource
from kinegraph.errors import TaskError
from kinegraph.model.evaluate import number
from kinegraph.model.names import did_you_mean
from kinegraph.seeds import generator
from kinegraph.tabular import Tabular, by_name
from kinegraph.tasks.operating_point import Floats
from kinegraph.tasks.platforms.workspace import PlatformLegs, platform_in

# All rigid poses with six given distances: a parameter homotopy in complex numbers. The pose of the platform is a dual
# quaternion x = (e, g), g = p e / 2. Each distance |p + R b - a| = L is a quadratic form of x (M. Husty, 1996), linear
# in a, b and c = a.a + b.b - L^2 except for the products a_i b_j. With Study's e.g = 0 and a random plane x.h = 1 there
# are eight equations. For generic a, b, c they have 40 solutions with e.e != 0. Loops of parameters (monodromy) find
# those of one generic complex platform. From there 40 paths lead to the requested platform, and with probability one
# they reach all its isolated poses.

Complex = npt.NDArray[np.complex128]

#: The number of solutions for generic parameters (Ronga and Vust, Lazard, Mourrain, Raghavan).
MOST_POSES = 40
_LOOPS = 60  # loops of monodromy, at most; about ten are enough
_SHORTEST = 1e-9  # steps
_LONGEST = 0.1
_NEAR = 1e-6  # a larger first correction, relative to x, halves the step
# a smaller third correction means convergence: near singular points of a path rounding leaves no less
_CORRECTED = 1e-8
_APART = 1e-6
_DETOURS = 3
_ON_THE_WAY = 0.99  # paths to infinity stop beyond this


@dataclass(frozen=True)
class Distances:
    """Parameters of six distances: points on the base and on the platform, one row each, and a.a + b.b - L^2."""

    base: Complex
    platform: Complex
    rest: Complex

    def forms(self) -> Complex:
        """The six quadratic forms: (6, 8, 8)."""
        found = 4 * _OF_G + self.rest[:, None, None] * _OF_E
        found = found + np.einsum("ki,ixy->kxy", self.base, _OF_BASE)
        found = found + np.einsum("ki,ixy->kxy", self.platform, _OF_PLATFORM)
        return np.asarray(found + np.einsum("ki,kj,ijxy->kxy", self.base, self.platform, _OF_BOTH))


@dataclass(frozen=True)
class ParameterPath:
    """The straight line between two sets of parameters, as forms that are quadratic in t."""

    constant: Complex
    linear: Complex
    quadratic: Complex

    def at(self, t: Floats) -> tuple[Complex, Complex]:
        """The forms and their derivatives at the t of every path: (paths, 6, 8, 8)."""
        s = t[:, None, None, None]
        value = self.constant + s * (self.linear + s * self.quadratic)
        return value, self.linear + 2 * s * self.quadratic


@dataclass(frozen=True)
class Ends:
    """The ends of paths: x of each, and its t; those with t = 1 arrived."""

    x: Complex
    t: Floats

    @property
    def arrived(self) -> npt.NDArray[np.bool_]:
        """Which paths arrived."""
        return np.asarray(self.t >= 1)

    @property
    def clear(self) -> bool:
        """Whether no path stopped before its end, and no two met."""
        return not np.any(self.t < _ON_THE_WAY) and len(distinct([*self.x[self.arrived]])) == int(np.sum(self.arrived))


def path_between(first: Distances, last: Distances) -> ParameterPath:
    """The path between two sets of parameters; the forms at the ends and in the middle define the quadratic
    function."""
    middle = Distances(*((a + b) / 2 for a, b in zip(_parts(first), _parts(last), strict=True)))
    start, half, end = first.forms(), middle.forms(), last.forms()
    return ParameterPath(start, -3 * start + 4 * half - end, 2 * start - 4 * half + 2 * end)


def _parts(one: Distances) -> tuple[Complex, Complex, Complex]:
    return one.base, one.platform, one.rest


# the equations


def _product(a: Floats, b: Floats) -> Floats:
    """The product of two quaternions."""
    w, v = a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.array([w, *v])


def _conjugate(a: Floats) -> Floats:
    return np.asarray(a * np.array([1.0, -1, -1, -1]))


def _tensors() -> tuple[Floats, ...]:
    """The symmetric forms multiplied by g.g, e.e, and the points on base and platform; and Study's form."""
    unit = np.eye(4)
    of_g, of_e, study = np.zeros((8, 8)), np.zeros((8, 8)), np.zeros((8, 8))
    of_g[4:, 4:] = of_e[:4, :4] = unit
    study[:4, 4:] = study[4:, :4] = unit / 2
    base, platform, both = np.zeros((3, 8, 8)), np.zeros((3, 8, 8)), np.zeros((3, 3, 8, 8))
    for i in range(4):
        for j in range(4):
            for_base = -4 * _product(unit[j], _conjugate(unit[i]))[1:]
            for_platform = 4 * _product(_conjugate(unit[i]), unit[j])[1:]
            base[:, i, 4 + j] = base[:, 4 + j, i] = for_base / 2
            platform[:, i, 4 + j] = platform[:, 4 + j, i] = for_platform / 2
            for k in range(3):
                turned = _product(_product(unit[i], unit[k + 1]), _conjugate(unit[j]))[1:]
                both[:, k, i, j] -= turned
                both[:, k, j, i] -= turned
    return of_g, of_e, study, base, platform, both


_OF_G, _OF_E, _STUDY, _OF_BASE, _OF_PLATFORM, _OF_BOTH = _tensors()


def _system(forms: Complex, x: Complex, plane: Complex) -> tuple[Complex, Complex]:
    """Values and Jacobian of the eight equations: (paths, 8), (paths, 8, 8)."""
    rows = np.einsum("pkxy,py->pkx", forms, x)
    study = np.einsum("xy,py->px", _STUDY, x)
    values = np.concatenate([
        np.einsum("pkx,px->pk", rows, x), np.sum(study * x, axis=1)[:, None], (x @ plane - 1)[:, None]
    ], axis=1)  # fmt: skip
    planes = np.broadcast_to(plane, (len(x), 1, 8))
    return values, np.concatenate([2 * rows, 2 * study[:, None], planes], axis=1)


# paths


def tracked(course: ParameterPath, x: Complex, plane: Complex) -> Ends:
    """All paths from t = 0 to 1, each with its own steps: a fourth-order Runge-Kutta predictor, and a Newton
    corrector."""
    x, t, step = x.copy(), np.zeros(len(x)), np.full(len(x), 0.01)
    while np.any(active := (t < 1) & (step > _SHORTEST)):
        length = np.minimum(step[active], 1 - t[active])
        ahead = _ahead(course, x[active], t[active], length, plane)
        found, good = _back(course, ahead, t[active] + length, plane)
        places = np.flatnonzero(active)
        x[places[good]], t[places[good]] = found[good], (t[active] + length)[good]
        step[places] = np.where(good, np.minimum(1.5 * step[places], _LONGEST), step[places] / 2)
        t[t > 1 - 1e-14] = 1.0
    return Ends(x, t)


def all_tracked(first: Generic, wanted: Distances) -> Ends:
    """The ends of all paths to a real platform, each once: those that arrived, then as many more as there are paths.

    The conjugate of every end is also an end. If some are missing, the paths are repeated through other intermediate
    platforms and their ends are added: a path that fails, or jumps to another, does so on only one of these routes.
    """
    ends = tracked(path_between(first.distances, wanted), first.poses, first.plane)
    found = _with_conjugates(ends, first.plane)
    random = generator(_DETOURS)
    for _ in range(_DETOURS):
        if ends.clear or len(found) >= len(first.poses):
            break
        other = _other(random)
        half = tracked(path_between(first.distances, other), first.poses, first.plane)
        again = tracked(path_between(other, wanted), half.x[half.arrived], first.plane)
        found = distinct([*found, *_with_conjugates(again, first.plane)])
    last = np.flatnonzero(~ends.arrived)
    last = last[np.argsort(-ends.t[last])][: len(first.poses) - len(found)]  # ends that were found on another route
    return Ends(np.concatenate([found, ends.x[last]]), np.concatenate([np.ones(len(found)), ends.t[last]]))


def _with_conjugates(ends: Ends, plane: Complex) -> Complex:
    x = ends.x[ends.arrived]
    mirrored = x.conj() / (x.conj() @ plane)[:, None]
    return distinct([*x, *mirrored])


def _slope(course: ParameterPath, x: Complex, t: Floats, plane: Complex) -> Complex:
    forms, rates = course.at(t)
    _, jacobian = _system(forms, x, plane)
    right = np.zeros((len(x), 8), dtype=complex)
    right[:, :6] = -np.einsum("pkxy,px,py->pk", rates, x, x)
    return _solved(jacobian, right)


def _ahead(course: ParameterPath, x: Complex, t: Floats, h: Floats, plane: Complex) -> Complex:
    s = h[:, None]
    k1 = _slope(course, x, t, plane)
    k2 = _slope(course, x + s / 2 * k1, t + h / 2, plane)
    k3 = _slope(course, x + s / 2 * k2, t + h / 2, plane)
    k4 = _slope(course, x + s * k3, t + h, plane)
    return np.asarray(x + s / 6 * (k1 + 2 * k2 + 2 * k3 + k4))


def _back(course: ParameterPath, x: Complex, t: Floats, plane: Complex) -> tuple[Complex, npt.NDArray[np.bool_]]:
    forms, _ = course.at(t)
    sizes = []
    for _ in range(3):
        values, jacobian = _system(forms, x, plane)
        change = _solved(jacobian, -values)
        x = x + change
        sizes.append(np.linalg.norm(change, axis=1) / np.linalg.norm(x, axis=1))
    with np.errstate(invalid="ignore"):
        return x, (sizes[0] < _NEAR) & (sizes[2] < _CORRECTED)


def _solved(jacobian: Complex, right: Complex) -> Complex:
    try:
        return np.asarray(np.linalg.solve(jacobian, right[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:  # one of them is exactly singular
        return np.array([_one_solved(a, b) for a, b in zip(jacobian, right, strict=True)])


def _one_solved(a: Complex, b: Complex) -> Complex:
    try:
        return np.asarray(np.linalg.solve(a, b))
    except np.linalg.LinAlgError:
        return np.full(8, np.nan + 0j)


# a generic platform


@dataclass(frozen=True)
class Generic:
    """A generic complex platform with all its poses."""

    distances: Distances
    plane: Complex
    poses: Complex


@lru_cache(maxsize=1)
def generic() -> Generic:
    """The stored generic platform: `monodromy_solutions(1)`."""
    text = files("kinegraph.tasks.platforms").joinpath("generic_platform.json").read_text(encoding="utf-8")
    data = json.loads(text)
    shapes = {"base": (6, 3), "platform": (6, 3), "rest": (6,), "plane": (8,), "poses": (MOST_POSES, 8)}
    read = {name: (np.array(data[name]) @ [1, 1j]).reshape(shape) for name, shape in shapes.items()}
    return Generic(Distances(read["base"], read["platform"], read["rest"]), read["plane"], read["poses"])


def monodromy_solutions(seed: int, most: int = MOST_POSES) -> Generic:
    """A generic platform made from one pose, and its poses found by loops of parameters until there are `most`."""
    random = generator(seed)
    first, plane, x = _seeded(random)
    poses = x[None]
    for _ in range(_LOOPS):
        corners = [first, _other(random), _other(random), first]
        ends = poses
        for start, end in pairwise(corners):
            found = tracked(path_between(start, end), ends, plane)
            ends = found.x[found.arrived]
        poses = distinct([*poses, *ends])
        if len(poses) >= most:
            return Generic(first, plane, poses)
    raise TaskError(f"found only {len(poses)} of {most} poses of a generic platform: use another seed")


def _complex(random: np.random.Generator, *shape: int) -> Complex:
    return np.asarray(random.normal(size=shape) + 1j * random.normal(size=shape))


def _other(random: np.random.Generator) -> Distances:
    return Distances(_complex(random, 6, 3), _complex(random, 6, 3), _complex(random, 6))


def _seeded(random: np.random.Generator) -> tuple[Distances, Complex, Complex]:
    """A random pose, and its distances."""
    e, g, some = _complex(random, 4), _complex(random, 4), _other(random)
    g = g - (e @ g) / (e @ e) * e
    x, plane = np.concatenate([e, g]), _complex(random, 8)
    bare = Distances(some.base, some.platform, np.zeros(6, dtype=complex))
    rest = -np.einsum("kxy,x,y->k", bare.forms(), x, x) / (e @ e)
    return Distances(some.base, some.platform, rest), plane, x / (x @ plane)


def distinct(rows: Sequence[Complex]) -> Complex:
    """Rows that differ."""
    retained: list[Complex] = []
    for row in rows:
        if all(np.linalg.norm(row - one) > _APART * np.linalg.norm(row) for one in retained):
            retained.append(row)
    return np.array(retained, dtype=complex).reshape(-1, 8)


# All poses of a platform for given drives. Six legs with given drives are six distances between points of base and
# platform. Forty homotopy paths lead to all isolated poses; the result reports the end of every path. On request, or
# with a number of legs other than six, Newton's method runs from many starts instead, which says nothing about further
# poses.

_LEGS = 6
_STEPS = 80
#: The maximum number of Newton steps at the end of a path: near a singular pose each step only halves the error.
_POLISH = 40
#: Allowed residuals of drives, and the distance of different poses, in units of leg and platform lengths, and in
#: radians.
_CLOSED = 1e-11
_SAME = 1e-6
_REAL = 1e-7  # relative imaginary parts below this are rounding errors
#: A path is out of reach if e.e is below this fraction of its least value at real poses: at its end, or before, if it
#: cannot be followed on.
_BEYOND = (0.5, 0.01)


@dataclass(frozen=True)
class PlatformPose:
    """A pose of the platform: its coordinates by name, the remaining drive residuals, and how often it was found."""

    coordinates: Mapping[str, float]
    residual: float
    hits: int


@dataclass(frozen=True)
class Paths:
    """The fate of the forty paths. `beyond` ended at infinity or farther away than legs reach; `other_branch` are real
    poses with a crank in its other position.

    `lost` could not be followed to the end, or met another: near a singular pose, or where poses form a curve.
    """

    real: int
    complex: int
    beyond: int
    other_branch: int
    lost: int


@dataclass(frozen=True)
class PlatformPoses(Tabular, Sequence[PlatformPose]):
    """The poses found, and the fate of all paths if paths were followed."""

    poses: tuple[PlatformPose, ...]
    paths: Paths | None = None

    @property
    def complete(self) -> bool:
        """Whether these are all isolated poses, with probability one: the end of every path is known."""
        return self.paths is not None and self.paths.lost == 0

    def __len__(self) -> int:
        return len(self.poses)

    @overload
    def __getitem__(self, index: int) -> PlatformPose: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[PlatformPose, ...]: ...

    def __getitem__(self, index: int | slice) -> PlatformPose | tuple[PlatformPose, ...]:
        return self.poses[index]

    def _table(self) -> Mapping[str, np.ndarray]:
        names = tuple(self.poses[0].coordinates) if self.poses else ()
        return {
            **by_name(names, [np.array([one.coordinates[name] for name in names]) for one in self.poses]),
            "residual": np.array([one.residual for one in self.poses]),
            "hits": np.array([one.hits for one in self.poses], dtype=int),
        }

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        poses = [asdict(one) | {"coordinates": dict(one.coordinates)} for one in self.poses]
        return {"poses": poses, "complete": self.complete, "paths": None if self.paths is None else asdict(self.paths)}


def platform_poses(
    model: MechanismSource, drives: Mapping[str, float], *, starts: int | None = None, seed: int = 0
) -> PlatformPoses:
    """Find all poses of a platform for given drive lengths.

    starts: None follows forty paths and finds all poses; a number uses Newton's method from so many random starts, and
        lists the poses found most often first.
    """
    found, platform = platform_in(model)
    legs = PlatformLegs(found, platform)
    names = [leg.drive for leg in platform.legs]
    for name in drives:
        if name not in names:
            raise TaskError(f"{name} is not a drive of {found.name}\n  {did_you_mean(name, names)}")
    if platform.moving.quaternion is None:
        raise TaskError(
            f"{found.name}: finding all poses needs a platform with a quaternion; describe its rotation by one"
        )
    if len(drives) != len(names):
        raise TaskError(f"give a value for every drive: {', '.join(names)}")
    wanted = np.array([float(drives[name]) for name in names])
    if not np.all(np.isfinite(wanted)):
        raise TaskError("the values of the drives must be finite")
    if len(names) < _LEGS:
        remedy = (
            "find one position with `kinegraph assemble --state`, or give it as many legs as it has degrees of freedom"
        )
        raise TaskError(
            f"{found.name}: the {len(names)} drives {', '.join(names)} leave the platform free to move\n  {remedy}"
        )
    if starts is None and len(names) == _LEGS:
        return _by_paths(legs, wanted)
    q = _starts(legs, wanted, starts or 2000, seed)
    for _ in range(_STEPS):
        q = _improved(legs, q, wanted)
    return PlatformPoses(tuple(_sorted_out(legs, q, wanted)))


# by paths


def _by_paths(legs: PlatformLegs, wanted: Floats) -> PlatformPoses:
    distances, scale = _distances(legs, wanted)
    ends = all_tracked(generic(), distances)
    beyond = _beyond(ends, distances)
    known = ends.arrived & ~beyond
    x = _turned_real(ends.x[known])
    real = np.max(np.abs(x.imag), axis=1) < _REAL * np.max(np.abs(x), axis=1)
    poses = tuple(_sorted_out(legs, _polished(legs, x.real[real], scale, wanted), wanted))
    coincident = MOST_POSES - len(ends.x)  # two paths at one pose: it is singular, or one jumped
    dropped = int(np.sum(real)) - len(poses)
    other = dropped if any(leg.type.has_crank for leg in legs.platform.legs) else 0
    lost = int(np.sum(~ends.arrived & ~beyond)) + coincident + dropped - other
    return PlatformPoses(poses, Paths(len(poses), int(np.sum(~real)), int(np.sum(beyond)), other, lost))


def _beyond(ends: Ends, distances: Distances) -> npt.NDArray[np.bool_]:
    """Whether the platform would be too far away: a real pose has e.e / x.x = 1 / (1 + p.p / 4), and p is within
    reach."""
    sides = [np.linalg.norm(one.real, axis=1) for one in (distances.base, distances.platform)]
    lengths = np.sqrt(np.maximum(sides[0] ** 2 + sides[1] ** 2 - distances.rest.real, 0.0))
    reach = float(np.min(sides[0] + sides[1] + lengths))
    square = np.abs(np.sum(ends.x[:, :4] ** 2, axis=1)) / np.linalg.norm(ends.x, axis=1) ** 2
    return np.asarray(square * (1 + reach**2 / 4) < np.where(ends.arrived, *_BEYOND))


def _distances(legs: PlatformLegs, wanted: Floats) -> tuple[Distances, float]:
    """The legs as distances of points in units of the platform size; for a crank that of its tip, which the drive
    places."""
    base, lengths = legs.bases[:, :3, 3].copy(), wanted.copy()
    for k, leg in enumerate(legs.platform.legs):
        if leg.type.has_crank:
            crank, rod = (number(one, legs.values) for one in leg.lengths)
            turn = np.array([np.cos(wanted[k]), np.sin(wanted[k]), 0.0])
            base[k] += crank * (legs.bases[k, :3, :3] @ turn)
            lengths[k] = rod
    scale = legs.size
    a, b, c = base / scale, legs.on_platform / scale, lengths / scale
    rest = np.sum(a * a, axis=1) + np.sum(b * b, axis=1) - c * c
    return Distances(a.astype(complex), b.astype(complex), rest.astype(complex)), scale


def _turned_real(x: Complex) -> Complex:
    """Each row times the number that makes its rotation real, if possible."""
    rows = np.arange(len(x))
    largest = x[rows, np.argmax(np.abs(x[:, :4]), axis=1)]
    return np.asarray(x / largest[:, None])


def _polished(legs: PlatformLegs, x: Floats, scale: float, wanted: Floats) -> Floats:
    """Poses of the platform from dual quaternions, p = 2 g e* / e.e, refined by Newton's method on the drives."""
    q = np.tile(legs.start, (len(x), 1))
    e, g = x[:, :4], x[:, 4:]
    square = np.sum(e * e, axis=1, keepdims=True)
    place = g[:, 1:] * e[:, :1] - g[:, :1] * e[:, 1:] - np.cross(g[:, 1:], e[:, 1:])
    q[:, legs.platform_places[:3]] = 2 * scale * place / square
    q[:, legs.platform_places[3:]] = e / np.sqrt(square)
    missed = _missed(legs, q, wanted)
    for _ in range(_POLISH if len(q) else 0):
        moved = _improved(legs, q, wanted)
        left = _missed(legs, moved, wanted)
        better = left < missed
        if not np.any(better):
            break
        q, missed = np.where(better[:, None], moved, q), np.where(better, left, missed)
    return q


def _missed(legs: PlatformLegs, q: Floats, wanted: Floats) -> Floats:
    """The largest drive residual: lengths relative to themselves, or to the platform if that is larger; cranks in
    radians."""
    lengths = np.maximum(np.abs(wanted), legs.size)
    scale = np.where([leg.type.has_crank for leg in legs.platform.legs], 1.0, lengths)
    return np.asarray(np.max(np.abs(legs.drives(q) - wanted) / scale, axis=1))


# by Newton's method


def _starts(legs: PlatformLegs, wanted: Floats, count: int, seed: int) -> Floats:
    """Random positions around the joints on the base, random rotations; the start of the model first."""
    random = generator(seed)
    center = np.mean(legs.bases[:, :3, 3], axis=0)
    reach = float(np.max(np.linalg.norm(legs.platform_points(legs.start[None])[0] - center, axis=1)))
    q = np.tile(legs.start, (count, 1))
    places = legs.platform_places
    q[1:, places[:3]] = center + random.uniform(-1.2 * reach, 1.2 * reach, (count - 1, 3))
    e = random.normal(size=(count - 1, 4))
    q[1:, places[3:]] = e / np.linalg.norm(e, axis=1, keepdims=True)
    return q


def _improved(legs: PlatformLegs, q: Floats, wanted: Floats) -> Floats:
    """One damped Newton step for every row; rows where a leg cannot reach stay unchanged."""
    miss = legs.drives(q) - wanted
    jacobian = legs.jacobian(q)
    fine = np.all(np.isfinite(miss), axis=1) & np.all(np.isfinite(jacobian), axis=(1, 2))
    if not np.any(fine):
        return q
    j, r = jacobian[fine], miss[fine]
    turned = np.transpose(j, (0, 2, 1))
    size = np.linalg.norm(r, axis=1)
    damped = turned @ j + (1e-2 * np.minimum(size, 1.0) ** 2)[:, None, None] * np.eye(6) + 1e-14 * np.eye(6)
    step = np.linalg.solve(damped, -(turned @ r[:, :, None]))[:, :, 0]
    longest = np.linalg.norm(step / [*[legs.size] * 3, 1, 1, 1], axis=1, keepdims=True)
    step *= np.minimum(1.0, 0.7 / np.maximum(longest, 1e-300))
    moved = q.copy()
    moved[fine] = _moved(legs, q[fine], step)
    return moved


def _moved(legs: PlatformLegs, q: Floats, step: Floats) -> Floats:
    """The platform displaced and rotated about its own axes."""
    places = legs.platform_places
    found = q.copy()
    found[:, places[:3]] += step[:, :3]
    w, x, y, z = q[:, places[3:]].T
    a, b, c = (step[:, 3:] / 2).T
    e = [w - x * a - y * b - z * c, x + w * a + y * c - z * b, y + w * b + z * a - x * c, z + w * c + x * b - y * a]
    turned = np.stack(e, axis=1)
    found[:, places[3:]] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    return found


def _sorted_out(legs: PlatformLegs, q: Floats, wanted: Floats) -> list[PlatformPose]:
    miss = np.max(np.abs(legs.drives(q) - wanted), axis=1)
    closed = _missed(legs, q, wanted) < _CLOSED
    unit = np.array([*[legs.size] * 3, 1, 1, 1, 1])
    names = [legs.mechanism.layout.positions[place] for place in legs.platform_places]
    retained: list[Floats] = []
    hits: list[int] = []
    misses: list[float] = []
    for row, residual in zip(q[closed], miss[closed], strict=True):
        platform = row[legs.platform_places]
        platform[3:] *= np.sign(platform[3 + int(np.argmax(np.abs(platform[3:])))])
        same = [k for k, one in enumerate(retained) if np.max(np.abs(one - platform) / unit) < _SAME]
        if same:
            hits[same[0]] += 1
        else:
            retained.append(platform)
            hits.append(1)
            misses.append(float(residual))
    order = sorted(range(len(retained)), key=lambda k: -hits[k])
    return [PlatformPose(dict(zip(names, retained[k].tolist(), strict=True)), misses[k], hits[k]) for k in order]
