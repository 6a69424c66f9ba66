"""Contacts on pages and plots: floors, forces at the points that meet them, phases in which any is closed."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.simulate import Solution
from kinegraph.view.page import tables
from kinegraph.view.page.solution_page import page_text
from kinegraph.view.plot import figure
from tests.view.test_page import drawing_of, embedded
from tests.view.test_parts import vectors

BLOCK = """
    model block; coordinates x = 0, z = 0.5; initial x' = 2; gravity 0, 0, -9.81;
    Block | Sx(x), Sz(z) | m(2);
    output foot = Block (0, 0, -0.5);
    contact floor | foot.z >= -0.01 | friction(0.3), slip(foot.x');
    contact wall | 3 - Block.x >= 0 | restitution(0.5);
    contact curved | sqrt(x^2 + z^2) - 0.1 >= 0;
"""


@pytest.fixture(scope="module")
def run() -> Solution:
    return kg.simulate(kg.parse(BLOCK), 0.4, times=20, native=False, progress=False)


def test_floors_walls_and_forces(run: Solution) -> None:
    parts = {(part["name"], part["kind"]): part for part in embedded(page_text(run))["parts"] if "name" in part}
    assert parts["floor", "plane"]["normal"] == [0, 0, 1] and parts["floor", "plane"]["middle"][2] == -0.01
    assert parts["wall", "plane"]["normal"] == [-1, 0, 0] and parts["wall", "plane"]["middle"][0] == 3
    assert ("curved", "plane") not in parts
    found = vectors(parts["floor", "force"])
    np.testing.assert_allclose(found[:, 2], run["floor.normal"], rtol=1e-6)
    np.testing.assert_allclose(found[:, 0], run["floor.friction"], rtol=1e-6)
    assert found[-1].tolist() == pytest.approx([-0.6 * 9.81, 0, 2 * 9.81], rel=1e-6)


def test_a_model_that_has_not_moved_shows_its_floors() -> None:
    parts = drawing_of(kg.parse(BLOCK), np.zeros((1, 2))).parts
    assert {part["name"] for part in parts if part["kind"] == "plane"} == {"floor", "wall"}
    assert not [part for part in parts if part["kind"] == "force"]


def test_equations_name_the_forces_of_contacts() -> None:
    assert "the forces of closed contacts" in tables.typeset(kg.parse(BLOCK))


def test_plots_shade_closed_phases(run: Solution) -> None:
    shown = figure(run)
    assert any(len(one.get_paths()) for one in shown.axes[0].collections)
