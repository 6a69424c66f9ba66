"""Round trip of random mechanisms, and random text that must never do worse than a ModelError."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.model import Axis, Call, Expression, Mechanism, Name, Operation, Rotation, Shift, expression
from kinegraph.model.builder import Builder, Q, inertia
from kinegraph.model.expression import FUNCTIONS

NUMBERS = st.one_of(
    st.integers(-1000, 1000),
    st.floats(allow_nan=False, allow_infinity=False),
    st.fractions(max_denominator=997),
    st.sampled_from([Fraction(10) ** 300, Fraction(1, 3) ** 50, Fraction(7, 2**80), Fraction(-1, 10**500)]),
).map(expression)


def expressions(names: list[str]) -> st.SearchStrategy[Expression]:
    """Trees of every operator and function over these names; a literal zero is never a divisor."""

    def grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        binary = st.builds(lambda o, a, b: Operation(o, (a, b)), st.sampled_from("+-*^"), inner, inner)
        divide = st.builds(lambda a, b: a / b, inner, inner.filter(lambda e: e != expression(0)))
        call = st.builds(
            lambda f, *arguments: Call(f, arguments[: FUNCTIONS[f]]), st.sampled_from(sorted(FUNCTIONS)), *[inner] * 3
        )
        return st.one_of(binary, divide, inner.map(lambda e: -e), call)

    leaves = st.one_of(NUMBERS, st.sampled_from([*names, "pi"]).map(Name))
    return st.recursive(leaves, grow, max_leaves=12)


@st.composite
def mechanisms(draw: st.DrawFn) -> Mechanism:
    builder = Builder(draw(st.sampled_from(["m", "two-words", "Модель.1"])))
    parameters = draw(st.lists(st.sampled_from(["a", "l1", "θ", "к$2", "model", "velocity"]), unique=True, min_size=1))
    for name in parameters:  # without values, so that no random expression is evaluated
        builder.parameter(name)
    builder.parameter("a0")
    fixed, moving = expressions(parameters), expressions([*parameters, "q1", "t"])
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
    builder.point("P", draw(st.sampled_from(["B", None])), [draw(fixed) for _ in range(3)])
    return builder.build()


@settings(max_examples=60, deadline=None)
@given(mechanisms())
def test_writing_and_reading_gives_the_same_mechanism(mechanism):
    assert parse(write(mechanism)) == mechanism


WORDS = """
model parameters coordinates quaternion gravity initial output accept inertia velocity A B q a t pi sin Rx Sz Q m Jx
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
A | Ry(q1) | Sz(-l), m(1), Jx(sin(l)); B~A | Sz(-l), Ry(q2), Q(a,b,c,d) | m(1); output p = B (0, 0, l);"""


@settings(max_examples=400, deadline=None)
@given(st.integers(0, len(VALID)), st.integers(0, 8), st.one_of(st.text(max_size=4), TOKENS))
def test_damaged_models(start, length, inserted):
    never_worse_than_a_model_error(VALID[:start] + inserted + VALID[start + length :])
