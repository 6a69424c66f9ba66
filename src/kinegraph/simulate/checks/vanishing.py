"""When a rate is zero: it is a sum of terms that cancel, and is compared with these, never with what it is the rate of.

A heavy body on a soft spring has a momentum that changes by less than rounding could change it at once, and changes
all the same.
"""

from __future__ import annotations

import numpy as np

from kinegraph.solve.problem.problem import Floats

_CANCELLED = 1e-9  # of the terms may be left: states fit constraints and quaternions to fewer digits than doubles have


def vanishes(sums: Floats, parts: Floats) -> bool:
    """Whether a sum is zero at all states but one: there a mechanism may be singular.

    parts: the size of its terms, at the same states.
    """
    sums, parts = np.abs(sums), np.abs(parts)
    usual = np.sort(parts)[(len(parts) - 1) // 2]  # some states may be at rest, where terms are rounding alone
    others = np.count_nonzero(~(sums <= _CANCELLED * np.fmax(parts, usual)))
    return bool(others <= min(1, len(sums) - 1))
