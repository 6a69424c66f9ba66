"""Closed forms of loops: RRR, RRP, RPR, PRP, rods on ball joints; both branches, dead points, proofs."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.constraints.trigonometric_polynomials import without_squared_roots
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.dynamics import driving_forces
from kinegraph.derive.tree.expressions import output
from kinegraph.errors import DerivationError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Kind
from tests.cli.run import data, runner
from tests.derive.constraints.test_random_linkages import linkage
from tests.effort import SOAK
from tests.interpreted import interpreted

#: A mechanism, and the velocities its loops determine, in the order in which they are solved.
FORMS = {
    "RRR, absolute angles": (kg.write(kg.load("four-bar")), [{"coupler'", "rocker'"}]),
    "RRR, relative angles, offset pins, another plane": (
        """parameters a = 0.5, b = 1.2, c = 0.8; coordinates q1 = 0.3, q2 = 0.1, q3 = 1.2; gravity 0, 0, -9.81;
        A | Ry(q1) | Sx(0.2), Sz(0.05), m(1), Jy(0.1); B~A | Sx(a), Sz(0.03), Ry(q2) | Sx(0.5), m(2), Jy(0.2);
        C | Sx(1), Sz(0.1), Ry(q3) | Sx(0.4), m(1), Jy(0.1); loop pin | revolute(y) | B: Sx(b), Sz(0.1) | C: Sx(c);""",
        [{"q2'", "q3'"}],
    ),
    "RRP": (kg.write(kg.load("slider-crank")), [{"rod'", "s'"}]),
    "RRP on an inclined way": (
        """coordinates crank = 1, rod = -0.8, s = 0.45; gravity 0, -9.81, 0;
        Crank | Rz(crank) | Sx(0.07), m(1), Jz(0.1); Rod~Crank | Sx(0.15), Rz(rod) | Sx(0.2), m(1), Jz(0.1);
        Piston | Rz(0.3), Sy(0.05), Sx(s) | m(2); loop pin | revolute | Rod: Sx(0.4) | Piston:;""",
        [{"rod'", "s'"}],
    ),
    "RPR: a slider along a rocker": (
        """coordinates crank = 0.4, rocker = 0.2, s = 1.1; gravity 0, -9.81, 0;
        Crank | Rz(crank) | Sx(0.2), m(1), Jz(0.1); Rocker | Sx(-1), Rz(rocker) | Sx(0.5), m(1), Jz(0.2);
        Block~Rocker | Sy(0.1), Sx(s) | m(0.5), Jz(0.01); loop pin | revolute | Block: | Crank: Sx(0.4);""",
        [{"rocker'", "s'"}],
    ),
    "PRP: Scotch yoke": (
        """coordinates crank = 0.4, x = 0.4, y = 0.2; gravity 0, -9.81, 0;
        Crank | Rz(crank) | Sx(0.2), m(1), Jz(0.1); Yoke | Sx(x) | m(1); Block~Yoke | Sy(y) | m(0.5);
        loop pin | revolute | Block: | Crank: Sx(0.5);""",
        [{"x'", "y'"}],
    ),
    "a rod of constant distance": (
        """coordinates crank = 0.4, rocker = 1.2; gravity 0, -9.81, 0;
        Crank | Rz(crank) | Sx(0.2), m(1), Jz(0.1); Rocker | Sx(1), Rz(rocker) | Sx(0.4), m(1), Jz(0.1);
        loop rod | distance(1.2) | Crank: Sx(0.5) | Rocker: Sx(0.8);""",
        [{"rocker'"}],
    ),
    "a rod of constant distance to a slider": (
        """coordinates crank = 0.4, s = 1.2; gravity 0, -9.81, 0;
        Crank | Rz(crank) | Sx(0.2), m(1), Jz(0.1); Piston | Sx(s) | m(1);
        loop rod | distance(0.9) | Crank: Sx(0.5) | Piston:;""",
        [{"s'"}],
    ),
    "a rod in space on a slider": (kg.write(kg.load("spatial-slider-crank")), [{"s'", "roll'", "tilt'"}]),
    "a rod in space on a rocker": (
        """coordinates crank = 0.4, rocker = 0.3, swing = 0.2, tilt = 0.4; gravity 0, -1, -9.81;
        Crank | Rz(crank) | Sx(0.2), m(1), Jx(0.1), Jy(0.1), Jz(0.1);
        Rocker | Sx(0.8), Sz(0.4), Rx(rocker) | Sy(0.3), m(1), Jx(0.1), Jy(0.1), Jz(0.1);
        Rod~Rocker | Sy(0.6), Rz(0.4), Rx(swing), Ry(0.3), Rz(tilt) | Sx(-0.3), m(1), Jx(0.01), Jy(0.1), Jz(0.1);
        loop ball | spherical | Rod: Sx(-0.9), Sy(0.1) | Crank: Sx(0.4);""",
        [{"rocker'", "swing'", "tilt'"}],
    ),
    "three dyads on one pin": (
        kg.write(kg.load("andrews")), [{"theta'", "gamma'"}, {"omega'", "epsilon'"}, {"phi'", "delta'"}],
    ),
    "three legs of a platform": (
        kg.write(kg.load("3-rrr")), [{"q3'", "p3'"}, {"q2'", "p2'"}, {"q1'", "p1'"}],
    ),
    "a row of four-bars": (kg.write(kg.load("n-four-bar-3")), None),
}  # fmt: skip


def closed(mechanism):
    derivation = Derivation(mechanism, {}, Plan())
    assert derivation.dyads is not None
    return derivation, derivation.dyads


def graph(derivation, name, scalars):
    return derivation.builder.graph([output(name, (len(scalars),), scalars)])


@pytest.mark.parametrize("form", FORMS)
def test_closed_forms_fulfil_their_loops(form):
    text, wanted = FORMS[form]
    mechanism = kg.parse(text)
    derivation, dyads = closed(mechanism)
    names = mechanism.layout.velocities
    found = [{names[column] for column in block.columns} for block in dyads.blocks]
    assert wanted is None or found == wanted
    missed = dyads.written([item for row in dyads.rows for item in (row.zero_value(), row.rate)])
    nothing = graph(derivation, "missed", [derivation.zero] * len(missed))
    assert kg.prove(graph(derivation, "missed", missed), nothing)
    wrong = [missed[0] + missed[0].number(1), *missed[1:]]
    assert not kg.prove(graph(derivation, "missed", wrong), nothing)


@pytest.mark.parametrize("form", FORMS)
def test_three_formulations_are_proved_equal(form):
    derivation, dyads = closed(kg.parse(FORMS[form][0]))
    constrained, force = derivation.constrained, driving_forces(derivation)
    multipliers = constrained.accelerations(force)
    partitioned = derivation.partitioned.accelerations(derivation.inertia, force, constrained.gamma)
    assert kg.prove(graph(derivation, "qdd", multipliers), graph(derivation, "qdd", partitioned))
    first, second = (graph(derivation, "qdd", dyads.written(way)) for way in (multipliers, partitioned))
    assert kg.prove(first, second)
    doubled = graph(derivation, "qdd", [2 * one for one in dyads.written(partitioned)])
    assert not kg.prove(first, doubled)


@pytest.mark.parametrize("form", FORMS if SOAK else [form for form in FORMS if not form.startswith("three")])
def test_every_branch_is_the_users(form):
    """Random states of all branches, by Newton's method from random starts."""
    mechanism = kg.parse(FORMS[form][0])
    layout = mechanism.layout
    graphs = [kg.derive(mechanism, "qdd", closure=one, numeric=True) for one in ("multipliers", "closed-form")]
    _, dyads = closed(mechanism)
    random, signs = np.random.default_rng(5), set()
    free = [name.removesuffix("'") for name in dyads.independent]
    assembler = Assembler(mechanism)
    start = assembler.assemble()
    compared = 0
    for _ in range(20 if len(layout.velocities) < 5 else 8):
        at = {name: float(start.q[layout.positions.index(name)] + random.normal(scale=0.2)) for name in free}
        reach = random.choice([0.2, 3])  # far away other branches are found, but not by every linkage
        aside = start.q + random.uniform(-reach, reach, len(start.q))
        aside[[layout.positions.index(name) for name in free]] = list(at.values())
        try:
            place = assembler.assembled(aside, random.normal(size=len(layout.velocities)), free)
        except kg.KinegraphError:
            continue
        given = [*place.q, *place.v, *random.normal(size=len(layout.forces))]
        names = (*layout.positions, *layout.velocities, *layout.forces)
        first, second = (interpret(one, dict(zip(names, given, strict=True)))["qdd"] for one in graphs)
        scale = np.max(np.abs(first))
        if np.isfinite(first).all() and scale < 1e8:
            np.testing.assert_allclose(second, first, rtol=0, atol=1e-8 * scale)
            signs.add(tuple(np.round(place.q, 1)))
            compared += 1
    assert compared >= 3 and len(signs) >= 2


