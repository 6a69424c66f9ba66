"""Loops, constraints, contacts and unknown forces: what the language says, what it refuses, what is not derived yet."""

import pytest

import kinegraph as kg
from kinegraph.compiler.base_parameters import base_parameters
from kinegraph.errors import DerivationError, KinegraphError, ModelError
from kinegraph.io import parse, write
from kinegraph.model import Builder, Rx, Rz, Sx, inertia
from kinegraph.model.builder import frame
from kinegraph.model.constraints import (
    ConstraintKind,
    Coupling,
    Frame,
    Joint,
    JointType,
    Loop,
    Rotation,
    Translation,
    constraint_kind,
    row_names,
)
from kinegraph.model.expressions import Name, expression
from kinegraph.model.mechanism import Axis

FOUR_BAR = """
    model four_bar;
    parameters l1 = 1, l2 = 3, l3 = 2.5, d = 3;
    coordinates q1 = 1, q2, q3;
    gravity 0, -9.81, 0;
    Crank          | Rz(q1)         | Sx(l1/2), m(1), Jz(0.1);
    Coupler~Crank  | Sx(l1), Rz(q2) | Sx(l2/2), m(3), Jz(0.9);
    Rocker~Coupler | Sx(l2), Rz(q3) | Sx(l3/2), m(2), Jz(0.5);
"""
PIN = "loop pin | revolute | Rocker: Sx(l3) | Sx(d);"
PAIR = "coordinates q1, q2; A | Rz(q1) | m(1), Jz(1); B~A | Sx(1), Rz(q2) | m(1), Jz(1); output tip = B (1, 0, 0);"


# what is said


def test_a_loop_of_two_frames():
    (pin,) = parse(FOUR_BAR + PIN).loops
    joint = Joint(JointType.REVOLUTE, (Axis.Z,))
    assert pin == Loop("pin", joint, Frame("Rocker", (Sx("l3"),)), Frame(None, (Sx("d"),)))
    assert row_names(pin) == ("pin.x", "pin.y", "pin.z", "pin.turn_x", "pin.turn_y")


@pytest.mark.parametrize(
    ("written", "joint"),
    [
        ("revolute(y)", Joint(JointType.REVOLUTE, (Axis.Y,))),
        ("prismatic(x)", Joint(JointType.PRISMATIC, (Axis.X,))),
        ("cylindrical", Joint(JointType.CYLINDRICAL, (Axis.Z,))),
        ("universal", Joint(JointType.UNIVERSAL, (Axis.X, Axis.Y))),
        ("universal(z, x)", Joint(JointType.UNIVERSAL, (Axis.Z, Axis.X))),
        ("spherical", Joint(JointType.SPHERICAL)),
        ("planar(y)", Joint(JointType.PLANAR, (Axis.Y,))),
        ("fixed", Joint(JointType.FIXED)),
        ("point_on_line(x)", Joint(JointType.POINT_ON_LINE, (Axis.X,))),
        ("point_on_plane", Joint(JointType.POINT_ON_PLANE, (Axis.Z,))),
        ("distance(2)", Joint(JointType.DISTANCE, (), expression(2))),
    ],
)
def test_every_joint(written, joint):
    mechanism = parse(f"{PAIR} loop pin | {written} | B: Sx(1), Rx(0.2) | ;")
    assert mechanism.loops[0].joint == joint
    assert parse(write(mechanism)) == mechanism


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("fixed", 6), ("revolute", 5), ("prismatic", 5), ("cylindrical", 4), ("universal", 4), ("spherical", 3),
        ("planar", 3), ("point_on_line", 2), ("point_on_plane", 1), ("distance", 1), ("gear", 1), ("rack", 1),
    ],
)  # fmt: skip
def test_rows_of_every_joint(kind, rows):
    assert JointType(kind).rows == rows


