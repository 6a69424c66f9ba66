"""First integrals: all that exist are found, none that does not (see the reference file for how they were checked)."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import DerivationError, TaskError
from kinegraph.graph.interpret import interpret
from kinegraph.tasks.first_integrals import first_integrals
from tests.effort import SOAK

TOP = """
    parameters A = 3/10, B = {B}, C = {C}, m = {m}, l = 1/5;
    coordinates psi, theta, phi;
    gravity 0, 0, {g};
    Top | Rz(psi), Rx(theta), Rz(phi) | Jx(A), Jy(B), Jz(C){more};
    {potential}
"""
LAGRANGE = TOP.format(B="3/10", C="1/5", m=2, g=0, more="", potential="potential weight | m*9.81*l*cos(theta);")
EULER = TOP.format(B="1/5", C="1/10", m=1, g=0, more="", potential="")
CART = """
    parameters M0 = 2, m = 1, l = 1/2, b = 1/10, bc = 3/10;
    coordinates x, theta;
    gravity 0, 0, -9.81;
    Cart      | Sx(x)      | m(M0);
    Bob~Cart  | Ry(-theta) | Sz(-l), m(m);
    {elements}
"""
SPRING = """
    coordinates x1, y1, x2, y2 = 1;
    First  | Sx(x1), Sy(y1) | m(1);
    Second | Sx(x2), Sy(y2) | m(2);
    spring s | between(First, Second) stiffness(30) rest(7/5);
"""


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (LAGRANGE, {"energy", "p:psi", "p:phi"}),
        (EULER, {"energy", "p:psi", "Lx", "Ly"}),
        (SPRING, {"energy", "px", "py", "Lz"}),
        (CART.format(elements=""), {"energy", "p:x"}),
        (CART.format(elements="damper d | on(theta) damping(b);"), {"p:x"}),
        ("coordinates q1, q2; A | Ry(q1) | Sx(1), m(1); B~A | Sx(1), Ry(q2) | Sx(1), m(1);", {"energy", "p:q1"}),
    ],
)
def test_all_and_no_other(model, names):
    assert set(first_integrals(kg.parse(model)).names) == names


def test_ground_damping_leaves_momentum_plus_damping_times_way():
    (found,) = first_integrals(kg.parse(CART.format(elements="damper d | on(x) damping(bc);"))).integrals
    assert {name: str(factor) for name, factor in found.coefficients.items()} == {"p:x": "1", "x": "3/10"}
    state = {"x": 0.4, "theta": 0.3, "x'": 0.7, "theta'": -0.2, "t": 1.0}
    expected = 2 * 0.7 + (0.7 + 0.5 * np.cos(0.3) * -0.2) + 0.3 * 0.4
    assert interpret(found.graph, state)["integral"] == pytest.approx(expected, abs=1e-14)


def test_a_falling_body_keeps_momentum_and_weight_times_time():
    found = first_integrals(kg.parse("coordinates z; gravity 0, 0, -9.81; Stone | Sz(z) | m(2);"))
    assert [one.combination for one in found.integrals] == ["energy", "p:z + 981/50 t"]


def test_jacobi_of_a_bead_on_a_rotating_hoop():
    hoop = "coordinates q = 1; gravity 0, 0, -9.81; Bead | Rz(3*t), Ry(q) | Sz(-1), m(1);"
    assert first_integrals(kg.parse(hoop)).names == ("jacobi",)


def test_a_free_body_in_quaternions():
    body = """
        coordinates x, y, z;
        quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);
        Body | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(2), Jx(1), Jy(2), Jz(5/2);
    """
    assert set(first_integrals(kg.parse(body)).names) == {"energy", "p:x", "p:y", "p:z", "Lx", "Ly", "Lz"}


GYROSCOPE = """
    coordinates outer, inner = 1, spin; gravity 0, 0, -9.81;
    Outer       | Rz(outer) | Jz(1/10), Jx(1/20), Jy(3/50);
    Inner~Outer | Rx(inner) | Jx(7/100), Jy(2/25), Jz(9/100);
    Rotor~Inner | Rz(spin)  | m(2), Jx(1/5), Jy(1/5), Jz(3/10);
    {damper}
