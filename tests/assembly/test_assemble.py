"""Assembly: what the user fixes stays, the branch stays the user's, and what cannot close says by how much."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.constraints import positions
from kinegraph.errors import AssemblyError, DerivationError
from kinegraph.graph.interpret import interpret
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
    found = Assembler(four_bar()).modes({"crank": 1}, starts=40)
    assert len(found) == 2
    assert all(one.q[0] == 1 and one.residual < 1e-12 for one in found)


def test_given_values_that_do_not_fit_move_as_little_as_they_must():
    found = assemble(four_bar(), {"crank": 1, "coupler": 0.21, "rocker": 0.98})
    assert set(found.changed) == {"coupler", "rocker"} and found.q[0] == 1  # the first holds, the others follow
    assert max(abs(change) for change in found.changed.values()) < 0.01


def test_what_cannot_close_says_where_and_by_how_much():
    short = FOUR_BAR.format(gravity="0").replace("b = 1.2", "b = 0.1").replace("c = 0.8", "c = 0.1")
    with pytest.raises(AssemblyError, match=r"pin has a gap of 0\.3"):
        assemble(kg.parse(short))


def test_a_name_that_does_not_exist_is_proposed():
    with pytest.raises(AssemblyError, match="did you mean `crank`"):
        assemble(four_bar(), {"crnk": 1})


#: An arm of six joints whose hand is welded to a frame; its rows are also zero after half turns and thirds of a turn.
WELDED = """coordinates q1 = 0.3, q2 = 0.4, q3 = 0.5, q4 = 0.2, q5 = 0.6, q6 = 0.1;
A | Rz(q1) | m(1), Jz(1); B~A | Sz(0.5), Rx(q2) | m(1), Jx(1); C~B | Sz(0.6), Rx(q3) | m(1), Jx(1);
D~C | Sz(0.4), Rz(q4) | m(1), Jz(1); E~D | Rx(q5) | m(1), Jx(1); F~E | Rz(q6) | m(1), Jz(1);
loop weld | fixed | F: Sz(0.1) | Sx(0.2), Sy(-0.6), Sz(0.9), Rx(1.1), Rz(0.3);"""


@pytest.mark.parametrize("seed", range(12))
def test_welded_frames_are_never_turned_round(seed: int) -> None:
    """From anywhere it is found with parallel frames."""
    mechanism = kg.parse(WELDED)
    start = np.random.default_rng(seed).uniform(-3, 3, 6)
    found = kg.assemble(mechanism, dict(zip(mechanism.layout.positions, start, strict=True)))
    given = dict(zip(mechanism.layout.positions, found.q, strict=True))
    hand = interpret(kg.derive(mechanism, "pose:F"), given)["pose:F"][:3, :3]
    np.testing.assert_allclose(hand, Rotation.from_euler("XZ", [1.1, 0.3]).as_matrix(), atol=1e-9)


def test_frames_that_can_only_be_turned_round_are_refused() -> None:
    """A bar on a hinge, welded to a frame that would need half a turn about another axis."""
    mechanism = kg.parse("coordinates q = 0.1; Bar | Rz(q) | m(1), Jz(1); loop weld | fixed | Bar: | Rx(pi);")
    with pytest.raises(AssemblyError, match="frames that are rotated instead of parallel: weld"):
        kg.assemble(mechanism)


def test_a_start_with_frames_turned_round_is_named_where_another_loop_cannot_close() -> None:
    """Both loops close at the start, but the weld is turned round; turned back, the sliders miss each other."""
    mechanism = kg.parse("""coordinates a = 0.3, q = 0, b = 0.3; Bar | Sx(a), Rz(q), Sy(0.2) | m(1), Jz(1);
        Block | Sx(b) | m(1); loop weld | fixed | Bar: | Sx(0.3), Sy(0.2), Rx(pi);
        loop pin | spherical | Bar: Sz(0.1) | Block: Sy(0.2), Sz(0.1);""")
    with pytest.raises(AssemblyError, match="frames that are rotated instead of parallel: weld"):
        kg.assemble(mechanism)
    with pytest.raises(DerivationError, match="redundant or contradictory"):
        kg.derive(mechanism, "qdd", numeric=True)


def test_a_slider_welded_round_turns_back() -> None:
    mechanism = kg.parse("coordinates q = 2.9; Bar | Rz(q) | m(1), Jz(1); loop weld | prismatic(x) | Bar: | Sx(0);")
    assert kg.assemble(mechanism).q[0] % (2 * np.pi) == pytest.approx(0, abs=1e-9)


def test_searches_that_creep_are_given_up(monkeypatch):
    """Five bodies that hardly ever close: every start is searched from once, and left where nothing is gained."""
    chain = """coordinates a = 0.5, b = 0.4, c = 0.3, d = 0.2, e = 0.6; A | Rz(a) | m(1), Jz(1);
        B~A | Sx(1), Rx(b) | m(1), Jx(1); C~B | Sy(1), Rz(c) | m(1), Jz(1); D~C | Sx(1), Ry(d) | m(1), Jy(1);
        E~D | Sz(1), Rx(e) | m(1), Jx(1); loop pin | revolute | E: Sx(0.5) | Sx(0.8), Ry(0.4);"""
    steps, least_step = [], positions._least_step
    monkeypatch.setattr(positions, "_least_step", lambda *given: steps.append(1) or least_step(*given))
    assert Assembler(kg.parse(chain)).modes(starts=20) == []
    assert 20 < len(steps) < 20 * 45
