"""The order of computation: children first, near their first use, sines and cosines in groups.

A value should live in a register from its birth to its last use, so what an output needs is computed just before
it, deepest operands first. Sine and cosine of one angle are computed together; several angles that are ready at the
same time are put in one group, to be computed side by side in the lanes of a vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from kinegraph.codegen.program.binding import Bound
from kinegraph.graph.node import Function, Graph, Output, children


class AngleGroup(NamedTuple):
    """Angles whose sines and cosines are computed together; `sines` are the nodes wanted of each angle."""

    angles: tuple[int, ...]
    sines: tuple[tuple[int, ...], ...]


#: A node to compute, or a group of angles.
Step: TypeAlias = int | AngleGroup


#: Up to this many nodes code is short: what all angles of inputs give is computed first, for nothing is alive yet that
#: would have to make room, and the long chains of dependences run side by side. In longer code it would only lie in
#: memory; there, of equally deep operands, those made first come first, so that all values together live a bit shorter.
SHORT = 1000


def schedule(binding: Bound, group: int = 1) -> tuple[Step, ...]:
    """All nodes to compute, ordered; at most `group` angles in a group."""
    graph, size = binding.graph, len(binding.graph)
    computed = [live and index not in binding.statics for index, live in enumerate(graph.live)]
    short = sum(computed) <= SHORT
    wants = [_wants(graph, index, short) if wanted else [] for index, wanted in enumerate(computed)]
    roots, order = min(
        ((roots, _ordered(binding, wants, roots)) for roots in _root_orders(graph)),
        key=lambda candidate: _pressure(wants, candidate[1]),
    )
    sines = _sine_nodes(graph, order)
    groups = _groups(graph, wants, order, group)
    for number, angles in enumerate(groups):
        wants.append(angles)
        for angle in angles:
            for index in sines[angle]:
                wants[index] = [size + number]

    def step(item: int) -> Step:
        angles = tuple(wants[item])
        return item if item < size else AngleGroup(angles, tuple(tuple(sines[angle]) for angle in angles))

    early = [number + size for number, angles in enumerate(groups) if not any(graph.levels[a] > 1 for a in angles)]
    return tuple(step(item) for item in _ordered(binding, wants, [*early, *roots] if short else roots))


def _wants(graph: Graph, index: int, short: bool) -> list[int]:
    """What a node waits for, the deepest last, for that is where the ordering's stack looks first."""
    found = children(graph.nodes[index])
    return sorted(found if short else sorted(found, reverse=True), key=graph.levels.__getitem__)


def _root_orders(graph: Graph) -> list[list[int]]:
    """In which order outputs may be computed: matrices by rows, or by columns, where those share more."""
    rows = [node for output in graph.outputs for node in output.nodes]
    columns = [node for output in graph.outputs for node in _by_columns(output)]
    return [rows] if rows == columns else [rows, columns]


def _by_columns(output: Output) -> list[int]:
    width = output.shape[-1] if len(output.shape) > 1 else 1
    return [node for column in range(width) for node in output.nodes[column::width]]


def _pressure(wants: Sequence[Sequence[int]], order: Sequence[int]) -> int:
    """How long all values together have to be kept."""
    last = {}
    for position, index in enumerate(order):
        for child in wants[index]:
            last[child] = position
    return sum(last[index] - position for position, index in enumerate(order) if index in last)


def _ordered(binding: Bound, wants: Sequence[Sequence[int]], roots: Sequence[int]) -> list[int]:
    """Depth first from the roots, without recursion."""
    order: list[int] = []
    done = set(binding.statics)
    for root in roots:
        stack = [root]
        while stack:
            item = stack[-1]
            if item in done:
                stack.pop()
                continue
            waiting = [want for want in wants[item] if want not in done]
            if waiting:
                stack.extend(waiting)
            else:
                done.add(stack.pop())
                order.append(item)
    return order


def _angle(graph: Graph, index: int) -> int | None:
    node = graph.nodes[index]
    return node.arguments[0] if isinstance(node, Function) and node.name in ("sin", "cos") else None


def _groups(graph: Graph, wants: Sequence[Sequence[int]], order: Iterable[int], size: int) -> list[list[int]]:
    """Angles in order of first use; those with equally many sines below them cannot depend on each other."""
    depth: dict[int, int] = {}
    groups: list[list[int]] = []
    unfilled: dict[int, list[int]] = {}
    seen: set[int] = set()
    for index in order:
        angle = _angle(graph, index)
        depth[index] = max([depth.get(child, 0) for child in wants[index]], default=0)
        if angle is None:
            continue
        if angle not in seen:
            seen.add(angle)
            members = unfilled.get(depth[index])
            if members is None or len(members) == size:
                members = unfilled[depth[index]] = []
                groups.append(members)
            members.append(angle)
        depth[index] += 1
    return groups


def _sine_nodes(graph: Graph, order: Iterable[int]) -> dict[int, list[int]]:
    """For every angle, the nodes that are its sine or cosine."""
    nodes: dict[int, list[int]] = {}
    for index in order:
        angle = _angle(graph, index)
        if angle is not None:
            nodes.setdefault(angle, []).append(index)
    return nodes
