"""Dynamics of a planar loop from its segments, each reduced to the compliance at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TypeAlias

from kinegraph.codegen.simd import Exchanged
from kinegraph.derive.constraints.constrained_dynamics import guarded, pivots_of
from kinegraph.derive.constraints.constraint_rows import path_between
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

# ---- Planar loops as a sequence of bars from the ground to the ground

Plane: TypeAlias = tuple[Scalar, Scalar]


@dataclass(frozen=True)
class LoopBar:
    """One link, rotated by its absolute angle, with all vectors in the plane.

    `velocity` rotates it, in the sense of `sign`, relative to `parent`: its base, or the ground (0) if coordinates are
    absolute angles. `first` and `inertia` are the moments about its first joint; `span` is the vector from there to its
    second joint.
    """

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
    span: Plane

    def reversed(self) -> LoopBar:
        """The same bar from its other end."""
        (hx, hy), (lx, ly) = self.first, self.span
        inertia = self.inertia - 2 * (lx * hx + ly * hy) + self.mass * (lx * lx + ly * ly)
        first = hx - self.mass * lx, hy - self.mass * ly
        return LoopBar(
            self.link, self.parent, self.velocity, self.sign, self.sine, self.cosine, self.rate,
            self.mass, first, inertia, (-lx, -ly),
        )  # fmt: skip


@dataclass(frozen=True)
class PlanarLoop:
    """The bars in order around the loop; `closing` of them come before the closing joint.

    `gravity` is in the plane; `rows` are the indices of the two axes of the plane.
    """

    bars: tuple[LoopBar, ...]
    closing: int
    gravity: Plane
    rows: tuple[int, int]


def planar_loop(mechanism: Mechanism, tree: Tree, motion: Motion) -> PlanarLoop | None:
    """The mechanism as one planar loop of bars; None if it is not."""
    axis = _common_axis(tree)
    loop = _only_loop(mechanism)
    if axis is None or loop is None or tree.armature:
        return None
    ends = tree.bodies[first_frame(loop)], tree.bodies[second_frame(loop)]
    chains = [path_between(tree, 0, end.link) for end in ends]
    if sorted(chains[0] + chains[1]) != list(range(1, len(tree.links))):
        return None
    build = _BarBuilder(tree, motion, axis)
    halves = [build.bars(chain, end) for chain, end in zip(chains, ends, strict=True)]
    if halves[0] is None or halves[1] is None:
        return None
    back = [bar.reversed() for bar in reversed(halves[1])]
    return PlanarLoop((*halves[0], *back), len(halves[0]), build.plane(tree.gravity), FOLLOWING[axis])


def _only_loop(mechanism: Mechanism) -> Loop | None:
    """The only loop, if its joint leaves only rotation in the plane free."""
    if len(mechanism.loops) != 1 or mechanism.constraints or mechanism.contacts:
        return None
    if not isinstance(mechanism.loops[0], Loop):
        return None
    loop = mechanism.loops[0]
    fixes = loop.type.fixes
    revolute = fixes.rotation in (Rotation.FREE, Rotation.ACROSS)
    return loop if fixes.translation is Translation.ALL and revolute else None


def _common_axis(tree: Tree) -> int | None:
    """The common axis of all joints."""
    if any(link.joint is None or link.joint.kind is not JointKind.REVOLUTE for link in tree.links[1:]):
        return None
    frames = arrange(tree, frozenset(range(len(tree.links)))).link_frames[1:]
    axes = {frame.axis for frame in frames}
    return axes.pop() if len(axes) == 1 and not any(frame.turns for frame in frames) else None


class _BarBuilder:
    """Builds bars from the links of a chain."""

    def __init__(self, tree: Tree, motion: Motion, axis: int) -> None:
        self.tree, self.motion, self.axis = tree, motion, axis
        self.frames = arrange(tree, frozenset(range(len(tree.links)))).link_frames

    def bars(self, chain: Sequence[int], end: Placement) -> list[LoopBar] | None:
        """The bars of a chain that ends at `end`; None if a bar is not rotated by exactly one velocity."""
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
        """The relative angular velocity of a link by velocities, about the common axis; None if it has other parts."""
        columns, rates = self.motion.columns[link][0], self.motion.rates[link]
        joint_axis = self.frames[link].joint_axis
        assert joint_axis is not None
        whole = sum((factor * self.motion.velocities[k] for k, factor in columns.items()), self.tree.like.number(0))
        if whole != rates.velocity[0] or not rates.acceleration[0].is_zero:
            return None
        return {k: factor * joint_axis[self.axis] for k, factor in columns.items()}

    def _bar(self, moved: tuple[int, int, int, int], rate: Scalar, span: Vector) -> LoopBar:
        link = moved[0]
        frame, moments = self.frames[link], self.tree.links[link].moments
        second = congruence(frame.matrix, moments.second)
        u, v = FOLLOWING[self.axis]
        assert frame.angle is not None
        return LoopBar(
            *moved, frame.angle.sin(), frame.angle.cos(), rate,
            moments.mass, self._still(frame, moments.first), second[u] + second[v], self._still(frame, span),
        )  # fmt: skip

    def _still(self, frame: LinkFrame, a: Vector) -> Plane:
        """A vector fixed in a link, in the link's axes."""
        return self.plane(apply(frame.matrix, a))

    def plane(self, a: Vector) -> Plane:
        """The components of a vector in the plane."""
        u, v = FOLLOWING[self.axis]
        return a[u], a[v]