def test_what_joints_fix():
    revolute = JointType.REVOLUTE.fixes
    assert (revolute.translation, revolute.rotation) == (Translation.ALL, Rotation.ACROSS)
    assert JointType.PRISMATIC.row_names((Axis.X,)) == ("y", "z", "turn_x", "turn_y", "turn_z")
    assert JointType.PLANAR.row_names((Axis.Y,)) == ("y", "turn_x", "turn_z")
    assert JointType.UNIVERSAL.row_names((Axis.X, Axis.Y)) == ("x", "y", "z", "turn_normal")
    assert JointType.DISTANCE.row_names(()) == ("length",)
    assert not JointType.POINT_ON_LINE.is_lower_pair and JointType.PLANAR.is_lower_pair


def test_relations_of_coordinates():
    mechanism = parse(
        f"parameters r = 0.1; {PAIR} loop teeth | gear(-20/30, 0.2) | q1 | q2; loop bar | rack(r) | q2 | q1;"
    )
    teeth, bar = mechanism.loops
    assert isinstance(teeth, Coupling) and (teeth.first, teeth.second) == ("q1", "q2")
    assert bar.type is JointType.RACK and bar.ratio == Name("r")
    assert row_names(bar) == ("bar.relation",)
    assert parse(write(mechanism)) == mechanism


def test_a_builder_says_the_same():
    m = Builder("four_bar", gravity=(0, -9.81, 0))
    l1, l2, l3, d = (m.parameter(name, value) for name, value in (("l1", 1), ("l2", 3), ("l3", 2.5), ("d", 3)))
    q1, q2, q3 = m.coordinate("q1", 1), m.coordinate("q2"), m.coordinate("q3")
    crank = m.body("Crank", None, [Rz(q1)], inertia(1, Jz=0.1, at=[Sx(l1 / 2)]))
    coupler = m.body("Coupler", crank, [Sx(l1), Rz(q2)], inertia(3, Jz=0.9, at=[Sx(l2 / 2)]))
    rocker = m.body("Rocker", coupler, [Sx(l2), Rz(q3)], inertia(2, Jz=0.5, at=[Sx(l3 / 2)]))
    m.loop("pin", "revolute", frame(rocker, Sx(l3)), frame(None, Sx(d)))
    m.loop("strut", "distance", rocker, frame("Crank", Sx(1), Rx(0.1)), length=2)
    m.loop("joint", JointType.UNIVERSAL, "Rocker", None, axes="zx")
    m.coupling("teeth", q1, "q2", -2, rack=True)
    m.constraint("roll", Name("q1'") + Name("q2'"))
    m.constraint("path", Name("Rocker.x"), 3)
    m.contact("floor", Name("Rocker.y"), restitution=0.5, friction=0.3, slip=[Name("Rocker.x'")])
    force = m.unknown("S")
    m.force("motor", force, q1)
    m.cut("pin", rocker)
    built = m.build()
    written = parse(
        FOUR_BAR + PIN + "loop strut | distance(2) | Rocker | Crank: Sx(1), Rx(0.1);"
        "loop joint | universal(z, x) | Rocker | ; loop teeth | rack(-2) | q1 | q2;"
        "constraint roll | q1' + q2' = 0; constraint path | Rocker.x = 3; unknown S; force motor | value(S), on(q1);"
        "contact floor | Rocker.y >= 0 | restitution(0.5), friction(0.3), slip(Rocker.x'); cut pin, Rocker;"
    )
    assert built == written == parse(write(built))
    with pytest.raises(ModelError, match="takes 1 axes"):
        m.loop("x", "revolute", rocker, None, axes="xy")
    with pytest.raises(ModelError, match="`distance` only"):
        m.loop("x", "spherical", rocker, None, length=2)