"""


@pytest.mark.parametrize(
    ("damper", "wanted"),
    [
        ("", ["energy", "p:outer", "p:spin"]),
        ("damper d | on(inner), damping(0.1);", ["p:outer", "p:spin"]),
        ("damper d | on(spin), damping(0.1);", ["p:outer", "p:spin + 1/10 spin"]),
    ],
)
def test_a_gyroscope_keeps_the_momenta_of_its_cyclic_angles(damper, wanted):
    found = first_integrals(kg.parse(GYROSCOPE.format(damper=damper))).integrals
    assert [one.combination for one in found] == wanted


def test_quasi_velocities_have_momenta_too():
    """The symmetric heavy top in quaternions: spin about its own axis, and the vertical angular momentum."""
    assert set(first_integrals("heavy-top").names) == {"energy", "p:wy", "Lz"}


SLEIGH = """
    coordinates x, y, th;
    Sleigh | Sx(x), Sy(y), Rz(th) | Sx(1/5), m(2), Jz(3/10);
    constraint blade | y'*cos(th) - x'*sin(th) = 0;
"""
#: A bar on a rail: fixed, sloping, or moved.
RAIL = "coordinates x, y; Bar | Sx(x), Sy(y) | m(2); constraint rail | {rail} = 0;"


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (kg.library.text("four-bar"), {"energy"}),
        (SLEIGH, {"energy"}),
        (RAIL.format(rail="y - 1"), {"energy", "p:x"}),
        (RAIL.format(rail="y - x"), {"energy", "p:x + py"}),
        (RAIL.format(rail="y - t^2"), {"p:x"}),
    ],
    ids=["four-bar", "sleigh", "rail", "slope", "moving rail"],
)
def test_constraints_take_momenta_away_and_keep_energy_unless_they_move(model, names):
    assert set(first_integrals(kg.parse(model)).names) == names


def test_runs_are_checked_by_all_of_them():
    """Energy is not kept by a hoop that is driven, nor momentum by damped wheels; what takes their place is checked."""
    for model, name in (
        ("bead-on-hoop", "first integral jacobi"),
        ("cart-double-pendulum", "first integral px + 0.2 x"),
    ):
        run = kg.simulate(model, 0.2, native=False, progress=False)
        (check,) = (one for one in run.checks if one.name == name)
        assert check.passed and check.error < 1e-8


ROTOR = """
    coordinates x, y, phi;
    Rotor | Sx(x), Sy(y), Rz(phi) | Sx(1/100), m(2), Jz(3/10);
    {springs}
    force drive | on(phi), value(12);
"""
SPRINGS = "spring a | on(x), stiffness(100); spring b | on(y), stiffness(100);"


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        (ROTOR.format(springs=""), ["energy - 12 phi", "p:x", "p:y", "Lz - 12 t", "spin:Rotor.z - 40 t"]),
        ("coordinates phi; R | Rz(phi) | Jz(3/10); force f | on(phi), value(12);", ["energy - 12 phi", "p:phi - 12 t"]),
        ("coordinates x; B | Sx(x) | m(2); force f | on(x), value(6*sin(3*t));", ["p:x + 2 cos(3*t)"]),
        ("coordinates x; B | Sx(x) | m(2); force f | on(x), value(-6*x^2);", ["energy + 2 x^3"]),
    ],
    ids=["free rotor", "torque", "force of time", "force of place"],
)
def test_forces_that_have_no_potential_join_coordinates_and_time(model, wanted):
    assert [one.combination for one in first_integrals(kg.parse(model)).integrals] == wanted


CHARGED = """
    parameters b = 7/10;
    coordinates th = 1, phi;
    gravity 0, 0, -9.81;
    Bob | Rz(phi), Ry(th) | Sz(-1), m(2);
    output P = Bob (0, 0, -1);
    force lorentz | at(P), world(b*P.y', -b*P.x', 0);
"""


def test_a_magnetic_field_keeps_a_canonical_momentum():
    found = {one.name: one for one in first_integrals(kg.parse(CHARGED)).integrals}
    assert set(found) == {"energy", "p:phi + cos(th)^2"}
    state = {"th": 0.7, "phi": 0.2, "th'": 0.3, "phi'": -0.4, "t": 0.0}
    radius = np.sin(0.7)
    known = 2 * radius**2 * -0.4 + 0.35 * radius**2 - 0.35  # m r^2 phi' + b r^2/2, but for a constant
    value = interpret(found["p:phi + cos(th)^2"].graph, state)["integral"]
    assert value == pytest.approx(known, abs=1e-14)


def test_a_rolling_row_that_is_integrable_is_an_integral():
    wheel = """
        parameters r = 3/10;
        coordinates x, w;
        Wheel | Sx(x), Sy(r), Rz(-w) | m(2), Jz(1/10);
        constraint roll | x' - r*w' = 0;
    """
    assert "x - 3/10 w" in [one.combination for one in first_integrals(kg.parse(wheel)).integrals]
    held = wheel.replace("x' - r*w' = 0", "x - r*w = 0")  # by position it says nothing new
    assert not {"x + w"} & set(first_integrals(kg.parse(held)).names)


RSSR = """
    coordinates a = 1/2, {names} c = 1;
    gravity 0, 0, -9.81;
    {quaternion}
    Crank         | Rz(a)                | Sx(3/20), m(1), Jx(1/1000), Jy(1/50), Jz(1/50);
    Coupler~Crank | Sx(3/10), {turned}   | Sx(1/2), m(1), Jx(1/100), Jy({J}), Jz(2/25);
    Rocker        | Sx(1), Sz(1/10), Ry(c) | Sx(1/5), m(1), Jx(1/1000), Jy(1/50), Jz(1/50);
    loop ball | spherical | Coupler: Sx(1) | Rocker: Sx(1/2);
