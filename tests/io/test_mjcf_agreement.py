"""Models that use what MJCF has for inertia and joints, beside MuJoCo: everything it compiles into numbers."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from tests.effort import SOAK
from tests.io.mujoco_numbers import MODELS, NUMBERS, Numbers, differences, mujoco_numbers
from tests.io.random_mjcf import random_model

STORED: list[Numbers] = json.loads(NUMBERS.read_text("utf-8"))["models"]


@pytest.mark.parametrize("numbers", STORED, ids=[numbers["file"] for numbers in STORED])
def test_models_agree_with_mujoco(numbers: Numbers) -> None:
    found = differences(MODELS / numbers["file"], numbers)
    assert {word: error for word, error in found.items() if error > 1e-11} == {}


def test_every_model_has_numbers() -> None:
    assert {path.name for path in MODELS.glob("*.xml")} == {numbers["file"] for numbers in STORED}


@pytest.mark.skipif(importlib.util.find_spec("mujoco") is None, reason="MuJoCo is not installed")
@pytest.mark.parametrize("seed", range(200 if SOAK else 5))
def test_random_models_agree_with_mujoco(seed: int, tmp_path: Path) -> None:
    file = random_model(seed, tmp_path)
    try:
        numbers = mujoco_numbers(file)
    except ValueError as refused:
        pytest.skip(f"MuJoCo refuses this model: {refused}")
    found = differences(file, numbers, accelerations=False)
    assert {word: error for word, error in found.items() if error > 1e-9} == {}
