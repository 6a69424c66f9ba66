"""What the studio computes, without its server: the same numbers as the functions of the package."""

from __future__ import annotations

import queue
import re
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph import library
from kinegraph.compiler.mechanism_source import read_text
from kinegraph.errors import ModelError
from kinegraph.model.expressions import FUNCTIONS
from kinegraph.model.names import STATEMENTS
from kinegraph.store.database import open_store
from kinegraph.store.maintenance import check
from kinegraph.studio.model_text import statements
from kinegraph.studio.requests import LANES, OPERATIONS, Channel
from kinegraph.studio.worker import answered

SPRUNG = """
    parameters k = 20; coordinates q = 0.4; gravity 0, 0, -9.81;
    Rod | Ry(q) | Sz(-1), m(2), Jy(0.1);
    output tip = Rod (0, 0, -1);
    force wind | at(tip), world(k*q, 0, 0);
"""


@dataclass
class Told:
    """What a request tells the page meanwhile; the page stops a live simulation after some seconds of its time."""

    seconds: float = 1.0
    frames: list = field(default_factory=list)
    inbox: queue.SimpleQueue = field(default_factory=queue.SimpleQueue)

    def channel(self):
        return Channel(self.inbox, self.tell)

    def tell(self, kind, content):
        if kind == "F":
            self.frames.append(content)
            if content["frame"]["t"] >= self.seconds:
                self.steer(stop=True)

    def steer(self, **given):
        self.inbox.put({"do": "steer", "with": given})


def asked(what, text, told=None, **given):
    return answered({"id": 1, "do": what, "with": {"text": text, "file": "", **given}}, (told or Told()).channel())


def result(what, text, told=None, **given):
    found = asked(what, text, told, **given)
    assert "result" in found, found
    return found["result"]


def test_every_operation_has_a_lane_and_a_function():
    assert {one.lane for one in OPERATIONS.values()} == set(LANES)
    assert all(":" in one.function for one in OPERATIONS.values())


def live(text, seconds, *steering, **given):
    """The frames of a live simulation that is steered at its start."""
    told = Told(seconds)
    for one in steering:
        told.steer(**one)
    result("live", text, told, **given)
    return [one["frame"] for one in told.frames]


def test_a_live_simulation_is_that_of_simulate():
    frames = live(library.text("double-pendulum"), 0.5, state={"q1": 1.0, "q2": 0.3})
    last = frames[-1]
    run = kg.simulate("double-pendulum", last["t"], state={"q1": 1, "q2": 0.3, "q1'": 0, "q2'": 0}, progress=False)
    assert last["t"] > 0.1 and len(frames) > 5
    assert last["state"] == pytest.approx([run[name][-1] for name in (*run.positions, *run.velocities)], abs=1e-6)


def test_a_push_pulls_the_body_there_and_a_parameter_takes_effect():
    """A pendulum without gravity comes to rest where the mouse holds it: the spring is damped."""
    text = "parameters g = 0; coordinates q; gravity 0, 0, -g; Rod | Ry(q) | Sx(1), m(1), Jy(0.01);"
    push = {"body": "Rod", "local": [1, 0, 0], "target": [0, 0, -3]}
    frames = live(text, 6.0, {"push": push}, {"speed": 20})
    assert frames[-1]["state"][0] == pytest.approx(np.pi / 2, abs=0.05)
    falling = live(text, 0.4, {"parameters": {"g": 9.81}})
    assert falling[-1]["state"][0] > 0.05


def test_loops_stay_closed_when_a_length_changes_while_it_runs():
    frames = live(library.text("four-bar"), 0.5, {"parameters": {"a": 0.55}})
    gaps = kg.compile("four-bar", "constraints", parameters={"a": 0.55})(frames[-1]["state"][:3])
    assert np.abs(gaps).max() < 1e-9