"""
QUATERNION = "quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);"


TURNED = [
    ("b1, b2, b3,", "Rx(b1), Ry(b2), Rz(b3)", "", "spin:Coupler.x"),
    ("", "Q(e0, e1, e2, e3)", QUATERNION, "p:wx"),
    ("b1, b2, b3,", "Rz(b1), Ry(b2), Rx(b3)", "", "p:b3"),
]


@pytest.mark.parametrize(("names", "turned", "quaternion", "name"), TURNED if SOAK else TURNED[:2])
def test_the_coupler_between_two_balls_keeps_its_spin_however_it_is_turned(names, turned, quaternion, name):
    model = RSSR.format(names=names, turned=turned, quaternion=quaternion, J="2/25")
    assert set(first_integrals(kg.parse(model)).names) == {"energy", name}
    if quaternion:
        flat = RSSR.format(names=names, turned=turned, quaternion=quaternion, J="3/40")
        assert set(first_integrals(kg.parse(flat)).names) == {"energy"}


def test_inputs_are_formulas():
    driven = kg.parse("coordinates x; inputs u; B | Sx(x) | m(2); force f | on(x), value(u);")
    with pytest.raises(DerivationError, match="the input 'u' has no value"):
        first_integrals(driven)
    assert first_integrals(driven, inputs={"u": 3}).names == ("energy + x", "p:x + t")
    assert first_integrals(driven, inputs={"u": "-4*x"}).names == ("energy + x^2",)
    both = first_integrals(driven, inputs={"u": 3, "x": -3})  # a force on the coordinate takes it away
    assert both.names == ("energy", "p:x")
    with pytest.raises(TaskError, match="takes formulas"):
        first_integrals(driven, inputs={"u": ([0, 1], [0, 1])})


@pytest.mark.parametrize("torque", [12, 0.1234567] if SOAK else [0.1234567])
def test_checks_of_runs_hold_no_combinations_of_rounding(torque):
    rotor = kg.parse(ROTOR.format(springs=SPRINGS).replace("value(12)", f"value({torque})"))
    run = kg.simulate(rotor, 0.2, native=False, progress=False)
    names = [one.name for one in run.checks if one.name.startswith("first integral")]
    assert names == [f"first integral Lz + {-torque:.6g} t"]
    assert all(one.passed for one in run.checks)


def test_integrals_print_themselves():
    found = first_integrals(kg.parse("coordinates x; B | Sx(x) | m(2); force f | on(x), value(-3);"))
    assert str(found) == "first integrals:\n  energy + 3 x (proved)\n  p:x + 3 t (proved)"


def test_jacobis_integral_is_listed_once():
    """About an axis that turns steadily it is the energy less momentum times rate; one of both says all."""
    arm = kg.parse("""
        coordinates q = 0.5, s = 0.3;
        gravity 0, 0, -9.81;
        A | Rz(2*t), Ry(q), Sx(s) | m(1), Jx(0.01), Jy(0.01), Jz(0.01);
        spring k | on(s), stiffness(50), rest(0.2);
    """)
    assert [one.combination for one in kg.first_integrals(arm).integrals] == ["jacobi"]


@pytest.mark.parametrize("turned", ["", "Rx(0.834), ", "Rz(pi/3), Ry(0.2), "])
def test_momentum_along_turned_axes_is_listed_once(turned):
    """Momenta of three shifts and components in fixed axes say the same, and their ratios are no fractions."""
    body = kg.parse(f"coordinates x, y, z, q; B | {turned}Sx(x), Sy(y), Sz(z), Rz(q) | Sx(0.3), m(2), Jz(0.1);")
    names = kg.first_integrals(body).names
    assert "energy" in names
    assert sum(name in ("p:x", "p:y", "p:z", "px", "py", "pz") for name in names) == 3
