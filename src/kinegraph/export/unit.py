"""What an exporter writes: routines with their programs, arguments, results and test vectors; nothing of a language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from kinegraph.codegen.program.chunk import Chunks
from kinegraph.codegen.program.program import Op, Program
from kinegraph.export.options import ExportOptions
from kinegraph.graph.count import Operations


@dataclass(frozen=True)
class Field:
    """An argument or a result. `name` is an identifier; `meaning` and `entries` are safe to stand in comments."""

    name: str
    shape: tuple[int, ...]
    meaning: str
    entries: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)


@dataclass(frozen=True)
class TestVector:
    """A state and its results; `tolerances` say for every result how far code may be off, as an absolute number."""

    __test__ = False  # not a test case, whatever pytest thinks of the name

    inputs: tuple[tuple[float, ...], ...]
    expected: tuple[tuple[float, ...], ...]
    tolerances: tuple[float, ...]
    relative: float


@dataclass(frozen=True)
class Routine:
    """One function to be written. `name` has no prefix yet; `title` says in a comment what it computes.

    shared: by the position of an instruction what `kinegraph derive` calls its value, where it prints that by a name.
    """

    name: str
    title: str
    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    program: Program
    chunks: Chunks
    operations: Operations
    test: TestVector | None
    shared: Mapping[int, str] = field(default_factory=dict)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Arguments, then results: the order of parameters wherever results are parameters too."""
        return (*self.inputs, *self.outputs)

    def part_name(self, number: int) -> str:
        """The function that computes one chunk. No routine's name ends so, see `identifiers`."""
        return f"{self.name.removesuffix('_')}_part{number + 1}_"

    @property
    def split(self) -> bool:
        """True if it is so long that it is computed in parts."""
        return len(self.chunks.ranges) > 1


@dataclass(frozen=True)
class Unit:
    """All routines of one export. `digest` is the SHA-256 of the model's text and the quantities."""

    name: str
    title: str
    digest: str
    version: str
    routines: tuple[Routine, ...]
    parameter_names: tuple[str, ...]
    #: The model's values of the parameters, if parameters are an argument and all have values.
    parameter_values: tuple[float, ...]
    options: ExportOptions

    @property
    def stem(self) -> str:
        """What names that begin with the unit's name begin with."""
        return self.name.removesuffix("_")

    @cached_property
    def functions(self) -> frozenset[str]:
        """Names of the functions the programs call, sin and cos among them."""
        found = set()
        for routine in self.routines:
            for one in routine.program.instructions:
                if one.op is Op.FUNCTION:
                    found.add(str(one.detail))
                elif one.op in (Op.SIN, Op.COS):
                    found.add(one.op.name.lower())
        return frozenset(found)


_FUSED = (Op.MULTIPLY_ADD, Op.MULTIPLY_SUBTRACT, Op.NEGATED_MULTIPLY_ADD)
_COLUMNS = {Op.ADD: "add", Op.SUBTRACT: "add", Op.MULTIPLY: "mul", Op.DIVIDE: "div", Op.SIN: "sin", Op.COS: "cos"}


def operations_of(program: Program) -> Operations:
    """What a program really computes; parameters that arrive at run time are not free here."""
    counts = {"mul": 0, "add": 0, "div": 0, "sqrt": 0, "sin": 0, "cos": 0, "other": 0}
    for one in program.instructions:
        if one.op in _COLUMNS:
            counts[_COLUMNS[one.op]] += 1
        elif one.op in _FUSED:
            counts["mul"] += 1
            counts["add"] += 1
        elif one.op is Op.FUNCTION:
            counts["sqrt" if one.detail == "sqrt" else "other"] += 1
    return Operations(**counts)
