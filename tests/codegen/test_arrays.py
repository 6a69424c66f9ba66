"""Where arrays of every kind begin, as compiled code is told."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from kinegraph.codegen.kernel import Doubles, address, addresses

WHOLE = np.arange(24.0).reshape(6, 4)


def read_only() -> Doubles:
    found = WHOLE.copy()
    found.flags.writeable = False
    return found


@pytest.mark.parametrize(
    "array",
    [WHOLE, WHOLE[2:], WHOLE[:, 1:], WHOLE[::-1], WHOLE.T, read_only(), np.broadcast_to(WHOLE[3], (5, 4))],
    ids=["whole", "tail", "with gaps", "backwards", "by columns", "read-only", "repeated"],
)
def test_the_first_number_is_at_the_address(array: Doubles) -> None:
    assert address(array) == array.ctypes.data
    assert ctypes.c_double.from_address(address(array)).value == array.flat[0]


def test_empty_arrays_have_an_address_too() -> None:
    assert address(np.empty((0, 4))) != 0


def test_a_table_of_addresses() -> None:
    arrays = [WHOLE, WHOLE[1:], WHOLE[:, 2:]]
    assert list(addresses(arrays)) == [one.ctypes.data for one in arrays]
