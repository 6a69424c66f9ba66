"""Closed-form solutions of planar dyads and spatial rods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from kinegraph.derive.constraints.constraint_rows import ConstraintEquations, chain_motion, path_between
from kinegraph.derive.constraints.trigonometric_polynomials import (
    Atom,
    AtomKind,
    Combination,
    Expanded,
    Monomial,
    NoClosedForm,
    SineCosine,
    Unknowns,
    expanded_terms,
    given,
    given_turn,
    less,
    turn_of,
    without_squared_roots,
)
from kinegraph.derive.tree.algebra import FOLLOWING, apply, dot, minus, transpose, turn_vector
from kinegraph.derive.tree.links import JointKind, Placement, first_frame, second_frame
from kinegraph.graph.angle import LinearForm, linear_form
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.differentiate import below
from kinegraph.graph.node import Function, Polynomial
from kinegraph.model.constraints import Loop


class PlaneVector(NamedTuple):
    """A vector of the plane as a complex number x + i y: a rotation is a multiplication."""

    x: Scalar
    y: Scalar

    def turned(self, other: PlaneVector) -> PlaneVector:
        """The complex product."""
        return PlaneVector(self.x * other.x - self.y * other.y, self.x * other.y + self.y * other.x)

    def plus(self, other: PlaneVector) -> PlaneVector:
        """The sum."""
        return PlaneVector(self.x + other.x, self.y + other.y)

    def times(self, factor: Scalar) -> PlaneVector:
        """A multiple."""
        return PlaneVector(factor * self.x, factor * self.y)

    @property
    def mirrored(self) -> PlaneVector:
        """x - i y."""
        return PlaneVector(self.x, -self.y)

    @property
    def square(self) -> Scalar:
        """The squared length."""
        return self.x * self.x + self.y * self.y

    @property
    def is_zero(self) -> bool:
        """Is this the zero vector?"""
        return self.x.is_zero and self.y.is_zero

    @property
    def turn(self) -> SineCosine:
        """Sine and cosine of the angle of a unit vector."""
        return SineCosine(self.y, self.x)


# ---- Closed forms of one or two equations in as many unknowns: one angle, one displacement, and planar dyads
#
# Let K be known, m e = m (cos a + i sin a) a bar of length |m|, and s d a slider. The dyads are
#
#     RRR   K + m1 e1 + m2 e2 = 0        w = m1 e1 x m2 e2       two bars
#     RRP   K + m e + s d = 0            w = d . m e             a bar and a slider
#     RPR   K + (m + s n) e = 0          w = n . (m + s n)       a slider along a rotating bar
#     PRP   K + s1 d1 + s2 d2 = 0                                two sliders
#
# The lengths determine w^2. The sign of w is the branch, taken from the given positions. If w is zero, the dyad is at a
# dead point, and the result is NaN.

#: At a dead point the square of a root is below this fraction of its largest value.
DEAD_POINT = Fraction(1, 10**10)


@dataclass(frozen=True)
class DyadSolution:
    """Sines and cosines by combination of unknowns, displacements by symbol.

    angles: the angle of each sine and cosine, with its unknown and known parts.
    """

    angles: dict[Combination, LinearForm] = field(default_factory=dict)
    turns: dict[Combination, SineCosine] = field(default_factory=dict)
    values: dict[int, Scalar] = field(default_factory=dict)
    #: The root, which measures the distance from a dead point; often the determinant of the loop's rates.
    root: Scalar | None = None


def root_of(square: Scalar, scale: Scalar, now: Scalar) -> Scalar:
    """The root with its sign at the given positions; NaN if its square is nearly zero.

    scale: the largest value of the square.
    """
    square = without_squared_roots(square)
    guarded = square.apply("guarded", square - scale.number(DEAD_POINT) * scale)
    return now.apply("sign") * guarded.apply("sqrt")


class _Terms:
    """The coefficients of one equation, each taken once. Remaining terms mean that the form is unknown."""

    def __init__(self, expanded: Expanded, zero: Scalar) -> None:
        self._left = dict(expanded)
        self._zero = zero

    def take(self, *atoms: Atom) -> Scalar:
        """The coefficient of a product of atoms."""
        wanted: Monomial = tuple(sorted(atoms, key=lambda atom: (atom.unknown, atom.part.value)))
        return self._left.pop(wanted, self._zero)

    def require_end(self) -> None:
        """NoClosedForm if any term is left."""
        if self._left:
            raise NoClosedForm


def closed_form_solution(unknowns: Unknowns, equations: Sequence[Scalar]) -> DyadSolution:
    """The solution of equations (expressions equal to zero) in as many unknowns; NoClosedForm if none is known."""
    expanded = [unknowns.expanded(one) for one in equations]
    atoms = {atom for one in expanded for monomial in one for atom in monomial}
    angles = sorted({atom.unknown for atom in atoms if atom.part is not AtomKind.VALUE})
    sliders = sorted({atom.unknown for atom in atoms if atom.part is AtomKind.VALUE})
    form = _FORMS.get((len(equations), len(angles), len(sliders)))
    if form is None or len(angles) + len(sliders) != len(unknowns.symbols):
        raise NoClosedForm
    zero = Scalar(unknowns.builder, unknowns.builder.zero)
    return form(unknowns, [_Terms(one, zero) for one in expanded], angles, sliders)


def _one_angle(
    unknowns: Unknowns, terms: list[_Terms], angles: list[Combination], _: list[Combination]
) -> DyadSolution:
    """A cos + B sin + C = 0."""
    (equation,), (angle,) = terms, angles
    ray = PlaneVector(equation.take(Atom(AtomKind.COSINE, angle)), equation.take(Atom(AtomKind.SINE, angle)))
    known = equation.take()
    equation.require_end()
    now = given_turn(unknowns.builder, unknowns.angles[angle])
    square = ray.square
    root = root_of(square - known * known, square, ray.x * now.sine - ray.y * now.cosine)
    turn = ray.turned(PlaneVector(-known, root)).times(square.reciprocal()).turn
    return DyadSolution({angle: unknowns.angles[angle]}, {angle: turn}, root=root)


def _one_slider(
    unknowns: Unknowns, terms: list[_Terms], _: list[Combination], sliders: list[Combination]
) -> DyadSolution:
    """a s^2 + b s + c = 0, or b s + c = 0."""
    (equation,), (slider,) = terms, sliders
    ((symbol, _one),) = slider
    atom = Atom(AtomKind.VALUE, slider)
    a, b, c = equation.take(atom, atom), equation.take(atom), equation.take()
    equation.require_end()
    if a.is_zero:
        return DyadSolution(values={symbol: -c / b})
    half = b / 2
    now = a * Scalar(unknowns.builder, given(unknowns.builder, symbol)) + half
    root = root_of(half * half - a * c, half * half + a * a, now)
    return DyadSolution(values={symbol: (root - half) / a}, root=root)


def _bar(terms: list[_Terms], angle: Combination, *more: Atom) -> tuple[PlaneVector, bool]:
    """m of m e, and whether e rotates in the opposite sense in these axes."""
    cosine, sine = Atom(AtomKind.COSINE, angle), Atom(AtomKind.SINE, angle)
    (xc, xs), (yc, ys) = [(one.take(cosine, *more), one.take(sine, *more)) for one in terms]
    if xc == ys and xs == -yc:
        return PlaneVector(xc, yc), False
    if xc == -ys and xs == yc:
        return PlaneVector(xc, yc), True
    raise NoClosedForm


def _vector(terms: list[_Terms], *atoms: Atom) -> PlaneVector:
    x, y = (one.take(*atoms) for one in terms)
    return PlaneVector(x, y)


def _written(turn: SineCosine, reversed_: bool) -> SineCosine:
    return turn.back() if reversed_ else turn


def _two_bars(unknowns: Unknowns, terms: list[_Terms], angles: list[Combination], _: list[Combination]) -> DyadSolution:
    """RRR: with z = (h + i w) / K^2 the first bar is z K, the second -(1 + z) K."""
    first, second = angles
    (m1, reversed1), (m2, reversed2) = (_bar(terms, angle) for angle in angles)
    known = _vector(terms)
    for one in terms:
        one.require_end()
    if reversed1 != reversed2:
        raise NoClosedForm
    square, own, other = known.square, m1.square, m2.square
    h = (other - own - square) / 2
    reach = own * square
    root = root_of(reach - h * h, reach, _cross_of_bars(unknowns, m1, m2, angles, reversed1))
    z = PlaneVector(h, root).times(square.reciprocal())
    bar = z.turned(known)
    turn1 = m1.mirrored.turned(bar).times(own.reciprocal()).turn
    rest = PlaneVector(-(known.x + bar.x), -(known.y + bar.y))
    turn2 = m2.mirrored.turned(rest).times(other.reciprocal()).turn
    turns = {first: _written(turn1, reversed1), second: _written(turn2, reversed2)}
    return DyadSolution({angle: unknowns.angles[angle] for angle in angles}, turns, root=root)


def _cross_of_bars(
    unknowns: Unknowns, m1: PlaneVector, m2: PlaneVector, angles: list[Combination], reversed_: bool
) -> Scalar:
    """m1 e1 x m2 e2 at the given angles, from the angle between the bars."""
    first, second = (unknowns.angles[angle] for angle in angles)
    between = _written(given_turn(unknowns.builder, less(second, first)), reversed_)
    fixed = m1.mirrored.turned(m2)
    return fixed.x * between.sine + fixed.y * between.cosine


def _bar_and_slider(
    unknowns: Unknowns, terms: list[_Terms], angles: list[Combination], sliders: list[Combination]
) -> DyadSolution:
    """RRP, or RPR if the slider moves along a rotating bar."""
    (angle,), (slider,) = angles, sliders
    ((symbol, _),) = slider
    atom = Atom(AtomKind.VALUE, slider)
    bar, reversed_ = _bar(terms, angle)
    along, along_reversed = _bar(terms, angle, atom)
    direction, known = _vector(terms, atom), _vector(terms)
    for one in terms:
        one.require_end()
    now = Scalar(unknowns.builder, given(unknowns.builder, symbol))
    if along.is_zero:
        turn, value, root = _rrp(bar, direction, known, now)
    elif direction.is_zero and (bar.is_zero or reversed_ == along_reversed):
        turn, value, root = _rpr(bar, along, known, now)
        reversed_ = along_reversed
    else:
        raise NoClosedForm
    return DyadSolution({angle: unknowns.angles[angle]}, {angle: _written(turn, reversed_)}, {symbol: value}, root)


def _rrp(
    bar: PlaneVector, direction: PlaneVector, known: PlaneVector, now: Scalar
) -> tuple[SineCosine, Scalar, Scalar]:
    """The component of the bar across the slider's direction is known; the component along it is w."""
    seen = direction.mirrored.turned(known)
    length, square = bar.square, direction.square
    reach = length * square
    root = root_of(reach - seen.y * seen.y, reach, -(seen.x + now * square))
    turn = bar.mirrored.turned(direction.turned(PlaneVector(root, -seen.y))).times(reach.reciprocal()).turn
    return turn, -(seen.x + root) * square.reciprocal(), root


