"""Which velocities a contact acts on, from the zeros of the graphs: the lists that compiled steps go through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from kinegraph.arrays import Integers
from kinegraph.graph.node import Graph, Node, Output, Polynomial
from kinegraph.simulate.contacts.shapes import Scene
from kinegraph.solve.loops.contact_model import Columns


def packed_motion(
    graph: Graph, scene: Scene, inertia: str, whole: bool
) -> tuple[Graph, list[list[int]], list[set[int]]]:
    """Velocities, columns of Jacobians, and inertia as one output; what moves each body, and the ties of the factor.

    whole: all entries of the inertia matrix are kept, as it is an inverse.
    """
    by_name = {one.name: one.nodes for one in graph.outputs}
    zero = [_is_zero(node) for node in graph.nodes]
    n = round(len(by_name[inertia]) ** 0.5)
    moved, entries = [], [node for body in scene.bodies for node in by_name[f"velocity:{body}"]]
    for body in scene.bodies:
        rows = np.array(by_name[f"jacobian:{body}"]).reshape(6, n)
        moved.append([k for k in range(n) if not all(zero[node] for node in rows[:, k])])
        entries += [int(node) for k in moved[-1] for node in rows[:, k]]
    matrix = np.array(by_name[inertia]).reshape(n, n)
    ties = [{j for j in range(k) if not zero[matrix[k, j]]} for k in range(n)]
    for k in range(n - 1, -1, -1):  # eliminating a velocity ties all those it is tied to
        for i in ties[k]:
            ties[i] |= {j for j in ties[k] if j < i}
    if whole:
        entries += [int(node) for node in matrix.flat]
    else:
        entries += [int(matrix[k, j]) for k in range(n) for j in (*sorted(ties[k]), k)]
    return Graph(graph.nodes, (Output("motion", (len(entries),), tuple(entries)),)), moved, ties


def moved_by_rows(jacobian: Output, widths: Sequence[int], zero: Graph) -> list[set[int]]:
    """The velocities in the rows of each contact that is given by a gap."""
    table = np.array(jacobian.nodes).reshape(jacobian.shape)
    starts = np.cumsum([0, *widths])
    return [
        {k for k in range(table.shape[1]) if not all(_is_zero(zero.nodes[node]) for node in table[start:end, k])}
        for start, end in pairwise(starts)
    ]


def columns_of(
    scene: Scene, moved: Sequence[Sequence[int]], ties: Sequence[set[int]], gaps: Sequence[set[int]], whole: bool
) -> Columns:
    """The lists of all pairs, then gaps; of bodies; and of the factor."""
    bodies = scene.shapes.bodies
    sets = [{k for shape in pair for k in _of_body(int(bodies[shape]), moved)} for pair in scene.shapes.pairs]
    found = [_answering(one, () if whole else ties) for one in (*sets, *gaps)]
    lists = [sorted(one, reverse=True) for one in found]
    return Columns(*_joined(lists), *_joined(moved), *_joined([sorted(one) for one in ties]))


def _of_body(body: int, moved: Sequence[Sequence[int]]) -> Sequence[int]:
    return moved[body - 1] if body else ()


def _answering(chosen: Iterable[int], ties: Sequence[set[int]]) -> set[int]:
    """These velocities and all that they are tied to."""
    found: set[int] = set()
    waiting = list(chosen)
    while waiting:
        k = waiting.pop()
        if k not in found:
            found.add(k)
            waiting += ties[k] if ties else ()
    return found


def _joined(lists: Sequence[Sequence[int]]) -> tuple[Integers, Integers]:
    """Lists one after the other, and where each begins."""
    flat = np.array([k for one in lists for k in one], dtype=np.int64)
    return flat, np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)


def _is_zero(node: Node) -> bool:
    return isinstance(node, Polynomial) and not node.terms
