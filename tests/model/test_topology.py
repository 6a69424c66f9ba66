"""Bodies and joints as a graph: spanning trees, cut joints, loops."""

import pytest

from kinegraph.io import parse
from kinegraph.model import Builder, Rx, Rz, Sx, inertia
from kinegraph.model.builder import frame
from kinegraph.model.constraints import JointType
from kinegraph.model.mechanism import inverse
from kinegraph.model.topology import lower_pairs, spanning_tree, tree_of_records


def ring(count, more=""):
    """A chain of bodies on revolute joints whose end is pinned to the ground."""
    m = Builder("ring")
    base = None
    for number in range(1, count + 1):
        angle = m.coordinate(f"q{number}")
        base = m.body(f"B{number}", base, [Sx(1), Rz(angle)] if base else [Rz(angle)], inertia(1, Jz=1))
    m.loop("pin", "revolute", frame(base, Sx(1)), frame(None, Sx(2)))
    return m


@pytest.mark.parametrize(("count", "cut"), [(2, "B2"), (3, "B3"), (4, "B3"), (7, "B5"), (20, "B11")])
def test_a_ring_is_cut_in_its_middle(count, cut):
    tree = spanning_tree(ring(count).build())
    assert [edge.joint for edge in tree.cut] == [cut]
    (loop,) = tree.loops
    assert loop.ancestor is None and abs(len(loop.first) - len(loop.second)) <= 1
    assert {*loop.first, *loop.second} == {f"B{n}" for n in range(1, count + 1)}
    assert max(len(tree.path(body)) for body in tree.inward) == (count + 1) // 2


def test_the_records_cut_loops_at_their_own_joints():
    tree = tree_of_records(ring(4).build())
    (loop,) = tree.loops
    assert loop.joint == "pin" and loop.bodies == (None, "B1", "B2", "B3", "B4")
    assert tree.path("B3") == ("B1", "B2", "B3") and tree.parent("B1") is None


def test_the_model_fixes_the_cut():
    m = ring(6)
    m.cut("pin")
    assert [edge.joint for edge in spanning_tree(m.build()).cut] == ["pin"]
    m = ring(6)
    m.cut("B2")
    assert [edge.joint for edge in spanning_tree(m.build()).cut] == ["B2"]


def test_joints_that_forces_work_on_stay():
    m = ring(4)
    m.force("motor", 1, "q3")  # the middle
    assert [edge.joint for edge in spanning_tree(m.build()).cut] in (["B2"], ["B4"])


def test_joints_of_bodies_without_mass_stay():
    light = parse("""
        coordinates q1, q2, q3, q4;
        A | Rz(q1) | m(1), Jz(1); B~A | Sx(1), Rz(q2) | ; C~B | Rx(q3) | m(1), Jz(1); D~C | Sx(1), Rz(q4) | m(1), Jz(1);
        loop pin | spherical | D: Sx(1) | Sx(2);
    """)
    tree = spanning_tree(light)
    assert [edge.joint for edge in tree.cut] == ["D"]


def test_rods_and_points_on_lines_are_always_cut():
    m = ring(4)
    m.loop("rod", "distance", "B2", frame(None, Sx(1)), length=1)
    m.loop("rail", "point_on_line", "B4", None)
    tree = spanning_tree(m.build())
    assert {"rod", "rail"} < {edge.joint for edge in tree.cut} and len(tree.loops) == 3


def test_loops_that_share_joints_are_solved_together():
    apart = parse("""
        coordinates a1, a2, b1, b2;
        A1 | Rz(a1) | m(1), Jz(1); A2~A1 | Sx(1), Rz(a2) | m(1), Jz(1); loop pa | spherical | A2: Sx(1) | Sx(1);
        B1 | Rz(b1) | m(1), Jz(1); B2~B1 | Sx(1), Rz(b2) | m(1), Jz(1); loop pb | spherical | B2: Sx(1) | Sx(1);
    """)
    assert tree_of_records(apart).clusters == (("pa",), ("pb",))
    m = ring(4)
    m.loop("rod", "distance", "B2", frame(None, Sx(1)), length=1)
    assert tree_of_records(m.build()).clusters == (("pin", "rod"),)


@pytest.mark.parametrize(
    ("transforms", "kind"),
    [
        ("Sx(1), Rz(a), Rx(0.2)", JointType.REVOLUTE),
        ("Sy(a)", JointType.PRISMATIC),
        ("Rz(a), Sz(b)", JointType.CYLINDRICAL),
        ("Rx(a), Ry(b)", JointType.UNIVERSAL),
        ("Sx(a), Sy(b), Rz(c)", JointType.PLANAR),
        ("Q(e0, e1, e2, e3)", JointType.SPHERICAL),
        ("Sx(1)", JointType.FIXED),
        ("Rz(2*a)", None),
        ("Rz(a), Sz(0.1*a)", None),
        ("Rz(a), Sx(1), Rx(b)", None),
        ("Rz(t)", None),
        ("Rz(a), Rz(b)", None),
    ],
)
def test_joints_are_recognized_by_their_transforms(transforms, kind):
    declared = ", ".join(name for name in "abc" if f"({name}" in transforms or f"*{name}" in transforms)
    quaternion = "quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);" if "Q" in transforms else ""
    model = parse(f"{f'coordinates {declared};' if declared else ''} {quaternion} A | {transforms} | m(1), Jz(1);")
    found = lower_pairs(model).get("A")
    assert (found.joint.type if found else None) is kind


def test_transforms_lead_back():
    assert inverse((Sx("l"), Rz(0.5), Rx(-Builder().parameter("a")))) == (
        Rx("a"),
        Rz(-0.5),
        Sx(-Builder().parameter("l")),
    )
