"""A seed that is none is an error in words, wherever it is given."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import StudyError, TaskError
from kinegraph.seeds import generator, require_seed

BAD = [-1, 2**64, 1.5, "1", None, True, np.nan]


@pytest.mark.parametrize("seed", BAD)
def test_what_is_no_seed_is_refused(seed: object) -> None:
    with pytest.raises(TaskError, match=r"seed is .*: give a whole number between 0 and"):
        generator(seed)
    with pytest.raises(StudyError, match="seed is"):
        require_seed(seed, StudyError)


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1, np.int64(3), np.uint64(2**63)])
def test_seeds_are_whole_numbers(seed: int) -> None:
    assert generator(seed).random() == np.random.default_rng(int(seed)).random()


def test_tasks_and_studies_say_so() -> None:
    with pytest.raises(TaskError, match="seed is -1: give a whole number"):
        kg.equilibria("double-pendulum", starts=2, seed=-1)
    with pytest.raises(StudyError, match="seed is -1: give a whole number"):
        kg.study("double-pendulum", 0.1, cases=2, vary={"q1": "uniform(0, 1)"}, seed=-1)
