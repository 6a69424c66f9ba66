"""Closed forms of one or two equations in as many unknowns: one angle, one displacement, and the dyads of the plane.

With K what is known, m e = m (cos a + i sin a) a bar of length |m| and s d a slider, the dyads are

    RRR   K + m1 e1 + m2 e2 = 0        w = m1 e1 x m2 e2       two bars
    RRP   K + m e + s d = 0            w = d . m e             a bar and a slider
    RPR   K + (m + s n) e = 0          w = n . (m + s n)       a slider along a bar that turns
    PRP   K + s1 d1 + s2 d2 = 0                                two sliders

and w^2 is known from lengths alone. Its sign is the branch: that of the positions that are given. Where w is zero the
dyad is in a dead point, and there are no numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from kinegraph.derive.constraints.dyads.plane import Plane
from kinegraph.derive.constraints.dyads.roots import without_squared_roots
from kinegraph.derive.constraints.dyads.unknowns import (
    Atom,
    Combination,
    Expanded,
    Monomial,
    NoClosedForm,
    Part,
    Turn,
    Unknowns,
    given,
    given_turn,
    less,
)
from kinegraph.graph.angle import LinearForm
from kinegraph.graph.scalar import Scalar

#: Below this part of its largest value the square of a root is that of a dead point.
DEAD_POINT = Fraction(1, 10**10)


@dataclass(frozen=True)
class Solution:
    """Turns by the combinations of unknowns they belong to, displacements by their symbols.

    `angles`: the angle each turn is the sine and cosine of, `unknown` and known part together.
    """

    angles: dict[Combination, LinearForm] = field(default_factory=dict)
    turns: dict[Combination, Turn] = field(default_factory=dict)
    values: dict[int, Scalar] = field(default_factory=dict)
    #: The root, which tells how far a dead point is: often the determinant of the loop's rates.
    root: Scalar | None = None


def root_of(square: Scalar, scale: Scalar, now: Scalar) -> Scalar:
    """The root with the sign it has in the positions that are given; no number where its square is nearly zero.

    scale: the largest that the square could be.
    """
    square = without_squared_roots(square)
    guarded = square.apply("guarded", square - scale.number(DEAD_POINT) * scale)
    return now.apply("sign") * guarded.apply("sqrt")


class _Terms:
    """The coefficients of one equation, each taken once: what is left over belongs to no known form."""

    def __init__(self, expanded: Expanded, zero: Scalar) -> None:
        self._left = dict(expanded)
        self._zero = zero

    def take(self, *atoms: Atom) -> Scalar:
        """The coefficient of a product of atoms."""
        wanted: Monomial = tuple(sorted(atoms, key=lambda atom: (atom.unknown, atom.part.value)))
        return self._left.pop(wanted, self._zero)

    def require_end(self) -> None:
        """NoClosedForm if anything is left."""
        if self._left:
            raise NoClosedForm


def solved(unknowns: Unknowns, equations: Sequence[Scalar]) -> Solution:
    """The closed form of equations that are zero, in as many unknown coordinates; NoClosedForm if none is known."""
    expanded = [unknowns.expanded(one) for one in equations]
    atoms = {atom for one in expanded for monomial in one for atom in monomial}
    angles = sorted({atom.unknown for atom in atoms if atom.part is not Part.VALUE})
    sliders = sorted({atom.unknown for atom in atoms if atom.part is Part.VALUE})
    form = _FORMS.get((len(equations), len(angles), len(sliders)))
    if form is None or len(angles) + len(sliders) != len(unknowns.symbols):
        raise NoClosedForm
    zero = Scalar(unknowns.builder, unknowns.builder.zero)
    return form(unknowns, [_Terms(one, zero) for one in expanded], angles, sliders)


# one equation


def _one_angle(unknowns: Unknowns, terms: list[_Terms], angles: list[Combination], _: list[Combination]) -> Solution:
    """A cos + B sin + C = 0."""
    (equation,), (angle,) = terms, angles
    ray = Plane(equation.take(Atom(Part.COSINE, angle)), equation.take(Atom(Part.SINE, angle)))
    known = equation.take()
    equation.require_end()
    now = given_turn(unknowns.builder, unknowns.angles[angle])
    square = ray.square
    root = root_of(square - known * known, square, ray.x * now.sine - ray.y * now.cosine)
    turn = ray.turned(Plane(-known, root)).times(square.reciprocal()).turn
    return Solution({angle: unknowns.angles[angle]}, {angle: turn}, root=root)


def _one_slider(unknowns: Unknowns, terms: list[_Terms], _: list[Combination], sliders: list[Combination]) -> Solution:
    """a s^2 + b s + c = 0, or b s + c = 0."""
    (equation,), (slider,) = terms, sliders
    ((symbol, _one),) = slider
    atom = Atom(Part.VALUE, slider)
    a, b, c = equation.take(atom, atom), equation.take(atom), equation.take()
    equation.require_end()
    if a.is_zero:
        return Solution(values={symbol: -c / b})
    half = b / 2
    now = a * Scalar(unknowns.builder, given(unknowns.builder, symbol)) + half
    root = root_of(half * half - a * c, half * half + a * a, now)
    return Solution(values={symbol: (root - half) / a}, root=root)


# two equations: the dyads


def _bar(terms: list[_Terms], angle: Combination, *more: Atom) -> tuple[Plane, bool]:
    """m of m e, and whether e turns the other way round in these axes."""
    cosine, sine = Atom(Part.COSINE, angle), Atom(Part.SINE, angle)
    (xc, xs), (yc, ys) = [(one.take(cosine, *more), one.take(sine, *more)) for one in terms]
    if xc == ys and xs == -yc:
        return Plane(xc, yc), False
    if xc == -ys and xs == yc:
        return Plane(xc, yc), True
    raise NoClosedForm


def _vector(terms: list[_Terms], *atoms: Atom) -> Plane:
    x, y = (one.take(*atoms) for one in terms)
    return Plane(x, y)


def _written(turn: Turn, reversed_: bool) -> Turn:
    return turn.back() if reversed_ else turn


def _two_bars(unknowns: Unknowns, terms: list[_Terms], angles: list[Combination], _: list[Combination]) -> Solution:
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
    root = root_of(reach - h * h, reach, _crossed(unknowns, m1, m2, angles, reversed1))
    z = Plane(h, root).times(square.reciprocal())
    bar = z.turned(known)
    turn1 = m1.mirrored.turned(bar).times(own.reciprocal()).turn
    rest = Plane(-(known.x + bar.x), -(known.y + bar.y))
    turn2 = m2.mirrored.turned(rest).times(other.reciprocal()).turn
    turns = {first: _written(turn1, reversed1), second: _written(turn2, reversed2)}
    return Solution({angle: unknowns.angles[angle] for angle in angles}, turns, root=root)


def _crossed(unknowns: Unknowns, m1: Plane, m2: Plane, angles: list[Combination], reversed_: bool) -> Scalar:
    """m1 e1 x m2 e2 at the angles that are given: from the angle between the bars alone."""
    first, second = (unknowns.angles[angle] for angle in angles)
    between = _written(given_turn(unknowns.builder, less(second, first)), reversed_)
    fixed = m1.mirrored.turned(m2)
    return fixed.x * between.sine + fixed.y * between.cosine


def _bar_and_slider(
    unknowns: Unknowns, terms: list[_Terms], angles: list[Combination], sliders: list[Combination]
) -> Solution:
    """RRP, or RPR where the slider moves along a bar that turns."""
    (angle,), (slider,) = angles, sliders
    ((symbol, _),) = slider
    atom = Atom(Part.VALUE, slider)
    bar, reversed_ = _bar(terms, angle)
    along, along_reversed = _bar(terms, angle, atom)
    way, known = _vector(terms, atom), _vector(terms)
    for one in terms:
        one.require_end()
    now = Scalar(unknowns.builder, given(unknowns.builder, symbol))
    if along.is_zero:
        turn, value, root = _rrp(bar, way, known, now)
    elif way.is_zero and (bar.is_zero or reversed_ == along_reversed):
        turn, value, root = _rpr(bar, along, known, now)
        reversed_ = along_reversed
    else:
        raise NoClosedForm
    return Solution({angle: unknowns.angles[angle]}, {angle: _written(turn, reversed_)}, {symbol: value}, root)


def _rrp(bar: Plane, way: Plane, known: Plane, now: Scalar) -> tuple[Turn, Scalar, Scalar]:
    """Across the slider's way the bar reaches h, along it w."""
    seen = way.mirrored.turned(known)
    length, square = bar.square, way.square
    reach = length * square
    root = root_of(reach - seen.y * seen.y, reach, -(seen.x + now * square))
    turn = bar.mirrored.turned(way.turned(Plane(root, -seen.y))).times(reach.reciprocal()).turn
    return turn, -(seen.x + root) * square.reciprocal(), root


