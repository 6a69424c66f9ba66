"""First integrals of a mechanism: derived from its symmetries, or found as combinations of candidates at random
states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.compile import derive
from kinegraph.derive.constraints.projection import MISSED, PROJECTED
from kinegraph.derive.dynamics.state_rate import with_forces
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.build import Scalar as Node
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.model.evaluate import Value, number, parameter_values
from kinegraph.model.expressions import TIME, Expression
from kinegraph.model.mechanism import Body, Inertia, Mechanism
from kinegraph.model.states import momentum_of
from kinegraph.simulate.equations import Equations, row_values, state_symbols
from kinegraph.solve.problem import Floats

# Test for a vanishing rate: compare the sum with its terms, never with the quantity it is the rate of. The momentum of
# a heavy body on a soft spring changes by less than its rounding error per second, and changes all the same.

_CANCELLED = (
    1e-9  # of the terms may remain: states satisfy constraints and unit quaternions to fewer digits than doubles have
)


def vanishes(sums: Floats, parts: Floats) -> bool:
    """Whether a sum vanishes at all states but one, where a mechanism may be singular.

    parts: the size of its terms, at the same states.
    """
    sums, parts = np.abs(sums), np.abs(parts)
    usual = np.sort(parts)[(len(parts) - 1) // 2]  # some states may be at rest, where all terms are rounding errors
    others = np.count_nonzero(~(sums <= _CANCELLED * np.fmax(parts, usual)))
    return bool(others <= min(1, len(sums) - 1))


# Momenta that a mechanism conserves by its structure, without evaluating accelerations. A component of momentum is
# conserved if all bodies that contribute to it can move together as one rigid body along or about its axis while the
# other bodies are at rest: joints, loops and constraints must allow it, and neither gravity nor any force may do work.
# Such a momentum is conserved whatever the form of the equations, and a run that does not conserve it is wrong.

_RANK = 1e-8  # of the largest singular value: constraint rows below this are dependent
_RIGID = 1e-10  # of a kinetic energy: the part of bodies that do not move along
_PART = 1e-10  # of the momentum a body could have: it counts as none
_ROUNDED = 1e-2  # of the largest force: a smaller work may be a rounding error


@dataclass(frozen=True)
class _Place:
    """One state: the motion of each body per unit velocity, weighted by the square roots of inertias (bodies, 6, n).

    drifts: motion of the bodies caused by prescribed motions (bodies, 6). fields: the same for the six rigid motions
    (6, bodies, 6). allowed: the directions that constraints allow, by column. imposed: velocities imposed by prescribed
    motions. forces: by velocity.
    """

    motions: Floats
    drifts: Floats
    fields: Floats
    allowed: Floats
    imposed: Floats
    forces: Floats


def conserved_momenta(equations: Equations, states: Mapping[str, Floats]) -> tuple[bool, ...]:
    """Whether each of px, py, pz, Lx, Ly, Lz is conserved and not always zero; empty if no state has finite values.

    states: admissible positions, velocities, times and sampled forces, by name.
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
    """For every body, 1 or 0: whether it contributes to a momentum; and whether the total can be nonzero."""
    field = place.fields[axis]
    ways = np.concatenate(
        [place.motions @ place.allowed, (place.drifts + place.motions @ place.imposed)[..., None]], axis=2
    )
    own = np.einsum("bk,bkn->bn", field, ways)
    sizes = np.linalg.norm(field, axis=1)[:, None] * np.linalg.norm(ways, axis=1)
    takes = np.any(np.abs(own) > _PART * sizes.max(initial=0.0), axis=1)
    some = np.any(np.abs(own.sum(axis=0)) > _PART * sizes.sum(axis=0).max(initial=0.0))
    return np.column_stack([takes, np.full(len(takes), some)]).astype(float)


def _moved_along(place: _Place, axis: int, taking: Floats, equations: Equations) -> tuple[float, float, float, float]:
    """The residual of a rigid motion of some bodies, its size, the work of forces on it, and the size of the work's
    terms."""
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
        allowed, imposed = _allowed_velocities(slopes, rows[k, 0])
        found.append(_Place(np.moveaxis(ways, 0, -1), motions[k, 0], fields[k], allowed, imposed, forces[k]))
    return found


