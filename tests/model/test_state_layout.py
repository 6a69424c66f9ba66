"""The order of q, v and all other vectors is written down once."""

import re
from pathlib import Path

import kinegraph
from kinegraph.io import parse
from kinegraph.model.states import StateLayout, force_on, is_force, moved_by

BODY = """
    coordinates x; quaternion (e0, e1, e2, e3) velocity (wx, wy, wz); coordinates s;
    inputs u, known = sin(t);
    A | Sx(x), Q(e0, e1, e2, e3) | m(1), Jx(1), Jy(1), Jz(1);
    B~A | Sx(s) | m(1);
"""


def test_names_of_every_vector():
    layout = parse(BODY).layout
    assert layout.positions == ("x", "e0", "e1", "e2", "e3", "s")
    assert layout.velocities == ("x'", "wx", "wy", "wz", "s'")
    assert layout.accelerations == ("x''", "wx'", "wy'", "wz'", "s''")
    assert layout.forces == ("tau:x", "tau:wx", "tau:wy", "tau:wz", "tau:s")
    assert layout.momenta == ("p:x", "p:e0", "p:e1", "p:e2", "p:e3", "p:s")
    assert layout.inputs == ("u",)
    assert layout.quaternions == (1,)


def test_forces_are_called_by_what_they_move():
    layout = parse(BODY).layout
    assert layout.force("x") == layout.force("tau:x") == "tau:x"
    assert layout.force("wy") == "tau:wy"
    assert layout.force("e0") is None and layout.force("tau:u") is None
    assert [moved_by(name) for name in layout.forces] == ["x", "wx", "wy", "wz", "s"]
    assert all(map(is_force, layout.forces)) and not any(map(is_force, layout.state))
    assert force_on("x'") == force_on("x") == "tau:x"


def test_the_state_is_cut_where_its_parts_begin():
    layout = StateLayout(("a", "b"), ("a'",), balances=("work",), integrals=("w.integral",), multipliers=("pin.x",))
    parts = (layout.position_part, layout.velocity_part, layout.integral_part)
    assert [layout.state[part.slice] for part in parts] == [("a", "b"), ("a'",), ("w.integral",)]
    assert layout.state[parts[-1].stop :] == ("work",)


SOURCE = Path(kinegraph.__file__).parent
#: Words of users, given as they would type them.
TYPED = {"reproduce/documents/inverse.py"}
PREFIX = re.compile(r"""f?["'](?:tau|p):(?!\s)""")


def test_no_other_module_knows_how_forces_and_momenta_are_called():
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for line in path.read_text().splitlines()
        if PREFIX.search(line)
    }
    assert found == {"model/states.py"} | TYPED
