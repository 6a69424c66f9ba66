"""Derivatives by the components of a quaternion: along unit quaternions, where all derivations agree."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler.request import arguments_of
from kinegraph.model.mechanism import Mechanism
from tests.interpreted import interpreted
from tests.mechanisms import Floats

STEP = 1e-6


def of_unit_length(mechanism: Mechanism, q: Floats) -> Floats:
    q = q.copy()
    for first in mechanism.layout.quaternions:
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return q


def random_state(mechanism: Mechanism, word: str) -> dict[str, Floats]:
    random = np.random.default_rng(7)
    state = {one.name: random.normal(size=len(one.symbols)) for one in arguments_of(mechanism, [word])}
    return {**state, "q": of_unit_length(mechanism, state["q"])}


@pytest.mark.parametrize("word", ["tau", "qdd", "energy", "H"])
@pytest.mark.parametrize("name", ["free-body", "heavy-top"])
def test_differences_of_unit_quaternions_give_the_same(name: str, word: str) -> None:
    mechanism = kg.load(name)
    state, kernel = random_state(mechanism, word), interpreted(mechanism, word)

    def at(change: Floats) -> Floats:
        return np.asarray(kernel(**{**state, "q": of_unit_length(mechanism, state["q"] + change)}))

    steps = STEP * np.eye(len(state["q"]))
    differences = np.stack([(at(one) - at(-one)) / (2 * STEP) for one in steps], axis=-1)
    found = np.asarray(interpreted(mechanism, f"d({word})/d(q)")(**state))
    np.testing.assert_allclose(found, differences, atol=1e-7 * max(1.0, np.abs(differences).max()))


def test_they_are_proved_whatever_plan_is_chosen() -> None:
    """Before, derivations by other plans had other derivatives, and compiling ended in a ProofError."""
    for word in ("d(tau)/d(q)", "d(qdd)/d(q)", "d(energy)/d(q)", "d(d(energy)/d(q))/d(q)"):
        kernel = kg.compile("free-body", word)
        assert kernel.proof is not None
        assert np.asarray(kernel(**random_state(kg.load("free-body"), word))).shape[-1] == 7


def test_by_one_component_it_is_the_same_entry() -> None:
    mechanism = kg.load("heavy-top")
    state = random_state(mechanism, "energy")
    whole = interpreted(mechanism, "d(energy)/d(q)")(**state)
    for place, name in enumerate(mechanism.layout.positions):
        alone = interpreted(mechanism, f"d(energy)/d({name})")(**state)
        np.testing.assert_allclose(alone, whole[..., place], atol=1e-14)
    quaternion = state["q"][mechanism.layout.quaternions[0] :][:4]
    assert np.abs(whole[..., mechanism.layout.quaternions[0] :][..., :4] @ quaternion).max() < 1e-12
    assert np.abs(whole).max() > 0.1