def _allowed_velocities(slopes: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """Velocities that constraint rows allow, and those that prescribed motions impose."""
    if not slopes.size:
        return np.eye(slopes.shape[1]), np.zeros(slopes.shape[1])
    left, sizes, right = np.linalg.svd(slopes)
    rank = int(np.sum(sizes > _RANK * sizes[0]))
    return right[rank:].T, -right[:rank].T @ ((left.T @ rates)[:rank] / sizes[:rank])


def _rows(equations: Equations, values: Mapping[str, Floats]) -> Floats:
    """The rates of all constraint rows."""
    if equations.projection is None:
        return np.zeros((len(values[TIME]), 0))
    symbols = state_symbols(equations)
    found = row_values(equations.projection, symbols, np.column_stack([values[one.name] for one in symbols]))[MISSED]
    return found[:, found.shape[1] // 2 :]


def _forces(equations: Equations, values: Mapping[str, Floats]) -> Floats:
    """Generalized forces of gravity, elements and inputs."""
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
    """The motions of bodies with inertia (rows, bodies, 6) and the six rigid motions (rows, 6, bodies, 6), weighted by
    the square roots of inertias."""
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
    """Bodies with inertia by the names of their central frames, with the poses and velocities of these frames."""
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
    """The square root of an inertia, for velocities and angular velocities along fixed axes (rows, 6, 6)."""
    mass, x, y, z, xy, yz, xz = (number(one, numbers) for one in _amounts(inertia))
    sizes, axes = np.linalg.eigh(np.array([[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]]))
    root = np.zeros((len(turned), 6, 6))
    root[:, :3, :3] = np.sqrt(abs(mass)) * np.eye(3)
    root[:, 3:, 3:] = np.sqrt(np.abs(sizes))[:, None] * np.swapaxes(turned @ axes, 1, 2)
    return root


def _rigid(centers: Floats) -> Floats:
    """Velocities and angular velocities of points in a translation along, then a rotation about, the fixed axes (rows,
    6, 6)."""
    found = np.zeros((len(centers), 6, 6))
    found[:, :3, :3] = found[:, 3:, 3:] = np.eye(3)
    found[:, 3:, :3] = np.cross(np.eye(3), centers[:, None, :])
    return found


# Numerical search for first integrals, as linear combinations of candidates: the energy, Jacobi's integral, the
# momentum of every coordinate, the components of linear and angular momentum, and these times coordinates or time.
# Linear algebra finds the combinations whose rates vanish at random states.

MOMENTA = ("px", "py", "pz", "Lx", "Ly", "Lz")
ENERGY, JACOBI = "energy", "jacobi"
_NOTHING = 1e-9  # of the largest term of a combination: rounding error


def candidates(mechanism: Mechanism, graph: Graph) -> Graph:
    """Every candidate as an output with one entry."""
    builder = GraphBuilder()
    energy, momentum = moved([graph.output("energy"), graph.output("momentum")], transfer(graph, builder))
    kinetic, potential = (Node(builder, index) for index in energy.nodes)
    outputs = [Output(ENERGY, (), ((kinetic + potential).index,))]
    jacobi = potential - kinetic
    for name, momentum_name in zip(mechanism.layout.velocities, _momentum_names(mechanism), strict=True):
        symbol = builder.symbol(Kind.VELOCITY, name)
        slope = Node(builder, ForwardDerivative(builder, {symbol: builder.one})(kinetic.index))
        outputs.append(Output(momentum_name, (), (slope.index,)))
        jacobi = jacobi + slope * Node(builder, symbol)
    outputs += [Output(name, (), (node,)) for name, node in zip(MOMENTA, momentum.nodes, strict=True)]
    outputs.append(Output(JACOBI, (), (jacobi.index,)))
    quaternion = {mechanism.layout.positions[s + i] for s in mechanism.layout.quaternions for i in range(4)}
    for name in mechanism.layout.positions:
        if name not in quaternion:
            outputs.append(Output(name, (), (builder.symbol(Kind.COORDINATE, name),)))
    outputs.append(Output(TIME, (), (builder.symbol(Kind.TIME, TIME),)))
    return builder.graph(outputs)


def _momentum_names(mechanism: Mechanism) -> list[str]:
    """`p:x` for the momentum of the coordinate x, `p:wx` for that of a quasi-velocity."""
    return [momentum_of(name) for name in mechanism.layout.velocities]


def random_states(mechanism: Mechanism, others: Sequence[str] = ()) -> dict[str, Floats]:
    """States by the names of the variables, with zero forces and inputs. `others` are further symbols with random
    values."""
    layout = mechanism.layout
    random = np.random.default_rng(20)
    count = 6 * (len(layout.velocities) + 5)
    names = (*layout.positions, *layout.velocities, TIME)
    values = {name: random.uniform(-1.3, 1.7, count) for name in names}
    values |= {name: np.zeros(count) for name in (*layout.forces, *layout.inputs)}
    for start in layout.quaternions:
        group = layout.positions[start : start + 4]
        length = np.sqrt(sum(values[name] ** 2 for name in group))
        values |= {name: values[name] / length for name in group}
    return values | {name: random.uniform(-1.3, 1.7, count) for name in (*layout.states, *others)}


def rows(graph: Graph, states: Mapping[str, Floats]) -> Floats:
    """One column for every output, one row for every state."""
    count = len(next(iter(states.values())))
    found = interpret(graph, states)
    return np.column_stack([np.broadcast_to(found[output.name], count) for output in graph.outputs])


def combinations(names: Sequence[str], values: Floats, slopes: Floats, parts: Floats) -> list[dict[str, float]]:
    """Independent combinations with vanishing rates. parts: the size of the terms that cancel in each rate.

    Single candidates come first. A candidate that is a linear function of earlier ones is skipped: with it, rounding
    errors would look like a further combination.
    """
    alone = [k for k in range(len(names)) if vanishes(slopes[:, k], parts[:, k])]
    order = [*alone, *(k for k in range(len(names)) if k not in alone)]
    independent = IndependentFunctions(len(values))
    new = [k for k in order if independent.take(values[:, k], float(np.linalg.norm(values[:, k])))]
    left = [k for k in new if k not in alone and names[k] not in (ENERGY, JACOBI)]
    found = [{names[k]: 1.0} for k in new if k in alone]
    for row in _null_space(slopes[:, left]):
        if vanishes(slopes[:, left] @ row, np.abs(parts[:, left]) @ np.abs(row)):
            found.append({names[k]: float(entry) for k, entry in zip(left, row, strict=True) if entry})
    return found


class IndependentFunctions:
    """Functions, given by their values at the same states, none of which is a combination of the others and a
    constant."""

    def __init__(self, count: int) -> None:
        self._basis = [np.full(count, count**-0.5)]

    def take(self, values: Floats, size: float) -> bool:
        """Add a function; False if it is a combination of earlier ones. size: the size of the terms it is a sum of.

        Values beyond floating point cannot be compared: such a function counts as independent.
        """
        if not np.isfinite(size):
            return True
        for _ in range(2):
            for unit in self._basis:
                values = values - unit * float(unit @ values)
        left = float(np.linalg.norm(values))
        if left <= 1e-9 * size or size == 0:
            return False
        self._basis.append(values / left)
        return True


def _null_space(matrix: Floats) -> Floats:
    """Vectors x with matrix x = 0, in reduced echelon form."""
    if matrix.shape[1] == 0:
        return np.zeros((0, 0))
    scale = np.maximum(np.max(np.abs(matrix), axis=0), 1e-300)
    sizes, directions = np.linalg.svd(matrix / scale)[1:]
    basis = directions[int(np.sum(sizes > 1e-10 * sizes[0])) :] / scale
    row = 0
    for column in range(basis.shape[1]):
        if row == len(basis):
            break
        pivot = row + int(np.argmax(np.abs(basis[row:, column])))
        if abs(basis[pivot, column]) < 1e-9 * np.max(np.abs(basis[row:])):
            continue
        basis[[row, pivot]] = basis[[pivot, row]]
        basis[row] /= basis[row, column]
        others = [k for k in range(len(basis)) if k != row]
        basis[others] -= np.outer(basis[others, column], basis[row])
        row += 1
    parts = np.abs(basis) * scale
    return np.asarray(np.where(parts < _NOTHING * np.max(parts, axis=1, initial=0.0, keepdims=True), 0.0, basis))


# States near those of a run that satisfy loops and constraints. A bicycle that runs straight conserves momenta that it
# does not conserve in other motions. So states of the run are perturbed at random in all directions and projected back
# onto the constraints.

# The perturbations, in turn: in meters and radians, and as fractions of the largest velocity.
_MOVED = (0.05, 5e-3, 5e-4)
_STEPS = 8  # of Newton's method
_FITS = 1e-9  # allowed residual by position, and by velocity relative to the largest


def states_beside(equations: Equations, times: Floats, q: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Times, positions and velocities that satisfy the constraints, near the given rows; as many as Newton's method
    finds."""
    assert equations.projection is not None
    random, speed = np.random.default_rng(3), max(float(np.max(np.abs(v), initial=0.0)), 1.0)
    size = np.resize(_MOVED, (len(times), 1))
    q = q + size * random.uniform(-1, 1, q.shape)
    v = v + size * speed * random.uniform(-1, 1, v.shape)
    parameters = np.zeros((len(times), len(equations.runtime)))
    with np.errstate(all="ignore"):  # a singular state is not used
        for _ in range(_STEPS):
            _bring_to_unit_length(equations, q)
            rows = np.hstack([q, v, times[:, None], parameters])
            found = row_values(equations.projection, state_symbols(equations), rows)
            fits = _fitting(found[MISSED], speed, _FITS)
            q, v = found[PROJECTED][:, : q.shape[1]].copy(), found[PROJECTED][:, q.shape[1] :]
    if not fits.any():  # rounded numbers may contradict each other
        fits = _fitting(found[MISSED], speed, Assembler(equations.mechanism, equations.values).closing_limit)
    return times[fits], q[fits], v[fits]


def _bring_to_unit_length(equations: Equations, q: Floats) -> None:
    for start in equations.mechanism.layout.quaternions:
        part = q[:, start : start + 4]
        part /= np.linalg.norm(part, axis=1, keepdims=True)


def _fitting(missed: Floats, speed: float, limit: float) -> Floats:
    position, velocity = np.split(np.abs(missed), [missed.shape[1] // 2], axis=1)
    close = np.max(position, axis=1, initial=0.0) <= limit
    return np.asarray(close & (np.max(velocity, axis=1, initial=0.0) <= limit * speed))
