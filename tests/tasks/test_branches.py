"""Branches of equilibria over a parameter: folds, branch points, Hopf points where closed forms and references say."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.errors import TaskError
from kinegraph.tasks.steady.bifurcations import Kind
from kinegraph.tasks.steady.pseudo_arclength import curve_through
from tests.tasks.reference import reference

COLUMN = reference("equilibria_two_link_column")


def kinds(found):
    return [one.kind for one in found.special]


def test_bead_on_a_hoop_has_a_pitchfork():
    found = kg.continuation("bead-on-hoop", "omega", 0, 10, starts=40)
    (point,) = found.special
    assert point.kind is Kind.BRANCH
    assert point.value**2 == pytest.approx(9.81 / 0.5, abs=1e-10)
    below, *beside, above = found
    assert len(beside) == 2 and below.begins == above.begins == "the range ends"
    assert not above.stable.any()
    np.testing.assert_array_equal(below.stable, below.values < point.value + 1e-9)
    for branch in beside:
        omega = branch.values[1:]
        np.testing.assert_allclose(np.cos(branch.q[1:, 0]), 9.81 / 0.5 / omega**2, atol=1e-11)
        assert branch.stable[1:].all()


def test_the_same_pitchfork_with_a_shaft_that_turns_freely():
    """The rate of a cyclic coordinate is varied; free rotation shifts the pitchfork nowhere."""
    found = kg.continuation("rotating-pendulum", "shaft'", 0, 8, starts=40, parameters={"offset": 0})
    (point,) = found.special
    assert point.kind is Kind.BRANCH
    assert point.value**2 == pytest.approx(9.81 / (2 / 3), abs=1e-10)  # a rod swings like a pendulum of 2/3 its length


def test_an_imperfect_pitchfork_is_a_fold_and_free_rotation_loses_stability_elsewhere():
    """With the hinge off the axis omega^2 (offset + 2/3 l sin q) cos q = g sin q has a fold. The shaft turns freely, so
    stability is lost where the angular momentum, not the rate, is least."""
    found = kg.continuation("rotating-pendulum", "shaft'", 1, 8, starts=40)
    fold, loss = sorted(found.special, key=lambda one: one.kind is not Kind.FOLD)
    assert fold.kind is Kind.FOLD and loss.kind is Kind.DIVERGENCE

    def rate(q):
        return np.sqrt(9.81 * np.tan(q) / (0.1 + 2 / 3 * np.sin(q)))

    def momentum(q):
        return rate(q) * (0.5 + 0.1**2 + 0.1 * np.sin(q) + np.sin(q) ** 2 / 3)

    for point, function in ((fold, rate), (loss, momentum)):
        q = point.q[1]
        assert point.value == pytest.approx(rate(q), abs=1e-11)
        slope = (function(q + 1e-5) - function(q - 1e-5)) / 2e-5
        curvature = (function(q + 1e-3) - 2 * function(q) + function(q - 1e-3)) / 1e-6
        assert abs(slope / curvature) < 1e-8


def test_column_under_a_dead_load_has_as_many_equilibria_as_the_reference():
    wanted = COLUMN["dead_load"]
    within = {"t1": (-10, 10), "t2": (-16, 16)}
    found = kg.continuation("column", "dead", 0, 200, bounds=within, starts=300)
    crossings = [one.value for one in found.special if one.kind is Kind.BRANCH]
    np.testing.assert_allclose(crossings, wanted["critical_loads_of_upright"], rtol=1e-12)
    for load in (10, 30, 60, 120):
        sides = [np.sign(branch.values - load) for branch in found]
        count = sum(int(np.sum(np.abs(np.diff(side)) == 2)) for side in sides)
        assert count == len(wanted["equilibria_by_P"][str(load)])
    ends = sorted(branch.q[k].tolist() for branch in found for k in (0, -1) if branch.values[k] == 200)
    other = sorted([one["theta1"], one["theta2"]] for one in wanted["equilibria_by_P"]["200"])
    np.testing.assert_allclose(ends, other, atol=1e-11)


@pytest.mark.parametrize(("damping", "load"), [(0, "flutter_load"), (0.05, "damped_flutter_load")])
def test_column_under_a_follower_load_flutters(damping, load):
    found = kg.continuation("column", "follower", 0, 200, starts=20, parameters={"c": damping, "g": 0})
    (point,) = found.special
    assert point.kind is Kind.HOPF and len(found) == 1
    assert point.value == pytest.approx(COLUMN["follower_load"][load], rel=1e-11)


def test_a_branch_that_crosses_another_is_left_at_an_angle():
    """x (x - (p - 1)) = 0: two straight branches cross at p = 1 and exchange stability."""
    found = kg.continuation(
        kg.parse("parameters p; coordinates x; Block | Sx(x) | m(1); force f | value(-x*(x - (p - 1))), on(x);"),
        "p", 0, 3, bounds={"x": (-3, 3)}, starts=20,
    )  # fmt: skip
    (point,) = found.special
    assert point.kind is Kind.BRANCH and point.value == pytest.approx(1, abs=1e-12)
    places = {(round(v, 9), round(q[0], 9)) for one in found for v, q in zip(one.values, one.q, strict=True)}
    assert {(0, 0), (3, 0), (0, -1), (3, 2)} <= places


def test_a_closed_branch_closes():
    """x^2 + p^2 = 1 as equilibria: an isola with two folds."""
    model = "parameters p; coordinates x; Block | Sx(x) | m(1); force f | value(1 - x^2 - p^2), on(x);"
    found = kg.continuation(kg.parse(model), "p", -2, 2, bounds={"x": (-3, 3)}, starts=20)
    (branch,) = found
    assert branch.ends == "the branch closes"
    np.testing.assert_allclose(sorted(one.value for one in branch.special), [-1, 1], atol=1e-12)
    assert kinds(found) == [Kind.FOLD, Kind.FOLD]


def test_folds_of_a_four_bar_under_a_crank_moment():
    """A moment can hold the crank while it is below the largest that gravity makes: folds lie at these extremes."""
    bars = kg.load("four-bar")
    found = kg.continuation(bars, "tau:crank", -6, 6, starts=60)
    folds = [one for one in found.special if one.kind is Kind.FOLD]
    assert len(folds) == 2
    for one in folds:
        moments = [_holding_moment(bars, one.q, shift) for shift in (-1e-3, 0, 1e-3)]
        assert moments[1] == pytest.approx(one.value, abs=5e-9)  # as good as these differences are
        assert abs(moments[2] - moments[0]) < 1e-6 < abs(moments[0] - 2 * moments[1] + moments[2])


def _holding_moment(bars, q, shift):
    """The crank moment of rest, by virtual work: the slope of the potential energy along the closed loop."""
    energy, assembler = kg.compile(bars, "energy"), Assembler(bars)

    def height(crank):
        place = assembler.assembled(np.array([crank, *q[1:]]), np.zeros(3), ("crank",))
        return float(energy(place.q, np.zeros(3))[1])

    crank, h = q[0] + shift, 1e-3
    near = height(crank + h) - height(crank - h)
    return (8 * near - (height(crank + 2 * h) - height(crank - 2 * h))) / (12 * h)


@pytest.mark.soak
def test_bicycle_weave_and_capsize_by_continuation():
    """Steady straight motion over the speed, from the nonlinear model with rolling."""
    found = kg.continuation("bicycle", "x'", 3, 8, starts=0)
    weave, capsize = found.special
    assert weave.kind is Kind.HOPF and weave.value == pytest.approx(4.29238253634111, abs=1e-12)
    assert capsize.kind is Kind.DIVERGENCE and capsize.value == pytest.approx(6.02426201538837, abs=1e-12)
    np.testing.assert_allclose(found[0].v[:, 2], -found[0].values / 0.3, rtol=1e-11)  # the rear wheel rolls


@pytest.mark.parametrize(
    ("model", "over", "message"),
    [
        ("double-pendulum", ("m3", 0, 1), "has no parameter, rate, force or input 'm3'"),
        ("double-pendulum", ("m1", 1, 0), "give two finite numbers, the lower first"),
        ("double-pendulum", ("m1", 0, np.inf), "give two finite numbers"),
        ("double-pendulum", ("q1'", 0, 1), "q1' cannot stay constant"),
        ("free-body", ("m", 0, 1), "free rotations are not isolated"),
        ("bicycle", ("mB", 80, 90), "rear_along restricts only velocities"),
        ("bead-on-hoop", ("omega", 0, 1e8), "too many orders of magnitude"),
    ],
)
def test_mistakes_are_named(model, over, message):
    with pytest.raises(kg.KinegraphError, match=message):
        kg.continuation(model, *over, starts=4)


def test_no_equilibrium_at_all():
    slope = kg.parse("parameters k = 1; coordinates x; gravity 1, 0, 0; Block | Sx(x) | m(k);")
    with pytest.raises(TaskError, match=r"no equilibrium found for k = 1, 1\.5 or 2"):
        kg.continuation(slope, "k", 1, 2, starts=4)


def test_a_branch_ends_where_a_loop_is_stretched():
    """The four-bar closes in this way up to d = a + b - c = 0.9 only: forces in it grow without bound there."""
    found = kg.continuation("four-bar", "d", 0.8, 1.1, {"crank": -0.3, "coupler": 0.9, "rocker": 1.9}, starts=4)
    (ended,) = {branch.ends for branch in found} - {"the range ends"}
    assert ended == "constraint forces grow without bound: a singular position"


def test_the_picture_and_the_words(tmp_path):
    from kinegraph.view.task_figures import plot_branches

    found = kg.continuation("bead-on-hoop", "omega", 3, 6, starts=4)
    assert "branch point at omega = 4.42944691807" in str(found)
    assert plot_branches(found, tmp_path / "hoop.svg").read_text("utf-8").count("branch point") == 1
    with pytest.raises(TaskError, match=r"must end in \.png, \.svg or \.pdf"):
        plot_branches(found, tmp_path / "hoop.txt")


def test_what_rounding_leaves_of_an_equation_is_no_equation():
    """A cyclic coordinate whose slopes are not quite zero is a neutral direction."""

    def equations(y):
        slope = np.array([[1.0, 0.0, -1.0], [0.0, 1e-16, 0.0]])
        return y @ slope.T, np.tile(slope, (len(y), 1, 1))

    assert curve_through(equations, np.ones(3), [np.zeros(3)]).nullity(np.zeros(3)) == 1
