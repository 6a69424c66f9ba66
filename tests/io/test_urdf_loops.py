"""Loops in URDF by the extension <loop_joint>: a four-bar that is the library's."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import LeftOutWarning, ModelError
from kinegraph.io.options import UrdfOptions
from kinegraph.io.urdf import load_urdf
from tests.interpreted import interpreted


def bar(name, length):
    mass, moment = 2 * length, 2 * length**3 / 12
    return f"""<link name="{name}"><inertial><origin xyz="{length / 2} 0 0"/><mass value="{mass}"/>
        <inertia ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def joint(name, parent, child, x):
    return f"""<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
        <origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>"""


PIN = """<loop_joint name="pin" type="revolute">
    <link1 link="Coupler" xyz="1.2 0 0"/><link2 link="Rocker" xyz="0.8 0 0"/><axis xyz="0 0 1"/></loop_joint>"""


def four_bar(loop=PIN):
    joints = joint("crank", "base", "Crank", 0) + joint("bend", "Crank", "Coupler", 0.5)
    bars = "".join(bar(*one) for one in (("Crank", 0.5), ("Coupler", 1.2), ("Rocker", 0.8)))
    return f'<robot name="bars"><link name="base"/>{bars}{joints}{joint("rocker", "base", "Rocker", 1)}{loop}</robot>'


@pytest.fixture
def read(tmp_path):
    def load(text):
        file = tmp_path / "bars.urdf"
        file.write_text(text, encoding="utf-8")
        return load_urdf(file, options=UrdfOptions(gravity=(0, -9.81, 0))).mechanism

    return load


@pytest.mark.parametrize("loop", [PIN, PIN.replace("link2", "link1"), PIN.replace('"revolute"', '"continuous"')])
def test_the_four_bar_of_the_library(read, loop):
    """Angles are relative here and absolute there; accelerations are those of the same mechanism."""
    bars = read(four_bar(loop))
    place = kg.assemble(kg.load("four-bar"), {"crank": 1, "crank'": 2})
    wanted = interpreted(kg.load("four-bar"), "qdd,reaction:pin")(place.q, place.v, [0.3, 0, 0])
    turn = np.array([[1, 0, 0], [-1, 1, 0], [0, 0, 1]])
    found = interpreted(bars, "qdd,reaction:pin")(turn @ place.q, turn @ place.v, [0.3, 0, 0])
    np.testing.assert_allclose(found["qdd"], turn @ wanted["qdd"], rtol=1e-10)
    np.testing.assert_allclose(found["reaction:pin"][:2], wanted["reaction:pin"][:2], rtol=1e-10)
    assert "left out" not in str(bars.report) and len(bars.loops) == 1


def test_loops_can_be_left_open(tmp_path):
    file = tmp_path / "bars.urdf"
    file.write_text(four_bar(), encoding="utf-8")
    with pytest.warns(LeftOutWarning, match="loops"):
        tree = kg.load(file, equalities=False)
    assert not tree.loops and tree.layout.positions == kg.load(file).layout.positions
    with pytest.raises(ModelError, match="only URDF, MJCF, SDF and USD files have equalities"):
        kg.load("four-bar", equalities=False)


def test_ball_joints_close_it_as_well(read):
    bars = read(four_bar(PIN.replace('"revolute"', '"spherical"')))
    assert bars.loops[0].type.value == "spherical" and kg.assemble(bars, {"rocker": 1, "bend": -0.5}).mobility == 1


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        (PIN.replace('"revolute"', '"screw"'), "unknown type 'screw' of the loop joint pin\n  choose one of spherical"),
        (PIN.replace('"Rocker"', '"Rokcer"'), "unknown link 'Rokcer' of the loop joint pin\n  did you mean `Rocker`"),
        ('<loop_joint name="pin" type="fixed"><link1 link="Crank"/></loop_joint>', "needs 2 links, found 1"),
        ('<loop_joint name="pin" type="revolute"><link1 link="Crank"/><link2 link="Crank"/></loop_joint>', "to itself"),
    ],
)
def test_what_cannot_be_closed_is_named(read, loop, message):
    with pytest.raises(ModelError, match=message):
        read(four_bar(loop))
