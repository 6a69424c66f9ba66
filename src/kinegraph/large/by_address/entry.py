"""The articulated-body method as a C function, which takes the addresses of a mechanism's tables."""

from __future__ import annotations

import numpy as np

from kinegraph.jit.marks import callback, doubles_at, flags_at, integers_at
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
from kinegraph.large.kinematics import displacements, motion
from kinegraph.large.records import Joints, Linear, Tree


@callback
def tree_accelerations(sizes: int, integers: int, doubles: int, flags: int, x: int, y: int) -> None:
    """Write the accelerations to y; NaN where a velocity moves nothing with inertia."""
    s = integers_at(sizes, (SIZES,))
    n, e, k, m = s[STEPS], s[ENTRIES], s[VELOCITIES], s[MEMBERS]
    whole = integers_at(integers, (9 * n + 1 + 2 * e + m,))
    at = 7 * n + 1 + 2 * e
    real = doubles_at(doubles, (24 * n + k + e + 3,))
    flag = flags_at(flags, (2 * n,))
    tree = Tree(
        whole[: 6 * n].reshape((n, 6)), real[: 22 * n].reshape((n, 22)), whole[6 * n : 7 * n + 1],
        whole[7 * n + 1 : 7 * n + 1 + e], s[SLOTS], real[22 * n : 22 * n + k],
    )  # fmt: skip
    b = 22 * n + k
    linear = Linear(real[b : b + n], real[b + n : b + 2 * n], real[b + 2 * n : b + 2 * n + e], whole[at - e : at])
    joints = Joints(flag[:n], flag[n:], whole[at : at + n], whole[at + n : at + 2 * n], whole[at + 2 * n :])
    g = b + 2 * n + e
    q = doubles_at(x, (s[Q] + s[POSITIONS],))[s[Q] :]
    v = doubles_at(x, (s[V] + k,))[s[V] :]
    tau = doubles_at(x, (s[TAU] + k,))[s[TAU] :]
    time = doubles_at(x, (s[T] + 1,))[s[T]] if s[T] >= 0 else 0.0
    rest = np.zeros(k)
    moving = motion(tree, displacements(tree, linear, q, v, rest, time), q, v, rest)
    found, stuck = forward(tree, joints, moving, tau, (real[g], real[g + 1], real[g + 2]))
    result = doubles_at(y, (k,))
    for i in range(k):
        result[i] = found[i] if stuck < 0 else np.nan
