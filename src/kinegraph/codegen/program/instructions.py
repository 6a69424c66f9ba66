"""Programs: single assignments in the order they are computed, cut into chunks. Every language prints these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from math import isnan
from typing import NamedTuple

# The program every language prints: single assignments in the order they are computed.


class Op(Enum):
    """What an instruction does with its operands a, b, c."""

    INPUT = auto()  # entry `detail` of the concatenated arguments
    LITERAL = auto()  # the double `detail`
    LITERALS = auto()  # a vector of operands that are all literals
    ADD = auto()
    SUBTRACT = auto()
    MULTIPLY = auto()
    DIVIDE = auto()
    NEGATE = auto()
    MULTIPLY_ADD = auto()  # a b + c
    MULTIPLY_SUBTRACT = auto()  # a b - c
    NEGATED_MULTIPLY_ADD = auto()  # c - a b
    FUNCTION = auto()  # the function named `detail`
    SINCOS = auto()  # sines and cosines of all operands together; only SIN and COS can use it
    SIN = auto()  # sine of operand number `detail` of a SINCOS
    COS = auto()
    JOIN = auto()  # a vector of the operands
    PICK = auto()  # lane `detail` of a vector
    STORE = auto()  # the operand becomes entry `detail` of the concatenated outputs

    # The identity is all that is asked of an operation, and the default hashes its name.
    __hash__ = object.__hash__


#: What is written where it is used and never computed.
LEAVES = frozenset((Op.INPUT, Op.LITERAL, Op.LITERALS))


#: What hands on an operand as it is.
_PASSED_ON = frozenset((Op.SIN, Op.JOIN, Op.PICK))

#: How arithmetic is written in nearly every language.
FORMS: dict[Op, str] = {
    Op.ADD: "{0} + {1}",
    Op.SUBTRACT: "{0} - {1}",
    Op.MULTIPLY: "{0}*{1}",
    Op.DIVIDE: "{0}/{1}",
    Op.NEGATE: "-{0}",
    Op.MULTIPLY_ADD: "{0}*{1} + {2}",
    Op.MULTIPLY_SUBTRACT: "{0}*{1} - {2}",
    Op.NEGATED_MULTIPLY_ADD: "{2} - {0}*{1}",
}


class Instruction(NamedTuple):
    """One assignment; its value is known by its position in the program."""

    op: Op
    operands: tuple[int, ...]
    detail: int | float | str


@dataclass(frozen=True)
class Program:
    """Instructions, operands first. Inputs and outputs are counted in doubles.

    `widths` are the lanes of every value, where limbs are computed side by side (`side_by_side.py`); none: all are
    single numbers.
    """

    instructions: tuple[Instruction, ...]
    input_size: int
    output_size: int
    widths: tuple[int, ...] = ()

    def width(self, index: int) -> int:
        """How many lanes an instruction computes."""
        return self.widths[index] if self.widths else 1

    @cached_property
    def signs(self) -> frozenset[int]:
        """The SINCOS of which only the signs of sines matter: they guard values, which are NaN otherwise."""
        valued: set[int] = set()
        for index in reversed(range(len(self.instructions))):
            one = self.instructions[index]
            if one.op in _PASSED_ON:
                valued.update(one.operands if index in valued else ())
            else:
                valued.update(one.operands[1:] if self._is_guard(one) else one.operands)
        return frozenset(k for k, one in enumerate(self.instructions) if one.op is Op.SINCOS and k not in valued)

    def _is_guard(self, one: Instruction) -> bool:
        if one.op is not Op.FUNCTION or one.detail != "select":
            return False
        other = self.instructions[one.operands[2]]
        return other.op is Op.LITERAL and isnan(float(other.detail))

    def __repr__(self) -> str:
        return f"<program: {len(self.instructions)} instructions, {self.input_size} numbers -> {self.output_size}>"

    def __str__(self) -> str:
        return "\n".join(f"v{index} = {_written(one)}" for index, one in enumerate(self.instructions))


def _written(one: Instruction) -> str:
    operands = " ".join(f"v{operand}" for operand in one.operands)
    detail = "" if one.detail == "" else f" [{one.detail}]"
    return f"{one.op.name.lower()} {operands}{detail}".replace("  ", " ")


# Long programs are cut into functions: compile time stays linear and registers are used better.
#
# A value used in a later chunk than its own goes through a scratch array. Slots are used again once their value has
# had its last use.

_NO_VALUE = LEAVES | {Op.SINCOS, Op.STORE}
_TRAFFIC_WEIGHT = 2
_STAYS_WITH_PREDECESSOR = frozenset((Op.SIN, Op.COS))


@dataclass(frozen=True)
class Chunks:
    """Ranges of instructions, and the scratch slot of every value that crosses a border."""

    ranges: tuple[range, ...]
    slots: dict[int, int]
    scratch_size: int


def cut(program: Program, limit: int, whole: int = 0) -> Chunks:
    """Cut a program into chunks of about `limit` instructions; one chunk if it is not much longer, or up to `whole`.

    Where many values cross, chunks are shorter: a compiler's time grows with the square of the loads and stores in a
    function. How many cross is known after a first cut.
    """
    work = [int(one.op not in LEAVES) for one in program.instructions]
    ranges = _ranges(program, work, limit)
    if len(ranges) == 1 or sum(work) <= whole:
        ranges = [range(len(work))]
        return Chunks(tuple(ranges), {}, 0)
    home = _home(ranges)
    traffic = _traffic(program, home)
    ranges = _ranges(program, [one + _TRAFFIC_WEIGHT * more for one, more in zip(work, traffic, strict=True)], limit)
    home = _home(ranges)
    slots, size = _slots(program, _last_uses(program, home), home, len(ranges))
    return Chunks(tuple(ranges), slots, size)


def _ranges(program: Program, costs: list[int], limit: int) -> list[range]:
    total = sum(costs)
    if total <= limit + limit // 2:
        return [range(len(costs))]
    target = total / round(total / limit)
    ranges: list[range] = []
    start, done = 0, 0
    for index, one in enumerate(program.instructions):
        if done >= target * (len(ranges) + 1) and one.op not in _STAYS_WITH_PREDECESSOR:
            ranges.append(range(start, index))
            start = index
        done += costs[index]
    ranges.append(range(start, len(costs)))
    return ranges


def _home(ranges: list[range]) -> list[int]:
    """The chunk of every instruction."""
    return [number for number, one in enumerate(ranges) for _ in one]


def _crossing(program: Program, home: list[int]) -> Iterator[tuple[int, int]]:
    """Every value from an earlier chunk, with the instruction that uses it."""
    for index, one in enumerate(program.instructions):
        for operand in one.operands:
            if home[operand] != home[index] and program.instructions[operand].op not in _NO_VALUE:
                yield operand, index


def _traffic(program: Program, home: list[int]) -> list[int]:
    """How many loads and stores of the scratch array each instruction causes."""
    traffic = [0] * len(home)
    stored: set[int] = set()
    loaded: set[tuple[int, int]] = set()
    for value, user in _crossing(program, home):
        if value not in stored:
            stored.add(value)
            traffic[value] += 1
        if (value, home[user]) not in loaded:
            loaded.add((value, home[user]))
            traffic[user] += 1
    return traffic


def _last_uses(program: Program, home: list[int]) -> dict[int, int]:
    """The last chunk that needs each value from an earlier chunk."""
    return {value: home[user] for value, user in _crossing(program, home)}


def _slots(program: Program, last: dict[int, int], home: list[int], chunks: int) -> tuple[dict[int, int], int]:
    ending: list[list[int]] = [[] for _ in range(chunks)]
    slots: dict[int, int] = {}
    free: defaultdict[int, list[int]] = defaultdict(list)
    size = chunk = 0
    for value in sorted(last):
        # A slot is free only in the chunks after its last use: inside a chunk loads and stores may be reordered.
        while chunk < home[value]:
            for old in ending[chunk]:
                free[program.width(old)].append(slots[old])
            chunk += 1
        width = program.width(value)
        if free[width]:
            slots[value] = free[width].pop()
        else:
            # A vector that begins at a multiple of its own length lies in one line of the cache.
            room = 1 << (width - 1).bit_length()
            slots[value] = -(-size // room) * room
            size = slots[value] + width
        ending[last[value]].append(value)
    return slots, size


# What depends on some inputs alone is computed once where these are the same for many states.


class Split(NamedTuple):
    """A program in two: `early` computes what follows from some inputs alone, `late` the rest.

    The outputs of `early` are the further inputs of `late`, behind its own.
    """

    early: Program
    late: Program


def split(program: Program, inputs: range) -> Split | None:
    """Split a program at what depends on these inputs alone; None if nothing does."""
    alone: list[bool] = []
    for one in program.instructions:
        given = one.op is Op.LITERAL or (one.op is Op.INPUT and int(one.detail) in inputs)
        alone.append(given or (one.op not in (Op.STORE, Op.INPUT) and all(alone[operand] for operand in one.operands)))
    made = [early and one.op not in LEAVES for early, one in zip(alone, program.instructions, strict=True)]
    used = (o for k, one in enumerate(program.instructions) if not made[k] for o in one.operands if made[o])
    places = {value: place for place, value in enumerate(sorted(set(used)))}
    if not places:
        return None
    nothing = Instruction(Op.LITERAL, (), 0.0)
    early = [one if alone[k] else nothing for k, one in enumerate(program.instructions)]
    early += [Instruction(Op.STORE, (value,), place) for value, place in places.items()]
    late = [
        Instruction(Op.INPUT, (), program.input_size + places[k]) if k in places else nothing if made[k] else one
        for k, one in enumerate(program.instructions)
    ]
    return Split(
        Program(tuple(early), program.input_size, len(places)),
        Program(tuple(late), program.input_size + len(places), program.output_size),
    )