def test_what_loops_determine_need_not_be_given_exactly():
    """The values of coupler and rocker only select the branch; their velocities are ignored."""
    mechanism = kg.load("four-bar")
    place = kg.assemble(mechanism, {"crank": 1, "crank'": 2})
    kernel = kg.compile(mechanism, "qdd", closure="closed-form")
    exact = kernel(place.q, place.v, [1, 2, 3])
    rough = kernel(place.q + np.array([0, 0.05, -0.07]), [place.v[0], 7, -9], [1, 2, 3])
    np.testing.assert_array_equal(rough, exact)
    np.testing.assert_allclose(kg.compile(mechanism, "qdd")(place.q, place.v, [1, 2, 3]), exact, rtol=1e-12)
    mirrored = kg.assemble(mechanism, {"crank": 1, "coupler": -1, "rocker": -2, "crank'": 2})
    assert abs(mirrored.q[2] - place.q[2]) > 0.5
    other = kernel(mirrored.q, mirrored.v, [1, 2, 3])
    np.testing.assert_allclose(kg.compile(mechanism, "qdd")(mirrored.q, mirrored.v, [1, 2, 3]), other, rtol=1e-12)


#: A four-bar whose crank cannot turn round: coupler and rocker are in line at the end of its way.
TRIPLE_ROCKER = """parameters a = 1, b = 0.6, c = 0.6, d = 1.6;
coordinates crank = 0.6, coupler = -0.3, rocker = 2; gravity 0, -9.81, 0;
Crank | Rz(crank) | Sx(a/2), m(1), Jz(0.1); Coupler~Crank | Sx(a), Rz(coupler - crank) | Sx(b/2), m(2), Jz(0.1);
Rocker | Sx(d), Rz(rocker) | Sx(c/2), m(1), Jz(0.1); loop pin | revolute | Coupler: Sx(b) | Rocker: Sx(c);"""


