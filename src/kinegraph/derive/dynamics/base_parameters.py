"""Base parameters: regrouped inertia, and the regressor of forces that are linear in them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from kinegraph.derive.plan import AxialMoment
from kinegraph.derive.tree.algebra import (
    FOLLOWING,
    MassMoments,
    Symmetric,
    Vector,
    outer_square,
    plus,
    scaled,
    symmetric_product,
    times,
    transpose,
    zero_symmetric,
    zero_vector,
)
from kinegraph.derive.tree.links import Joint, JointKind, Link, Placement, Tree
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.prime_field import FieldArithmetic, FieldEvaluation, PrimeField, angle_tables

# ---- Regrouping of inertia


def regrouped(tree: Tree, axial_moments: frozenset[tuple[int, AxialMoment]] = frozenset()) -> Tree:
    """The same tree with the fewest inertial parameters on its links (Khalil and Gautier's regrouping relations).

    Mass that moves in the same way on a link and on its parent is moved to the parent. A revolute joint does not move
    mass on its axis: m, and the first and second moments along the axis, go to the parent. A prismatic joint keeps the
    second moment about the link's origin constant in the parent. A ball joint keeps only the mass at its center. The
    relations hold for any tree of elementary joints. Energy and momentum are unchanged, because no mass changes its
    motion.
    """
    links = list(tree.links)
    choice = dict(axial_moments)
    for index in range(len(links) - 1, 0, -1):
        retained, moved = _split(links[index], choice.get(index))
        parent = links[links[index].parent]
        links[index] = replace(links[index], moments=retained)
        links[links[index].parent] = replace(parent, moments=parent.moments.plus(moved))
    return replace(tree, links=tuple(links))


def _split(link: Link, axial_moment: AxialMoment | None) -> tuple[MassMoments, MassMoments]:
    """The moments that remain on the link, and those that go to the parent (in the parent's frame)."""
    assert link.joint is not None and link.origin is not None
    if link.joint.kind is JointKind.REVOLUTE:
        return _along_axis(link.moments, link.joint.axis, link.origin, axial_moment)
    zero = link.moments.mass.number(0)
    if link.joint.kind is JointKind.PRISMATIC:
        retained = MassMoments(link.moments.mass, link.moments.first, zero_symmetric(zero))
        only_second = MassMoments(zero, zero_vector(zero), link.moments.second)
        return retained, only_second.turned(link.origin.rotation)
    retained = MassMoments(zero, link.moments.first, link.moments.second)
    point = MassMoments(link.moments.mass, zero_vector(zero), zero_symmetric(zero))
    return retained, point.shifted(link.origin.position)


def _along_axis(
    moments: MassMoments, axis: int, origin: Placement, axial_moment: AxialMoment | None
) -> tuple[MassMoments, MassMoments]:
    zero = moments.mass.number(0)
    first = list(moments.first)
    second = list(moments.second)
    remaining = second[FOLLOWING[axis][axial_moment.value - 1]] if axial_moment else zero
    along_first, along_second = first[axis], second[axis] - remaining
    first[axis], second[axis] = zero, remaining
    retained = MassMoments(zero, (first[0], first[1], first[2]), Symmetric(*second))
    direction: Vector = transpose(origin.rotation)[axis]
    r = origin.position
    moved_first = plus(times(moments.mass, r), times(along_first, direction))
    moved_second = (
        scaled(moments.mass, outer_square(r))
        .plus(scaled(along_first, symmetric_product(r, direction)))
        .plus(scaled(along_second, outer_square(direction)))
    )
    return retained, MassMoments(moments.mass, moved_first, moved_second)


# ---- The regressor: tau = Y(q, v, a) pi, with as few base parameters pi as the motion can identify
#
# Regrouping leaves on every link the parameters that its joint can distinguish from those of its parent. Parameters
# with a zero column are removed. The rank of the others is checked exactly, at random points of a prime field.

AXES = "xyz"


@dataclass(frozen=True)
class BaseParameter:
    """One parameter of a link: its name, its value in terms of the model's parameters, and its symbol."""

    name: str
    value: Scalar
    symbol: Scalar


def parametrized(tree: Tree, link_names: Sequence[str]) -> tuple[Tree, list[BaseParameter]]:
    """The regrouped tree with every link's moments replaced by symbols, and these parameters."""
    links = list(tree.links)
    parameters: list[BaseParameter] = []
    for index in range(1, len(links)):
        joint = links[index].joint
        assert joint is not None
        found, moments = _link_parameters(joint, links[index].moments, link_names[index])
        parameters.extend(found)
        links[index] = replace(links[index], moments=moments)
    return replace(tree, links=tuple(links)), parameters


def armature_parameters(armature: Mapping[str, Scalar], groups: Iterable[tuple[str, ...]]) -> dict[str, BaseParameter]:
    """The armature parameters, by the name of the velocity.

    A group of velocities shares one parameter: a coordinate, or the three quasi-velocities of a quaternion.
    """
    found: dict[str, BaseParameter] = {}
    for group in groups:
        value = armature.get(group[0])
        if value is not None:
            name = f"armature:{_label(group)}"
            found |= dict.fromkeys(group, BaseParameter(name, value, value.symbol(Kind.PARAMETER, name)))
    return found


def _label(velocities: tuple[str, ...]) -> str:
    """The name of a coordinate, or the three velocities of a quaternion."""
    return velocities[0].removesuffix("'") if len(velocities) == 1 else f"({', '.join(velocities)})"


def _link_parameters(joint: Joint, moments: MassMoments, name: str) -> tuple[list[BaseParameter], MassMoments]:
    """The identifiable parameters of a link: sum and difference of cross moments, products, first moments."""
    parameters: list[BaseParameter] = []

    def new(what: str, value: Scalar) -> Scalar:
        symbol = value.symbol(Kind.PARAMETER, f"{what}:{name}")
        parameters.append(BaseParameter(f"{what}:{name}", value, symbol))
        return symbol

    zero = moments.mass.number(0)
    if joint.kind is JointKind.PRISMATIC:
        mass = new("m", moments.mass)
        x, y, z = (new(f"m{AXES[i]}", moments.first[i]) for i in range(3))
        return parameters, MassMoments(mass, (x, y, z), zero_symmetric(zero))
    if joint.kind is JointKind.SPHERICAL:
        x, y, z = (new(f"m{AXES[i]}", moments.first[i]) for i in range(3))
        names = ("Sxx", "Syy", "Szz", "Syz", "Sxz", "Sxy")
        second = Symmetric(*(new(word, item) for word, item in zip(names, moments.second, strict=True)))
        return parameters, MassMoments(zero, (x, y, z), second)
    return parameters, _about_axis(joint.axis, moments, new)


def _about_axis(axis: int, moments: MassMoments, new: Callable[[str, Scalar], Scalar]) -> MassMoments:
    """Use I = Sjj + Skk, the moment about the axis, and D = Sjj - Skk, so that single columns vanish."""
    j, k = FOLLOWING[axis]
    zero = moments.mass.number(0)
    s = moments.second
    total = new(f"I{AXES[axis]}{AXES[axis]}", s[j] + s[k])
    difference = new(f"S{AXES[j]}{AXES[j]}-S{AXES[k]}{AXES[k]}", s[j] - s[k])
    half = Fraction(1, 2)
    entries = [zero] * 6
    entries[j], entries[k] = half * (total + difference), half * (total - difference)
    for a, b in ((j, k), (axis, j), (axis, k)):
        a, b = min(a, b), max(a, b)
        entries[6 - a - b] = new(f"S{AXES[a]}{AXES[b]}", s.off(a, b))
    first = [zero] * 3
    for i in sorted((j, k)):
        first[i] = new(f"m{AXES[i]}", moments.first[i])
    return MassMoments(zero, (first[0], first[1], first[2]), Symmetric(*entries))


@dataclass(frozen=True)
class BaseRegressor:
    """tau = matrix @ [parameter values].

    minimal: the columns are independent functions of the motion (checked exactly). It is False only if a dependence
    has irrational coefficients, so that it could not be resolved.
    """

    matrix: list[list[Scalar]]
    parameters: tuple[BaseParameter, ...]
    minimal: bool


def base_regressor(
    builder: GraphBuilder, roots: Sequence[Scalar], parameters: Sequence[BaseParameter]
) -> BaseRegressor:
    """The regressor of forces that are linear in the given parameters, with dependent columns merged."""
    rows = jacobian(builder, [root.index for root in roots], [parameter.symbol.index for parameter in parameters])
    pivots, relations = dependences(builder, rows)
    values = [parameter.value for parameter in parameters]
    keep = list(pivots)
    for column, relation in relations.items():
        if relation is None:
            keep.append(column)
            continue
        for pivot, coefficient in relation.items():
            values[pivot] = values[pivot] + coefficient * values[column]
    keep.sort()
    matrix = [[Scalar(builder, row[column]) for column in keep] for row in rows]
    merged = tuple(replace(parameters[column], value=values[column]) for column in keep)
    return BaseRegressor(matrix, merged, minimal=len(keep) == len(pivots))


Relation: TypeAlias = dict[int, Fraction]


def dependences(builder: GraphBuilder, rows: Sequence[Sequence[int]]) -> tuple[list[int], dict[int, Relation | None]]:
    """Independent columns of a matrix of nodes, as functions of the motion, and the others in terms of them.

    The matrix is evaluated at random points of the prime field with fixed parameters, until there are more rows than
    columns. Dependent functions are dependent at every point, independent ones at almost none. A relation is None if
    its coefficients are not rational.
    """
    width = len(rows[0]) if rows else 0
    flat = tuple(index for row in rows for index in row)
    graph = builder.graph([Output("Y", (len(rows), width), flat)])
    samples: list[list[int]] = []
    points = _MovingPoint(secrets.randbits(64))
    while len(samples) < width + 2 * len(rows):
        samples.extend(points.next(graph, len(rows), width))
    p = points.field.prime
    reduced, pivots = _row_reduced(samples, width, p)
    others = [column for column in range(width) if column not in pivots]
    return pivots, {column: _rational_relation(reduced, pivots, column, p) for column in others}


def _rational_relation(reduced: list[list[int]], pivots: list[int], column: int, p: int) -> Relation | None:
    relation: Relation = {}
    for row, pivot in zip(reduced, pivots, strict=False):
        if row[column]:
            coefficient = _rational(row[column], p)
            if coefficient is None:
                return None
            relation[pivot] = coefficient
    return relation


def _rational(residue: int, p: int) -> Fraction | None:
    """The fraction with small numerator and denominator that equals a residue modulo p, if there is one."""
    bound = 1 << 40  # a random residue has such a fraction with probability 2^-45
    (r0, t0), (r1, t1) = (p, 0), (residue, 1)
    while r1 > bound:
        quotient = r0 // r1
        (r0, t0), (r1, t1) = (r1, t1), (r0 - quotient * r1, t0 - quotient * t1)
    return Fraction(r1, t1) if abs(t1) <= bound else None


class _MovingPoint:
    """Random points with fixed parameters and a different motion each time."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.field = PrimeField.drawn(seed)
        self.steps = 0

    def next(self, graph: Graph, height: int, width: int) -> Iterator[list[int]]:
        self.steps += 1
        (angles,) = angle_tables(graph)
        values = FieldEvaluation(graph, _MotionField(self.field, self.seed, self.steps), angles)
        nodes = graph.outputs[0].nodes
        for row in range(height):
            yield [values[index] for index in nodes[row * width : (row + 1) * width]]


class _MotionField(FieldArithmetic):
    """A point whose parameters depend on the seed only, and all other symbols on the seed and the step."""

    def __init__(self, field: PrimeField, seed: int, step: int) -> None:
        self._step = step
        super().__init__(field, seed)

    def symbol(self, symbol: Symbol) -> int:
        if symbol.kind.static:
            return super().symbol(symbol)
        return self.random("moving", self._step, symbol.kind.value, symbol.name)


def _row_reduced(matrix: list[list[int]], width: int, p: int) -> tuple[list[list[int]], list[int]]:
    """The reduced row echelon form modulo the prime p, and its pivot columns."""
    pivots: list[int] = []
    rows = [list(row) for row in matrix]
    for column in range(width):
        top = len(pivots)
        found = next((i for i in range(top, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        rows[top], rows[found] = rows[found], rows[top]
        inverse = pow(rows[top][column], -1, p)
        rows[top] = [item * inverse % p for item in rows[top]]
        for i, row in enumerate(rows):
            if i != top and row[column]:
                factor = row[column]
                rows[i] = [(a - factor * b) % p for a, b in zip(row, rows[top], strict=True)]
        pivots.append(column)
    return rows, pivots
