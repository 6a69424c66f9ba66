"""Certificates: what was proved about the code of a kernel, and the size and time of the proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class WholeProof:
    """Proof that a graph equals the equations as first derived: every link in its own frame, no parameters regrouped.

    first, last: numbers of nodes of the two graphs. seconds: time of the proof, including the first derivation. If
    compiled loops solve the last linear system, its matrix and right-hand sides were compared.
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
    """Proof that recursive algorithms satisfy Newton's laws in the fixed frame, at a random point of a prime field.

    bodies, velocities, rows: the numbers that took part; rows are those of closed loops. The tables that the code reads
    took part as exact numbers, which the code rounds to doubles. quantities: the compared quantities, never pivots.
    """

    quantities: tuple[str, ...]
    bodies: int
    velocities: int
    rows: int
    seconds: float

    def __str__(self) -> str:
        closed = f", {self.rows} rows of closed loops" if self.rows else ""
        return (
            f"{', '.join(self.quantities)} by recursive algorithms proved to satisfy Newton's laws in the fixed frame "
            f"({self.bodies} bodies, {self.velocities} velocities{closed}) in {self.seconds:.2g} s"
        )


#: The proofs of a kernel.
AnyProof: TypeAlias = WholeProof | RecursiveProof