def _added(first: dict[int, Scalar], second: dict[int, Scalar]) -> dict[int, Scalar]:
    """The sum of two linear forms, without zero terms."""
    total = dict(first)
    for key, factor in second.items():
        total[key] = total[key] + factor if key in total else factor
    return {key: factor for key, factor in total.items() if not factor.is_zero}


def _single(form: dict[int, Scalar]) -> tuple[int, int] | None:
    """The velocity and sign of a form that is plus or minus one velocity; otherwise None."""
    if len(form) != 1:
        return None
    ((key, factor),) = form.items()
    return (key, int(factor.value)) if factor.value in (1, -1) else None


# ---- Segments: the accelerations of both ends of a free segment under forces there
#
# With the center of mass C, translation decouples: M a_C = forces. The angular accelerations satisfy G alpha = moments
# with G_ij = Re(K_ij exp(i (phi_j - phi_i))), K constant. The ends are at C + sum s_i and C + sum e_i, with s_i and e_i
# fixed in the bars. All accelerations are relative to free fall, so gravity appears only at the ground.


@dataclass(frozen=True)
class BarConstants:
    """The constants of a segment: 1/M, the diagonal of G, K of every pair of bars, and s and e of every bar."""

    inverse_mass: Scalar
    diagonal: tuple[Scalar, ...]
    couplings: dict[tuple[int, int], Plane]
    start: tuple[Plane, ...]
    end: tuple[Plane, ...]

    def numbers(self) -> list[Scalar]:
        """All constants in one list."""
        pairs = (*self.couplings.values(), *self.start, *self.end)
        return [self.inverse_mass, *self.diagonal, *(item for pair in pairs for item in pair)]

    def with_numbers(self, numbers: Sequence[Scalar]) -> BarConstants:
        """The same structure with other numbers, in the order of `numbers`."""
        size = len(self.diagonal)
        inverse_mass, diagonal, rest = numbers[0], numbers[1 : size + 1], iter(numbers[size + 1 :])
        pairs = list(zip(rest, rest, strict=True))
        count = len(self.couplings)
        couplings = dict(zip(self.couplings, pairs[:count], strict=True))
        start, end = pairs[count : count + size], pairs[count + size :]
        return BarConstants(inverse_mass, tuple(diagonal), couplings, tuple(start), tuple(end))