def test_a_ball_bounces_live_and_the_bounce_is_listed():
    frames = live(library.text("bouncing-ball"), 1.2)
    heights = [one["state"][0] for one in frames]
    events = frames[-1]["events"]
    expected = (0.4 + np.sqrt(0.4**2 + 2 * 9.81 * 1.2)) / 9.81
    assert events["before"] == 0 and events["list"][0]["name"] == "floor: impact"
    assert events["list"][0]["time"] == pytest.approx(expected, abs=1e-3)
    assert min(heights) > -0.05 and min(heights) < 0.3
    after = heights[int(np.argmin(heights)) :]
    assert max(after) > 0.3  # up again


def test_arrows_follow_the_state():
    before = result("forces", SPRUNG, state={"q": 0.4})["vectors"]
    after = result("forces", SPRUNG, state={"q": -0.4})["vectors"]
    assert before != after and len(before) == 1


def test_undetermined_reactions_have_no_number_and_rounding_is_zero():
    start = kg.assemble(kg.load("four-bar")).q
    state = dict(zip(("crank", "coupler", "rocker"), start.tolist(), strict=True))
    rows = {row["joint"]: row for row in result("reactions", library.text("four-bar"), state=state)["reactions"]}
    assert np.isnan(rows["pin"]["force"][2]) and not rows["pin"]["determinate"]
    assert rows["Crank"]["moment"][2] == 0.0
    expected = kg.reactions("four-bar", "pin", state)
    assert rows["pin"]["force"][:2] == pytest.approx(expected.force[:2])


def test_modes_of_a_moving_page_are_those_of_the_nearest_equilibrium():
    found = result("modes", library.text("double-pendulum"), state={"q1": 0.3, "q2": 0.1, "q1'": 5})
    assert found["state"] == pytest.approx({"q1": 0, "q2": 0}, abs=1e-9)
    expected = kg.modes("double-pendulum", {"q1": 0, "q2": 0}).modes
    assert [one["frequency"] * 2 * np.pi for one in found["modes"]] == pytest.approx(
        [one.frequency for one in expected]
    )


def test_entries_of_equations_have_values_and_dependencies():
    found = result("equations", library.text("double-pendulum"), state={"q1": 0.3, "q2": 0.7}, quantities="H")
    expected = kg.compile("double-pendulum", "H")([0.3, 0.7])
    assert found["entries"][0]["value"] == pytest.approx(expected[0, 0])
    assert "q2" in found["entries"][0]["symbols"] and "q1" not in found["entries"][0]["symbols"]
    assert found["counts"][0]["name"] == "derived"


def test_a_study_is_that_of_the_package_and_its_cases_can_be_run():
    text = library.text("double-pendulum")
    vary, outcomes = {"m2": "uniform(0.5, 1.5)", "q1": "uniform(0.2, 0.6)"}, {"top": "max(q2)"}
    found = result("study", text, vary=vary, outcomes=outcomes, cases=8, duration=1)
    expected = kg.study("double-pendulum", 1, vary=vary, outcomes=outcomes, cases=8, seed=0, progress=False)
    assert found["columns"]["top"] == pytest.approx(expected["top"])
    assert found["states"] == ["q1"] and found["cases"] == 9 and "--vary 'm2=uniform" in found["command"]
    state, parameters = ({name: found["columns"][name][3]} for name in ("q1", "m2"))
    run = result("run", text, state=state, parameters=parameters, duration=1)
    (q2,) = (one["values"] for one in run["columns"] if one["name"] == "q2")
    assert max(q2) == pytest.approx(found["columns"]["top"][3], abs=1e-3)
    assert "nothing is varied" in asked("study", text, vary={})["error"]["message"]


def test_feet_that_touch_and_leave_the_ground_are_listed():
    names = [one["name"] for one in live(library.text("walker"), 0.4)[-1]["events"]["list"]]
    assert names[:3] == ["foot1: contact", "foot2: contact", "foot1: release"]


