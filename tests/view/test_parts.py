"""What is drawn of elements and supports, units, names of one list, and what a page says of what it leaves out."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler.request import bound_parameters
from kinegraph.view import model_page
from kinegraph.view.page import tables
from kinegraph.view.page.frames import Frames, units
from kinegraph.view.page.scene import Skeleton
from kinegraph.view.page.solution_page import page_text
from kinegraph.view.plot import figure
from tests.cli.run import data, runner
from tests.view.test_page import drawing_of, embedded, frames_and_motion, numbers

PANDA = Path(__file__).parents[1] / "data" / "panda.urdf"

WORKSHOP = """
    model workshop;
    parameters k = 20;
    inputs u = 3;
    coordinates x = 0.2, q = 0.5, h = 1;
    gravity 0, 0, -9.81;
    Cart     | Sx(x)          | m(3), Jx(0.1), Jy(0.1), Jz(0.1);
    Arm~Cart | Ry(q)          | Sz(-0.5), m(1), Jy(0.1);
    Ball     | Sx(2), Sz(h)   | m(1);
    output tip = Arm (0, 0, -1);
    spring  strut  | between(tip, (1, 0, 0)), stiffness(k), rest(0.5);
    damper  shock  | between(Arm(0, 0, -0.5), (-1, 0, 0)), damping(1);
    spring  coil   | on(q), stiffness(2);
    friction pad   | on(q'), coulomb(0.1);
    spring  buffer | on(x), stiffness(5);
    force   wind   | at(tip), world(2*t, 0, 0);
    force   jet    | at(tip), body(1, 0, 0);
    force   motor  | value(-u), on(q);
    force   push   | value(2), on(2*x);
    force   piston | value(1), between(Cart, (0, 0, 1));
    moment  gyro   | at(Arm), world(0, tip.z', 0);
    limit   floor  | on(Ball.z), lower(0.1), stiffness(100);
    limit   wall   | on(tip.x), upper(3), stiffness(100);
"""
#: What every element is drawn as.
EXPECTED = {
    "strut": "spring", "shock": "damper", "coil": "torsion", "pad": "brake", "buffer": "spring", "wind": "force",
    "jet": "force", "motor": "moment", "push": "force", "piston": "piston", "gyro": "moment", "floor": "plane",
    "wall": "plane",
}  # fmt: skip


@pytest.fixture(scope="module")
def parts() -> dict[str, dict]:
    q = np.array([[0.0, 0.5, 1.0], [0.1, 0.5, 1.0]])
    return {part["name"]: part for part in drawing_of(kg.parse(WORKSHOP), q).parts if "name" in part}


def vectors(part: dict) -> np.ndarray:
    return numbers(part["vectors"], "<f4").reshape(-1, 3)


def test_every_element_is_drawn(parts: dict[str, dict]) -> None:
    assert {name: part["kind"] for name, part in parts.items()} == EXPECTED


def test_forces_have_their_size_and_direction(parts: dict[str, dict]) -> None:
    assert vectors(parts["wind"]).tolist() == [[0, 0, 0], [2, 0, 0]] and parts["wind"]["axes"] == 0
    assert vectors(parts["jet"]).tolist() == [[1, 0, 0]] * 2 and parts["jet"]["axes"] == parts["jet"]["link"] == 2
    assert vectors(parts["motor"]).tolist() == [[0, -3, 0]] * 2
    assert vectors(parts["push"]).tolist() == [[4, 0, 0]] * 2  # 2 N on 2*x
    assert parts["push"]["link"] == 1 and parts["push"]["axes"] == 0


def test_floors_and_walls_stand_where_limits_say(parts: dict[str, dict]) -> None:
    floor, wall = parts["floor"], parts["wall"]
    assert floor["middle"] == [2, 0, 0.1] and floor["normal"] == [0, 0, 1]
    assert wall["middle"][0] == 3 and wall["normal"] == [-1, 0, 0]


def test_forces_from_outside_are_drawn() -> None:
    mechanism = kg.load("double-pendulum")
    run = kg.simulate(mechanism, 0.1, inputs={"q1": "5*q2"}, state={"q2": 0.3}, times=2, progress=False)
    (arrow,) = [part for part in embedded(page_text(run))["parts"] if part["kind"] == "moment"]
    assert vectors(arrow)[:, 1] == pytest.approx(5 * run["q2"], rel=1e-6)


def test_pivots_on_the_fixed_frame_are_held() -> None:
    parts = drawing_of(kg.load("double-pendulum"), np.zeros((1, 2))).parts
    assert [part["grounded"] for part in parts if part["kind"] == "revolute"] == [True, False]


def test_units_come_from_joints() -> None:
    mechanism = kg.parse(WORKSHOP)
    frames, _, _ = frames_and_motion(mechanism, np.zeros((1, 3)))
    found = units(mechanism, frames)
    assert (found["x"], found["q"], found["q'"], found["h'"]) == ("m", "rad", "rad/s", "m/s")
    wheel = kg.parse("coordinates w; A | Sx(0.3*w), Ry(w) | m(1), Jy(1);")
    assert units(wheel, frames_and_motion(wheel, np.zeros((1, 1)))[0]) == {"w": "rad", "w'": "rad/s"}
    odd = kg.parse("coordinates s; A | Sx(sin(s)) | m(1);")
    assert units(odd, frames_and_motion(odd, np.zeros((1, 1)))[0]) == {"s": "", "s'": ""}
    top = kg.load("heavy-top")
    assert set(units(top, frames_and_motion(top, np.array([[1.0, 0, 0, 0]]))[0]).values()) == {"", "rad/s"}


def test_names_of_one_list_have_one_look() -> None:
    assert all(name.startswith("<math>") for name in tables.names(["q1", "teta$L", "wx"]))
    mixed = tables.names(["q1", "panda_finger_joint1", "q1'"])
    assert all(name.startswith('<span class="name">') for name in mixed) and mixed[2].endswith("q1′</span>")


def test_a_model_without_parameters_has_no_card_of_them(tmp_path: Path) -> None:
    text = model_page(kg.load("wing-nut"), tmp_path / "nut.html").read_text("utf-8")
    assert "<h2>Bodies</h2>" in text and "<h2>Parameters</h2>" not in text and "<h2>Elements</h2>" not in text
    text = model_page(kg.parse(WORKSHOP), tmp_path / "workshop.html").read_text("utf-8")
    assert "<h2>Parameters</h2>" in text and "spring strut" in text


@pytest.mark.parametrize(
    ("mechanism", "source", "expected"),
    [
        (kg.load("double-pendulum"), None, "kinegraph derive double-pendulum -q tau"),
        (kg.parse("coordinates q; A | Ry(q) | Sz(-1), m(1);"), None, "kg.derive(mechanism, &quot;tau&quot;)"),
        (kg.load("double-pendulum"), "'my file.kg' --floating", "derive &#x27;my file.kg&#x27; --floating -q tau"),
    ],
)
def test_what_is_left_out_can_be_printed(mechanism, source, expected, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of a file must not name a command with the model's name: there is no such model in the library."""
    monkeypatch.setattr(tables, "MOST_EQUATIONS", 0)
    assert expected in tables.typeset(mechanism, source)


def test_the_command_on_the_page_of_a_file_works(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "my arm.kg").write_text("model other; coordinates q; gravity 0,0,-9.81; A | Ry(q) | Sz(-1), m(1);")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tables, "MOST_EQUATIONS", 0)
    run = runner(capsys)
    assert data(run("view 'my arm.kg' -o page.html --json"))["coordinates"] == ["q"]
    assert run("simulate 'my arm.kg' --for 0.1 --times 2 --quiet --page run.html").code == 0
    for name in ("page.html", "run.html"):
        text = (tmp_path / name).read_text("utf-8").replace("&#x27;", "'")
        command = re.search(r"kinegraph (derive [^<]* -q tau)", text)
        assert command and "sin" in run(command[1]).out


def test_numbers_of_equations_can_be_read() -> None:
    text = tables.typeset(kg.load(PANDA))
    found = re.findall(r"<mn(?: data-exact=\"([\d.]+)\")?>([\d.]+)</mn>", text)
    assert max(len(shown.replace(".", "").lstrip("0")) for _, shown in found) <= tables.DIGITS
    exact = [(float(full), float(shown)) for full, shown in found if full]
    assert len(exact) > 20 and all(shown == pytest.approx(full, rel=1e-4) for full, shown in exact)
    assert "Show all digits" in text
    assert "Show all digits" not in tables.typeset(kg.load("double-pendulum"))


def test_a_slider_starts_inside_its_limits(tmp_path: Path) -> None:
    found = embedded(model_page(kg.load(PANDA), tmp_path / "panda.html").read_text("utf-8"))["coordinates"]
    sliders = {one["name"]: one for one in found}
    assert all(one["lower"] <= one["value"] <= one["upper"] for one in found)
    fourth = sliders["panda_joint4"]
    assert fourth["value"] == fourth["upper"] == -0.0698 and fourth["stated"] == 0
    assert "stated" not in sliders["panda_joint1"]
    assert {one["unit"] for one in found} == {"rad", "m"}


def test_pictures_have_units_and_say_how_many_curves_there_are() -> None:
    run = kg.simulate(kg.load("five-link-tree"), 0.1, times=5, progress=False)
    panels = figure(run).axes
    assert panels[0].get_ylabel() == "rad" and panels[1].get_ylabel() == "rad/s"
    assert panels[3].get_title(loc="left") == "Phase plane (first 4 of 5)"
    assert (panels[3].get_xlabel(), panels[3].get_ylabel()) == ("position / rad", "velocity / rad/s")


def test_bars_of_a_closed_loop_meet_at_its_pin() -> None:
    """The page starts assembled, and both bodies are drawn up to the joint that closes the loop."""
    bars = kg.load("four-bar")
    frames = Frames(bars, bound_parameters(bars, True, None))
    (coupler,), (rocker,) = (frames.closings(name) for name in ("Coupler", "Rocker"))
    place = kg.assemble(bars)
    columns = {name: np.array([x]) for name, x in zip(bars.layout.positions, place.q, strict=True)}
    motion = frames.motion(columns | {"t": np.zeros(1)})
    np.testing.assert_allclose(motion.at(coupler)[1], motion.at(rocker)[1], atol=1e-12)
    ends = [np.array(bar["to"]) for bar in Skeleton(bars, frames).bars if bar["link"] == rocker.link]
    assert min(np.linalg.norm(end - rocker.position) for end in ends) < 1e-12
