"""What was proved of the graph that code is made of, and what that took."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WholeProof:
    """That a graph equals the equations as first derived: every link in its own frame, no parameters regrouped.

    `first` and `last` are the numbers of nodes of both graphs; `seconds` includes deriving the first. Where the last
    linear system is solved by loops, its matrix and right-hand sides were compared.
    """

    first: int
    last: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"proved equal to the equations as first derived ({self.first} nodes against {self.last}) "
            f"in {self.seconds:.2g} s"
        )