@pytest.mark.parametrize(
    ("constraint", "kind"),
    [
        ("q1 + sin(q2) = 0", ConstraintKind.HOLONOMIC),
        ("tip.x^2 + tip.y^2 = 4", ConstraintKind.HOLONOMIC),
        ("tip.x = 0.1*sin(t)", ConstraintKind.RHEONOMIC),
        ("q1 = lift", ConstraintKind.RHEONOMIC),
        ("tip.y'*cos(q1) - tip.x'*sin(q1) = 0", ConstraintKind.NONHOLONOMIC),
        ("w = 0", ConstraintKind.NONHOLONOMIC),
        ("q1' = 0.3*t", ConstraintKind.NONHOLONOMIC),
    ],
)
def test_constraints_are_classified(constraint, kind):
    mechanism = parse(f"{PAIR} inputs lift = 2*t; quasivelocity w = q1' + q2'; constraint c | {constraint};")
    assert constraint_kind(mechanism, mechanism.constraints[0]) is kind
    assert parse(write(mechanism)) == mechanism


def test_loops_are_classified_by_their_frames():
    still = parse(FOUR_BAR + PIN)
    led = parse(FOUR_BAR + "loop pin | revolute | Rocker: Sx(l3) | Sx(d + 0.1*sin(t));")
    assert constraint_kind(still, still.loops[0]) is ConstraintKind.HOLONOMIC
    assert constraint_kind(led, led.loops[0]) is ConstraintKind.RHEONOMIC


# what is refused