def bar_constants(bars: Sequence[LoopBar]) -> BarConstants:
    """The constants of a sequence of bars."""
    total = sum((bar.mass for bar in bars[1:]), bars[0].mass)
    inverse_mass = total.reciprocal()
    moments, after = [], total
    for bar in bars:
        after = after - bar.mass
        moments.append((bar.first[0] + after * bar.span[0], bar.first[1] + after * bar.span[1]))
    start = tuple((-inverse_mass * x, -inverse_mass * y) for x, y in moments)
    end = tuple((bar.span[0] + x, bar.span[1] + y) for bar, (x, y) in zip(bars, start, strict=True))
    couplings = {
        (i, j): _conjugate_product(end[i], moments[j]) for i in range(len(bars)) for j in range(i + 1, len(bars))
    }
    diagonal, after = [], total
    for bar, (x, y) in zip(bars, moments, strict=True):
        after = after - bar.mass
        length = bar.span[0] * bar.span[0] + bar.span[1] * bar.span[1]
        diagonal.append(bar.inertia + after * length - inverse_mass * (x * x + y * y))
    return BarConstants(inverse_mass, tuple(diagonal), couplings, start, end)


def _conjugate_product(a: Plane, b: Plane) -> Plane:
    """conj(a) b of two vectors as complex numbers."""
    return a[0] * b[0] + a[1] * b[1], a[0] * b[1] - a[1] * b[0]


@dataclass(frozen=True)
class BarMotion:
    """The variables of a segment, bar by bar; `moment`: applied moments other than those of the end forces."""

    sine: tuple[Scalar, ...]
    cosine: tuple[Scalar, ...]
    rate: tuple[Scalar, ...]
    moment: tuple[Scalar, ...]


class LoopSegment:
    """The compliance of a segment at its ends, and the accelerations of its bars under forces there.

    The four directions are the two axes of the plane at the start, then at the end.
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
        """On every bar: the applied moment minus the centrifugal terms."""
        found = list(self.motion_of_bars.moment)
        for (i, j), (real, imaginary) in self.constant.couplings.items():
            cosine, sine = self._pairs[i, j]
            pull = real * sine + imaginary * cosine
            found[i] = found[i] + pull * self._squares[j]
            found[j] = found[j] - pull * self._squares[i]
        return found

    @cached_property
    def _ends(self) -> list[Plane]:
        """s of every bar, then e of every bar, in the axes of the plane."""
        turned = zip(self.motion_of_bars.sine * 2, self.motion_of_bars.cosine * 2, strict=True)
        parts = (*self.constant.start, *self.constant.end)
        return [(c * x - s * y, s * x + c * y) for (s, c), (x, y) in zip(turned, parts, strict=True)]

    @cached_property
    def _uppers(self) -> Square:
        """L^-T E of the four directions, where E is their derivative by the angles of the bars."""
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
        """The compliance of two directions; parallel directions also move the center of mass."""
        parallel = (i - j) % 2 == 0
        return sum_of_products(self._uppers[i], self._scaled[j], self.constant.inverse_mass if parallel else None)

    @cached_property
    def free(self) -> list[Scalar]:
        """By direction: the acceleration without forces at the ends."""
        motion_of_bars = [-sum_of_products(self._pull(direction), self._squares) for direction in range(4)]
        return [
            sum_of_products(row, self._upper, start) for row, start in zip(self._scaled, motion_of_bars, strict=True)
        ]

    def _pull(self, direction: int) -> list[Scalar]:
        """The component of each bar along a direction, the factor of its squared rate in the acceleration."""
        first = self.size * (direction // 2)
        return [part[direction % 2] for part in self._ends[first : first + self.size]]

    def accelerations(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """The angular accelerations of the bars under forces in the four directions."""
        columns = zip(*self._uppers, strict=True)
        upper = [sum_of_products(column, forces, item) for column, item in zip(columns, self._upper, strict=True)]
        return self._inertia.solve_lower(upper)


# ---- Forces at the cuts between segments: a block-tridiagonal system, eliminated from both ends toward one cut
#
# The remaining block at that cut is the compliance of the loop with only that joint open, J H^-1 J^T of the multiplier
# form. Only this block is singular when the loop is, and its pivots measure the distance from that.


class _Eliminated:
    """An eliminated cut. columns: for every direction of the next cut the entries here."""

    def __init__(self, block: Square, columns: Square, right: Sequence[Scalar]) -> None:
        self._factors = Factorized(block, range(len(block)), ["a cut"] * len(block))
        self._coupling = [self._factors.solve_upper(column) for column in columns]
        self._right = self._factors.solve_upper(right)

    @cached_property
    def _scaled(self) -> Square:
        """The scaled coupling with opposite sign."""
        return [[-item for item in self._factors.scaled(row)] for row in self._coupling]

    def taken_off(self, block: Square) -> Square:
        """The Schur complement: the block of the next cut after this elimination."""
        size = len(block)
        lower = [
            [sum_of_products(self._coupling[i], self._scaled[j], block[i][j]) for j in range(i + 1)]
            for i in range(size)
        ]
        return [[lower[max(i, j)][min(i, j)] for j in range(size)] for i in range(size)]

    def taken_off_right(self, right: Sequence[Scalar]) -> list[Scalar]:
        """The right-hand side of the next cut after this elimination."""
        return [sum_of_products(row, self._right, item) for row, item in zip(self._scaled, right, strict=True)]

    def forces(self, following: Sequence[Scalar]) -> list[Scalar]:
        """The forces here, from those at the next cut."""
        against = [-force for force in following]
        columns = zip(*self._coupling, strict=True)
        upper = [sum_of_products(column, against, item) for column, item in zip(columns, self._right, strict=True)]
        return self._factors.solve_lower(upper)


class CutForces:
    """`diagonal[k]` and `right[k]` belong to cut k, `coupling[k][i][j]` to row i of cut k and column j of cut k + 1.

    `compliance` and `remaining` are the block and the right-hand side left at the cut `last`.
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
        """The forces at all cuts, from those at the last cut."""
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


