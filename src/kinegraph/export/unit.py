"""The language-independent unit that exporters print: routines with programs, arguments, results and test vectors.

Also the text in every generated file about itself, its functions and their arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from math import prod
from textwrap import wrap

from kinegraph.codegen.program.binding import Argument
from kinegraph.codegen.program.instructions import Chunks, Op, Program
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.record import Frame
from kinegraph.derive.quantities.variables import Variables
from kinegraph.export.identifiers import comment
from kinegraph.export.options import ExportOptions, Precision
from kinegraph.graph.count import Operations
from kinegraph.graph.lookup import doubles_of
from kinegraph.graph.node import Kind, is_lookup
from kinegraph.model.expressions import names
from kinegraph.model.mechanism import Coordinate, Mechanism, Quaternion, Rotation
from kinegraph.model.states import force_on

# Routines with their programs, arguments, results and test vectors, independent of a language.


@dataclass(frozen=True)
class Field:
    """An argument or a result. `name` is an identifier; `meaning` and `entries` are safe in comments."""

    name: str
    shape: tuple[int, ...]
    meaning: str
    entries: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of its entries."""
        return prod(self.shape)


@dataclass(frozen=True)
class TestVector:
    """A state and its results; `tolerances` are the allowed absolute errors of every result."""

    __test__ = False  # not a test case, despite its name

    inputs: tuple[tuple[float, ...], ...]
    expected: tuple[tuple[float, ...], ...]
    tolerances: tuple[float, ...]
    relative: float


@dataclass(frozen=True)
class Routine:
    """One function to write. `name` has no prefix yet; `title` says in a comment what it computes.

    shared: the printed name of an instruction's value in `kinegraph derive`, by its position, if it has one. tables:
    the name of the array of each function with constants.
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
    tables: Mapping[str, str] = field(default_factory=dict)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Arguments, then results: the order of parameters where results are also parameters."""
        return (*self.inputs, *self.outputs)

    def part_name(self, number: int) -> str:
        """The function that computes one chunk. No routine's name ends so, see `identifiers`."""
        return f"{self.name.removesuffix('_')}_part{number + 1}_"

    @property
    def split(self) -> bool:
        """Whether it is so long that it is computed in parts."""
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
        """The common start of names in the unit."""
        return self.name.removesuffix("_")

    @cached_property
    def functions(self) -> frozenset[str]:
        """Names of the functions that the programs call, including sin and cos, without those that read arrays."""
        found = set()
        for routine in self.routines:
            for one in routine.program.instructions:
                if one.op is Op.FUNCTION and not is_lookup(str(one.detail)):
                    found.add(str(one.detail))
                elif one.op in (Op.SIN, Op.COS):
                    found.add(one.op.name.lower())
        return frozenset(found)

    @property
    def tables(self) -> dict[str, tuple[float, ...]]:
        """The constants of functions that read arrays, by the names of the arrays."""
        return {array: doubles_of(name) for routine in self.routines for name, array in routine.tables.items()}

    @property
    def lookups(self) -> frozenset[str]:
        """Which of `interval` and `entry` the programs use."""
        names = (name for routine in self.routines for name in routine.tables)
        return frozenset(name.partition("(")[0] for name in names)


def with_tables(routines: Sequence[Routine]) -> tuple[Routine, ...]:
    """The routines with names for the arrays that they read: `table1_`, `table2_`, ..."""
    names: dict[str, str] = {}
    found = []
    for routine in routines:
        calls = (str(one.detail) for one in routine.program.instructions if one.op is Op.FUNCTION)
        own = {name: names.setdefault(name, f"table{len(names) + 1}_") for name in calls if is_lookup(name)}
        found.append(replace(routine, tables=own))
    return tuple(found)


_FUSED = (Op.MULTIPLY_ADD, Op.MULTIPLY_SUBTRACT, Op.NEGATED_MULTIPLY_ADD)
_COLUMNS = {Op.ADD: "add", Op.SUBTRACT: "add", Op.MULTIPLY: "mul", Op.DIVIDE: "div", Op.SIN: "sin", Op.COS: "cos"}


def operations_of(program: Program) -> Operations:
    """The operations of a program; runtime parameters count here."""
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


# The meaning of arguments and results as text for comments: order, units (SI), shape.

_ARGUMENTS = {
    Kind.COORDINATE: "positions",
    Kind.VELOCITY: "velocities",
    Kind.STATE: "first-order states, in the units of the model",
    Kind.ACCELERATION: "accelerations",
    Kind.INPUT: "generalized forces",
    Kind.TIME: "time",
    Kind.PARAMETER: "parameters, in the units of the model",
}


class Units:
    """The units of a mechanism's variables, from the use of a coordinate in rotations or translations."""

    def __init__(self, mechanism: Mechanism | None) -> None:
        self._of: dict[str, str] = {}
        if mechanism is not None:
            self._add(mechanism)

    def _add(self, mechanism: Mechanism) -> None:
        turns, shifts = _driven_names(mechanism)
        for coordinate in mechanism.coordinates:
            if not isinstance(coordinate, Coordinate):
                self._of |= dict.fromkeys(coordinate.names, "1")
                for name in coordinate.velocities:
                    self._of |= {name: "rad/s", f"{name}'": "rad/s^2", force_on(name): "N m"}
            elif (coordinate.name in turns) != (coordinate.name in shifts):
                unit, force = ("rad", "N m") if coordinate.name in turns else ("m", "N")
                name = coordinate.name
                self._of |= {name: unit, f"{name}'": f"{unit}/s", f"{name}''": f"{unit}/s^2", force_on(name): force}

    def of(self, name: str) -> str | None:
        """The unit of a name, if it is known."""
        return self._of.get(name)

    def named(self, name: str) -> str:
        """A name with its unit, safe for comments."""
        unit = self._of.get(name)
        return f"{comment(name, 60)} [{unit}]" if unit else comment(name, 60)


