"""Dimensions for goals over a cycle: closed forms, the same linkage found again, slopes by differences, refusals."""

import json

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError, TaskError
from kinegraph.model.expressions import Name
from kinegraph.tasks.cycle import Cycle
from kinegraph.tasks.goals import measure
from tests.cli.run import runner

FOUR_BAR = (
    kg.library.text("four-bar") + "output A = Crank (a, 0, 0); output B = Coupler (b, 0, 0); output D = (d, 0, 0);"
)
TRIANGLES = """
    model slider;
    parameters r = 0.15, l = 0.4;
    coordinates crank;
    define s = r*cos(crank) + sqrt(l^2 - r^2*sin(crank)^2);
    Crank | Rz(crank) | m(1);
    Piston | Sx(s) | m(1);
"""


def test_the_shaper_gets_its_stroke_and_its_time_ratio():
    """stroke = 2 lever r/h and ratio = (pi + 2 asin(r/h))/(pi - 2 asin(r/h))."""
    wanted = {"stroke:ram": 0.3, "time_ratio:ram": 1.8}
    found = kg.synthesize_cycle("quick-return", "crank", wanted, {"r": (0.05, 0.2), "lever": (0.2, 1)}, times=60)
    sine = np.sin(np.pi / 2 * 0.8 / 2.8)
    assert found["r"] == pytest.approx(0.25 * sine, rel=1e-7) and found["lever"] == pytest.approx(0.15 / sine, rel=1e-7)
    assert found.reached and "wanted 1.8" in str(found) and found.parameters.keys() == {"r", "lever"}


def test_numbers_of_a_cycle_are_those_of_the_formulas_and_so_are_their_slopes():
    model = kg.parse(FOUR_BAR)
    texts = ("stroke:rocker", "max:B.y", "min:rocker", "mean:coupler", "time_ratio:rocker", "transmission:A,B,D")
    measures = [measure(text) for text in texts]
    cycle = Cycle(
        model, {"crank": "0.3 + 2*pi*t"}, {one.text: one.expression for one in measures}, ("a", "b", "c"), None,
        np.linspace(0, 1, 91),
    )  # fmt: skip
    x = cycle.begin.copy()
    a, b, c, d = *x, 1.0
    values = {one.text: one.at(cycle, cycle.rows(x), x) for one in measures}
    least = np.arccos((b**2 + c**2 - (d - a) ** 2) / (2 * b * c))
    assert values["transmission:A,B,D"][0] == pytest.approx(least, rel=1e-12)

    def rocker(reach):  # the crank and the coupler in line
        return np.pi - np.arccos((c**2 + d**2 - reach**2) / (2 * c * d))

    assert values["stroke:rocker"][0] == pytest.approx(rocker(b - a) - rocker(b + a), rel=1e-12)
    for one in measures:
        for k, step in enumerate(1e-6 * np.eye(3)):
            sides = [one.at(cycle, cycle.rows(x + s), x + s)[0] for s in (step, -step)]
            assert values[one.text][1][k] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=2e-5)


@pytest.mark.soak
def test_a_linkage_is_found_again_from_the_path_it_draws():
    times = np.linspace(0, 1, 9)[:-1]
    middle = kg.parse(kg.library.text("four-bar") + "output P = Coupler (b/2, 0.3, 0);")
    cycle = Cycle(middle, {"crank": "0.3 + 2*pi*t"}, {a: Name(a) for a in ("P.x", "P.y")}, ("b", "c"), None, times)
    points = cycle.rows(np.array([1.15, 0.85])).values
    found = kg.synthesize_cycle(
        middle,
        "crank",
        {},
        {"b": (1, 1.4), "c": (0.6, 1)},
        path={"P": points},
        times=60,
    )
    assert (found["b"], found["c"]) == pytest.approx((1.15, 0.85), rel=1e-6) and found.path["P"] < 1e-7


