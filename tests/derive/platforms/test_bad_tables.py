"""Invalid leg tables: each error names the leg and says what to write."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import kinegraph as kg
from kinegraph import library
from kinegraph.errors import AssemblyError, DerivationError, ModelError, TaskError
from kinegraph.tasks.platforms.platform_poses import PlatformPoses
from tests.derive.platforms.test_model import table

HEXAGON = [f"| {name}: Rz({k}*pi/3), Sx(0.6) > Rz({k}*pi/3), Sx(0.4)" for k, name in enumerate("ABCDEF")]
ON_A_LINE = [f"| {name}: Sx({k}/5 - 0.5) > Rz({k}*pi/3), Sx(0.4)" for k, name in enumerate("ABCDEF")]
CRANKS = "m(1), Jz(0.1) | Sx(0.3), m(2)"
AXES = "| A: Sx(0.5), Rx(pi/2) > Sx(0.3), Sy(0.2) | B: Sx(-0.2), Sy(0.4), Rx(pi/2) > Sx(-0.3), Sy(0.1)"

FAULTS = {
    "two legs between the same points": (
        table(rows="| A: Sx(0.5) > Sx(0.3) | B: Sy(0.2) > Sy(0.1) | C: Sx(1/2) > Sx(3/10)"),
        "the legs A and C coincide",
        "move a joint of C",
    ),
    "one name twice": (
        table(rows="| A: Sx(0.5) > Sx(0.3) | A: Sy(0.5) > Sy(0.3)"),
        "two legs have the name A",
        "rename",
    ),
    "six joints on a line": (table(rows=" ".join(ON_A_LINE)), "A, B, C, D, E, F on the base are collinear", "move"),
    "joints of the ring on a line": (
        table(rows=" ".join(f"| {n}: Rz({k}*pi/3), Sx(0.6) > Sx({k}/5)" for k, n in enumerate("ABCDEF"))),
        "on the platform are collinear",
        "move",
    ),
    "a leg along its first axis": (
        table(rows="| A: Sx(0.1), Sz(0.6) > Sx(0.6)"),
        "the leg A is parallel to the first axis of its joint on the base",
        "rotate that frame",
    ),
    "a leg along its axis on the ring": (
        table(kind="SPU", rows="| A: Sx(0.5) > Sx(0.5), Rx(pi/2)"),
        "the leg A is parallel to the second axis of its joint on the platform",
        "rotate that frame",
    ),
    "no crank": (table(kind="RUS(0, 0.6)", parts=CRANKS, rows=AXES), "crank of the legs A to B is 0", "positive"),
    "rod backwards": (table(kind="RUS(0.2, -0.6)", parts=CRANKS, rows=AXES), "rod of the legs A to B is -0.6", "frame"),
    "negative mass": (table(parts="Sz(0.2), m(-2) | m(1)"), "mass of A_lower is negative", "zero or positive"),
    "negative damping": (table("damping(-3)"), "`damping` of the legs A to C is negative: -3", "positive"),
    "negative friction": (table("coulomb(-3)"), "`coulomb` of the legs A to C is negative: -3", "positive"),
    "negative limit": (table("limit(-2)"), "`limit` of the legs A to C is negative: -2", "positive"),
    "no lead": (table("screw(0)"), "the lead of the screw of the legs A to C is 0 m", "positive"),
    "a lead by a parameter": (
        table("screw(lead - 1)").replace("small;", "small; parameters lead = 0.5;"),
        "the lead of the screw of the legs A to C is -0.5 m",
        "positive",
    ),
    "more power than goes in": (table("screw(0.01, 0, 2)"), "the efficiency of the screw of the legs A to C is 2", "1"),
    "no power": (table("screw(0.01, 0, 0)"), "the efficiency of the screw of the legs A to C is 0", "above 0"),
    "a screw that locks": (table("screw(0.01, 0, 0.4, 0)"), "back-driving efficiency", "`coulomb(f)`"),
    "negative inertia": (table("screw(0.01, -1)"), "the inertia of the screw of the legs A to C is -1", "positive"),
    "no width": (table("screw(0.01, 0, 0.9), width(0)"), "`width` of the legs A to C is 0", "positive"),
    "rest without spring": (table("rest(0.5)"), "`rest` of the legs A to C has no effect", "`stiffness(...)`"),
    "width without friction": (table("width(0.5)"), "`width` of the legs A to C has no effect", "`coulomb(...)`"),
    "stroke without stop": (table("stroke(0.1, 0.9)"), "`stroke` of the legs A to C has no effect", "`stop(...)`"),
    "stop without stroke": (table("stop(100)"), "`stop` of the legs A to C has no effect", "`stroke(...)`"),
    "a word twice": (table("damping(1), damping(2)"), "a drive has `damping` twice", "keep one"),
    "no number": (table(rows="| A: Sx(nan) > Sx(0.3)"), "unknown name 'nan' in a transform of A_lower", "declare"),
    "zero over zero": (table(rows="| A: Sx(0/0) > Sx(0.3)"), "a transform of A_lower divides by zero", "divisor"),
    "a column too few": (table(rows="| A: Sx(0.5)"), "", "A: base point > platform point"),
    "a column too many": (table(rows="| A: Sx(0.5) > Sx(0.3) > Sx(1)"), "", "A: base point > platform point"),
    "no leg": (table(rows=""), "", "A: base point > platform point"),
    "a leg without a name": (table(rows="| Sx(0.5) > Sx(0.3)"), "", "A: base point > platform point"),
    "three universal joints": (table(kind="UUU"), "legs UUU have no closed form", "write the bodies and loops"),
    "no type": (table(kind="UPX"), "unknown leg type 'UPX'", "UPS, SPU, UCU, RUS, RSU"),
}  # fmt: skip


@pytest.mark.parametrize("word", FAULTS)
def test_the_leg_and_the_remedy_are_named(word: str) -> None:
    text, message, remedy = FAULTS[word]
    with pytest.raises(ModelError) as caught:
        kg.parse(text)
    first, _, rest = str(caught.value).partition("\n")
    assert message in first and remedy in rest


def test_a_pose_out_of_reach_is_an_error_of_that_leg() -> None:
    """Also where a universal joint is singular."""
    mechanism = kg.parse(table(kind="RUS(0.2, 0.6)", parts=CRANKS, rows=AXES))
    with pytest.raises(AssemblyError, match="the leg A cannot reach the platform"):
        kg.assemble(mechanism, {"z": 3})
    struts = kg.parse(table(rows="| A: Sx(0.1) > Sx(0.6) | B: Sy(0.2) > Sx(0.1)"))
    with pytest.raises(AssemblyError, match="the leg A is parallel to the first axis"):
        kg.assemble(struts, {"z": 0})


def test_joints_may_be_shared() -> None:
    """Octahedral platforms have two legs at each point."""
    mechanism = kg.parse(table(rows="| A: Sx(0.5) > Sx(0.3) | B: Sx(0.5) > Sy(0.3) | C: Sy(0.5) > Sy(0.3)"))
    assert len(mechanism.loops) == 3


def test_drives_that_never_hold_the_platform() -> None:
    """Two similar hexagons: accelerations are computed, drive forces are refused with a message."""
    mechanism = kg.parse(table(rows=" ".join(HEXAGON)))
    assert kg.derive(mechanism, "qdd").outputs
    with pytest.raises(DerivationError, match="A, B, C, D, E, F hold the platform in no pose") as caught:
        kg.derive(mechanism, "tau")
    assert "move some of the joints" in str(caught.value)
    assert kg.derive(mechanism, "platform_forces").outputs


@pytest.mark.parametrize("count", [1, 5])
def test_poses_of_a_ring_that_is_free_to_move(count: int) -> None:
    mechanism = kg.parse(table(rows=" ".join(HEXAGON[:count])))
    drives = {f"{name}_l": 0.7 for name in "ABCDEF"[:count]}
    with pytest.raises(TaskError, match=f"the {count} drives A_l"):
        kg.platform_poses(mechanism, drives)


DRIVES = dict.fromkeys(("A_l", "B_l", "C_l", "D_l", "E_l", "F_l"), 1.3)


@cache
def in_meters() -> PlatformPoses:
    return kg.platform_poses("stewart", DRIVES)


@pytest.mark.parametrize("unit", [1e6, 1e-6])
def test_poses_do_not_depend_on_the_unit_of_length(unit: float) -> None:
    """Residuals are relative to the lengths of the legs."""

    def in_units(match: re.Match[str]) -> str:
        return f"{match[1]}{float(match[2]) * unit:.15g}"

    text = library.text("stewart")
    scaled = re.sub(r"(S[xyz]\()([-\d.]+)(?=\))", in_units, text)
    scaled = re.sub(r"([xz] = )([-\d.]+)", in_units, scaled)
    plain = in_meters()
    found = kg.platform_poses(kg.parse(scaled, "scaled.kg"), {name: unit * value for name, value in DRIVES.items()})
    assert found.complete and found.paths == plain.paths
    places = [np.array([[pose.coordinates[name] for name in "xyz"] for pose in one]) for one in (plain, found)]
    apart = np.linalg.norm(places[1][:, None] / unit - places[0], axis=2)
    assert np.max(np.min(apart, axis=0)) < 1e-9 and np.max(np.min(apart, axis=1)) < 1e-9


def test_a_stroke_the_wrong_way_round() -> None:
    with pytest.raises(TaskError, match="the smaller first"):
        kg.workspace("stewart", {"x": (-1.6, -1.4, 3)}, stroke=(1.5, 1.1))


def test_the_leg_that_lacks_most_is_at_fault() -> None:
    """A symmetric platform has a symmetric picture: of mirrored poses mirrored legs."""
    found = kg.workspace("hunt", {"x": (-0.5, 0.5, 7), "y": (-0.5, 0.5, 7)})
    assert set(found.at_fault.ravel()) >= set(range(6))
    counts = [int(np.sum(found.at_fault == leg)) for leg in range(6)]
    assert max(counts) <= 2 * min(counts)