def _driven_names(mechanism: Mechanism) -> tuple[set[str], set[str]]:
    turns: set[str] = set()
    shifts: set[str] = set()
    for body in mechanism.bodies:
        for transform in body.transforms:
            if isinstance(transform, Rotation):
                turns |= names(transform.angle)
            elif not isinstance(transform, Quaternion):
                shifts |= names(transform.distance)
    return turns, shifts


def argument_meaning(argument: Argument) -> str:
    """A description of an argument, for comments."""
    kinds = {symbol.kind for symbol in argument.symbols}
    if argument.name == Variables.INPUTS and kinds == {Kind.INPUT}:
        return "inputs of the model"
    return _ARGUMENTS.get(kinds.pop(), "constants") if len(kinds) == 1 else "inputs"


def argument_entries(argument: Argument, units: Units) -> tuple[str, ...]:
    """The entries of an argument in their order."""
    if [symbol.kind for symbol in argument.symbols] == [Kind.TIME]:
        return ("t [s]",)
    return tuple(units.named(symbol.name) for symbol in argument.symbols)


def quantity_meaning(quantity: Quantity) -> str:
    """The meaning of a result: description, unit and axes."""
    record = quantity.record
    text = f"{record.meaning}, {record.unit}" if not record.entries else record.meaning
    if record.frame is Frame.FIXED:
        text += f"; axes of {comment(quantity.frame)}" if quantity.frame else f"; {record.frame.value}"
    if quantity.of:
        text += f" (of {comment(quantity.of)})"
    for variable in quantity.by:
        text = f"derivative by {comment(variable)}, which is the last index, of: {text}"
    return text


def quantity_entries(quantity: Quantity, mechanism: Mechanism, units: Units) -> tuple[str, ...]:
    """The entries of a result that has one per velocity; empty for other results."""
    entries = quantity.record.entries
    return tuple(map(units.named, entries.names(mechanism))) if entries and not quantity.by else ()


def listed(entries: Iterable[str], first: int, width: int = 96) -> list[str]:
    """Entries as numbered lines of a comment; `first` is the number of the first."""
    lines = [""]
    for number, entry in enumerate(entries, start=first):
        text = f"{number} {entry}"
        if lines[-1] and len(lines[-1]) + len(text) + 2 > width:
            lines[-1] += ","
            lines.append(text)
        else:
            lines[-1] += f", {text}" if lines[-1] else text
    return lines


# The text in every generated file about itself, its functions and their arguments; plain lines without comment signs.


def kinegraph_version() -> str:
    """The version named in generated files; a source tree that is not installed has none."""
    try:
        return version("kinegraph")
    except PackageNotFoundError:
        return "(not installed)"


#: Files with this text were written by an export and may be overwritten.
MARK = "Generated by Kinegraph"


def heading(unit: Unit) -> list[str]:
    """The origin of a file."""
    quantities = ", ".join(routine.title for routine in unit.routines)
    return [
        f"{unit.title}: {quantities}",
        "",
        f"{MARK} {unit.version}. Do not edit: change the model and export again.",
        f"SHA-256 of model and quantities: {unit.digest}",
    ]


def routine_text(routine: Routine, order: str = "", first: int = 0) -> list[str]:
    """The purpose of a function, its arguments and results in order, and its cost.

    `order` says how results with several indices are stored; `first` is the index of an array's first entry.
    """
    lines = [f"{routine.title}: {routine.operations}.", ""]
    for variable in routine.inputs:
        lines += [f"{variable.name}: {variable.meaning}", *(f"    {line}" for line in listed(variable.entries, first))]
    for variable in routine.outputs:
        lines.append(
            f"{variable.name} ({shape_text(variable)}{order if len(variable.shape) > 1 else ''}): {variable.meaning}"
        )
        if variable.entries:
            lines += (f"    {line}" for line in listed(variable.entries, first))
    return lines


def shape_text(field: Field) -> str:
    """The size of an array as text."""
    if not field.shape:
        return "one number"
    return f"{' x '.join(map(str, field.shape))}" + (" entries" if len(field.shape) == 1 else "")


def self_test_text(unit: Unit) -> str:
    """The description of the self-test."""
    worst = max(routine.test.relative for routine in unit.routines if routine.test)
    kind = "float" if unit.options.precision is Precision.FLOAT else "double"
    return (
        f"Compare with results of the interpreter (256 bits): 0 if all agree to {worst:g} of the largest "
        f"entry ({kind}), otherwise the number of the function that does not."
    )


def folded(lines: Sequence[str], width: int = 100) -> list[str]:
    """Lines broken at spaces; continuation lines are indented."""
    found: list[str] = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        found += wrap(line, width, subsequent_indent=f"{indent}    ", break_long_words=False) or [""]
    return found
