"""Tasks in singular positions: an error or a flag with the name of the row, never numbers without a word."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from tests.cli.run import data, runner

FLAT = -1.5707963267948966
LINKAGE = "n-four-bar-1"


@pytest.mark.parametrize("task", ["statics", "linearize", "modes"])
@pytest.mark.parametrize("beside", [0.0, 1e-7])
def test_tasks_name_the_row(task, beside):
    mechanism = kg.load(LINKAGE)
    with pytest.raises(TaskError, match=r"n-four-bar-1 is in a singular position, where pin1\.x depends"):
        getattr(kg, task)(mechanism, {"u0": FLAT + beside, "u1": FLAT + beside})


def test_statics_beside_it_is_right():
    """Virtual work: both uprights turn as one, weight of two halves and one coupler."""
    found = kg.statics(kg.load(LINKAGE), {"u0": FLAT + 0.1, "u1": FLAT + 0.1})
    moment = -9.81 * (0.5 + 0.5 + 1) * np.sin(FLAT + 0.1)
    assert sum(found.values) == pytest.approx(moment)


def test_equilibria_are_apart_from_singular_positions():
    """Of a rhombus that may fold: bars stand or hang on each way it can move, and the flat positions are named."""
    found = kg.equilibria(kg.load(LINKAGE))
    right = np.pi / 2
    wanted = [(-right, 0), (-right, np.pi), (0, 0), (0, right), (np.pi, right), (np.pi, np.pi)]
    np.testing.assert_allclose([one.q[:2] for one in found], wanted, atol=1e-9)
    assert len(found.singular) >= 2
    for place in found.singular:
        assert place.rows == ("pin1.x",)
        np.testing.assert_allclose(np.cos(place.q[:2]), 0, atol=1e-2)


def test_the_command_says_it(capsys):
    shown = runner(capsys)(f"equilibria {LINKAGE} --starts 100")
    assert "pin1.x depends on other rows, so equilibrium is not determined there" in shown.out
    assert {one["rows"][0] for one in data(runner(capsys)(f"equilibria {LINKAGE} --json"))["singular"]} == {"pin1.x"}


def test_linkages_without_singular_positions_flag_none():
    assert kg.equilibria(kg.load("four-bar")).singular == ()


def test_open_loops_beside_a_flat_parallelogram_are_no_equilibria():
    """Large forces of constraints there hide that the loop is not closed. All bars weigh: six equilibria, by energy."""
    found = kg.equilibria(
        kg.parse("""
            coordinates qa, qb, qc;
            gravity 0, 0, -9.81;
            A   | Ry(qa)          | Sz(0.2), m(1), Jy(0.0145);
            B~A | Sz(0.4), Ry(qb) | Sx(0.5), m(2), Jy(0.18);
            C   | Sx(1), Ry(qc)   | Sz(0.2), m(1), Jy(0.0145);
            loop pin | spherical | B: Sx(1) | C: Sz(0.4);
        """)
    )
    assert (len(found), found.continua) == (6, ())
    for place in found:
        assert abs(np.cos(place.q[0])) > 0.4
    for place in found.singular:
        np.testing.assert_allclose(np.cos(place.q), 0, atol=1e-2)
