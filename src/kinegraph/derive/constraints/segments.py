"""Dynamics of a planar loop from its segments, each reduced to its compliance at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TypeAlias

from kinegraph.codegen.simd import Exchanged
from kinegraph.derive.constraints.constrained_dynamics import guarded, pivots_of
from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.derive.dynamics.inertia_factorization import Factorized
from kinegraph.derive.tree.algebra import FOLLOWING, Vector, apply, congruence, sum_of_products
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import LinkFrame, arrange
from kinegraph.derive.tree.links import JointKind, Placement, Tree, first_frame, second_frame
from kinegraph.graph.build import Scalar
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.model.constraints import Loop, Rotation, Translation
from kinegraph.model.mechanism import Mechanism

# Planar loops as a row of bars from the ground to the ground, in the order one walks around.
#
# A bar turns by its absolute angle; what is kept of it is its mass, its first moment and its moment of inertia about
# the point where one enters it, and the way to the point where one leaves it. All vectors are in the plane.

Plane: TypeAlias = tuple[Scalar, Scalar]


@dataclass(frozen=True)
class LoopBar:
    """One link. Its own velocity turns it, `sign` says which way, against `parent`: the link it stands on, or the
    ground (0) where coordinates are absolute angles."""

    link: int
    parent: int
    velocity: int
    sign: int
    sine: Scalar
    cosine: Scalar
    rate: Scalar
    mass: Scalar
    first: Plane
    inertia: Scalar
    way: Plane

    def reversed(self) -> LoopBar:
        """The same bar, walked from its other end."""
        (hx, hy), (lx, ly) = self.first, self.way
        inertia = self.inertia - 2 * (lx * hx + ly * hy) + self.mass * (lx * lx + ly * ly)
        first = hx - self.mass * lx, hy - self.mass * ly
        return LoopBar(
            self.link, self.parent, self.velocity, self.sign, self.sine, self.cosine, self.rate,
            self.mass, first, inertia, (-lx, -ly),
        )  # fmt: skip


@dataclass(frozen=True)
class PlanarLoop:
    """The bars in the order of the walk; `closing` is how many come before the joint that closes the loop.

    `gravity` lies in the plane; `rows` are the directions of the plane among the axes.
    """

    bars: tuple[LoopBar, ...]
    closing: int
    gravity: Plane
    rows: tuple[int, int]


def planar_loop(mechanism: Mechanism, tree: Tree, motion: Motion) -> PlanarLoop | None:
    """The mechanism as a ring of bars; None if it is anything else."""
    axis = _common_axis(tree)
    loop = _only_loop(mechanism)
    if axis is None or loop is None or tree.armature:
        return None
    ends = tree.bodies[first_frame(loop)], tree.bodies[second_frame(loop)]
    chains = [_chain(tree, end.link) for end in ends]
    if sorted(chains[0] + chains[1]) != list(range(1, len(tree.links))):
        return None
    walk = _Walk(tree, motion, axis)
    halves = [walk.bars(chain, end) for chain, end in zip(chains, ends, strict=True)]
    if halves[0] is None or halves[1] is None:
        return None
    back = [bar.reversed() for bar in reversed(halves[1])]
    return PlanarLoop((*halves[0], *back), len(halves[0]), walk.plane(tree.gravity), FOLLOWING[axis])


def _only_loop(mechanism: Mechanism) -> Loop | None:
    """The one loop, if it is closed by a joint that leaves only rotation in the plane."""
    if len(mechanism.loops) != 1 or mechanism.constraints or mechanism.contacts:
        return None
    if not isinstance(mechanism.loops[0], Loop):
        return None
    loop = mechanism.loops[0]
    fixes = loop.type.fixes
    revolute = fixes.rotation in (Rotation.FREE, Rotation.ACROSS)
    return loop if fixes.translation is Translation.ALL and revolute else None


def _common_axis(tree: Tree) -> int | None:
    """The axis all joints turn about."""
    if any(link.joint is None or link.joint.kind is not JointKind.REVOLUTE for link in tree.links[1:]):
        return None
    frames = arrange(tree, frozenset(range(len(tree.links)))).link_frames[1:]
    axes = {frame.axis for frame in frames}
    return axes.pop() if len(axes) == 1 and not any(frame.turns for frame in frames) else None


def _chain(tree: Tree, link: int) -> list[int]:
    """The links from the ground to a link."""
    found = []
    while link:
        found.append(link)
        link = tree.links[link].parent
    return found[::-1]


class _Walk:
    """Makes bars of the links of a chain."""

    def __init__(self, tree: Tree, motion: Motion, axis: int) -> None:
        self.tree, self.motion, self.axis = tree, motion, axis
        self.frames = arrange(tree, frozenset(range(len(tree.links)))).link_frames

    def bars(self, chain: Sequence[int], end: Placement) -> list[LoopBar] | None:
        """The bars of a chain, the last one ending at `end`; None if one is not turned by one velocity of its own."""
        found: list[LoopBar] = []
        absolute: dict[int, Scalar] = {}
        for place, link in enumerate(chain):
            relative = self._turned_by(link)
            if relative is None:
                return None
            absolute = _added(absolute, relative)
            own = _single(relative) or _single(absolute)
            if own is None:
                return None
            parent = self.tree.links[link].parent if _single(relative) else 0
            rate = sum((self.motion.velocities[k] * factor for k, factor in absolute.items()), self.tree.like.number(0))
            following = self.tree.links[chain[place + 1]].origin if place + 1 < len(chain) else end
            assert following is not None
            found.append(self._bar((link, parent, *own), rate, following.position))
        return found

    def _turned_by(self, link: int) -> dict[int, Scalar] | None:
        """How velocities turn a link against the one it stands on, about the common axis; None if they do not alone."""
        columns, rates = self.motion.columns[link][0], self.motion.rates[link]
        joint_axis = self.frames[link].joint_axis
        assert joint_axis is not None
        whole = sum((factor * self.motion.velocities[k] for k, factor in columns.items()), self.tree.like.number(0))
        if whole != rates.velocity[0] or not rates.acceleration[0].is_zero:
            return None
        return {k: factor * joint_axis[self.axis] for k, factor in columns.items()}

    def _bar(self, moved: tuple[int, int, int, int], rate: Scalar, way: Vector) -> LoopBar:
        link = moved[0]
        frame, moments = self.frames[link], self.tree.links[link].moments
        second = congruence(frame.matrix, moments.second)
        u, v = FOLLOWING[self.axis]
        assert frame.angle is not None
        return LoopBar(
            *moved, frame.angle.sin(), frame.angle.cos(), rate,
            moments.mass, self._still(frame, moments.first), second[u] + second[v], self._still(frame, way),
        )  # fmt: skip

    def _still(self, frame: LinkFrame, a: Vector) -> Plane:
        """A vector fixed in a link, in the axes that its angle turns."""
        return self.plane(apply(frame.matrix, a))

    def plane(self, a: Vector) -> Plane:
        """The part of a vector in the plane."""
        u, v = FOLLOWING[self.axis]
        return a[u], a[v]


def _added(first: dict[int, Scalar], second: dict[int, Scalar]) -> dict[int, Scalar]:
    """The sum of two linear forms, without what cancels."""
    total = dict(first)
    for key, factor in second.items():
        total[key] = total[key] + factor if key in total else factor
    return {key: factor for key, factor in total.items() if not factor.is_zero}


def _single(form: dict[int, Scalar]) -> tuple[int, int] | None:
    """The one velocity of a form and its sign, if it is just plus or minus that."""
    if len(form) != 1:
        return None
    ((key, factor),) = form.items()
    return (key, int(factor.value)) if factor.value in (1, -1) else None


# A segment of a planar loop, cut free at both ends: how its ends accelerate under forces there.
#
# About the centre of mass C the translation is alone, M a_C = forces, and the angular accelerations obey
# G alpha = moments, with G_ij = Re(K_ij exp(i (phi_j - phi_i))), K constant. The start lies at C + sum s_i, the end at
# C + sum e_i with s_i and e_i fixed in the bars. All accelerations are less gravity, which then acts on nothing but the
# ground.


@dataclass(frozen=True)
class BarConstants:
    """What does not move: 1/M, the diagonal of G, K of every pair of bars, and the parts of both ends in every bar."""

    light: Scalar
    diagonal: tuple[Scalar, ...]
    couplings: dict[tuple[int, int], Plane]
    start: tuple[Plane, ...]
    end: tuple[Plane, ...]

    def numbers(self) -> list[Scalar]:
        """All of them in one row."""
        pairs = (*self.couplings.values(), *self.start, *self.end)
        return [self.light, *self.diagonal, *(item for pair in pairs for item in pair)]

    def with_numbers(self, numbers: Sequence[Scalar]) -> BarConstants:
        """The same with other numbers, in the order of `numbers`."""
        size = len(self.diagonal)
        light, diagonal, rest = numbers[0], numbers[1 : size + 1], iter(numbers[size + 1 :])
        pairs = list(zip(rest, rest, strict=True))
        count = len(self.couplings)
        couplings = dict(zip(self.couplings, pairs[:count], strict=True))
        start, end = pairs[count : count + size], pairs[count + size :]
        return BarConstants(light, tuple(diagonal), couplings, tuple(start), tuple(end))


def bar_constants(bars: Sequence[LoopBar]) -> BarConstants:
    """The constants of a row of bars."""
    total = sum((bar.mass for bar in bars[1:]), bars[0].mass)
    light = total.reciprocal()
    moments, after = [], total
    for bar in bars:
        after = after - bar.mass
        moments.append((bar.first[0] + after * bar.way[0], bar.first[1] + after * bar.way[1]))
    start = tuple((-light * x, -light * y) for x, y in moments)
    end = tuple((bar.way[0] + x, bar.way[1] + y) for bar, (x, y) in zip(bars, start, strict=True))
    couplings = {
        (i, j): _conjugate_product(end[i], moments[j]) for i in range(len(bars)) for j in range(i + 1, len(bars))
    }
    diagonal, after = [], total
    for bar, (x, y) in zip(bars, moments, strict=True):
        after = after - bar.mass
        length = bar.way[0] * bar.way[0] + bar.way[1] * bar.way[1]
        diagonal.append(bar.inertia + after * length - light * (x * x + y * y))
    return BarConstants(light, tuple(diagonal), couplings, start, end)


def _conjugate_product(a: Plane, b: Plane) -> Plane:
    """conj(a) b of two vectors taken as complex numbers."""
    return a[0] * b[0] + a[1] * b[1], a[0] * b[1] - a[1] * b[0]


@dataclass(frozen=True)
class BarMotion:
    """What moves in a segment, bar by bar; `moment` is what acts on each bar beside the forces at the ends."""

    sine: tuple[Scalar, ...]
    cosine: tuple[Scalar, ...]
    rate: tuple[Scalar, ...]
    moment: tuple[Scalar, ...]


class LoopSegment:
    """The compliance of a segment at its ends, and what its bars do under forces there.

    The four directions are the two of the plane at the start, then at the end.
    """

    def __init__(self, constant: BarConstants, motion_of_bars: BarMotion, names: Sequence[str]) -> None:
        self.constant, self.motion_of_bars = constant, motion_of_bars
        self._names = names
        self.size = len(motion_of_bars.rate)
        self._squares = [rate * rate for rate in motion_of_bars.rate]

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], Plane]:
        """Cosine and sine of the angle between two bars."""
        s, c = self.motion_of_bars.sine, self.motion_of_bars.cosine
        return {
            (i, j): (c[i] * c[j] + s[i] * s[j], c[i] * s[j] - s[i] * c[j])
            for i in range(self.size)
            for j in range(i + 1, self.size)
        }

    @cached_property
    def _inertia(self) -> Factorized:
        entries = [[item] * self.size for item in self.constant.diagonal]
        for (i, j), (real, imaginary) in self.constant.couplings.items():
            cosine, sine = self._pairs[i, j]
            entries[i][j] = entries[j][i] = real * cosine - imaginary * sine
        return Factorized(entries, range(self.size), self._names)

    def _moments(self) -> list[Scalar]:
        """On every bar: what acts on it, less what its rotation takes without acceleration."""
        found = list(self.motion_of_bars.moment)
        for (i, j), (real, imaginary) in self.constant.couplings.items():
            cosine, sine = self._pairs[i, j]
            pull = real * sine + imaginary * cosine
            found[i] = found[i] + pull * self._squares[j]
            found[j] = found[j] - pull * self._squares[i]
        return found

    @cached_property
    def _ends(self) -> list[Plane]:
        """The parts of the start, then of the end, in every bar, in the axes of the plane."""
        turned = zip(self.motion_of_bars.sine * 2, self.motion_of_bars.cosine * 2, strict=True)
        parts = (*self.constant.start, *self.constant.end)
        return [(c * x - s * y, s * x + c * y) for (s, c), (x, y) in zip(turned, parts, strict=True)]

    @cached_property
    def _uppers(self) -> Square:
        """L^-T E of the four directions: E is how they move with the angles of the bars."""
        start, end = self._ends[: self.size], self._ends[self.size :]
        return [
            self._inertia.solve_upper(column)
            for part in (start, end)
            for column in ([-y for _, y in part], [x for x, _ in part])
        ]

    @cached_property
    def _upper(self) -> list[Scalar]:
        return self._inertia.solve_upper(self._moments())

    @cached_property
    def _scaled(self) -> Square:
        return [self._inertia.scaled(row) for row in self._uppers]

    @cached_property
    def compliance(self) -> Square:
        """The acceleration along each of the four directions under a unit force along each of them."""
        return [[self._entry(max(i, j), min(i, j)) for j in range(4)] for i in range(4)]

    def _entry(self, i: int, j: int) -> Scalar:
        """Of two directions; those that are parallel also move the centre of mass."""
        parallel = (i - j) % 2 == 0
        return sum_of_products(self._uppers[i], self._scaled[j], self.constant.light if parallel else None)

    @cached_property
    def free(self) -> list[Scalar]:
        """By directions: the acceleration without forces at the ends."""
        motion_of_bars = [-sum_of_products(self._pull(direction), self._squares) for direction in range(4)]
        return [
            sum_of_products(row, self._upper, start) for row, start in zip(self._scaled, motion_of_bars, strict=True)
        ]

    def _pull(self, direction: int) -> list[Scalar]:
        """How far each bar reaches along a direction from an end: with the square of its rate it pulls that way."""
        first = self.size * (direction // 2)
        return [part[direction % 2] for part in self._ends[first : first + self.size]]

    def accelerations(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """The angular accelerations of the bars under forces in the four directions."""
        columns = zip(*self._uppers, strict=True)
        upper = [sum_of_products(column, forces, item) for column, item in zip(columns, self._upper, strict=True)]
        return self._inertia.solve_lower(upper)


# The forces at the cuts between segments: a block-tridiagonal system, eliminated from both ends towards one cut.
#
# What is left at that cut is the compliance of the whole loop when only that joint is open, J H^-1 J^T of the
# multiplier form: it alone becomes singular where the loop does, and its pivots measure how far that is.


class _Eliminated:
    """A cut taken out; `columns` are, for every direction of the next cut, the entries here."""

    def __init__(self, block: Square, columns: Square, right: Sequence[Scalar]) -> None:
        self._factors = Factorized(block, range(len(block)), ["a cut"] * len(block))
        self._coupling = [self._factors.solve_upper(column) for column in columns]
        self._right = self._factors.solve_upper(right)

    @cached_property
    def _scaled(self) -> Square:
        """The coupling with signs changed, ready to be taken off."""
        return [[-item for item in self._factors.scaled(row)] for row in self._coupling]

    def taken_off(self, block: Square) -> Square:
        """The block of the next cut less what this one takes up."""
        size = len(block)
        lower = [
            [sum_of_products(self._coupling[i], self._scaled[j], block[i][j]) for j in range(i + 1)]
            for i in range(size)
        ]
        return [[lower[max(i, j)][min(i, j)] for j in range(size)] for i in range(size)]

    def taken_off_right(self, right: Sequence[Scalar]) -> list[Scalar]:
        """The right side of the next cut less what this one takes up."""
        return [sum_of_products(row, self._right, item) for row, item in zip(self._scaled, right, strict=True)]

    def forces(self, following: Sequence[Scalar]) -> list[Scalar]:
        """The forces here, from those at the next cut."""
        against = [-force for force in following]
        columns = zip(*self._coupling, strict=True)
        upper = [sum_of_products(column, against, item) for column, item in zip(columns, self._right, strict=True)]
        return self._factors.solve_lower(upper)


class CutForces:
    """`diagonal[k]` and `right[k]` belong to cut k, `coupling[k][i][j]` joins row i of cut k to column j of cut k + 1.

    `compliance` and `remaining` are what is left of block and right side at the cut `last`.
    """

    def __init__(
        self, diagonal: Sequence[Square], coupling: Sequence[Square], right: Sequence[Sequence[Scalar]], last: int
    ) -> None:
        columns = [[list(column) for column in zip(*block, strict=True)] for block in coupling]
        self._before = _eliminated(diagonal[:last], columns[:last], right[:last])
        self._after = _eliminated(diagonal[:last:-1], coupling[last:][::-1], right[:last:-1])
        self.compliance, self.remaining = diagonal[last], list(right[last])
        for one in self._before[-1:] + self._after[-1:]:
            self.compliance = one.taken_off(self.compliance)
            self.remaining = one.taken_off_right(self.remaining)

    def forces(self, at_last: Sequence[Scalar]) -> list[list[Scalar]]:
        """The forces at all cuts, from those at the cut that was kept for the end."""
        before, after = _recovered(self._before, at_last), _recovered(self._after, at_last)
        return [*before[::-1], list(at_last), *after]


def _eliminated(
    diagonal: Sequence[Square], columns: Sequence[Square], right: Sequence[Sequence[Scalar]]
) -> list[_Eliminated]:
    found: list[_Eliminated] = []
    for block, coupling, side in zip(diagonal, columns, right, strict=True):
        for one in found[-1:]:
            block, side = one.taken_off(block), one.taken_off_right(side)
        found.append(_Eliminated(block, coupling, side))
    return found


def _recovered(eliminated: Sequence[_Eliminated], at_last: Sequence[Scalar]) -> list[list[Scalar]]:
    found, following = [], at_last
    for one in reversed(eliminated):
        following = one.forces(following)
        found.append(following)
    return found


# Segments of one length side by side: written so that their formulas differ in symbols and a few nodes alone.
#
# Numbers in which segments differ become symbols. Where a segment takes in what was computed outside it (angles, rates,
# moments, forces at its ends), the nodes of its neighbours are noted as hidden outputs of the graph, one row for every
# such place and one column for every lane: passes keep outputs, whatever they do to the rest.

#: Lanes of a vector.
WIDTH = 4
_HIDDEN = "lanes of group "


def lane_groups(lengths: Sequence[int], width: int) -> list[tuple[int, ...]]:
    """Segments of one length, at most `width` of them together; those that find no other are left out."""
    found = []
    for length in dict.fromkeys(lengths):
        same = [place for place, one in enumerate(lengths) if one == length]
        found += [tuple(same[k : k + width]) for k in range(0, len(same), width)]
    return [group for group in found if len(group) > 1]


@dataclass
class SegmentLanes:
    """Grows while segments are written; `numbers` says what the symbols are that stand for numbers."""

    groups: Sequence[tuple[int, ...]]
    numbers: dict[Symbol, Scalar] = field(default_factory=dict)
    exchange: dict[Exchanged, Exchanged] = field(default_factory=dict)
    _taken: dict[int, list[list[Scalar]]] = field(default_factory=dict)

    def same_shape(self, constants: Sequence[BarConstants]) -> list[BarConstants]:
        """The constants of all segments, with symbols where those of one group differ."""
        found = list(constants)
        for group in self.groups:
            columns = zip(*(constants[segment].numbers() for segment in group), strict=True)
            rows = zip(*(self._column(group, place, column) for place, column in enumerate(columns)), strict=True)
            for segment, row in zip(group, rows, strict=True):
                found[segment] = constants[segment].with_numbers(row)
        return found

    def _column(self, group: tuple[int, ...], place: int, column: Sequence[Scalar]) -> Sequence[Scalar]:
        if all(item == column[0] for item in column):
            return column
        symbols = [Symbol(Kind.PARAMETER, f"number {place} of segment {segment}") for segment in group]
        self.numbers.update(zip(symbols, column, strict=True))
        self.exchange.update(pairwise([*symbols, symbols[0]]))
        return [column[0].symbol(*symbol) for symbol in symbols]

    def own(self, scalar: Scalar) -> Scalar:
        """A node of its own for what another segment takes in as well: once the number one."""
        symbol = Symbol(Kind.PARAMETER, "number one")
        self.numbers[symbol] = scalar.number(1)
        return scalar.symbol(*symbol) * scalar

    def take(self, taken: Sequence[Sequence[Scalar]]) -> None:
        """Note what every segment takes in, in the same order for all."""
        for number, group in enumerate(self.groups):
            columns = zip(*(taken[segment] for segment in group), strict=True)
            self._taken.setdefault(number, []).extend(list(column) for column in columns)

    def outputs(self) -> list[Output]:
        """The hidden outputs."""
        return [
            Output(f"{_HIDDEN}{number}", (len(rows), len(rows[0])), tuple(one.index for row in rows for one in row))
            for number, rows in self._taken.items()
        ]


def without_lanes(graph: Graph) -> tuple[Graph, tuple[tuple[int, int], ...]]:
    """The graph without hidden outputs, and the nodes they named: each with the one in the next lane."""
    pairs: list[tuple[int, int]] = []
    for output in graph.outputs:
        if output.name.startswith(_HIDDEN):
            width = output.shape[1]
            rows = [output.nodes[k : k + width] for k in range(0, len(output.nodes), width)]
            pairs += [pair for row in rows for pair in pairwise([*row, row[0]])]
    visible = tuple(output for output in graph.outputs if not output.name.startswith(_HIDDEN))
    return Graph(graph.nodes, visible), tuple(dict.fromkeys(pairs))


# The motion of a planar loop from its segments: accelerations, and force and compliance of the closing joint.

#: Both directions of the plane belong to one joint.
_NAMES = ("closing.x", "closing.y")
_GROUPS = ("closing", "closing")


def lengths_of(ring: PlanarLoop, length: int) -> list[int]:
    """How many bars the segments have: `length`, and what is left over beside the closing joint, which is a cut."""
    before, after = ring.closing, len(ring.bars) - ring.closing
    return [*_parts(before, length), *_parts(after, length)[::-1]]


def _parts(bars: int, length: int) -> list[int]:
    return [length] * (bars // length) + [bars % length] * (bars % length > 0)


@dataclass(frozen=True)
class SegmentedLoop:
    """A ring cut into segments, under generalized forces on all velocities. `lanes` notes what is done side by side."""

    ring: PlanarLoop
    lengths: tuple[int, ...]
    forces: Sequence[Scalar]
    names: Sequence[str]
    lanes: SegmentLanes | None = None

    @cached_property
    def cuts_at(self) -> list[int]:
        """How many bars come before each cut."""
        return [0, *accumulate(self.lengths)]

    @cached_property
    def last_cut(self) -> int:
        """The cut that is solved last: the closing joint."""
        return self.cuts_at.index(self.ring.closing)

    @cached_property
    def _moments(self) -> dict[int, Scalar]:
        """By link: what the moments in its joints do on it."""
        own = {bar.link: bar.sign * self.forces[bar.velocity] for bar in self.ring.bars}
        found = dict(own)
        for bar in self.ring.bars:
            if bar.parent:
                found[bar.parent] = found[bar.parent] - own[bar.link]
        return found

    @cached_property
    def segments(self) -> list[LoopSegment]:
        """All segments, reduced to their ends."""
        rows = [self.ring.bars[first:last] for first, last in pairwise(self.cuts_at)]
        still = [bar_constants(bars) for bars in rows]
        motions = [self._bar_motion(bars) for bars in rows]
        if self.lanes is not None:
            still = self.lanes.same_shape(still)
            self.lanes.take([[*one.sine, *one.cosine, *one.rate, *one.moment] for one in motions])
        return [
            LoopSegment(one, moving, [self.names[bar.velocity] for bar in bars])
            for one, moving, bars in zip(still, motions, rows, strict=True)
        ]

    def _bar_motion(self, bars: Sequence[LoopBar]) -> BarMotion:
        return BarMotion(
            tuple(bar.sine for bar in bars),
            tuple(bar.cosine for bar in bars),
            tuple(bar.rate for bar in bars),
            tuple(self._moments[bar.link] for bar in bars),
        )

    @cached_property
    def cuts(self) -> CutForces:
        """The system of the forces at the cuts: each acts on the segment after it, and against the one before."""
        none = self.ring.gravity[0].number(0)
        ground = [[none, none], [none, none]]
        fixed = [-item for item in self.ring.gravity]
        starts = [*([row[:2] for row in one.compliance[:2]] for one in self.segments), ground]
        ends = [ground, *([row[2:] for row in one.compliance[2:]] for one in self.segments)]
        coupling = [[[-item for item in row[2:]] for row in one.compliance[:2]] for one in self.segments]
        after = [*(one.free[:2] for one in self.segments), fixed]
        before = [fixed, *(one.free[2:] for one in self.segments)]
        diagonal = [_sum(a, b) for a, b in zip(starts, ends, strict=True)]
        right = [[e - s for s, e in zip(a, b, strict=True)] for a, b in zip(after, before, strict=True)]
        return CutForces(diagonal, coupling, right, self.last_cut)

    @cached_property
    def compliance(self) -> Square:
        """J H^-1 J^T of the joint at the last cut, along the directions of the plane."""
        return self.cuts.compliance

    @cached_property
    def factorised(self) -> Factorized:
        """The compliance, ready to be solved with."""
        return Factorized(self.compliance, range(2), ("the closing joint", "the closing joint"))

    @cached_property
    def closing_force(self) -> list[Scalar]:
        """The force at the last cut on what comes after it."""
        return guarded(self.compliance, self.factorised, _GROUPS).solve(self.cuts.remaining)

    def multipliers(self) -> list[Scalar]:
        """The force at the closing joint, in the order of the rows."""
        return [self.closing_force[place] for place in self._in_order]

    def pivots(self) -> list[Scalar]:
        """For every row of the closing joint how independent it is of those before it, as in the multiplier form."""
        compliance = [[self.compliance[i][j] for j in self._in_order] for i in self._in_order]
        return pivots_of(compliance, Factorized(compliance, range(2), _NAMES), _GROUPS)

    @property
    def _in_order(self) -> list[int]:
        """The directions of the plane in the order of the rows."""
        return sorted(range(2), key=lambda place: self.ring.rows[place])

    def accelerations(self) -> list[Scalar]:
        """By velocity."""
        angular = self._angular()
        found = [self.forces[0]] * len(self.forces)
        for bar in self.ring.bars:
            change = angular[bar.link] - angular[bar.parent] if bar.parent else angular[bar.link]
            found[bar.velocity] = bar.sign * change
        return found

    def _angular(self) -> dict[int, Scalar]:
        """The angular acceleration of every link."""
        forces = self.cuts.forces(self.closing_force)
        own = self.lanes.own if self.lanes is not None else (lambda scalar: scalar)
        taken = [[*start, *map(own, end)] for start, end in pairwise(forces)]
        if self.lanes is not None:
            self.lanes.take(taken)
        found: dict[int, Scalar] = {}
        for segment, (sx, sy, ex, ey), first in zip(self.segments, taken, self.cuts_at, strict=False):
            accelerations = segment.accelerations((sx, sy, -ex, -ey))
            bars = self.ring.bars[first : first + segment.size]
            found.update((bar.link, item) for bar, item in zip(bars, accelerations, strict=True))
        return found


def _sum(a: Square, b: Square) -> Square:
    return [[x + y for x, y in zip(row, other, strict=True)] for row, other in zip(a, b, strict=True)]