@pytest.mark.parametrize(
    ("statement", "column", "words"),
    [
        ("loop pin | revolute | C | ;", 23, "unknown body 'C' in the loop pin"),
        ("loop pin | revolute | B | Ground: Sx(1);", 27, "fixed frame has no name"),
        ("loop pin | revolute | B | B: Sx(1);", 6, "connects B to itself"),
        ("loop pin | revolute | Sx(1) | ;", 6, "connects the fixed frame to itself"),
        ("loop pin | revolute(1) | B | ;", 12, "one axis of both frames"),
        ("loop pin | revolute(x, y) | B | ;", 12, "one axis of both frames"),
        ("loop pin | universal(x) | B | ;", 12, "two axes, of the first and of the second frame"),
        ("loop pin | spherical(x) | B | ;", 12, "takes no axis"),
        ("loop pin | distance | B | ;", 12, "takes length, found 0"),
        ("loop pin | distance(0) | B | ;", 12, "length of the loop pin is 0"),
        ("loop pin | distance(q1) | B | ;", 21, "depends on the coordinate q1"),
        ("loop pin | revolute | B: Sx(q1) | ;", 29, "a frame of the loop pin depends on the coordinate q1"),
        ("loop pin | revolute | B: m(1) | ;", 26, "among the transforms"),
        ("loop pin | revolute | B Sx(1) | ;", 25, "B: Sx"),
        ("loop pin | revolute | B;", 24, "expected"),
        ("loop | revolute | B | ;", 6, "give it a name"),
        ("loop A | revolute | B | ;", 6, "has the same name as a body"),
        ("loop c | revolute | B | ; constraint c | q1 = 0;", 38, "has the same name as the loop c"),
        ("loop g | gear(2) | q1 | x;", 6, "unknown coordinate 'x'"),
        ("loop g | gear(2) | q1 | q1;", 6, "connects q1 to itself"),
        ("loop g | gear(0) | q1 | q2;", 10, "ratio of the gear g is zero"),
        ("loop g | gear(1) | A: Sx(1) | q2;", 23, "needs two coordinates, not frames"),
        ("loop g | gear | q1 | q2;", 10, "takes ratio and optionally offset"),
        ("C~B | Sx(1) | m(1); loop pin | revolute | C | B: Sx(1);", 26, "no coordinate moves in the loop pin"),
        ("constraint c | q1'^2 = 1;", 12, "not linear in the velocities"),
        ("constraint c | sin(q1') = 0;", 12, "not linear in the velocities"),
        ("constraint c | q1'*q2' = 0;", 12, "not linear in the velocities"),
        ("constraint c | t = 0;", 12, "the constraint c contains no coordinate"),
        ("constraint c | q7 = 0;", 16, "unknown name 'q7' in the constraint c"),
        ("inputs u; constraint c | q1 = u;", 31, "depends on the input u"),
        ("constraint c | q1;", 18, "expected `=`"),
        ("contact c | q1' >= 0;", 13, "depends on the velocity q1'"),
        ("contact c | t >= 0;", 9, "does not depend on the motion"),
        ("contact c | tip.y >= 0 | restitution(1.5);", 26, "restitution of the contact c is 1.5"),
        ("contact c | tip.y >= 0 | friction(-1), slip(tip.x');", 26, "friction of the contact c is negative"),
        ("contact c | tip.y >= 0 | friction(0.3);", 9, "`slip\\(...\\)` is missing"),
        ("contact c | tip.y >= 0 | slip(tip.x');", 9, "is missing or zero"),
        ("contact c | tip.y >= 0 | friction(0), slip(tip.x');", 9, "is missing or zero"),
        ("contact c | tip.y >= 0 | friction(1), slip(tip.x);", 39, "not linear in the velocities"),
        ("contact c | tip.y >= 0 | slip(q1', q2', q1');", 26, "1 or 2 expressions"),
        ("contact c | tip.y = 0;", 19, "expected `>=`"),
        ("unknown S;", 9, "no force or moment depends on the unknown S"),
        ("unknown S; force P | value(S^2), on(q1);", 22, "not linear in the unknown S"),
        ("unknown S, R; force P | value(S*R), on(q1);", 25, "not linear in the unknown R, S"),
        ("unknown S; force P | value(sin(S)), on(q1);", 22, "not linear in the unknown S"),
        ("unknown S; spring P | on(q1), stiffness(S);", 41, "depends on the unknown force S"),
        ("cut pin;", 5, "cannot cut 'pin'"),
        ("loop pin | revolute | B: Sx(1) | Sx(1); cut pin, B;", 45, "disconnects B from the fixed frame"),
        ("loop pin | revolute | B: Sx(1) | Sx(1); spring s | on(q2) stiffness(1); cut B;", 77, "cannot be cut"),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(statement, column, words):
    with pytest.raises(ModelError, match=words) as caught:
        parse(f"{PAIR}\n{statement}")
    assert (caught.value.place.line, caught.value.place.column) == (2, column), str(caught.value)


def test_a_cut_that_frees_a_massless_body_is_refused():
    light = FOUR_BAR.replace("Sx(l3/2), m(2), Jz(0.5)", "") + PIN
    assert parse(light)
    with pytest.raises(ModelError, match="leaves the massless body Rocker"):
        parse(light + "cut pin;")


# what recursive algorithms and URDF do not know

PENDING = [
    (PIN, "the loop pin"),
    ("loop teeth | gear(2) | q1 | q2;", "the gear teeth"),
    ("constraint c | q1 = 0;", "the constraint c"),
    ("contact c | Rocker.y >= -9;", "the contact c"),
]


def test_equations_take_unknowns_as_inputs(tmp_path):
    unknown, given = (parse(f"{FOUR_BAR} {one} S; force P | value(S), on(q1);") for one in ("unknown", "inputs"))
    assert kg.derive(unknown, "tau") == kg.derive(given, "tau")
    assert kg.derive(unknown, "H") == kg.derive(parse(FOUR_BAR), "H")
    assert base_parameters(unknown) == base_parameters(given)
    written = [kg.export(one, "tau", "c", tmp_path / one.name).functions for one in (unknown, given)]
    assert written[0] == written[1]


def test_a_cut_changes_no_quantity_of_the_records():
    assert kg.derive(parse(FOUR_BAR + PIN + "cut Coupler;"), "H") == kg.derive(parse(FOUR_BAR + PIN + "cut pin;"), "H")


@pytest.mark.parametrize(("statement", "named"), PENDING)
def test_loops_over_bodies_know_trees_only(statement, named):
    from kinegraph.recursive.systems import RecursiveSystem

    with pytest.raises(DerivationError, match=f"not supported; the model has {named}"):
        RecursiveSystem(parse(FOUR_BAR + statement))


@pytest.mark.parametrize(("statement", "named"), PENDING)
def test_urdf_has_no_words_for_ties(statement, named):
    from kinegraph.io.urdf.writer import write_urdf

    with pytest.raises(KinegraphError, match=named):
        write_urdf(parse(FOUR_BAR + statement))
