"""Elements in the language and in Python: what they say, what is refused, where and why."""

import pytest

from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.model import (
    RATE,
    STRETCH,
    Anchor,
    Axes,
    Builder,
    Damper,
    Force,
    ForceLaw,
    Friction,
    Input,
    Limit,
    Linear,
    Moment,
    Name,
    PointForce,
    Potential,
    Rx,
    Ry,
    Span,
    Spring,
    Sz,
    at,
    expression,
    inertia,
)

MODEL = """coordinates q, r; quaternion (a,b,c,d) velocity (x,y,z); parameters k = 2, n = -1; inputs u, w = sin(t);
A | Ry(q) | m(1); B~A | Sz(1), Rx(r), Q(a,b,c,d) | m(1); output tip = B (0, 0, 1); output home = (0, 0, 0);
"""


def elements(statements: str):
    mechanism = parse(MODEL + statements)
    assert parse(write(mechanism)) == mechanism
    return mechanism.elements


def test_statements_say_what_they_mean():
    k, zero, one = Name("k"), expression(0), expression(1)
    origin = (zero, zero, zero)
    found = elements("""
        spring S1 | on(q - r) stiffness(k) rest(1);   spring S2 | between(tip, (0, 0, w)), force(k*stretch^3);
        damper D1 | on(q') damping(k);                damper D2 | between(A(0, 0, 1), B) force(k*rate*abs(rate));
        friction F | on(q) coulomb(1) viscous(k) width(k);
        force P1 | value(u*tip.x') on(tip.x);         force P2 | at(tip) world(0, u, 1);
        force P3 | body(0, 0, 1) at(B(1, 0, 0));      moment M | at(tip) body(u, 0, 0);
        potential V | k*cos(q)*a;                     limit L | on(q) lower(n) upper(1) stiffness(k);
    """)
    assert found[0] == Spring("S1", Name("q") - "r", Linear(k), one)
    assert found[1] == Spring(
        "S2", Span(Anchor("tip"), Anchor(None, (zero, zero, Name("w")))), ForceLaw(k * STRETCH**3)
    )
    assert found[2] == Damper("D1", Name("q'"), Linear(k))
    assert found[3].on == Span(Anchor("A", (zero, zero, one)), Anchor("B"))
    assert found[4] == Friction("F", Name("q"), one, k, k)
    assert found[5] == Force("P1", Name("u") * "tip.x'", Name("tip.x"))
    assert found[6] == PointForce("P2", Anchor("tip", origin), (zero, Name("u"), one), Axes.WORLD)
    assert found[7] == PointForce("P3", Anchor("B", (one, zero, zero)), (zero, zero, one), Axes.BODY)
    assert found[8] == Moment("M", "tip", (Name("u"), zero, zero), Axes.BODY)
    assert isinstance(found[9], Potential)
    assert found[10] == Limit("L", Name("q"), k, Name("n"), one, zero)


def test_inputs_with_and_without_an_expression():
    mechanism = parse(MODEL)
    assert mechanism.inputs[0] == Input("u") and mechanism.inputs[1].value is not None
    assert mechanism.layout.inputs == ("u",)


def test_the_builder_says_what_the_language_says():
    b = Builder("m")
    q, r, k = b.coordinate("q"), b.coordinate("r"), b.parameter("k", 2)
    u = b.input("u")
    b.input("w", 3 * Name("t"))
    arm = b.body("A", transforms=[Ry(q)], inertia=inertia(1))
    hand = b.body("B", arm, [Sz(1), Rx(r)], inertia(1))
    tip = b.point("tip", hand, (0, 0, 1))
    b.spring("S1", q - r, stiffness=k, rest=1)
    b.spring("S2", between=(tip, (0, 0, "w")), force=k * STRETCH**3)
    b.spring("S3", "tip.x", energy=STRETCH**4)
    b.damper("D1", "q'", damping=k)
    b.damper("D2", between=(at(arm, (0, 0, 1)), hand), force=k * RATE**3)
    b.friction("F", q, coulomb=1, viscous=k, width=0.1)
    b.force("P1", u * q, "tip.x")
    b.force("P2", u, between=("tip", "A"))
    b.point_force("P3", tip, (0, u, 1))
    b.point_force("P4", at("B", (1, 0, 0)), (0, 0, 1), Axes.BODY)
    b.moment("M", hand, (u, 0, 0), Axes.BODY)
    b.potential("V", k * q)
    b.limit("L", q, lower=-1, upper=1, stiffness=k, damping=2)
    assert b.build() == parse("""model m; coordinates q, r; parameters k = 2; inputs u, w = 3*t;
        A | Ry(q) | m(1); B~A | Sz(1), Rx(r) | m(1); output tip = B (0, 0, 1);
        spring S1 | on(q - r) stiffness(k) rest(1); spring S2 | between(tip, (0, 0, w)) force(k*stretch^3);
        spring S3 | on(tip.x) energy(stretch^4); damper D1 | on(q') damping(k);
        damper D2 | between(A(0, 0, 1), B) force(k*rate^3); friction F | on(q) coulomb(1) viscous(k) width(0.1);
        force P1 | value(u*q) on(tip.x); force P2 | value(u) between(tip, A); force P3 | at(tip) world(0, u, 1);
        force P4 | at(B(1, 0, 0)) body(0, 0, 1); moment M | at(B) body(u, 0, 0); potential V | k*q;
        limit L | on(q) lower(-1) upper(1) stiffness(k) damping(2);""")