def _rpr(bar: PlaneVector, along: PlaneVector, known: PlaneVector, now: Scalar) -> tuple[SineCosine, Scalar, Scalar]:
    """The component of the bar across the slider's direction is constant; the component along it is w."""
    seen = along.mirrored.turned(bar)
    square = along.square
    reach = square * known.square
    root = root_of(reach - seen.y * seen.y, reach, seen.x + now * square)
    turned = known.turned(along.mirrored.turned(PlaneVector(-root, seen.y)))
    return turned.times(reach.reciprocal()).turn, (root - seen.x) * square.reciprocal(), root


def _two_sliders(
    unknowns: Unknowns, terms: list[_Terms], _: list[Combination], sliders: list[Combination]
) -> DyadSolution:
    """PRP: two linear equations."""
    first, second = (_vector(terms, Atom(AtomKind.VALUE, slider)) for slider in sliders)
    known = _vector(terms)
    for one in terms:
        one.require_end()
    crossed = first.mirrored.turned(second).y
    room = crossed * crossed - crossed.number(DEAD_POINT) * first.square * second.square
    inverse = crossed.reciprocal().apply("guarded", room)
    numerators = (-known.mirrored.turned(second).y, known.mirrored.turned(first).y)
    return DyadSolution(values={slider[0][0]: one * inverse for slider, one in zip(sliders, numerators, strict=True)})