def test_loops_and_triangles_give_the_same_design():
    goal, bounds = {"stroke:s": 0.25, "max:s": 0.6}, {"r": (0.05, 0.3), "l": (0.3, 0.9)}
    tree = kg.synthesize_cycle(kg.parse(TRIANGLES), {"crank": "2*pi*t"}, goal, bounds, times=40)
    loop = kg.synthesize_cycle("slider-crank", "crank", goal, bounds, times=40)
    assert (tree["r"], tree["l"]) == pytest.approx((0.125, 0.475), rel=1e-9)
    assert (loop["r"], loop["l"]) == pytest.approx((0.125, 0.475), rel=1e-7)


def test_limits_that_hold_change_nothing_and_limits_that_cannot_hold_are_said():
    model = kg.parse(TRIANGLES)
    found = kg.synthesize_cycle(model, {"crank": "2*pi*t"}, {"stroke:s": (0.2, 0.4)}, {"r": (0.1, 0.3)}, times=20)
    assert found["r"] == 0.15 and found.reached
    found = kg.synthesize_cycle(model, {"crank": "2*pi*t"}, {"stroke:s": (0.7, None)}, {"r": (0.1, 0.3)}, times=20)
    assert not found.reached and found.at_bounds == ("r",) and "NOT REACHED" in str(found)
    assert found.goals[0].deviation == pytest.approx(0.1)


BASE = {"motion": "crank", "goals": {"stroke:ram": 0.3}, "bounds": {"r": (0.05, 0.2)}}
MISTAKES = [
    ({"goals": {"strok:ram": 1}}, "did you mean `stroke`"),
    ({"goals": {"stroke:rm": 1}}, "unknown name 'rm'"),
    ({"goals": {"stroke:ram": (2, 1)}}, "the first is smaller"),
    ({"goals": {"stroke:ram": (None, None)}}, "give a number, or limits"),
    ({"goals": {"transmission:A,B": 1}}, "name three points"),
    ({"goals": {"max:ram'": 1}}, "use positions"),
    ({"goals": {}}, "goals is empty"),
    ({"bounds": {}}, "bounds is"),
    ({"bounds": {"q": (0, 1)}}, "no parameter 'q'"),
    ({"motion": "krank"}, "unknown coordinate 'krank'"),
    ({"motion": {"crank": "2*pi*t", "ram": "0"}}, "cannot follow|do not close|would have to"),
    ({"motion": {"crank": "x"}}, "only t and parameters"),
    ({"bounds": {"r": (0.26, 0.4)}}, "cannot follow this motion|do not close"),
    ({"duration": 0.0}, "duration is"),
    ({"times": 2}, "at least 8"),
    ({"path": {"tool": [[1]]}}, "rows of x, y"),
]


@pytest.mark.parametrize(("given", "message"), MISTAKES)
def test_mistakes_are_named(given, message):
    with pytest.raises(KinegraphError, match=message):
        kg.synthesize_cycle("quick-return", **{**BASE, **given})


def test_trees_need_a_motion_for_every_coordinate():
    with pytest.raises(TaskError, match="no motion given for q2"):
        kg.synthesize_cycle("double-pendulum", {"q1": "t"}, {"max:tip.x": 1}, {"l1": (0.1, 1)})


@pytest.mark.soak
def test_the_command_says_the_same(capsys, tmp_path):
    path = tmp_path / "slider.kg"
    path.write_text(TRIANGLES)
    command = f"synthesize-cycle {path} --motion crank --goal stroke:s=0.25 --goal max:s=:0.7 --bounds r=0.05:0.3"
    code, out, _ = runner(capsys)(f"{command} --plot {tmp_path / 'cycle.svg'}", "--json")
    found = json.loads(out)
    assert (
        code == 0
        and found["reached"]
        and found["values"]["r"] == pytest.approx(0.125)
        and (tmp_path / "cycle.svg").exists()
    )
