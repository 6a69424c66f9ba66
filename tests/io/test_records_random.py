"""Round trip of random mechanisms, and random text that must never do worse than a ModelError."""

from fractions import Fraction
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.model import (
    Anchor,
    Axes,
    Axis,
    Call,
    Expression,
    Mechanism,
    Name,
    Operation,
    Rotation,
    Shift,
    expression,
)
from kinegraph.model.builder import Builder, Q, inertia
from kinegraph.model.expressions import FUNCTIONS
from tests.effort import SOAK

NUMBERS = st.one_of(
    st.integers(-1000, 1000),
    st.floats(allow_nan=False, allow_infinity=False),
    st.fractions(max_denominator=997),
    st.sampled_from([Fraction(10) ** 300, Fraction(1, 3) ** 50, Fraction(7, 2**80), Fraction(-1, 10**500)]),
).map(expression)


PARAMETERS = ("a", "l1", "θ", "к$2", "model", "velocity")


@cache  # made once: Hypothesis examines every new strategy, which takes longer than drawing from it
def expressions(*names: str) -> st.SearchStrategy[Expression]:
    """Trees of every operator and function over parameters and these names; a literal zero is never a divisor."""

    def grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        binary = st.builds(lambda o, a, b: Operation(o, (a, b)), st.sampled_from("+-*^"), inner, inner)
        divide = st.builds(lambda a, b: a / b, inner, inner.filter(lambda e: e != expression(0)))
        call = st.builds(
            lambda f, *arguments: Call(f, arguments[: FUNCTIONS[f]]), st.sampled_from(sorted(FUNCTIONS)), *[inner] * 3
        )
        return st.one_of(binary, divide, inner.map(lambda e: -e), call)

    leaves = st.one_of(NUMBERS, st.sampled_from([*PARAMETERS, *names, "pi"]).map(Name))
    return st.recursive(leaves, grow, max_leaves=12)


@st.composite
def mechanisms(draw: st.DrawFn) -> Mechanism:
    builder = Builder(draw(st.sampled_from(["m", "two-words", "Модель.1"])))
    for name in draw(st.permutations(PARAMETERS)):  # without values, so that no random expression is evaluated
        builder.parameter(name)
    builder.parameter("a0")
    fixed, moving = expressions(), expressions("q1", "t")
    unvalued = fixed.map(lambda e: Name("a0") * e)  # has no value, so that nothing judges it
    builder.coordinate("q1", draw(fixed), draw(fixed))
    turn = builder.quaternion(["e0", "e1", "e2", "e3"], ["wx", "wy", "wz"], position=[draw(unvalued), "a0", 0, 0])
    transforms = st.one_of(
        st.builds(Rotation, st.sampled_from(Axis), moving), st.builds(Shift, st.sampled_from(Axis), moving)
    )
    steady = st.one_of(st.builds(Shift, st.sampled_from(Axis), fixed), st.builds(lambda e: Q("a0", e, 1, 0), fixed))
    body = builder.body("B", None, [Rotation(Axis.X, Name("q1")), *draw(st.lists(transforms, max_size=3)), turn])
    at = draw(st.lists(steady, max_size=2))
    moments = [draw(unvalued) for _ in range(7)]
    builder.body("C", body, [], inertia(*moments, at=at, accepted=draw(st.booleans())))
    rotations = st.one_of(
        st.builds(Rotation, st.sampled_from(Axis), fixed), st.builds(lambda e: Q("a0", e, 1, 0), fixed)
    )
    axes = draw(st.lists(rotations, max_size=2))
    builder.point("P", draw(st.sampled_from(["B", None])), [draw(fixed) for _ in range(3)], axes)
    add_elements(draw, builder)
    return builder.build()


