"""The program every language prints: single assignments in the order they are computed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple


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

    def __repr__(self) -> str:
        return f"<program: {len(self.instructions)} instructions, {self.input_size} numbers -> {self.output_size}>"

    def __str__(self) -> str:
        return "\n".join(f"v{index} = {_written(one)}" for index, one in enumerate(self.instructions))


def _written(one: Instruction) -> str:
    operands = " ".join(f"v{operand}" for operand in one.operands)
    detail = "" if one.detail == "" else f" [{one.detail}]"
    return f"{one.op.name.lower()} {operands}{detail}".replace("  ", " ")
