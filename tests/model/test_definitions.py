"""Names for expressions: they carry what they stand for, and the equations are those written out."""

import pickle

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.model import Builder, Ry, Sz, inertia
from kinegraph.model.definitions import replaced, resolved, unresolved
from kinegraph.model.expressions import Defined, Name, expression, names, text

NAMED = """
    model named;
    parameters k = 20, l = 0.5, weight = 2;
    define absolute = q1 + q2, height = l*cos(q1), moment = k*(absolute - 0.1), whole = 2*weight;
    define slip = q1' + cos(absolute)*q2', lift = tip.z - height;
    coordinates q1 = 0.3, q2 = -0.2;
    inputs u = 0.5*sin(2*t);
    gravity 0, 0, -9.81;
    Arm1 | Ry(q1)                         | Sz(-l), m(whole), Jy(0.1);
    Arm2 | Sx(-l*sin(q1)), Sz(-height), Ry(absolute) | Sz(-l), m(weight), Jy(0.2);
    output tip = Arm2 (0, 0, -l);
    spring coil | on(absolute), stiffness(k), rest(0.1*whole);
    damper slow | on(slip), damping(0.3);
    force push | value(-0.1*moment*u), on(lift);
"""
WRITTEN_OUT = (
    NAMED.replace("model named", "model written_out")
    .replace("lift)", "tip.z - (l*cos(q1)))")
    .replace("on(slip)", "on(q1' + cos(q1 + q2)*q2')")
    .replace("moment*u", "(k*((q1 + q2) - 0.1))*u")
    .replace("Ry(absolute)", "Ry(q1 + q2)")
    .replace("on(absolute)", "on(q1 + q2)")
    .replace("Sz(-height)", "Sz(-(l*cos(q1)))")
    .replace("whole)", "2*weight)")
)
WRITTEN_OUT = "\n".join(line for line in WRITTEN_OUT.splitlines() if "define" not in line)


def test_a_name_carries_what_it_stands_for():
    mechanism = parse(NAMED)
    turn = mechanism.bodies[1].transforms[2].angle
    assert isinstance(turn, Defined) and text(turn) == "absolute" and names(turn) == {"q1", "q2"}
    push = mechanism.elements[2].value
    assert names(push) == {"q1", "q2", "k", "u"} and text(push) == "-0.1*moment*u"


def test_reading_and_writing_keeps_the_names():
    mechanism = parse(NAMED)
    assert parse(write(mechanism)) == mechanism
    assert "Ry(absolute)" in write(mechanism) and "define slip = q1' + cos(absolute)*q2';" in write(mechanism)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert resolved(unresolved(mechanism)) == mechanism != unresolved(mechanism)


def test_equations_are_those_written_out():
    first, second = parse(NAMED), parse(WRITTEN_OUT)
    assert not second.definitions
    wanted = "tau,H,C,qdd,energy,power,pose:tip,d(tau)/d(q)"
    assert kg.derive(first, wanted) == kg.derive(second, wanted)


def test_motion_is_that_written_out():
    first, second = (kg.simulate(parse(model), 0.5, times=20, native=False) for model in (NAMED, WRITTEN_OUT))
    for name in ("q1", "q2", "tip.z", "energy"):
        np.testing.assert_array_equal(first[name], second[name])


def test_formulas_of_a_run_use_the_names():
    run = kg.simulate(parse(NAMED), 1, events={"flat": "absolute"}, inputs={"q1": "-moment"}, native=False)
    same = {"flat": "q1 + q2"}
    other = kg.simulate(parse(WRITTEN_OUT), 1, events=same, inputs={"q1": "-k*(q1 + q2 - 0.1)"}, native=False)
    assert [one.time for one in run.events] == [one.time for one in other.events] != []
    assert other.final.items() <= run.final.items()


