"""Linkages as C functions. Importing this module compiles them, or loads them from disk."""

from __future__ import annotations

import numba
import numpy as np

from kinegraph.ahead.numba_words import carray, pointer_to
from kinegraph.large.jit import address
from kinegraph.large.linkages.sweeps import accelerations, projected_states
from kinegraph.large.linkages.tables import BARS, PINS, SIZES, STATE, TAU, Q, V, lengths, linkage_from
from kinegraph.large.records import Floats, Integers

_INTEGERS, _DOUBLES = pointer_to(numba.int64), pointer_to(numba.float64)
_SIGNATURE = numba.void(_INTEGERS, _INTEGERS, _DOUBLES, _DOUBLES, _DOUBLES)


@address(_SIGNATURE)
def linkage_accelerations(sizes: Integers, integers: Integers, doubles: Floats, x: Floats, y: Floats) -> None:
    """Write the accelerations to y; NaN in a singular position."""
    s = carray(sizes, (SIZES,))
    whole, real = lengths(s)
    linkage = linkage_from(s, carray(integers, (whole,)), carray(doubles, (real,)))
    n = s[BARS]
    q, v = carray(x, (s[Q] + n,))[s[Q] :], carray(x, (s[V] + n,))[s[V] :]
    tau = carray(x, (s[TAU] + n,))[s[TAU] :]
    accelerations(linkage, q, v, tau, carray(y, (n,)), np.empty(s[PINS] - n))


@address(_SIGNATURE)
def linkage_projection(sizes: Integers, integers: Integers, doubles: Floats, x: Floats, y: Floats) -> None:
    """Write the state after one step onto the loops to y, and two equal pivots for the rows of every loop."""
    s = carray(sizes, (SIZES,))
    whole, real = lengths(s)
    linkage = linkage_from(s, carray(integers, (whole,)), carray(doubles, (real,)))
    n, size, loops = s[BARS], s[STATE], s[PINS] - s[BARS]
    state, found = carray(x, (size,)), carray(y, (size + 2 * loops,))
    pivots = np.empty(loops)
    projected_states(linkage, state[:n], state[n : 2 * n], found[:n], found[n : 2 * n], pivots, np.empty(4 * loops))
    for k in range(2 * n, size):
        found[k] = state[k]
    for k in range(2 * loops):
        found[size + k] = pivots[k // 2]