@pytest.mark.parametrize(
    ("statement", "column", "words"),
    [
        ("spring | on(q) stiffness(1);", 8, "give it a name"),
        ("spring S | on(q);", 8, "lacks `stiffness(...)` or `force(...)` or `energy(...)`"),
        ("spring S | stiffness(1);", 8, "lacks `on(...)` or `between(...)`"),
        ("spring S | on(q) stiffness(1) force(2);", 31, "both `stiffness` and `force`"),
        ("spring S | on(q) between(tip, A) stiffness(1);", 18, "both `on` and `between`"),
        ("spring S | on(q) stiffnes(1);", 18, "did you mean `stiffness`"),
        ("spring S | on(q) on(r) stiffness(1);", 18, "has `on` twice"),
        ("spring S | on(q, r) stiffness(1);", 12, "takes 1 argument, found 2"),
        ("spring S | on((1, 2, 3)) stiffness(1);", 12, "a point instead of an expression"),
        ("spring S | between(tip) stiffness(1);", 12, "takes 2 arguments, found 1"),
        ("spring S | between(tip, A(1, 2)) stiffness(1);", 25, "3 coordinates, found 2"),
        ("spring S | between(tip, 2*k) stiffness(1);", 12, "an expression instead of a point"),
        ("spring S | between(tpi, A) stiffness(1);", 20, "did you mean `tip`"),
        ("spring S | between(tip(0, 0, 1), A) stiffness(1);", 20, "is an output, so it takes no coordinates"),
        ("spring S | between(home, (1, 1, 1)) stiffness(1);", 12, "moves nothing"),
        ("spring S | between(tip, (q, 0, 0)) stiffness(1);", 26, "depends on the coordinate q"),
        ("spring S | on(q') stiffness(1);", 15, "depends on the velocity q'"),
        ("spring S | on(k) stiffness(1);", 12, "does not depend on the motion"),
        ("spring S | on(u*q) stiffness(1);", 15, "depends on the input u"),
        ("spring S | on(q) stiffness(r);", 28, "depends on the coordinate r"),
        ("spring S | on(q) energy(u*stretch^2);", 25, "depends on the input u"),
        ("spring S | on(q) energy(stretch^2) rest(u);", 41, "depends on the input u"),
        ("spring S | on(q) force(k*strech);", 26, "did you mean `stretch`"),
        ("spring S | on(q) stiffness(stretch);", 28, "unknown name"),
        ("spring S | on(tip.w) stiffness(1);", 15, "write tip.x, tip.y, tip.z"),
        ("spring S | on(tpi.x) stiffness(1);", 15, "did you mean `tip`"),
        ("spring S | on(q) stiffness(1); damper S | on(q) damping(1);", 39, "two elements have the name S"),
        ("spring sin | on(q) stiffness(1);", 8, "is a reserved name"),
        ("damper D | on(q'*r') damping(1);", 12, "not linear in the velocities"),
        ("damper D | on(sin(q')) damping(1);", 12, "not linear in the velocities"),
        ("damper D | on(q/x) damping(1);", 12, "not linear in the velocities"),
        ("damper D | on(q) force(stretch);", 24, "unknown name"),
        ("friction F | on(q);", 10, "lacks `coulomb(...)`"),
        ("friction F | on(q) coulomb(1) width(0);", 31, "width of the friction F is 0"),
        ("friction F | on(q) coulomb(1) width(1/(k - 2));", 31, "divides by zero"),
        ("force P | on(q);", 7, "lacks `value(...)` or `world(...)` or `body(...)`"),
        ("force P | value(1) on(q) at(tip);", 26, "cannot be combined with"),
        ("force P | at(tip) world(1, 2);", 19, "takes 3 arguments, found 2"),
        ("force P | at(home) world(1, 2, 3);", 11, "moves nothing"),
        ("force P | value(v) on(q);", 17, "unknown name"),
        ("force P | value(s') on(q);", 17, "`coordinates s;`"),
        ("moment M | at(B(1, 0, 0)) world(1, 0, 0);", 12, "not on a point"),
        ("moment M | at(C) world(1, 0, 0);", 12, "unknown body or output 'C'"),
        ("moment M | at(home) world(1, 0, 0);", 12, "point of the fixed frame"),
        ("potential V | q';", 15, "depends on the velocity"),
        ("potential V | u*q;", 15, "depends on the input u"),
        ("limit L | on(q) stiffness(1);", 7, "has no bound"),
        ("limit L | on(q) lower(1) upper(n) stiffness(1);", 17, "1 > -1"),
        ("limit L | on(q) lower(1) stiffness(n);", 26, "negative: -1"),
        ("limit L | on(q) lower(1) stiffness(1) damping(n);", 39, "negative: -1"),
        ("inputs k;", 8, "declared twice"),
        ("inputs v = q;", 12, "depends on the coordinate q"),
        ("C | Rx(tip.x) | m(1);", 8, "depends on the position tip.x"),
        ("C | Rx(q') | m(1);", 8, "depends on the velocity q'"),
        ("C | Rx(u) | m(1);", 8, "depends on the input u"),
        ("spring | Rx(q) | m(1);", 8, "give it a name"),
    ],
)
def test_errors_name_the_place_and_the_remedy(statement, column, words):
    with pytest.raises(ModelError) as caught:
        parse(MODEL + statement)
    assert words in str(caught.value)
    assert caught.value.remedy or "by zero" in words
    assert caught.value.place and (caught.value.place.line, caught.value.place.column) == (3, column)


