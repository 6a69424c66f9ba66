"""The library's models against published numbers and against each other."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kinegraph import library
from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.model import initial_positions, initial_velocities, parameter_values
from tests.io.numeric_dynamics import Numbers

DATA = Path(__file__).parent / "data"
WANTED = {
    "double-pendulum", "five-link-tree", "free-body", "heavy-top", "kidym-biped-new", "kidym-biped-old", "puma560",
    "rackovic-14r", "rackovic-6r", "stanford", "wing-nut",
}  # fmt: skip
#: Models that exist for counting operations: every parameter is a symbol.
SYMBOLIC = {"puma-full", "puma-principal", "rx90", "stanford-full", "stanford-principal"}


def test_names_are_sorted_and_complete():
    assert list(library.names()) == sorted(library.names())
    assert set(library.names()) >= WANTED


@pytest.mark.parametrize("name", [*library.names(), "pendulum-1", "pendulum-6"])
def test_model_reads_writes_and_has_numbers(name):
    mechanism = library.mechanism(name)
    assert mechanism.name == name
    assert parse(write(mechanism)) == mechanism == parse(library.text(name), f"{name}.kg")
    assert len(library.description(name)) > 20 and "\n" not in library.description(name)
    if name in SYMBOLIC:
        assert all(parameter.value is None for parameter in mechanism.parameters)
        return
    values = parameter_values(mechanism)
    assert len(initial_positions(mechanism, values)) == len(mechanism.layout.positions)
    assert len(initial_velocities(mechanism, values)) == len(mechanism.layout.velocities)


def test_rackovic_arm_has_the_published_matrix_and_gravity():
    reference = json.loads((DATA / "rackovic_example_2_1.json").read_text())
    numbers = Numbers(library.mechanism("rackovic-6r"))
    assert numbers.q.tolist() == reference["q"]
    H, h = numbers.inertia_and_gravity()
    assert np.abs(H - reference["H"]).max() < 2e-6
    assert np.abs(h - reference["hG"]).max() < 2e-6


def test_puma_has_the_published_matrix_gravity_and_pose():
    reference = json.loads((DATA / "puma560_sympybotics.json").read_text())["standard"]
    numbers = Numbers(library.mechanism("puma560"))
    assert numbers.q.tolist() == reference["q_test"]
    H, h = numbers.inertia_and_gravity()
    assert np.abs(H - reference["M_pcorke"]).max() < 1e-10
    assert np.abs(h - np.ravel(reference["g_pcorke"])).max() < 1e-10
    assert np.abs(numbers.frame("L6").p - np.array(reference["T_pcorke"])[:3, 3]).max() < 1e-12


def test_both_forms_of_the_biped_have_the_same_dynamics():
    rng = np.random.default_rng(1)
    old, new = library.mechanism("kidym-biped-old"), library.mechanism("kidym-biped-new")
    assert old.parameters == new.parameters and old.coordinates == new.coordinates
    q = rng.uniform(-1, 1, 12)
    for a, b in zip(Numbers(old, q).inertia_and_gravity(), Numbers(new, q).inertia_and_gravity(), strict=True):
        assert np.abs(a - b).max() < 1e-12
    H, _ = Numbers(new, q).inertia_and_gravity()
    assert np.linalg.eigvalsh(H)[0] > 0


@pytest.mark.parametrize("name", ["rackovic-14r", "five-link-tree", "stanford", "double-pendulum", "pendulum-6"])
def test_inertia_matrix_is_positive_definite(name):
    mechanism = library.mechanism(name)
    q = np.random.default_rng(2).uniform(0.2, 1, len(mechanism.layout.positions))
    H, _ = Numbers(mechanism, q).inertia_and_gravity()
    assert np.linalg.eigvalsh(H)[0] > 0


def test_walker_has_the_table_of_the_document():
    # Zero pose: legs parallel, trunk upright, hands outward and upward along the line of the shoulder.
    numbers = Numbers(library.mechanism("rackovic-14r"))
    assert np.allclose(numbers.frame("L3").p, [0, 0, 0.0002 + 0.03 + 0.07 + 0.21])
    left, right = numbers.frame("L12").p, numbers.frame("L14").p
    assert np.allclose(left * [1, -1, 1], right - [0, 2 * 0.135, 0])
    trunk = numbers.frame("L10").p
    assert np.allclose(np.cross(left - trunk, [0, -0.2, 0.06]), 0)
    assert sum(b.inertia.mass.value for b in numbers.mechanism.bodies) == Fraction("70.53")


def test_second_mode_of_the_double_pendulum():
    H, _ = Numbers(library.mechanism("double-pendulum"), [0, 0]).inertia_and_gravity()
    step = 1e-6
    K = np.array(
        [Numbers(library.mechanism("double-pendulum"), step * e).inertia_and_gravity()[1] / step for e in np.eye(2)]
    )
    mode = np.array([1, -(1 + np.sqrt(2))])
    ratio = (K @ mode) / (H @ mode)
    assert ratio[0] == pytest.approx(ratio[1], rel=1e-6)
    assert ratio[0] == pytest.approx(9.81 * (2 + np.sqrt(2)), rel=1e-6)


def test_pendulum_family():
    assert len(library.mechanism("pendulum-9").bodies) == 9
    assert "9" in library.description("pendulum-9")
    with pytest.raises(ModelError, match="1 to"):
        library.mechanism("pendulum-0")


def test_unknown_model_is_suggested():
    with pytest.raises(ModelError, match="puma560"):
        library.mechanism("puma650")
