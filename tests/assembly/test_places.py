"""Places that are the same but for whole turns."""

import numpy as np
import pytest

from kinegraph.assembly.initial_values import is_among

TURN = 2 * np.pi


SAME = (0.3, 0.3 + TURN, 0.3 - 2 * TURN, 0.3 + TURN - 1e-9, 0.3 + 1e-9)
OTHER = (0.3 + 1e-3, 0.3 - 1e-3, -0.3, 0.3 + np.pi)


@pytest.mark.parametrize("angle", [*SAME, *OTHER])
def test_an_angle_is_the_same_after_a_turn(angle):
    assert is_among(np.array([1.0, angle]), [np.array([5.0, 0.0]), np.array([1.0, 0.3])], [1]) is (angle in SAME)


def test_lengths_are_not_the_same_after_a_turn():
    assert not is_among(np.array([1.0 + TURN, 0.3]), [np.array([1.0, 0.3])], [1])
    assert is_among(np.array([1.0 + TURN, 0.3]), [np.array([1.0, 0.3])], [0, 1])


def test_all_of_one_place_must_be_the_same():
    """Not one number of each."""
    others = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    assert not is_among(np.array([1.0, 4.0]), others, []) and is_among(np.array([3.0, 4.0]), others, [])


def test_nothing_is_among_none():
    assert not is_among(np.zeros(2), [], [0])