# ---- Segments of equal length in vector lanes
#
# The formulas of such segments must differ only in symbols and a few input nodes. Different numbers become symbols. The
# inputs of segments (angles, rates, moments, forces at their ends) become hidden outputs of the graph, with one row for
# every input and one column for every lane, because passes preserve outputs.

#: Lanes of a vector.
WIDTH = 4
_HIDDEN = "lanes of group "


def lane_groups(lengths: Sequence[int], width: int) -> list[tuple[int, ...]]:
    """Groups of at most `width` segments of equal length; single segments are omitted."""
    found = []
    for length in dict.fromkeys(lengths):
        same = [place for place, one in enumerate(lengths) if one == length]
        found += [tuple(same[k : k + width]) for k in range(0, len(same), width)]
    return [group for group in found if len(group) > 1]


@dataclass
class SegmentLanes:
    """Records the lanes of segments; `numbers`: the values of symbols that replace numbers."""

    groups: Sequence[tuple[int, ...]]
    numbers: dict[Symbol, Scalar] = field(default_factory=dict)
    exchange: dict[Exchanged, Exchanged] = field(default_factory=dict)
    _taken: dict[int, list[list[Scalar]]] = field(default_factory=dict)

    def same_shape(self, constants: Sequence[BarConstants]) -> list[BarConstants]:
        """The constants of all segments, with symbols for constants that differ within a group."""
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
        """A separate node for an input shared with another segment: the input times a symbol of value one."""
        symbol = Symbol(Kind.PARAMETER, "number one")
        self.numbers[symbol] = scalar.number(1)
        return scalar.symbol(*symbol) * scalar

    def take(self, taken: Sequence[Sequence[Scalar]]) -> None:
        """Record the inputs of every segment, in the same order for all."""
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
    """The graph without hidden outputs, and their nodes as pairs with the node in the next lane."""
    pairs: list[tuple[int, int]] = []
    for output in graph.outputs:
        if output.name.startswith(_HIDDEN):
            width = output.shape[1]
            rows = [output.nodes[k : k + width] for k in range(0, len(output.nodes), width)]
            pairs += [pair for row in rows for pair in pairwise([*row, row[0]])]
    visible = tuple(output for output in graph.outputs if not output.name.startswith(_HIDDEN))
    return Graph(graph.nodes, visible), tuple(dict.fromkeys(pairs))


