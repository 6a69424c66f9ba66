"""What was chosen for a kernel, and on what estimate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KernelChoice:
    """Whether a kernel is made of the reduced graph, and the estimated cycles of a call before and after."""

    reduction_taken: bool
    before: float = 0.0
    after: float = 0.0

    def __str__(self) -> str:
        if not self.before:
            return f"kernel: reduction {'taken' if self.reduction_taken else 'not taken, it saves too little'}"
        change = 100 * (self.after - self.before) / self.before
        if self.reduction_taken:
            less = f", estimated {-change:.0f} % less time" if change < 0 else ""
            return f"kernel: reduction taken{less}"
        return f"kernel: reduction not taken, its kernel is estimated to take {change:.0f} % more time"