def test_a_builder_defines_names():
    m = Builder("named")
    q = m.coordinate("q")
    gamma = m.define("gamma", 2 * q)
    m.body("A", None, [Ry(gamma)], inertia(1, at=[Sz("gamma_0")]))
    m.define("gamma_0", 0.5)
    mechanism = m.build()
    assert mechanism.bodies[0].transforms[0].angle == Defined("gamma", (2 * Name("q"),))
    assert mechanism.bodies[0].inertia.central[0].distance == Defined("gamma_0", (expression(0.5),))


def test_names_inside_definitions_are_replaced_too():
    mechanism = replaced(parse(NAMED), {"q1": Name("q2") * 3})
    assert names(mechanism.bodies[1].transforms[2].angle) == {"q2"}
    assert mechanism.definitions[0].value == Name("q2") * 3 + "q2"


@pytest.mark.parametrize(
    ("statements", "place", "words"),
    [
        ("define a = b, b = 2*a;", (1, 8), "form a cycle: a -> b -> a|b -> a -> b"),
        ("define a = a + 1;", (1, 8), "form a cycle"),
        ("define q = 1;", (1, 8), "declared twice"),
        ("define a = 1, a = 2;", (1, 15), "declared twice"),
        ("define sin = 1;", (1, 8), "is a reserved name"),
        ("define a = q + qq;", (1, 16), "did you mean `q`"),
        ("define a = tip.z;", (1, 12), "unknown output or body 'tip'"),
        ("define a = q'; B | Ry(a) | m(1);", (1, 23), "depends on the velocity q' through a"),
        ("define a = q; B || m(a);", (1, 22), "mass of B depends on the coordinate q through a"),
        ("define a = q; parameters p = 2*a;", (1, 32), "depends on the coordinate q through a"),
        ("define a = q; damper D | on(q) damping(a');", (1, 40), "a defined name has no rate"),
        ("define stretch = q; spring S | on(q) force(3*stretch);", (1, 46), "is a reserved name in"),
        ("inputs u; define a = u; spring S | on(q) stiffness(1) rest(0) ; gravity a, 0, 0;", (1, 73), "the input u"),
        ("define a;", (1, 9), "expected `=`"),
        ("quasivelocity w = q;", (1, 15), "contains no velocity"),
        ("quasivelocity w = q'^2;", (1, 15), "not linear in the velocities"),
        ("quasivelocity w = sin(q');", (1, 15), "not linear"),
        ("inputs u; quasivelocity w = u*q';", (1, 29), "depends on the input u"),
        ("inputs u = -2*q';", (1, 15), "(?s)the input u depends on the velocity q'.*write a definition: `define f"),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(statements, place, words):
    with pytest.raises(ModelError, match=words) as caught:
        parse(f"{statements} coordinates q; A | Ry(q) | m(1), Jy(1);")
    assert (caught.value.place.line, caught.value.place.column) == place


def test_definitions_that_grow_without_end_are_refused():
    doubling = ", ".join(f"a{n} = a{n - 1}*a{n - 1}" for n in range(1, 100))
    with pytest.raises(ModelError, match="parts; the limit is"):
        parse(f"define {doubling}; define a0 = q; coordinates q; A | Ry(a99) | m(1);")
    chain = ", ".join(f"a{n} = a{n - 1} + 1" for n in range(1, 500))
    long = parse(f"define {chain}; define a0 = q; coordinates q; A | Ry(a499) | m(1), Jy(1);")
    assert parse(write(long)) == long


def test_a_definition_in_another_meaning_is_refused():
    from dataclasses import replace

    from kinegraph.model import validate
    from kinegraph.model.definitions import Definition

    mechanism = parse("coordinates q; define a = 2*q; A | Ry(a) | m(1);")
    with pytest.raises(ModelError, match="a different definition"):
        validate(replace(mechanism, definitions=(Definition("a", Name("q")),)))
    with pytest.raises(ModelError, match="is not resolved"):
        validate(unresolved(mechanism))