_Form = Callable[[Unknowns, list[_Terms], list[Combination], list[Combination]], DyadSolution]

#: The forms by numbers of equations, unknown angles and unknown displacements.
_FORMS: dict[tuple[int, int, int], _Form] = {
    (1, 1, 0): _one_angle,
    (1, 0, 1): _one_slider,
    (2, 2, 0): _two_bars,
    (2, 1, 1): _bar_and_slider,
    (2, 0, 2): _two_sliders,
}


class Substitution:
    """Writes scalars in independent coordinates: replaces the unknowns of solutions; rates: velocities by symbol.

    An angle outside of sines and cosines is not replaced, because they determine it only up to full turns.
    """

    def __init__(
        self, builder: GraphBuilder, solutions: Sequence[DyadSolution], rates: Mapping[int, Scalar] | None = None
    ) -> None:
        self.builder = builder
        self._values = {symbol: value.index for one in solutions for symbol, value in one.values.items()}
        self._values |= {symbol: rate.index for symbol, rate in (rates or {}).items()}
        self._blocks = [_Angles(one) for one in solutions if one.turns]
        self._symbols = {symbol for block in self._blocks for symbol in block.symbols}
        self._place: dict[int, int] = {}

    def __call__(self, scalars: Sequence[Scalar]) -> list[Scalar]:
        """The same scalars in independent coordinates."""
        for scalar in scalars:
            for index in below(self.builder, scalar.index, self._place):
                self._place[index] = self._rebuilt(index)
        return [Scalar(self.builder, self._place[scalar.index]) for scalar in scalars]

    def _rebuilt(self, index: int) -> int:
        node = self.builder.nodes[index]
        if index in self._values:
            return self._values[index]
        if isinstance(node, Polynomial):
            terms = tuple((c, tuple((self._place[child], e) for child, e in factors)) for c, factors in node.terms)
            return self.builder.polynomial(expanded_terms(self.builder, terms))
        if isinstance(node, Function):
            if node.name in ("sin", "cos"):
                return self._sine(node)
            return self.builder.apply(node.name, *(self._place[argument] for argument in node.arguments))
        return index

    def _sine(self, node: Function) -> int:
        form = linear_form(self.builder.nodes, node.arguments[0])
        if not any(child in self._symbols for monomial in form for child, _ in monomial):
            return self.builder.apply(node.name, self._place[node.arguments[0]])
        turns = []
        for block in self._blocks:
            form, found = block.split(form)
            turns += found
        if form:
            rest = turn_of(self.builder, form)
            turns.append(SineCosine(*self([rest.sine, rest.cosine])))
        total = turns[0]
        for turn in turns[1:]:
            total = total.after(turn)
        return (total.sine if node.name == "sin" else total.cosine).index