# ---- The motion of a planar loop from its segments

#: Both directions of the plane belong to one joint.
_NAMES = ("closing.x", "closing.y")
_GROUPS = ("closing", "closing")


def lengths_of(loop: PlanarLoop, length: int) -> list[int]:
    """The numbers of bars of the segments: `length`, and the rest next to the closing joint, which is a cut."""
    before, after = loop.closing, len(loop.bars) - loop.closing
    return [*_parts(before, length), *_parts(after, length)[::-1]]


def _parts(bars: int, length: int) -> list[int]:
    return [length] * (bars // length) + [bars % length] * (bars % length > 0)


@dataclass(frozen=True)
class SegmentedLoop:
    """A planar loop cut into segments, under generalized forces on all velocities. lanes: parallel computation."""

    loop: PlanarLoop
    lengths: tuple[int, ...]
    forces: Sequence[Scalar]
    names: Sequence[str]
    lanes: SegmentLanes | None = None

    @cached_property
    def cuts_at(self) -> list[int]:
        """The number of bars before each cut."""
        return [0, *accumulate(self.lengths)]

    @cached_property
    def last_cut(self) -> int:
        """The cut that is solved last: the closing joint."""
        return self.cuts_at.index(self.loop.closing)

    @cached_property
    def _moments(self) -> dict[int, Scalar]:
        """The moments of joints on every link."""
        own = {bar.link: bar.sign * self.forces[bar.velocity] for bar in self.loop.bars}
        found = dict(own)
        for bar in self.loop.bars:
            if bar.parent:
                found[bar.parent] = found[bar.parent] - own[bar.link]
        return found

    @cached_property
    def segments(self) -> list[LoopSegment]:
        """All segments."""
        rows = [self.loop.bars[first:last] for first, last in pairwise(self.cuts_at)]
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
        """The system of the forces at the cuts. Each acts on the segment after it; its reaction on the one before."""
        none = self.loop.gravity[0].number(0)
        ground = [[none, none], [none, none]]
        fixed = [-item for item in self.loop.gravity]
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
    def factorized(self) -> Factorized:
        """The factorization of the compliance."""
        return Factorized(self.compliance, range(2), ("the closing joint", "the closing joint"))

    @cached_property
    def closing_force(self) -> list[Scalar]:
        """The force at the last cut on the segment after it."""
        return guarded(self.compliance, self.factorized, _GROUPS).solve(self.cuts.remaining)

    def multipliers(self) -> list[Scalar]:
        """The force at the closing joint, in the order of the rows."""
        return [self.closing_force[place] for place in self._in_order]

    def pivots(self) -> list[Scalar]:
        """For every row of the closing joint: how independent it is of earlier rows, as in the multiplier form."""
        compliance = [[self.compliance[i][j] for j in self._in_order] for i in self._in_order]
        return pivots_of(compliance, Factorized(compliance, range(2), _NAMES), _GROUPS)

    @property
    def _in_order(self) -> list[int]:
        """The directions of the plane in the order of the rows."""
        return sorted(range(2), key=lambda place: self.loop.rows[place])

    def accelerations(self) -> list[Scalar]:
        """The accelerations, by velocity."""
        angular = self._angular()
        found = [self.forces[0]] * len(self.forces)
        for bar in self.loop.bars:
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
            bars = self.loop.bars[first : first + segment.size]
            found.update((bar.link, item) for bar, item in zip(bars, accelerations, strict=True))
        return found


def _sum(a: Square, b: Square) -> Square:
    return [[x + y for x, y in zip(row, other, strict=True)] for row, other in zip(a, b, strict=True)]