def test_versions_hold_the_text_as_it_was_written(tmp_path):
    text, store = library.text("four-bar"), str(tmp_path / "store.sqlite")
    assert result("versions", text, store=store) == {"name": "four-bar", "store": store, "versions": []}
    assert not (tmp_path / "store.sqlite").exists()  # looking makes nothing
    for given in (text, text, text.replace("rho = 2", "rho = 3")):
        found = result("keep-version", given, store=store)["versions"]
    assert [(one["version"], one["same"]) for one in found] == [(2, True), (1, False)]
    first = result("version", text.replace("rho = 2", "rho = 3"), store=store, version=1)
    assert first["text"] == text and (first["added"], first["removed"]) == (1, 1)
    assert [one["text"] for one in first["lines"] if one["kind"] == "added"] == [
        "parameters a = 0.5, b = 1.2, c = 0.8, d = 1, rho = 3;"
    ]
    assert "no version 9" in asked("version", text, store=store, version=9)["error"]["message"]
    assert "did you mean" in asked("keep-version", text.replace("Crank |", "Crnk |"), store=store)["error"]["remedy"]
    with closing(open_store(store)) as saved:
        assert check(saved).faults == ()


def test_the_editor_knows_every_statement_and_function():
    source = (Path(__file__).parents[2] / "web/src/studio/language.js").read_text()
    keywords, functions = (
        set(re.findall(r'"(\w+)"', re.search(rf"{name} = \[(.*?)\];", source, re.DOTALL)[1]))
        for name in ("KEYWORDS", "FUNCTIONS")
    )
    assert {*STATEMENTS, "table"} <= keywords
    assert set(FUNCTIONS) <= functions


def test_what_the_editor_completes_is_read():
    """Each statement with its blanks filled in; it may be given twice or have nothing to act on, but is understood."""
    source = (Path(__file__).parents[2] / "web/src/studio/completion.js").read_text()
    model = """
        model arm; parameters a = 1; coordinates q1 = 0.1, q2; gravity 0, 0, -9.81; output tip = Body (1, 0, 0);
        Body | Rz(q1) | Sx(1), m(1), Jz(1); A~Body | Sx(1), Rz(q2) | m(1), Jz(1); B | Sx(1) | m(1);
    """
    patterns = re.findall(r'^  (\w+): \["(.*?)", "', source, re.MULTILINE)
    assert len(patterns) > 25
    for name, pattern in patterns:
        found = asked("scene", model + re.sub(r"\$\{(.*?)\}", r"\1", pattern)).get("result", {})
        message = found.get("error", {}).get("message", "")
        assert not re.search(r"unknown clause|expected|unexpected|unknown name", message), (name, message)


def test_statements_are_found_in_texts_with_errors():
    text = "# a | comment;\nparameters a = 1;\nArm | Rz(q |\n  m(1);\nTip~Arm | Sx(1) | ;"
    found = [(one.kind, one.name, one.first, one.last) for one in statements(text)]
    assert found == [("parameters", "a", 2, 2), ("body", "Arm", 3, 4), ("body", "Tip", 5, 5)]


def test_meshes_outside_the_folder_are_not_read(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret.stl").write_text(
        "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
        "vertex 0 1 0\nendloop\nendfacet\nendsolid s\n"
    )
    text = (
        "<robot name='r'><link name='base'/><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'"
        " ixy='0' ixz='0' iyz='0'/></inertial><visual><geometry><mesh filename='{}'/></geometry></visual></link>"
        "<joint name='j' type='continuous'><parent link='base'/><child link='a'/><axis xyz='0 0 1'/></joint></robot>"
    )
    path = str(tmp_path / "r.urdf")
    for root, count in ((tmp_path, 1), (tmp_path / "inside", 0)):
        found = result("scene", text.format(tmp_path / "secret.stl"), path=path, root=str(root))
        assert len(found.get("meshes", [])) == count, found.get("error")


def test_a_table_that_is_not_saved_is_refused(tmp_path):
    """Tables are read from their files, so the text of an editor must be that of the file."""
    file = tmp_path / "arm.csv"
    file.write_text("old")
    with pytest.raises(ModelError, match=r"save arm\.csv first"):
        read_text("new", file)
