"""What is computed along the runs of cases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinegraph.solve.problem.problem import Function

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Outputs:
    """What is computed along a run: x -> values, and what is wanted of each of them: "high", "low", "area"."""

    code: Function = 0
    wanted: tuple[frozenset[str], ...] = ()

    @property
    def count(self) -> int:
        """How many outputs there are."""
        return len(self.wanted)

    def asking(self, column: str) -> Integers:
        """For each output, one where this is wanted of it."""
        return np.array([column in one for one in self.wanted], dtype=np.int64)


NO_OUTPUTS = Outputs()
