"""A zero quaternion is not an orientation and is refused; huge or tiny ones keep their direction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError
from kinegraph.jit.kernel import KernelOptions
from kinegraph.model.evaluate import unit_quaternion
from kinegraph.tasks.operating_point import operating_point

FREE = kg.load("free-body")
ZERO = np.zeros(7)
SOUND = np.array([0, 0, 0, 1.0, 0, 0, 0])
#: Sound as well, though its scalar part is zero.
HALF_TURN = np.array([0, 0, 0, 0.0, 1, 0, 0])
UNCACHED = KernelOptions(cache=False)
NONE = dict.fromkeys(("e0", "e1", "e2", "e3"), 0)

WAYS: dict[str, Callable[[], object]] = {
    "call": lambda: kg.compile(FREE, "pose:Block", options=UNCACHED)(ZERO),
    "by name": lambda: kg.compile(FREE, "pose:Block", options=UNCACHED)(q=ZERO.tolist()),
    "batch": lambda: kg.compile(FREE, "pose:Block", options=UNCACHED).batch(np.array([SOUND, HALF_TURN, ZERO])),
    "one row for all": lambda: kg.compile(FREE, "energy", options=UNCACHED).batch(ZERO, np.zeros((3, 6))),
    "sparse": lambda: kg.compile(FREE, "H", options=UNCACHED, sparse=True)(ZERO),
    "loops": lambda: kg.compile(FREE, "energy", loops=True)(ZERO, np.zeros(6)),
    "loops, batch": lambda: kg.compile(FREE, "energy", loops=True).batch(np.array([SOUND, ZERO]), np.zeros(6)),
    "simulate": lambda: kg.simulate(FREE, 0.1, state=NONE),
    "simulate, array": lambda: kg.simulate(FREE, 0.1, state=np.zeros(13)),
    "linearize": lambda: kg.linearize(FREE, state=NONE),
}


@pytest.mark.parametrize("way", WAYS)
def test_it_is_refused_by_name(way: str) -> None:
    with pytest.raises(KinegraphError, match=r"quaternion \(e0, e1, e2, e3\).*is zero"):
        WAYS[way]()


def test_the_row_of_a_batch_is_named() -> None:
    with pytest.raises(KinegraphError, match="row 2 is zero"):
        WAYS["batch"]()


def test_a_scalar_part_of_zero_is_half_a_turn() -> None:
    kernel = kg.compile(FREE, "pose:Block", options=UNCACHED)
    both = kernel.batch(np.array([SOUND, HALF_TURN]))
    assert np.allclose(both[0], kernel(SOUND)) and np.allclose(both[1], kernel(HALF_TURN))
    assert np.allclose(np.asarray(both[1])[:3, :3], np.diag([1, -1, -1]))


@pytest.mark.parametrize("size", [1e-320, 1e-170, 1.0, 1e160, 1.7e308])
def test_components_of_any_size_have_a_direction(size: float) -> None:
    assert unit_quaternion("abcd", [size, 0, -size, 0]) == pytest.approx([0.5**0.5, 0, -(0.5**0.5), 0])
    assert operating_point(FREE, {"e0": 0, "e1": size}).q.tolist() == HALF_TURN.tolist()
