"""Which momenta a mechanism keeps by its structure, without a look at its accelerations.

A component of momentum is kept if all bodies that have part in it can be moved together, as one rigid body along or
about its axis, while the other bodies stand still: joints, loops and constraints must allow it, and neither gravity nor
any force may do work on the way. Then the laws of motion keep it whatever equations they are brought into, and a run
that does not keep it is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from kinegraph.compiler.compile import derive
from kinegraph.derive.constraints.projection import MISSED
from kinegraph.derive.dynamics.state_rate import with_forces
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.evaluate import Value, number, parameter_values
from kinegraph.model.expression import TIME, Expression
from kinegraph.model.mechanism import Body, Inertia, Mechanism
from kinegraph.simulate.checks.vanishing import vanishes
from kinegraph.simulate.equations import Equations, row_values, state_symbols
from kinegraph.solve.problem.problem import Floats

_RANK = 1e-8  # of the largest singular value: rows of constraints below it depend on others
_RIGID = 1e-10  # of a kinetic energy, that of what does not move along
_PART = 1e-10  # of what a body could have of a momentum is none
_ROUNDED = 1e-2  # of the largest force counts as a term of every work, which then may be rounding


@dataclass(frozen=True)
class _Place:
    """One state: how bodies move with each velocity, weighted by the roots of their inertias (bodies, 6, n).

    drifts: how laws of time move them (bodies, 6). fields: the same of the six rigid motions (6, bodies, 6). allowed:
    directions that constraints allow, by column. led: velocities that laws of time demand. forces: by velocity.
    """

    motions: Floats
    drifts: Floats
    fields: Floats
    allowed: Floats
    led: Floats
    forces: Floats


def conserved_momenta(equations: Equations, states: Mapping[str, Floats]) -> tuple[bool, ...]:
    """Whether each of px, py, pz, Lx, Ly, Lz is kept, and is not always zero; none if no state has finite numbers.

    states: positions that fit, velocities, times and sampled forces, by name.
    """
    with np.errstate(all="ignore"):
        places = _places(equations, states)
    if not places or not places[0].motions.size:
        return (False,) * 6
    return tuple(_is_conserved(places, axis, equations) for axis in range(6))


def _is_conserved(places: list[_Place], axis: int, equations: Equations) -> bool:
    shares = np.array([_shares(place, axis) for place in places])
    if not shares[..., 0].any() or not shares[..., 1].any():
        return False
    taking = np.max(shares[..., 0], axis=0)
    found = [_moved_along(place, axis, taking, equations) for place in places]
    left, size, work, parts = (np.array(column) for column in zip(*found, strict=True))
    if not np.count_nonzero(~(left <= _RIGID * size)) <= min(1, len(places) - 1):
        return False
    return vanishes(work, parts)


def _shares(place: _Place, axis: int) -> Floats:
    """Of every body, by one or zero: whether it has part in a momentum; whether the sum of all can be nonzero."""
    field = place.fields[axis]
    ways = np.concatenate(
        [place.motions @ place.allowed, (place.drifts + place.motions @ place.led)[..., None]], axis=2
    )
    own = np.einsum("bk,bkn->bn", field, ways)
    sizes = np.linalg.norm(field, axis=1)[:, None] * np.linalg.norm(ways, axis=1)
    takes = np.any(np.abs(own) > _PART * sizes.max(initial=0.0), axis=1)
    some = np.any(np.abs(own.sum(axis=0)) > _PART * sizes.sum(axis=0).max(initial=0.0))
    return np.column_stack([takes, np.full(len(takes), some)]).astype(float)


def _moved_along(place: _Place, axis: int, taking: Floats, equations: Equations) -> tuple[float, float, float, float]:
    """What is left of a rigid motion of some bodies, its size; the work of forces on it, the size of its terms."""
    wanted = (taking[:, None] * place.fields[axis]).ravel()
    armature = np.diag(np.sqrt(_armature(equations)))
    matrix = np.vstack([place.motions.reshape(len(wanted), -1), armature])
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0] = 1.0
    wanted = np.concatenate([wanted, np.zeros(len(armature))])
    allowed = np.linalg.qr(place.allowed * scale[:, None])[0] / scale[:, None]
    way = allowed @ np.linalg.lstsq(matrix @ allowed, wanted, rcond=1e-11)[0]
    left, work = matrix @ way - wanted, place.forces * way
    parts = np.abs(work).sum() + _ROUNDED * np.abs(place.forces).max() * np.abs(way).max()
    return float(left @ left), float(wanted @ wanted), float(work.sum()), float(parts)


def _armature(equations: Equations) -> Floats:
    numbers = parameter_values(equations.mechanism, equations.bound)
    return np.array([abs(number(one, numbers)) for one in equations.mechanism.armature])


def _places(equations: Equations, states: Mapping[str, Floats]) -> list[_Place]:
    layout = equations.mechanism.layout
    n, count = len(layout.velocities), len(states[TIME])
    unit = {name: np.repeat(column, n + 1) for name, column in states.items()}
    unit |= zip(layout.velocities, np.tile(np.vstack([np.zeros(n), np.eye(n)]), (count, 1)).T, strict=True)
    motions, fields = _weighted(equations, unit)
    motions = motions.reshape(count, n + 1, *motions.shape[1:])
    fields = fields.reshape(count, n + 1, *fields.shape[1:])[:, 0]
    rows = _rows(equations, unit).reshape(count, n + 1, -1)
    forces = np.broadcast_to(_forces(equations, states), (count, n))
    found = []
    for k in range(count):
        if not all(np.isfinite(part[k]).all() for part in (motions, fields, rows, forces)):
            continue
        ways, slopes = motions[k, 1:] - motions[k, 0], (rows[k, 1:] - rows[k, 0]).T
        allowed, led = _ways_allowed(slopes, rows[k, 0])
        found.append(_Place(np.moveaxis(ways, 0, -1), motions[k, 0], fields[k], allowed, led, forces[k]))
    return found


def _ways_allowed(slopes: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """Velocities that rows of constraints allow, and those that laws of time demand."""
    if not slopes.size:
        return np.eye(slopes.shape[1]), np.zeros(slopes.shape[1])
    left, sizes, right = np.linalg.svd(slopes)
    rank = int(np.sum(sizes > _RANK * sizes[0]))
    return right[rank:].T, -right[:rank].T @ ((left.T @ rates)[:rank] / sizes[:rank])


def _rows(equations: Equations, values: Mapping[str, Floats]) -> Floats:
    """The rates of all rows of constraints."""
    if equations.projection is None:
        return np.zeros((len(values[TIME]), 0))
    symbols = state_symbols(equations)
    found = row_values(equations.projection, symbols, np.column_stack([values[one.name] for one in symbols]))[MISSED]
    return found[:, found.shape[1] // 2 :]


def _forces(equations: Equations, values: Mapping[str, Floats]) -> Floats:
    """Generalized forces: of gravity, elements and what is given."""
    mechanism = equations.mechanism
    acting = _acting(mechanism, tuple(equations.bound.items()))
    found = interpret(with_forces(mechanism, acting, equations.bound, equations.forces), values)
    return np.asarray(found["forces"] - found["gravity"] + found["tau"])


@lru_cache(maxsize=32)
def _acting(mechanism: Mechanism, bound: tuple[tuple[str, Expression], ...]) -> Graph:
    graph = derive(mechanism, ["gravity", "forces"], parameters=dict(bound))
    builder = GraphBuilder()
    outputs = moved(graph.outputs, transfer(graph, builder))
    tau = tuple(builder.symbol(Kind.INPUT, name) for name in mechanism.layout.forces)
    return builder.graph([*outputs, Output("tau", (len(tau),), tau)])


def _weighted(equations: Equations, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """The motions of bodies with inertia (rows, bodies, 6) and six rigid motions (rows, 6, bodies, 6), times the roots
    of inertias."""
    mechanism, count = equations.mechanism, len(values[TIME])
    centers, graph = _kinematics(mechanism, tuple(equations.bound.items()))
    numbers = parameter_values(mechanism, equations.bound)
    found = interpret(graph, values)
    motions, fields = [np.zeros((count, 0, 6))], [np.zeros((count, 6, 0, 6))]
    for name, inertia in centers.items():
        pose = np.broadcast_to(found[f"pose:{name}"], (count, 4, 4))
        velocity = np.broadcast_to(found[f"velocity:{name}"], (count, 6))
        roots = _roots(inertia, numbers, pose[:, :3, :3])
        motions.append(np.einsum("tij,tj->ti", roots, velocity)[:, None])
        fields.append(np.einsum("tij,taj->tai", roots, _rigid(pose[:, :3, 3]))[:, :, None])
    return np.concatenate(motions, axis=1), np.concatenate(fields, axis=2)


@lru_cache(maxsize=32)
def _kinematics(mechanism: Mechanism, bound: tuple[tuple[str, Expression], ...]) -> tuple[Mapping[str, Inertia], Graph]:
    """Bodies with inertia by the names of their central frames, with poses and velocities of these."""
    known, numbers = set(mechanism.body_by_name), parameter_values(mechanism, dict(bound))
    centers, added = {}, []
    for body in mechanism.bodies:
        inertia = body.inertia
        if not any(number(one, numbers) for one in _amounts(inertia)):
            continue
        name = body.name
        if inertia.central:
            while name in known:
                name += "_center"
            known.add(name)
            added.append(Body(name, body.name, inertia.central))
        centers[name] = inertia
    tree = replace(
        mechanism, bodies=(*mechanism.bodies, *added), elements=(), loops=(), constraints=(), contacts=(), points=(),
        extras=(), unknowns=(), cuts=(),
    )  # fmt: skip
    words = [f"{word}:{name}" for name in centers for word in ("pose", "velocity")] or ["H"]
    return MappingProxyType(centers), derive(tree, words, parameters=dict(bound))


def _amounts(inertia: Inertia) -> tuple[Expression, ...]:
    return inertia.mass, inertia.Jx, inertia.Jy, inertia.Jz, inertia.Jxy, inertia.Jyz, inertia.Jxz


def _roots(inertia: Inertia, numbers: Mapping[str, Value], turned: Floats) -> Floats:
    """The root of an inertia, of velocities and angular velocities along fixed axes (rows, 6, 6)."""
    mass, x, y, z, xy, yz, xz = (number(one, numbers) for one in _amounts(inertia))
    sizes, axes = np.linalg.eigh(np.array([[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]]))
    root = np.zeros((len(turned), 6, 6))
    root[:, :3, :3] = np.sqrt(abs(mass)) * np.eye(3)
    root[:, 3:, 3:] = np.sqrt(np.abs(sizes))[:, None] * np.swapaxes(turned @ axes, 1, 2)
    return root


def _rigid(centers: Floats) -> Floats:
    """Velocities and angular velocities of points that move along, then about the fixed axes (rows, 6, 6)."""
    found = np.zeros((len(centers), 6, 6))
    found[:, :3, :3] = found[:, 3:, 3:] = np.eye(3)
    found[:, 3:, :3] = np.cross(np.eye(3), centers[:, None, :])
    return found
