"""The articulated-body method as a C function. Importing this module compiles it, or loads it from disk."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from kinegraph.ahead.numba_words import carray, pointer_to
from kinegraph.large.articulated import forward
from kinegraph.large.by_address.tables import (
    ENTRIES,
    MEMBERS,
    POSITIONS,
    SIZES,
    SLOTS,
    STEPS,
    TAU,
    VELOCITIES,
    Q,
    T,
    V,
)
from kinegraph.large.jit import address
from kinegraph.large.kinematics import displacements, motion
from kinegraph.large.records import Floats, Integers, Joints, Linear, Tree

_INTEGERS, _DOUBLES, _FLAGS = pointer_to(numba.int64), pointer_to(numba.float64), pointer_to(numba.boolean)


@address(numba.void(_INTEGERS, _INTEGERS, _DOUBLES, _FLAGS, _DOUBLES, _DOUBLES))
def accelerations(
    sizes: Integers, integers: Integers, doubles: Floats, flags: NDArray[np.bool_], x: Floats, y: Floats
) -> None:
    """Write the accelerations to y; NaN where a velocity moves nothing with inertia."""
    s = carray(sizes, (SIZES,))
    n, e, k, m = s[STEPS], s[ENTRIES], s[VELOCITIES], s[MEMBERS]
    whole = carray(integers, (9 * n + 1 + 2 * e + m,))
    at = 7 * n + 1 + 2 * e
    real = carray(doubles, (24 * n + k + e + 3,))
    flag = carray(flags, (2 * n,))
    tree = Tree(
        whole[: 6 * n].reshape((n, 6)), real[: 22 * n].reshape((n, 22)), whole[6 * n : 7 * n + 1],
        whole[7 * n + 1 : 7 * n + 1 + e], s[SLOTS], real[22 * n : 22 * n + k],
    )  # fmt: skip
    b = 22 * n + k
    linear = Linear(real[b : b + n], real[b + n : b + 2 * n], real[b + 2 * n : b + 2 * n + e], whole[at - e : at])
    joints = Joints(flag[:n], flag[n:], whole[at : at + n], whole[at + n : at + 2 * n], whole[at + 2 * n :])
    g = b + 2 * n + e
    q = carray(x, (s[Q] + s[POSITIONS],))[s[Q] :]
    v = carray(x, (s[V] + k,))[s[V] :]
    tau = carray(x, (s[TAU] + k,))[s[TAU] :]
    time = x[s[T]] if s[T] >= 0 else 0.0
    rest = np.zeros(k)
    moving = motion(tree, displacements(tree, linear, q, v, rest, time), q, v, rest)
    found, stuck = forward(tree, joints, moving, tau, (real[g], real[g + 1], real[g + 2]))
    for i in range(k):
        y[i] = found[i] if stuck < 0 else np.nan
