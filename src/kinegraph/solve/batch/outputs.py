"""What is computed along the runs of cases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinegraph.solve.loops.many.tally import Tally
from kinegraph.solve.loops.weights import LOOKS
from kinegraph.solve.problem.problem import Floats, Function, code_of

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

    def tally(self, rows: int, events: int) -> Tally:
        """Memory for what is kept of so many cases, with so many events."""
        outputs = self.count

        def unknown(*shape: int) -> Floats:
            return np.full(shape, np.nan)

        return Tally(
            code=code_of(self.code),
            along=any(self.wanted),
            highs=self.asking("high"),
            lows=self.asking("low"),
            areas=self.asking("area"),
            known=np.zeros(1, dtype=np.int64),
            samples=np.zeros((LOOKS + 1, outputs)),
            probe=np.zeros(outputs),
            first=unknown(rows, outputs),
            last=unknown(rows, outputs),
            high=unknown(rows, outputs),
            high_at=unknown(rows, outputs),
            low=unknown(rows, outputs),
            low_at=unknown(rows, outputs),
            area=unknown(rows, outputs),
            happened=np.zeros((rows, events), dtype=np.int64),
            first_at=unknown(rows, events),
            last_at=unknown(rows, events),
            at_first=unknown(rows, events, outputs),
            at_last=unknown(rows, events, outputs),
        )


NO_OUTPUTS = Outputs()
