"""Certificates: what was proved of the graph behind a kernel, and how much work the proof took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


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


@dataclass(frozen=True)
class RecursiveProof:
    """That loops over bodies obey Newton's law for all bodies in the fixed frame, at a random point of a prime field.

    `bodies`, `velocities` and `rows` (of closed loops) all took part, as did the tables the loops read, in exact
    numbers; doubles are their rounding. `quantities` are those that were compared: pivots never are.
    """

    quantities: tuple[str, ...]
    bodies: int
    velocities: int
    rows: int
    seconds: float

    def __str__(self) -> str:
        closed = f" and {self.rows} rows of loops" if self.rows else ""
        return (
            f"{', '.join(self.quantities)} by loops over bodies proved to obey Newton's law in the fixed frame "
            f"({self.bodies} bodies, {self.velocities} velocities{closed}) in {self.seconds:.2g} s"
        )


#: What may have been proved of code.
AnyProof: TypeAlias = WholeProof | RecursiveProof
