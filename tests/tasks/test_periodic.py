"""Linear systems that change with time or along a spin: Floquet multipliers, or a refusal in words."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.tasks.linearize import period_of, time_rates
from kinegraph.tasks.operating_point import operating_point
from tests.cli.run import data, runner
from tests.effort import SOAK

MATHIEU = "coordinates x; Mass | Sx(x) | m(1); spring s | on(x), stiffness({});"
KAPITZA = "parameters w = 60; coordinates q; gravity 0, 0, -9.81; Rod | Sz(0.1*cos(w*t)), Ry(q) | Sz(-1), m(1);"
ROTOR = """
    coordinates a, b{spin}; Rotor | {turns} | m(1), Jx(1), Jy({jy}), Jz(0.8);
    spring k | on(a), stiffness(3); spring l | on(b), stiffness(3);
"""


def spinning(jy):
    return kg.parse(ROTOR.format(spin=", s; initial s' = 5", turns="Rx(a), Ry(b), Rz(s)", jy=jy))


@pytest.fixture(scope="module")
def mathieu():
    return kg.parse(MATHIEU.format("1 + 0.5*cos(2*t)"))


def test_a_parametric_oscillator_grows_although_every_moment_is_stable(mathieu):
    found = kg.modes(mathieu)
    assert not found.stable and found.floquet.period == pytest.approx(np.pi)
    np.testing.assert_allclose(found.floquet.multipliers, [-1.47679202534, -1 / 1.47679202534], rtol=1e-10)
    run = kg.sensitivities(mathieu, np.pi, ["x(0)", "x'(0)"], times=1, rtol=1e-12, native=False, progress=False)
    np.testing.assert_allclose(found.floquet.monodromy, run.final, atol=1e-11)
    exponents = [mode.eigenvalue for mode in found.modes]
    np.testing.assert_allclose(np.exp(np.array(exponents) * np.pi), [mode.multiplier for mode in found.modes])


@pytest.mark.parametrize(
    "model",
    [
        "coordinates x, y; A | Sx(x) | m(0.4); B | Sx(y) | m(0.6); constraint c | x = y;",
        "coordinates x, y; A | Sx(x) | m(1); B | Sy(y) | m(1); spring stiff | on(y), stiffness(1e10);",
    ],
    ids=["tied", "beside a stiff spring"],
)
def test_the_same_oscillator_described_otherwise(mathieu, model):
    other = kg.parse(model + "spring s | on(x), stiffness(1 + 0.5*cos(2*t));")
    if "stiff |" in model:
        assert period_of(other, operating_point(other), None) == pytest.approx(np.pi)
    else:
        wanted = kg.modes(mathieu).floquet.multipliers
        np.testing.assert_allclose(kg.modes(other).floquet.multipliers, wanted, rtol=1e-9)


#: Random shaken pendulums; `make soak` takes more.
SEEDS = range(12) if SOAK else range(1)


@pytest.mark.parametrize("seed", SEEDS)
def test_monodromy_of_shaken_double_pendulums_is_that_of_their_motion(seed):
    """The derivatives of a run by its start, over one period, at a random equilibrium of the four."""
    random = np.random.default_rng(seed)
    w, amplitude, length, mass = random.uniform([5, 0.02, 0.3, 0.5], [30, 0.1, 1, 2])
    model = kg.parse(f"""
        coordinates q1, q2; gravity 0, 0, -9.81; A | Sz({amplitude}*cos({w}*t)), Ry(q1) | Sz(-{length}), m({mass});
        B~A | Sz(-{length}), Ry(q2) | Sz(-0.4), m(1); damper d | on(q2), damping(0.1);
    """)
    state = dict(zip(("q1", "q2"), (random.integers(0, 2, 2) * np.pi).tolist(), strict=True))
    found = kg.modes(model, state).floquet
    by = ["q1(0)", "q2(0)", "q1'(0)", "q2'(0)"]
    run = kg.sensitivities(model, found.period, by, state=state, times=1, rtol=1e-12, native=False, progress=False)
    wanted = run.final[[run.outputs.index(name) for name in found.states]]
    np.testing.assert_allclose(found.monodromy, wanted, atol=1e-9 * np.max(np.abs(wanted)))


def test_equilibria_are_judged_by_multipliers(mathieu):
    (one,) = kg.equilibria(mathieu, starts=10)
    assert one.stable is False and one.unstable == 1


@pytest.mark.parametrize(("w", "stands"), [(60, True), (20, False)])
def test_kapitzas_pendulum_stands_if_it_is_shaken_fast(w, stands):
    """Averaging: the upper position is stable if (amplitude w)^2 > 2 g l."""
    hanging, standing = kg.equilibria(kg.parse(KAPITZA), parameters={"w": w}, starts=10)
    assert hanging.stable and standing.stable is stands and abs(standing.q[0]) == pytest.approx(np.pi)


def test_a_spin_about_unequal_axes_seen_from_both_frames():
    """In axes that turn with the rotor the system is constant: after a turn both descriptions are the same."""
    fixed = kg.modes(spinning(0.6))
    turning = kg.modes(kg.parse(ROTOR.format(spin="", turns="Rz(5*t), Rx(a), Ry(b)", jy=0.6)))
    assert fixed.floquet.period == pytest.approx(np.pi / 5) and turning.floquet is None
    whole_turn = np.exp(turning.linearization.eigenvalues * 2 * np.pi / 5)
    squares = sorted(fixed.floquet.multipliers**2, key=lambda one: (round(abs(one), 6), one.imag))
    wanted = sorted([*whole_turn, 1, 1], key=lambda one: (round(abs(one), 6), one.imag))
    np.testing.assert_allclose(np.abs(squares), np.abs(wanted), rtol=1e-6)
    assert not fixed.stable and not turning.stable


def test_a_spin_about_equal_axes_cancels():
    assert kg.modes(spinning(1)).floquet is None


@pytest.mark.parametrize("task", [kg.linearize, kg.response])
def test_matrices_that_change_are_refused(mathieu, task):
    with pytest.raises(TaskError, match=r"changes with a period of 3.14159265 s.*\n.*Floquet multipliers"):
        task(mathieu)


def test_one_moment_can_be_asked_for(mathieu):
    assert kg.linearize(mathieu, steady=False).A[1, 0] == pytest.approx(-1.5)


@pytest.mark.parametrize(
    ("stiffness", "words"),
    [
        ("1 + 0.1*t", "no period was found"),
        ("1 + exp(-t)", "no period was found"),
        ("1 + 0.1*cos(t) + 0.1*cos(sqrt(2)*t)", r"rates \(1, 1.41421 rad/s\) have no common period"),
    ],
)
def test_other_changes_are_refused_in_words(stiffness, words):
    model = kg.parse(MATHIEU.format(stiffness))
    with pytest.raises(TaskError, match=words):
        kg.modes(model)
    (one,) = kg.equilibria(model, starts=10)
    assert one.stable is None and "no period was found" in one.note


def test_two_rates_have_a_common_period():
    assert kg.modes(kg.parse(MATHIEU.format("3 + 0.1*cos(t) + 0.1*cos(1.5*t)"))).floquet.period == pytest.approx(
        4 * np.pi
    )


def test_forces_that_jump_keep_their_period():
    """Between its jumps the linear system is constant: looked at in few places any shift would seem a period."""
    model = kg.parse(MATHIEU.format("2 + sign(cos(2*t))"))
    assert period_of(model, operating_point(model), None) == pytest.approx(np.pi)


def test_a_passage_is_no_steady_motion():
    rod = kg.parse("coordinates q; gravity 0, 0, -9.81; Rod | Ry(q) | Sz(-1), m(1);")
    with pytest.raises(TaskError, match="steady now, but not"):
        kg.modes(rod, {"q'": 1})
    with pytest.raises(TaskError, match="--equilibrium N"):
        kg.modes(rod, {"q": 1})
    with pytest.raises(TaskError, match=r"give values by name, such as \{'q': 0.1\}, not a list"):
        kg.modes(rod, [0])
    with pytest.raises(TaskError, match="not a list"):
        kg.continuation(rod, "tau:q", 0, 1, [0])
    with pytest.raises(TaskError, match="not a list"):
        kg.assemble(rod, [0])


def test_branches_of_what_depends_on_time_are_refused():
    with pytest.raises(TaskError, match="the model depends on time"):
        kg.continuation(kg.parse(KAPITZA), "w", 20, 60, starts=5)


def test_the_command_prints_multipliers(capsys, tmp_path):
    (tmp_path / "mathieu.kg").write_text(MATHIEU.format("1 + 0.5*cos(2*t)"))
    shown = runner(capsys)(f"modes {tmp_path / 'mathieu.kg'}")
    assert "Floquet multipliers, 1 of 2 grow" in shown.out and "-1.476792025" in shown.out
    found = data(runner(capsys)(f"equilibria {tmp_path / 'mathieu.kg'} --starts 5 --json"))["equilibria"][0]
    assert found["stable"] is False and found["multipliers"][0][0] == pytest.approx(-1.47679202534)


@pytest.mark.parametrize(
    ("formula", "rates"),
    [
        ("2*sin(3*t + 1)^2", {3}),
        ("cos(w*t - 2*t)*sin(t/2)", {5, 0.5}),
        ("exp(-cos(t)) + abs(sin(2*pi*t))", {1, 2 * np.pi}),
        ("sin(s - 3*t)", {1}),
        ("cos(t + 0.1*sin(t))", {1}),
        ("exp(-t)*cos(4*t)", {4}),
        ("t^2", set()),
    ],
)
def test_rates_of_formulas(formula, rates):
    model = kg.parse(f"parameters w = 7; coordinates x, s; Mass | Sx(x), Rz(s) | m(1), Jz(1); potential V | {formula};")
    found = sorted(time_rates(model.elements[0].energy, {"w": 7}, {"s": 2.0}))
    assert found == pytest.approx(sorted(rates))


def test_linkages_on_a_shaking_base_rest_where_their_weight_balances():
    """Forces of constraints follow the weight in time; positions do not, and their linear system has a period."""
    shaken = """
        coordinates a = -1, q, s = 0.9;
        gravity 0, -9.81, 0;
        C   | Sy(0.02*cos(20*t)), Rz(a) | Sx(0.15), m(1), Jz(0.01);
        R~C | Sx(0.3), Rz(q)            | Sx(0.5), m(1), Jz(0.08);
        S   | Sy(0.02*cos(20*t)), Sx(s) | m(2);
        loop pin | revolute | R: Sx(1) | S;
    """
    found = kg.equilibria(kg.parse(shaken))
    np.testing.assert_allclose(np.abs([one.q[0] for one in found]), np.pi / 2, atol=1e-9)
    assert {bool(one.stable) for one in found if one.q[0] < 0} == {True}
    assert {bool(one.stable) for one in found if one.q[0] > 0} == {False}
