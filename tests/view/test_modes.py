"""Modes as a page: the pictures follow the shapes, loops stay closed."""

import json
import re

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.view.modes import _campbell, _swinging, modes_page
from kinegraph.view.task_figures import transfer_unit
from tests.cli.run import runner


def test_every_mode_swings_in_its_shape():
    found = kg.modes("double-pendulum", {"q1": 0, "q2": 0})
    run = _swinging(kg.load("double-pendulum"), found, 0.2, None)
    half = len(run.t) // 2
    for mode, part in zip(found.modes, (slice(0, half), slice(half, None)), strict=True):
        rows = np.column_stack([run["q1"][part], run["q2"][part]])
        np.testing.assert_allclose(rows, np.outer(rows[:, np.argmax(np.abs(mode.shape))], mode.shape), atol=1e-12)
        assert np.abs(rows).max() == pytest.approx(0.2)


def test_loops_stay_closed():
    bars = kg.load("four-bar")
    rest = next(one for one in kg.equilibria(bars, starts=40) if one.stable)
    state = dict(zip(bars.layout.positions, rest.q, strict=True)) | dict.fromkeys(bars.layout.velocities, 0)
    run = _swinging(bars, kg.modes(bars, state), 0.3, None)
    missed = kg.compile(bars, "constraints").batch(run.array(*bars.layout.positions))
    assert np.abs(missed).max() < 1e-9 and np.ptp(run["crank"]) > 0.2


def test_growing_and_drifting_modes_are_swinging_too(tmp_path):
    found = kg.modes("cart-double-pendulum", {"th1'": 0})
    run = _swinging(kg.load("cart-double-pendulum"), found, 0.3, None)
    assert np.abs(run.array("x", "th1", "th2")).max() <= 0.3 + 1e-12
    with pytest.raises(TaskError, match="amplitude is 0"):
        modes_page("cart-double-pendulum", found, tmp_path / "a.html", amplitude=0)


def test_the_command_writes_a_page(capsys, tmp_path):
    target = tmp_path / "modes.html"
    code, _, _ = runner(capsys)(f"modes double-pendulum --equilibrium 1 --page {target}")
    assert code == 0
    data = json.loads(re.search(r"application/json\">(.*?)</script>", target.read_text("utf-8"))[1])
    first, second = data["modes"]["modes"]
    assert [one["cells"][0] for one in (first, second)] == ["0.381526", "0.921086"]  # Hz
    assert first["shape"][1] == [pytest.approx(2**0.5 - 1), 0] and second["shape"][0][1] == 180
    assert first["span"][0] == 0 and first["span"][1] < second["span"][0] and data["modes"]["campbell"] is None


@pytest.mark.soak
def test_a_rotor_has_a_campbell_diagram():
    found = kg.modes("rotor", {"spin'": 300})
    diagram = _campbell(kg.load("rotor"), found, None)
    assert diagram["at"] == 300 and diagram["speeds"][-1] == 600
    assert [one["speed"] for one in diagram["critical"]] == pytest.approx([447.21360, 447.21360, 600])


def test_units_of_a_response():
    units = {"q": "rad", "x": "m", "s": ""}
    assert transfer_unit("x", "tau:q", units) == "m/(N m)" and transfer_unit("q", "tau:x", units) == "rad/N"
    assert transfer_unit("s", "u", units) == "unit of s/unit of u"
