"""Assembly: what the user fixes stays, the branch stays the user's, and what cannot close says by how much."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.errors import AssemblyError
from kinegraph.tasks.assemble import assemble
from tests.derive.constraints.test_four_bar import FOUR_BAR, REFERENCE

BRANCHES = {"open": (0.4, 1.3), "crossed": (-0.4, -1.3)}


def four_bar(branch="open"):
    start = "coupler = {}, rocker = {};".format(*BRANCHES[branch])
    return kg.parse(FOUR_BAR.format(gravity="0").replace("coupler, rocker;", start))


@pytest.mark.parametrize("branch", BRANCHES)
def test_a_full_turn_on_each_branch(branch):
    """From position to position the assembly follows the branch; the reference has twelve."""
    assembler = Assembler(four_bar(branch))
    q = assembler.assemble({"crank": 0}).q
    for case in REFERENCE["driven"]["positions"][branch]:
        crank = case["crank_angle"]
        for step in np.linspace(q[0], crank, 8)[1:]:
            q = assembler.assembled(np.array([step, *q[1:]]), np.zeros(3), ("crank",)).q
        wanted = [case["angles"]["coupler"], case["angles"]["rocker"]]
        np.testing.assert_allclose(np.cos(q[1:]), np.cos(wanted), atol=1e-12)
        np.testing.assert_allclose(np.sin(q[1:]), np.sin(wanted), atol=1e-12)


def test_velocities_follow_the_one_that_is_given():
    case = REFERENCE["driven"]["positions"]["open"][0]
    found = assemble(four_bar(), {"crank": case["crank_angle"], "crank'": 5})
    np.testing.assert_allclose(found.v, [5, case["rates"]["coupler"], case["rates"]["rocker"]], atol=1e-10)
    assert found.mobility == 1 and not found.changed


def test_all_ways_to_assemble():
    found = Assembler(four_bar()).modes({"crank": 1})
    assert len(found) == 2
    assert all(one.q[0] == 1 and one.residual < 1e-12 for one in found)


def test_given_values_that_do_not_fit_move_as_little_as_they_must():
    found = assemble(four_bar(), {"crank": 1, "coupler": 0.21, "rocker": 0.98})
    assert set(found.changed) == {"crank", "coupler", "rocker"}
    assert max(abs(change) for change in found.changed.values()) < 0.01


def test_what_cannot_close_says_where_and_by_how_much():
    short = FOUR_BAR.format(gravity="0").replace("b = 1.2", "b = 0.1").replace("c = 0.8", "c = 0.1")
    with pytest.raises(AssemblyError, match=r"pin stays open by 0\.3"):
        assemble(kg.parse(short))


def test_a_name_that_does_not_exist_is_proposed():
    with pytest.raises(AssemblyError, match="did you mean `crank`"):
        assemble(four_bar(), {"crnk": 1})