def _rpr(bar: Plane, along: Plane, known: Plane, now: Scalar) -> tuple[Turn, Scalar, Scalar]:
    """The bar's length beside its way does not change, that along it is w."""
    seen = along.mirrored.turned(bar)
    square = along.square
    reach = square * known.square
    root = root_of(reach - seen.y * seen.y, reach, seen.x + now * square)
    turned = known.turned(along.mirrored.turned(Plane(-root, seen.y)))
    return turned.times(reach.reciprocal()).turn, (root - seen.x) * square.reciprocal(), root


def _two_sliders(unknowns: Unknowns, terms: list[_Terms], _: list[Combination], sliders: list[Combination]) -> Solution:
    """PRP: two equations that are linear."""
    first, second = (_vector(terms, Atom(Part.VALUE, slider)) for slider in sliders)
    known = _vector(terms)
    for one in terms:
        one.require_end()
    crossed = first.mirrored.turned(second).y
    room = crossed * crossed - crossed.number(DEAD_POINT) * first.square * second.square
    inverse = crossed.reciprocal().apply("guarded", room)
    signs = (-known.mirrored.turned(second).y, known.mirrored.turned(first).y)
    return Solution(values={slider[0][0]: way * inverse for slider, way in zip(sliders, signs, strict=True)})


_Form = Callable[[Unknowns, list[_Terms], list[Combination], list[Combination]], Solution]

#: By numbers of equations, unknown angles and unknown displacements.
_FORMS: dict[tuple[int, int, int], _Form] = {
    (1, 1, 0): _one_angle,
    (1, 0, 1): _one_slider,
    (2, 2, 0): _two_bars,
    (2, 1, 1): _bar_and_slider,
    (2, 0, 2): _two_sliders,
}