def add_elements(draw: st.DrawFn, builder: Builder) -> None:
    """Any number of elements of every kind, with random expressions wherever one may stand."""
    builder.input("u")
    builder.input("w", draw(expressions("t")))
    given, position = (
        expressions("t", "w"),
        expressions("t", "w", "q1", "e0", "P.x", "B.z"),
    )
    anything = expressions("u", "w", "t", "q1", "q1'", "e0", "wx", "P.x", "C.y'")
    unvalued = expressions().map(lambda e: Name("a0") * e)
    point = st.one_of(
        st.sampled_from(["P", "B"]).map(Anchor), st.builds(lambda *p: Anchor("B", p), given, given, given)
    )
    fixed_point = st.one_of(st.just(Anchor("P")), st.builds(lambda *p: Anchor(None, p), given, given, given))
    span = st.tuples(st.builds(lambda *p: Anchor("C", p), given, given, given), st.one_of(point, fixed_point))
    still = st.one_of(position.map(lambda e: {"on": Name("q1") + e}), span.map(lambda s: {"between": s}))
    target = st.one_of(still, given.map(lambda e: {"on": e * Name("q1'") - Name("wx")}))
    vector = st.lists(anything, min_size=3, max_size=3)
    local = {word: expressions("t", "w", word) for word in ("stretch", "rate")}
    makers = (
        lambda n: builder.spring(n, **draw(still), stiffness=draw(expressions("u", "t")), rest=draw(given)),
        lambda n: builder.spring(n, **draw(still), force=draw(local["stretch"])),
        lambda n: builder.spring(n, **draw(still), energy=draw(local["stretch"]), rest=draw(given)),
        lambda n: builder.damper(n, **draw(target), damping=draw(anything)),
        lambda n: builder.damper(n, **draw(target), force=draw(local["rate"])),
        lambda n: builder.friction(
            n, **draw(target), coulomb=draw(anything), viscous=draw(anything), width=draw(unvalued)
        ),
        lambda n: builder.friction(n, **draw(target)),
        lambda n: builder.force(n, draw(anything), **draw(target)),
        lambda n: builder.point_force(n, "C", draw(vector), draw(st.sampled_from((Axes.WORLD, Axes.BODY)))),
        lambda n: builder.moment(n, "C", draw(vector), draw(st.sampled_from((Axes.WORLD, Axes.BODY)))),
        lambda n: builder.potential(n, draw(position)),
        lambda n: builder.limit(
            n, **draw(still), stiffness=draw(unvalued), lower=Name("a0") * draw(given), damping=draw(unvalued)
        ),
        lambda n: builder.limit(n, **draw(still), stiffness="a0", lower="a0", upper=draw(unvalued)),
    )
    for index, make in enumerate(draw(st.lists(st.sampled_from(makers), max_size=5))):
        make(f"E{index}")


@settings(max_examples=60 if SOAK else 20, deadline=None)
@given(mechanisms())
def test_writing_and_reading_gives_the_same_mechanism(mechanism):
    assert parse(write(mechanism)) == mechanism


WORDS = """
model parameters coordinates quaternion gravity initial output accept inertia velocity A B q a t pi sin Rx Sz Q m Jx
inputs spring damper friction force moment potential limit on between at world stiffness . x u
J1x m1 ~ | | ; ; , ( ) = + - * / ^ ** ' 1 0 2.5 1e9 # // /* */ [ $ θ
"""
TOKENS = st.sampled_from(WORDS.split())


def never_worse_than_a_model_error(text: str) -> None:
    try:
        mechanism = parse(text)
    except ModelError as error:
        assert str(error)
    else:
        assert parse(write(mechanism)) == mechanism


@settings(max_examples=300, deadline=None)
@given(st.lists(TOKENS, max_size=40).map(" ".join))
def test_random_tokens(text):
    never_worse_than_a_model_error(text)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_random_text(text):
    never_worse_than_a_model_error(text)


VALID = """model dp; parameters l = 0.4, k = -l^2/3; coordinates q1 = 0.3, q2; gravity 0, 0, -9.81; initial q1' = k;
quaternion (a, b, c, d) velocity (x, y, z) = (1, 0, 0, 0);
A | Ry(q1) | Sz(-l), m(1), Jx(sin(l)); B~A | Sz(-l), Ry(q2), Q(a,b,c,d) | m(1); output p = B (0, 0, l);
inputs u, w = sin(t); spring S | between(p, (0, 0, t)) stiffness(k) rest(l); damper D | on(q1' - x) damping(u);
limit L | on(p.z) lower(-1) upper(1) stiffness(2); moment M | at(B) body(0, u*q1', p.x'); potential V | p.y^2;"""


@settings(max_examples=400, deadline=None)
@given(st.integers(0, len(VALID)), st.integers(0, 8), st.one_of(st.text(max_size=4), TOKENS))
def test_damaged_models(start, length, inserted):
    never_worse_than_a_model_error(VALID[:start] + inserted + VALID[start + length :])
