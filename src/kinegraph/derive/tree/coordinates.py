"""From joint components back to the coordinates: sums over dp/dq."""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.derive.dynamics.christoffel import Key
from kinegraph.derive.dynamics.composite_body import Column
from kinegraph.derive.tree.displacements import Motion
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.scalar import Scalar

Square = list[list[Scalar]]


def driven_columns(motion: Motion) -> frozenset[Column]:
    """The joint components some coordinate moves; prescribed motions are left out."""
    return frozenset(
        Column(link, component)
        for link, columns in enumerate(motion.columns)
        for component, column in enumerate(columns)
        if column
    )


def inertia_matrix(motion: Motion, entries: Mapping[tuple[Column, Column], Scalar], zero: Scalar) -> Square:
    """H_kl = sum_ij (dp_i/dq_k) h_ij (dp_j/dq_l)."""
    size = len(motion.velocities)
    matrix = [[zero] * size for _ in range(size)]
    for (i, j), value in entries.items():
        for k, left in motion.columns[i.link][i.component].items():
            for m, right in motion.columns[j.link][j.component].items():
                if k <= m:
                    matrix[k][m] = matrix[k][m] + left * right * value
    for k in range(size):
        for m in range(k):
            matrix[k][m] = matrix[m][k]
    return matrix


def three_index(
    builder: GraphBuilder,
    motion: Motion,
    entries: Mapping[Key, Scalar],
    inertia: Mapping[tuple[Column, Column], Scalar],
    coordinates: Mapping[int, int],
    zero: Scalar,
) -> list[Square]:
    """C^k_lm = sum P_ik P_jl P_hm c_{i,jh} + sum P_ik h_ij d2p_j/dq_l dq_m."""
    size = len(motion.velocities)
    array = [[[zero] * size for _ in range(size)] for _ in range(size)]

    def add(k: int, m: int, n: int, value: Scalar) -> None:
        array[k][m][n] = array[k][m][n] + value

    for (i, j, h), value in entries.items():
        for k, first in motion.columns[i.link][i.component].items():
            for m, second in motion.columns[j.link][j.component].items():
                for n, third in motion.columns[h.link][h.component].items():
                    add(k, m, n, first * second * third * value)
    curvature = _curvatures(builder, motion, coordinates)
    for (i, j), value in inertia.items():
        for (m, n), bend in curvature.get(j, {}).items():
            for k, first in motion.columns[i.link][i.component].items():
                add(k, m, n, first * bend * value)
    return array


def _curvatures(
    builder: GraphBuilder, motion: Motion, coordinates: Mapping[int, int]
) -> dict[Column, dict[tuple[int, int], Scalar]]:
    """d2p_j/dq_l dq_m where they do not vanish; `coordinates` maps coordinate symbols to indices of velocities."""
    found: dict[Column, dict[tuple[int, int], Scalar]] = {}
    for link, columns in enumerate(motion.columns):
        for component, column in enumerate(columns):
            for m, slope in column.items():
                if slope.static:
                    continue
                for symbol, n in coordinates.items():
                    bend = Scalar(builder, ForwardDerivative(builder, {symbol: builder.one})(slope.index))
                    if not bend.is_zero:
                        found.setdefault(Column(link, component), {})[m, n] = bend
    return found