@pytest.mark.parametrize(
    "statement",
    [
        "spring S | on(q) stiffness(n);",  # negative stiffness: a spring past its dead point
        "damper D | on(q) damping(-0.1);",  # self-excited
        "damper D | on(k*q' - x*cos(q)) damping(u*q');",
        "force P | value(1) on(3*tip.x' + q*z);",
        "friction F | between(tip, home) viscous(1);",
        "limit rope | between(tip, home) upper(2) stiffness(1e6);",
        "spring S | on(stretch) stiffness(1); coordinates stretch; C | Rx(stretch) | m(1);",
    ],
)
def test_what_is_allowed(statement):
    elements(statement)


def test_a_declared_name_may_not_hide_the_argument_of_a_law():
    with pytest.raises(ModelError, match="rename the parameter stretch"):
        parse("coordinates q; parameters stretch = 1; A | Rx(q) | m(1); spring S | on(q) force(2*stretch);")


def test_elements_built_in_python_are_checked_as_well():
    b = Builder("m")
    b.body("A", transforms=[Rx(b.coordinate("q"))], inertia=inertia(1))
    with pytest.raises(ModelError, match="needs exactly one of stiffness, force, energy"):
        b.spring("S", "q")
    with pytest.raises(ModelError, match="either `on` or `between`"):
        b.force("P", 1)
    with pytest.raises(ModelError, match="expected 3 entries"):
        b.point_force("P", "A", (1, 2))
    with pytest.raises(ModelError, match="takes 2 points, found 1"):
        b.damper("D", between=("A",), damping=1)
    b.spring("S", "p", stiffness=1)
    with pytest.raises(ModelError, match="unknown name 'p' in `on` of the spring S"):
        b.build()


def test_axes_of_forces_may_be_words() -> None:
    """A word was taken for the fixed axes, whichever it was."""
    builder = Builder()
    assert builder.moment("a", "Arm", (1, 2, 3), axes="body").axes is Axes.BODY
    with pytest.raises(ModelError, match="moment b: axes: unknown value 'bod'; choose one of world, parent, body"):
        builder.moment("b", "Arm", (1, 2, 3), axes="bod")
    with pytest.raises(ModelError, match="impact law: unknown value 'hertz'; choose one of newton, poisson"):
        builder.impacts("hertz")
    with pytest.raises(ModelError, match="axis of the loop c: unknown value 'w'; choose one of x, y, z"):
        builder.loop("c", "revolute", "Arm", "Leg", axes="w")
