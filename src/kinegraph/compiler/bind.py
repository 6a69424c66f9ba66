"""The chosen graph of a kernel, with its numbers and the linear system solved after it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from kinegraph.codegen.kernel import KernelChoice
from kinegraph.codegen.program.binding import BackSubstitution
from kinegraph.graph import text
from kinegraph.graph.certificate import WholeProof
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Kind, Symbol

if TYPE_CHECKING:
    from kinegraph.codegen.simd import Exchanged


@dataclass(frozen=True)
class Means:
    """What code can do beside computing a list of operations: limbs in the lanes of vectors, loops that solve."""

    side_by_side: bool = False
    solving_loops: bool = False


@dataclass(frozen=True)
class Chosen:
    """The graph that is estimated to run fastest, with what comes after it.

    Where limbs are computed side by side, `numbers` are the values of the symbols in which they differ and `exchange`
    leads from the symbols of each limb to those of the next (see `derive.tree.limbs`); of the segments of a loop also
    nodes, by their ids in the graph. `for_batches` is a graph of the same values, proved as well, that runs faster
    where the lanes are states.
    """

    key: str
    graph: Graph
    proof: WholeProof
    choice: KernelChoice
    tail: BackSubstitution | None = None
    numbers: Mapping[str, Fraction] = field(default_factory=dict)
    exchange: tuple[tuple[Exchanged, Exchanged], ...] = ()
    for_batches: Graph | None = None

    def __str__(self) -> str:
        limbs = "; limbs side by side" if self.exchange else ""
        return f"chosen: {len(self.graph)} nodes, {count(self.graph)}; {self.choice}{limbs}; {self.proof}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def dump(self) -> str:
        """The record as text that `read` reads back."""
        tail = self.tail
        return json.dumps(
            {
                "key": self.key,
                "graph": text.dump(self.graph),
                "proof": asdict(self.proof),
                "choice": asdict(self.choice),
                "tail": tail and [tail.size, tail.order, tail.lower, tail.solved],
                "numbers": {name: _hexadecimal(value) for name, value in self.numbers.items()},
                "exchange": [[_written(one) for one in pair] for pair in self.exchange],
                "for_batches": None if self.for_batches is None else text.dump(self.for_batches),
            }
        )

    @classmethod
    def read(cls, dumped: str) -> Chosen:
        """What dump wrote; the graph must obey the law."""
        found = json.loads(dumped)
        return cls(
            found["key"],
            text.read(found["graph"]),
            WholeProof(**found["proof"]),
            KernelChoice(**found["choice"]),
            _tail(found["tail"]),
            {name: Fraction(*(int(part, 16) for part in value)) for name, value in found["numbers"].items()},
            tuple((_exchanged(one), _exchanged(other)) for one, other in found["exchange"]),
            None if found["for_batches"] is None else text.read(found["for_batches"]),
        )


def _hexadecimal(value: Fraction) -> tuple[str, str]:
    """Python refuses to read the longest numbers in base ten."""
    return f"{value.numerator:x}", f"{value.denominator:x}"


def _written(one: Exchanged) -> int | tuple[str, str]:
    return one if isinstance(one, int) else (one.kind.value, one.name)


def _exchanged(found: int | list[str]) -> Exchanged:
    """A node by its id, or a symbol."""
    if isinstance(found, int):
        return found
    kind, name = found
    return Symbol(Kind(kind), name)


def _tail(found: tuple[int, list[int], list[tuple[int, int]], list[bool]] | None) -> BackSubstitution | None:
    if not found:
        return None
    size, order, lower, solved = found
    return BackSubstitution(size, tuple(order), tuple((i, j) for i, j in lower), tuple(solved))
