"""Linkages as C functions, which take the addresses of their tables."""

from __future__ import annotations

import numpy as np

from kinegraph.jit.marks import callback, doubles_at, integers_at
from kinegraph.large.linkages.sweeps import accelerations, projected_states
from kinegraph.large.linkages.tables import BARS, PINS, SIZES, STATE, TAU, Q, V, lengths, linkage_from


@callback
def linkage_accelerations(sizes: int, integers: int, doubles: int, x: int, y: int) -> None:
    """Write the accelerations to y; NaN in a singular position."""
    s = integers_at(sizes, (SIZES,))
    whole, real = lengths(s)
    linkage = linkage_from(s, integers_at(integers, (whole,)), doubles_at(doubles, (real,)))
    n = s[BARS]
    q, v = doubles_at(x, (s[Q] + n,))[s[Q] :], doubles_at(x, (s[V] + n,))[s[V] :]
    tau = doubles_at(x, (s[TAU] + n,))[s[TAU] :]
    accelerations(linkage, q, v, tau, doubles_at(y, (n,)), np.empty(s[PINS] - n))


@callback
def linkage_projection(sizes: int, integers: int, doubles: int, x: int, y: int) -> None:
    """Write the state after one step onto the loops to y, and two equal pivots for the rows of every loop."""
    s = integers_at(sizes, (SIZES,))
    whole, real = lengths(s)
    linkage = linkage_from(s, integers_at(integers, (whole,)), doubles_at(doubles, (real,)))
    n, size, loops = s[BARS], s[STATE], s[PINS] - s[BARS]
    state, found = doubles_at(x, (size,)), doubles_at(y, (size + 2 * loops,))
    pivots = np.empty(loops)
    projected_states(linkage, state[:n], state[n : 2 * n], found[:n], found[n : 2 * n], pivots, np.empty(4 * loops))
    for k in range(2 * n, size):
        found[k] = state[k]
    for k in range(2 * loops):
        found[size + k] = pivots[k // 2]