class _Angles:
    """The angles of one solution, and the angles of its coordinates as their combinations."""

    def __init__(self, solution: DyadSolution) -> None:
        self.symbols = sorted({symbol for combination in solution.turns for symbol, _ in combination})
        self._turns = list(solution.turns.values())
        self._forms = [solution.angles[combination] for combination in solution.turns]
        self._matrix = _inverse([_row(combination, self.symbols) for combination in solution.turns])

    def split(self, form: LinearForm) -> tuple[LinearForm, list[SineCosine]]:
        """The rest of an angle without this solution's angles, and the sines and cosines of these."""
        wanted = [Fraction(form.get(((symbol, 1),), 0)) for symbol in self.symbols]
        turns: list[SineCosine] = []
        for number, (turn, angle) in enumerate(zip(self._turns, self._forms, strict=True)):
            times = sum(w * row[number] for w, row in zip(wanted, self._matrix, strict=True))
            if times.denominator != 1:
                raise NoClosedForm
            turns += [turn if times > 0 else turn.back()] * abs(int(times))
            form = less(form, angle, int(times))
        return form, turns


def _row(combination: Combination, symbols: Sequence[int]) -> list[Fraction]:
    coefficients = dict(combination)
    return [Fraction(coefficients.get(symbol, 0)) for symbol in symbols]