@pytest.mark.parametrize("closure", ["partition", "closed-form"])
def test_dead_points_give_no_numbers(closure):
    mechanism = kg.parse(TRIPLE_ROCKER)
    limit = np.arccos((1 + 1.6**2 - 1.2**2) / (2 * 1.6))
    kernel, usual = kg.compile(mechanism, "qdd", closure=closure), interpreted(mechanism, "qdd")
    given = 0
    for below in [0, *np.geomspace(1e-16, 0.1, 40)]:
        crank = limit - below
        along = np.arctan2(-np.sin(crank), 1.6 - np.cos(crank))
        half = np.arccos(min(1.0, np.hypot(np.sin(crank), 1.6 - np.cos(crank)) / 1.2))
        q = [crank, along + half, along + np.pi - half]
        found = kernel(q, [0, 0, 0], [1, 0, 0])
        if np.isfinite(found).all():
            given += 1
            np.testing.assert_allclose(found, usual(q, [0, 0, 0], [1, 0, 0]), rtol=1e-4)
    assert 10 < given < 35
    beyond = kernel([limit + 0.1, 0, np.pi], [0, 0, 0], [1, 0, 0])
    assert closure == "partition" or np.isnan(beyond).any()


def test_loops_without_closed_form_say_so():
    with pytest.raises(DerivationError, match="bricard: not all of its loops have a closed form"):
        kg.compile("bricard", "qdd", closure="closed-form")
    with pytest.raises(DerivationError, match="closure: unknown value 'newton'; choose one of multipliers, partition"):
        kg.compile("four-bar", "qdd", closure="newton")


