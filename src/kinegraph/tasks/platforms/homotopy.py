"""All rigid poses that keep six distances: a parameter homotopy in complex numbers.

The ring's pose is a dual quaternion x = (e, g), g = p e / 2. Each distance |p + R b - a| = L is a quadratic form of x
(M. Husty, 1996), linear in a, b and c = a.a + b.b - L^2 but for the products a_i b_j; with Study's e.g = 0 and a random
plane x.h = 1 there are eight equations. Of generic numbers a, b, c they have 40 solutions with e.e != 0. Those of one
generic complex platform are found by going round loops of parameters (monodromy); from there 40 paths lead to the
platform that is asked for, and with probability one they reach all its isolated poses.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kinegraph.errors import TaskError
from kinegraph.seeds import generator

Complex = npt.NDArray[np.complex128]
Floats = npt.NDArray[np.float64]

#: Solutions of generic parameters (Ronga and Vust, Lazard, Mourrain, Raghavan).
MOST_POSES = 40
_LOOPS = 60  # of monodromy, at most; about ten are enough
_SHORTEST = 1e-9  # steps
_LONGEST = 0.1
_NEAR = 1e-6  # a first correction beyond this, in parts of x, halves the step
_CLOSED = 1e-8  # a third correction below this is one: near singular places of a path rounding leaves no less
_APART = 1e-6
_DETOURS = 3
_ON_THE_WAY = 0.99  # paths to infinity stop behind this


@dataclass(frozen=True)
class Distances:
    """Parameters of six distances: places on the base and on the ring, one row each, and a.a + b.b - L^2."""

    base: Complex
    ring: Complex
    rest: Complex

    def forms(self) -> Complex:
        """The six quadratic forms: (6, 8, 8)."""
        found = 4 * _OF_G + self.rest[:, None, None] * _OF_E
        found = found + np.einsum("ki,ixy->kxy", self.base, _OF_BASE) + np.einsum("ki,ixy->kxy", self.ring, _OF_RING)
        return np.asarray(found + np.einsum("ki,kj,ijxy->kxy", self.base, self.ring, _OF_BOTH))


@dataclass(frozen=True)
class ParameterPath:
    """The straight way between two sets of parameters, as forms that are quadratic in t."""

    constant: Complex
    linear: Complex
    quadratic: Complex

    def at(self, t: Floats) -> tuple[Complex, Complex]:
        """The forms and their derivatives for every path's own t: (paths, 6, 8, 8)."""
        s = t[:, None, None, None]
        value = self.constant + s * (self.linear + s * self.quadratic)
        return value, self.linear + 2 * s * self.quadratic


@dataclass(frozen=True)
class Ends:
    """Where paths ended: x of each, and at which t; those at 1 arrived."""

    x: Complex
    t: Floats

    @property
    def arrived(self) -> npt.NDArray[np.bool_]:
        """Which ones came to their end."""
        return np.asarray(self.t >= 1)

    @property
    def clear(self) -> bool:
        """Whether none stopped on its way, where nothing ends, and no two met."""
        return not np.any(self.t < _ON_THE_WAY) and len(distinct([*self.x[self.arrived]])) == int(np.sum(self.arrived))


def way(first: Distances, last: Distances) -> ParameterPath:
    """From one to the other; the forms at the ends and half way say the quadratic function."""
    middle = Distances(*((a + b) / 2 for a, b in zip(_parts(first), _parts(last), strict=True)))
    start, half, end = first.forms(), middle.forms(), last.forms()
    return ParameterPath(start, -3 * start + 4 * half - end, 2 * start - 4 * half + 2 * end)


def _parts(one: Distances) -> tuple[Complex, Complex, Complex]:
    return one.base, one.ring, one.rest


# the equations


def _product(a: Floats, b: Floats) -> Floats:
    """Of two quaternions."""
    w, v = a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.array([w, *v])


def _conjugate(a: Floats) -> Floats:
    return np.asarray(a * np.array([1.0, -1, -1, -1]))


