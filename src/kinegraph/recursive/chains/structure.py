"""The chains of a mechanism: what hangs on a body, the ends that loops constrain, springs between chains, shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.derive.tree.algebra import FOLLOWING
from kinegraph.errors import KernelError
from kinegraph.model.constraints import Constraint, Coupling, Joint, Loop, Rotation, Translation, row_names
from kinegraph.model.elements import Anchor, Damper, Linear, Span, Spring
from kinegraph.model.mechanism import Mechanism, Point
from kinegraph.recursive.arrays import PARENT, SLOT, Floats, Integers, Tree
from kinegraph.recursive.chains.sweeps import (
    COINCIDE,
    DISTANCE,
    LEVEL,
    PERPENDICULAR,
    POINT,
    VELOCITY_OF_POINT,
    Closing,
    Directions,
    Ends,
    Part,
)
from kinegraph.recursive.flatten import FlatMechanism, Frame, Numbers, moves_with_time


@dataclass(frozen=True)
class Chains:
    """The parts that hang on the body of step `root`, and `home`: everything else, that body included."""

    root: int
    parts: tuple[Part, ...]
    home: Part


def rooted(tree: Tree, root: int) -> Tree:
    """The tree with slots at the ground and at the body chains are reduced to, where each may hand over."""
    link, slots = tree.link.copy(), tree.slots
    for step in (0, root):
        if link[step, SLOT] < 0:
            link[step, SLOT], slots = slots, slots + 1
    return tree._replace(link=link, slots=slots)


def chains_on(tree: Tree, root: int, ends: Ends, directions: Directions) -> Chains:
    """One part for every step that stands on `root`; steps are ordered so that each part is one run."""
    last = _last_descendants(tree)
    starts = [int(step) for step in np.flatnonzero(tree.link[:, PARENT] == root) if step]
    spans = [(start, int(last[start]) + 1) for start in starts]
    parts = tuple(_part([span], ends, directions) for span in spans)
    return Chains(root, parts, _home(len(tree.link), spans, ends, directions))


def merged(parts: Sequence[Part]) -> Part:
    """Several parts as one, in the order of their steps."""
    ordered = sorted((one for one in parts if len(one.spans)), key=lambda one: int(one.spans[0, 0]))
    none = np.zeros(0, dtype=np.int64)
    return Part(
        np.concatenate([np.zeros((0, 2), dtype=np.int64), *(one.spans for one in ordered)]),
        np.concatenate([none, *(one.directions for one in ordered)]),
        np.concatenate([none, *(one.ends for one in ordered)]),
    )


def whole(tree: Tree, ends: Ends, directions: Directions) -> Part:
    """All steps as one part."""
    return _part([(1, len(tree.link))], ends, directions)


def _last_descendants(tree: Tree) -> Integers:
    last = np.arange(len(tree.link))
    for step in range(len(tree.link) - 1, 0, -1):
        parent = tree.link[step, PARENT]
        last[parent] = max(last[parent], last[step])
    return last


def _home(steps: int, spans: Sequence[tuple[int, int]], ends: Ends, directions: Directions) -> Part:
    """The runs between the parts; all directions reach it."""
    edges = [1, *(edge for span in spans for edge in span), steps]
    runs = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]
    part = _part(runs, ends, directions)
    return part._replace(directions=np.arange(directions.end.size))


def _part(spans: Sequence[tuple[int, int]], ends: Ends, directions: Directions) -> Part:
    def within(step: int) -> bool:
        return any(first <= step < last for first, last in spans)

    own = [e for e, step in enumerate(ends.step.tolist()) if within(step)]
    felt = [d for d, e in enumerate(directions.end.tolist()) if within(int(ends.step[e]))]
    runs = np.array(spans, dtype=np.int64).reshape(-1, 2)
    return Part(runs, np.array(felt, dtype=np.int64), np.array(own, dtype=np.int64))


def shared(parts: Sequence[Part], workers: int) -> list[list[int]]:
    """Which parts each worker computes: the longest first, each to the one with the least to do."""
    sizes = [int(np.sum(part.spans[:, 1] - part.spans[:, 0])) for part in parts]
    share: list[list[int]] = [[] for _ in range(workers)]
    load = [0] * workers
    for number in sorted(range(len(parts)), key=lambda k: -sizes[k]):
        worker = load.index(min(load))
        share[worker].append(number)
        load[worker] += sizes[number]
    return share


def chosen_body(mechanism: Mechanism, flat: FlatMechanism, workers: int) -> str | None:
    """The body on which chains hang so that the slowest worker has the least to do; None for the ground.

    A worker moves what is not part of any chain and its own chains. Of equal choices the ground, then the first body.
    """
    bodies = [None, *(body.name for body in mechanism.bodies)]
    last = _last_descendants(flat.tree)
    return min(bodies, key=lambda name: _slowest(flat.tree, last, flat.frames[name].step, workers))


def _slowest(tree: Tree, last: Integers, root: int, workers: int) -> int:
    """The steps that the worker with most of them moves, if chains hang on this step."""
    starts = [int(step) for step in np.flatnonzero(tree.link[:, PARENT] == root) if step]
    sizes = sorted((int(last[start]) + 1 - start for start in starts), reverse=True)
    loads = [0] * workers
    for size in sizes:
        loads[loads.index(min(loads))] += size
    return len(tree.link) - sum(sizes) + max(loads)


@dataclass(frozen=True)
class RowOfLoop:
    """One row: its name, its kind, the ends it ties (by number of frame), axes of the first and second frame."""

    name: str
    kind: int
    first: int
    second: int
    first_axis: int
    second_axis: int
    group: int
    sign: float = 1.0


def refuse_unsupported(mechanism: Mechanism) -> None:
    """KernelError for what chains cannot do."""
    if mechanism.contacts:
        raise _unsupported(f"the contact {mechanism.contacts[0].name}")
    for loop in mechanism.loops:
        if isinstance(loop, Loop) and moves_with_time(loop):
            raise _unsupported(f"frames of the loop {loop.name} that move with time")


def refuse_constraints_of_coordinates(mechanism: Mechanism) -> None:
    """KernelError for constraints and couplings of coordinates, which runs over chains take and kernels do not."""
    others: list[Constraint | Coupling] = [loop for loop in mechanism.loops if isinstance(loop, Coupling)]
    for one in [*others, *mechanism.constraints]:
        kind = "coupling" if isinstance(one, Coupling) else "constraint"
        raise KernelError(
            f"recursive algorithms do not support the {kind} {one.name} in kernels\n"
            "  compile with loops=False, or run the chains: kg.simulate_chains"
        )


def loop_rows(mechanism: Mechanism, numbers: Numbers) -> list[RowOfLoop]:
    """All rows of all loops between frames; loop k ties the frames 2k and 2k + 1."""
    refuse_unsupported(mechanism)
    found: list[RowOfLoop] = []
    for number, loop in enumerate(one for one in mechanism.loops if isinstance(one, Loop)):
        found += _rows(loop, number, numbers)
    return found


def _rows(loop: Loop, number: int, numbers: Numbers) -> list[RowOfLoop]:
    """Translations, then rotations, in the order and with the names of the derived rows."""
    fixes, names = loop.type.fixes, row_names(loop)
    ends = 2 * number, 2 * number + 1
    axis = loop.joint.axes[0].value if loop.joint.axes else 0
    match fixes.translation:
        case Translation.ALL:
            points = [(COINCIDE, x, 1.0) for x in range(3)]
        case Translation.ACROSS:
            points = [(LEVEL, x, 1.0) for x in range(3) if x != axis]
        case Translation.ALONG:
            points = [(LEVEL, axis, 1.0)]
        case Translation.LENGTH:
            assert loop.joint.length is not None
            points = [(DISTANCE, 0, numbers.constant(loop.joint.length))]
        case _:
            points = []
    found = [
        RowOfLoop(name, kind, *ends, x, x, ends[0], sign)
        for name, (kind, x, sign) in zip(names[: len(points)], points, strict=True)
    ]
    return found + [
        RowOfLoop(name, PERPENDICULAR, *ends, first, second, ends[1], sign)
        for name, (first, second, sign) in zip(names[len(points) :], _turns(loop.joint), strict=True)
    ]


def _turns(joint: Joint) -> list[tuple[int, int, float]]:
    """Axes of the first and of the second frame that stay perpendicular, as in the derived rows."""
    if joint.type.fixes.rotation is Rotation.FREE:
        return []
    if joint.type.fixes.rotation is Rotation.ALL:
        return [(FOLLOWING[axis][1], FOLLOWING[axis][0], 1.0) for axis in range(3)]
    if joint.type.fixes.rotation is Rotation.NORMAL:
        return [(joint.axes[0].value, joint.axes[1].value, 1.0)]
    axis = joint.axes[0].value
    following, last = FOLLOWING[axis]
    rows = {following: (last, axis, -1.0), last: (following, axis, 1.0)}
    return [rows[turned] for turned in sorted(rows)]


def _unsupported(what: str) -> KernelError:
    return KernelError(
        f"recursive algorithms do not support {what}\n  compile with loops=False, or simulate without chains"
    )


def ends_of(frames: Sequence[Frame]) -> tuple[Ends, list[int]]:
    """Frames as ends, ordered by step, and the number of each."""
    order = sorted(range(len(frames)), key=lambda k: frames[k].step)
    place = {frame: number for number, frame in enumerate(order)}
    ends = Ends(
        np.array([frames[k].step for k in order], dtype=np.int64),
        np.array([frames[k].turn for k in order], dtype=float).reshape(-1, 9),
        np.array([frames[k].origin for k in order], dtype=float).reshape(-1, 3),
    )
    return ends, [place[k] for k in range(len(frames))]


def closing_of(rows: Sequence[RowOfLoop], place: Sequence[int], alpha: float, beta: float) -> Closing:
    """The rows as arrays, with ends by their numbers."""
    table = [
        (row.kind, place[row.first], place[row.second], row.first_axis, row.second_axis, row.group) for row in rows
    ]
    signs = np.array([row.sign for row in rows], dtype=float)
    return Closing(np.array(table, dtype=np.int64).reshape(-1, 6), signs, alpha, beta)


def directions_of(rows: Sequence[RowOfLoop], place: Sequence[int]) -> Directions:
    """The unit forces and moments these rows exert at ends, ordered by end and so by step."""
    wanted: set[tuple[int, int]] = set()
    for row in rows:
        first, second = place[row.first], place[row.second]
        both = {COINCIDE: [row.first_axis], PERPENDICULAR: [3, 4, 5]}.get(row.kind, [0, 1, 2])
        at_first = [3, 4, 5] if row.kind == LEVEL else []
        wanted |= {(end, axis) for end in (first, second) for axis in both}
        wanted |= {(first, axis) for axis in at_first}
    ordered = sorted(wanted)
    ends = np.array([end for end, _ in ordered], dtype=np.int64)
    return Directions(ends, np.array([axis for _, axis in ordered], dtype=np.int64))


# Springs and dampers between two points: what they need to know of other chains, and the forces they exert.


@dataclass(frozen=True)
class Springs:
    """By element: stiffness, rest length, damping. Element k pulls at the frames 2k and 2k + 1 (of these alone)."""

    stiffness: Floats
    rest: Floats
    damping: Floats

    def __len__(self) -> int:
        return len(self.stiffness)

    def forces(self, first: Floats, second: Floats) -> Floats:
        """The force on every second point, from the motion of the ends; on the first it acts the other way."""
        apart = second[:, POINT : POINT + 3] - first[:, POINT : POINT + 3]
        rate = (
            second[:, VELOCITY_OF_POINT : VELOCITY_OF_POINT + 3] - first[:, VELOCITY_OF_POINT : VELOCITY_OF_POINT + 3]
        )
        length = np.sqrt(np.sum(apart * apart, axis=1))
        directions = np.divide(apart, length[:, None], out=np.zeros_like(apart), where=length[:, None] > 0)
        size = self.stiffness * (length - self.rest) + self.damping * np.sum(directions * rate, axis=1)
        return np.asarray(-size[:, None] * directions)


def springs_of(mechanism: Mechanism, flat: FlatMechanism) -> tuple[Springs, list[Frame]]:
    """The springs and dampers of a mechanism and the frames they pull at. Raises KernelError for other elements."""
    table: list[tuple[float, float, float]] = []
    frames: list[Frame] = []
    for element in mechanism.elements:
        if (
            not isinstance(element, (Spring, Damper))
            or not isinstance(element.on, Span)
            or not isinstance(element.law, Linear)
        ):
            raise KernelError(
                f"{element.name} is not a linear spring or damper between two points, the only elements that chains "
                "support\n  compile with loops=False"
            )
        coefficient = flat.numbers.constant(element.law.coefficient)
        rest = flat.numbers.constant(element.rest) if isinstance(element, Spring) else 0.0
        table.append((coefficient, rest, 0.0) if isinstance(element, Spring) else (0.0, 0.0, coefficient))
        frames += [_frame(anchor, mechanism, flat) for anchor in (element.on.first, element.on.second)]
    values = np.array(table, dtype=float).reshape(-1, 3)
    return Springs(values[:, 0].copy(), values[:, 1].copy(), values[:, 2].copy()), frames


def _frame(anchor: Anchor, mechanism: Mechanism, flat: FlatMechanism) -> Frame:
    """The frame of an anchor: a point of a body or of the ground, or an output point by its name."""
    points: dict[str | None, Point] = {point.name: point for point in mechanism.points}
    of, position = anchor.of, anchor.position
    if of in points and of not in flat.frames:
        point = points[of]
        of, position = point.body, point.position
    frame = flat.frames[of]
    return Frame(frame.step, frame.turn, _shifted(frame, [flat.numbers.constant(item) for item in position]))


def _shifted(frame: Frame, by: Sequence[float]) -> tuple[float, ...]:
    m = frame.turn
    return tuple(frame.origin[row] + sum(m[3 * row + k] * by[k] for k in range(3)) for row in range(3))
