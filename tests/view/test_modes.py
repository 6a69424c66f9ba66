"""Modes as a page: the pictures follow the shapes, loops stay closed."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.view.modes import _swinging, modes_page
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
    assert "modes in turn" in target.read_text("utf-8")