def _tensors() -> tuple[Floats, ...]:
    """The symmetric forms that g.g, e.e, and each place on base and ring multiply; and Study's."""
    unit = np.eye(4)
    of_g, of_e, study = np.zeros((8, 8)), np.zeros((8, 8)), np.zeros((8, 8))
    of_g[4:, 4:] = of_e[:4, :4] = unit
    study[:4, 4:] = study[4:, :4] = unit / 2
    base, ring, both = np.zeros((3, 8, 8)), np.zeros((3, 8, 8)), np.zeros((3, 3, 8, 8))
    for i in range(4):
        for j in range(4):
            for_base = -4 * _product(unit[j], _conjugate(unit[i]))[1:]
            for_ring = 4 * _product(_conjugate(unit[i]), unit[j])[1:]
            base[:, i, 4 + j] = base[:, 4 + j, i] = for_base / 2
            ring[:, i, 4 + j] = ring[:, 4 + j, i] = for_ring / 2
            for k in range(3):
                turned = _product(_product(unit[i], unit[k + 1]), _conjugate(unit[j]))[1:]
                both[:, k, i, j] -= turned
                both[:, k, j, i] -= turned
    return of_g, of_e, study, base, ring, both


_OF_G, _OF_E, _STUDY, _OF_BASE, _OF_RING, _OF_BOTH = _tensors()


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
    """All paths from t = 0 to 1, each by its own steps: Runge and Kutta's fourth order ahead, Newton's method back."""
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

    With every end its conjugate is one. Where some are missing, the same paths lead there by other platforms, and what
    these ways find is added: a path that cannot be followed, or that jumps to another, does so on one of them.
    """
    ends = tracked(way(first.distances, wanted), first.poses, first.plane)
    found = _with_conjugates(ends, first.plane)
    random = generator(_DETOURS)
    for _ in range(_DETOURS):
        if ends.clear or len(found) >= len(first.poses):
            break
        other = _other(random)
        half = tracked(way(first.distances, other), first.poses, first.plane)
        again = tracked(way(other, wanted), half.x[half.arrived], first.plane)
        found = distinct([*found, *_with_conjugates(again, first.plane)])
    last = np.flatnonzero(~ends.arrived)
    last = last[np.argsort(-ends.t[last])][: len(first.poses) - len(found)]  # what stopped first was found otherwise
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
        return x, (sizes[0] < _NEAR) & (sizes[2] < _CLOSED)


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
    """The one that is kept: `found_anew(1)`."""
    text = files("kinegraph.tasks.platforms").joinpath("generic_platform.json").read_text(encoding="utf-8")
    data = json.loads(text)
    shapes = {"base": (6, 3), "ring": (6, 3), "rest": (6,), "plane": (8,), "poses": (MOST_POSES, 8)}
    read = {name: (np.array(data[name]) @ [1, 1j]).reshape(shape) for name, shape in shapes.items()}
    return Generic(Distances(read["base"], read["ring"], read["rest"]), read["plane"], read["poses"])


def found_anew(seed: int, most: int = MOST_POSES) -> Generic:
    """A generic platform made from one pose, and round loops of parameters until there are so many."""
    random = generator(seed)
    first, plane, x = _seeded(random)
    poses = x[None]
    for _ in range(_LOOPS):
        corners = [first, _other(random), _other(random), first]
        ends = poses
        for start, end in pairwise(corners):
            found = tracked(way(start, end), ends, plane)
            ends = found.x[found.arrived]
        poses = distinct([*poses, *ends])
        if len(poses) >= most:
            return Generic(first, plane, poses)
    raise TaskError(f"only {len(poses)} of {most} poses of a generic platform were found: take another seed")


def _complex(random: np.random.Generator, *shape: int) -> Complex:
    return np.asarray(random.normal(size=shape) + 1j * random.normal(size=shape))


def _other(random: np.random.Generator) -> Distances:
    return Distances(_complex(random, 6, 3), _complex(random, 6, 3), _complex(random, 6))


def _seeded(random: np.random.Generator) -> tuple[Distances, Complex, Complex]:
    """A random pose, and distances that it keeps."""
    e, g, some = _complex(random, 4), _complex(random, 4), _other(random)
    g = g - (e @ g) / (e @ e) * e
    x, plane = np.concatenate([e, g]), _complex(random, 8)
    bare = Distances(some.base, some.ring, np.zeros(6, dtype=complex))
    rest = -np.einsum("kxy,x,y->k", bare.forms(), x, x) / (e @ e)
    return Distances(some.base, some.ring, rest), plane, x / (x @ plane)


def distinct(rows: Sequence[Complex]) -> Complex:
    """Rows that differ."""
    retained: list[Complex] = []
    for row in rows:
        if all(np.linalg.norm(row - one) > _APART * np.linalg.norm(row) for one in retained):
            retained.append(row)
    return np.array(retained, dtype=complex).reshape(-1, 8)