def _inverse(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    """The inverse of a matrix of one or two rows, which gives symbols as combinations."""
    if len(matrix) != len(matrix[0]):
        raise NoClosedForm
    size = len(matrix)
    work = [[*row, *(Fraction(int(i == j)) for j in range(size))] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = next((row for row in range(column, size) if work[row][column]), None)
        if pivot is None:
            raise NoClosedForm
        work[column], work[pivot] = work[pivot], work[column]
        work[column] = [item / work[column][column] for item in work[column]]
        for row in range(size):
            if row != column:
                work[row] = [a - work[row][column] * b for a, b in zip(work[row], work[column], strict=True)]
    return [row[size:] for row in work]


# ---- Rods in space: a ball joint at the end of a rod with two axes through one point O
#
# The distance of the ball's center T from O is constant. This is one equation for the third unknown, a slider or an
# angle elsewhere in the loop. Then the direction of the rod is known: its component along the first axis determines the
# second angle, and its component across that axis the first.


def rod_solution(equations: ConstraintEquations, loop: Loop, symbols: frozenset[int]) -> list[DyadSolution]:
    """The three unknowns of a ball joint, one after the other; NoClosedForm if the loop has no such rod."""
    bodies = equations.layout.tree.bodies
    frames = bodies[second_frame(loop)], bodies[first_frame(loop)]
    for rod, ball in (frames, frames[::-1]):
        for found in _solutions(equations, equations.ancestor(loop), rod, ball, symbols):
            return found
    raise NoClosedForm


def _solutions(
    equations: ConstraintEquations, ancestor: int, rod: Placement, ball: Placement, symbols: frozenset[int]
) -> Iterator[list[DyadSolution]]:
    tree = equations.layout.tree
    path = path_between(tree, ancestor, rod.link)
    if len(path) < 2:
        return
    first, second = (tree.links[index] for index in path[-2:])
    joints = first.joint, second.joint
    angles = [joint.displacement.index for joint in joints if joint and joint.kind is JointKind.REVOLUTE]
    if len(angles) != 2 or not symbols.issuperset(angles) or first.origin is None or second.origin is None:
        return
    if any(not item.is_zero for item in second.origin.position) or joints[0] is None or joints[1] is None:
        return
    center = chain_motion(equations.layout, equations.motion, ancestor, first.origin)
    away = minus(chain_motion(equations.layout, equations.motion, ancestor, ball).point, center.point)
    third = closed_form_solution(
        Unknowns(equations.builder, symbols - set(angles)), [dot(away, away) - dot(rod.position, rod.position)]
    )
    direction = Substitution(equations.builder, [third])(apply(transpose(center.rotation), away))
    turned = turn_vector(joints[1].axis, *_turn(joints[1].displacement), rod.position)
    hangs = apply(second.origin.rotation, turned)
    tilt = closed_form_solution(
        Unknowns(equations.builder, [angles[1]]), [hangs[joints[0].axis] - direction[joints[0].axis]]
    )
    lies = Substitution(equations.builder, [tilt])(hangs)
    yield [third, tilt, _about(equations, joints[0].axis, angles[0], lies, direction, dot(rod.position, rod.position))]


def _turn(angle: Scalar) -> tuple[Scalar, Scalar]:
    return angle.sin(), angle.cos()


def _about(
    equations: ConstraintEquations,
    axis: int,
    symbol: int,
    lies: Sequence[Scalar],
    wanted: Sequence[Scalar],
    scale: Scalar,
) -> DyadSolution:
    """The angle about an axis that rotates one vector into another of the same length."""
    x, y = FOLLOWING[axis]
    before, after = PlaneVector(lies[x], lies[y]), PlaneVector(wanted[x], wanted[y])
    square = without_squared_roots(before.square)
    inverse = square.reciprocal().apply("guarded", square - scale.number(DEAD_POINT) * scale)
    combination: Combination = ((symbol, 1),)
    turn = before.mirrored.turned(after).times(inverse).turn
    return DyadSolution({combination: linear_form(equations.builder.nodes, symbol)}, {combination: turn})