def test_the_fastest_is_chosen_by_estimated_time(caplog):
    caplog.set_level("INFO", "kinegraph")
    mechanism = kg.load("slider-crank")
    kernel = kg.compile(mechanism, "qdd", closure="fastest")
    assert "multipliers" in caplog.text and "partition" in caplog.text and "closed-form" in caplog.text
    place = kg.assemble(mechanism, {"crank'": 3})
    wanted = kg.compile(mechanism, "qdd")(place.q, place.v, [1, 2, 3])
    np.testing.assert_allclose(kernel(place.q, place.v, [1, 2, 3]), wanted, rtol=1e-12)
    assert kernel.operations.total <= kg.compile(mechanism, "qdd").operations.total


def test_other_quantities_have_closed_forms_too():
    mechanism = kg.load("slider-crank")
    place = kg.assemble(mechanism, {"crank'": 3})
    words = "qdd,multipliers,reaction:pin,d(qdd)/d(tau)"
    closed_form, usual = (interpreted(mechanism, words, one) for one in ("closed-form", "multipliers"))
    found, wanted = (kernel(place.q, place.v, [1, 2, 3]) for kernel in (closed_form, usual))
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-10, atol=1e-10)


def test_commands_take_a_closure(capsys):
    run = runner(capsys)
    ways = ("multipliers", "partition", "closed-form", "fastest")
    found = [data(run(f"eval slider-crank -q qdd --json --closure {way} --state", "crank'=3"))["qdd"] for way in ways]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-10)
    counts = [data(run(f"count slider-crank -q qdd --effort quick --json --closure {way}")) for way in ways[:3]]
    assert [one["sqrt"] for one in counts] == [0, 0, 1] and all(one["proved"] for one in counts)


def test_a_motion_that_time_determines():
    """No degree of freedom is left, because the motion of the crank is prescribed."""
    mechanism = kg.parse("""coordinates coupler = 0.4, rocker = 1.2; gravity 0, -9.81, 0;
        Crank | Rz(2*t) | Sx(0.2), m(1), Jz(0.1); Coupler~Crank | Sx(0.5), Rz(coupler - 2*t) | Sx(0.6), m(2), Jz(0.3);
        Rocker | Sx(1), Rz(rocker) | Sx(0.4), m(1), Jz(0.1);
        loop pin | revolute | Coupler: Sx(1.2) | Rocker: Sx(0.8);""")
    place = kg.assemble(mechanism)
    ways = ("multipliers", "partition", "closed-form")
    first, *others = (interpreted(mechanism, "qdd", way)(place.q, place.v, [1, 2], 0.0) for way in ways)
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-12)


def test_axes_that_turn_with_a_coordinate_of_another_loop_lead_nowhere_in_circles():
    """Each loop would need the result of the other; this is detected instead of recursing forever."""
    assert Derivation(linkage(4), {}, Plan()).dyads is None


@pytest.mark.parametrize("seed", [18, 36, 46] if SOAK else [36])
def test_random_planar_linkages(seed):
    """Linkages with two loops: three methods give the same accelerations."""
    mechanism = linkage(seed)
    layout = mechanism.layout
    random = np.random.default_rng(seed)
    size = len(layout.velocities)
    place = Assembler(mechanism).assembled(kg.assemble(mechanism).q, random.normal(size=size))
    names = (*layout.positions, *layout.velocities, *layout.forces)
    given = dict(zip(names, [*place.q, *place.v, *random.normal(size=size)], strict=True))
    ways = ("multipliers", "partition", "closed-form")
    first, *others = (interpret(kg.derive(mechanism, "qdd", closure=way), given)["qdd"] for way in ways)
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-10 * np.abs(first).max())


def test_squares_of_roots_are_what_stands_under_them():
    """2 (3 sign(c) sqrt(a + b))^2 - 18 b = 18 a: squares need no root."""
    builder = GraphBuilder()
    a, b, c = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "abc")
    root = 3 * c.apply("sign") * (a + b).apply("guarded", a).apply("sqrt")
    assert without_squared_roots(2 * root * root - 18 * b) == 18 * a
    assert without_squared_roots(root * root * c) == 9 * (a + b) * c
    assert without_squared_roots(root) == root and without_squared_roots(root * c) == root * c


@pytest.mark.parametrize(("model", "most"), [("spatial-slider-crank", 175), ("3-rrr", 560), ("four-bar", 127)])
def test_roots_are_determinants_of_rates(model, most):
    """So that closed forms need no more operations than these, and no guard twice."""
    assert kg.compile(kg.load(model), "qdd", closure="closed-form").operations.total <= most
