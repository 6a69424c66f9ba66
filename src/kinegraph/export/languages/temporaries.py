"""Names of the values a routine computes: a function is named after itself and its argument, `cos_q2`, a shared term as
`kinegraph derive` prints it, `x3`; all others are t and a number."""

from __future__ import annotations

from kinegraph.codegen.program.program import Instruction, Op
from kinegraph.export.identifiers import LONGEST, Scope, identifier
from kinegraph.export.unit import Routine

#: Names of sums and products of angles, made of the names of their parts.
_WORDS = {Op.ADD: "{0}_plus_{1}", Op.SUBTRACT: "{0}_minus_{1}", Op.MULTIPLY: "{0}_times_{1}", Op.NEGATE: "minus_{0}"}


def temporaries(routine: Routine) -> dict[int, str]:
    """By the position of an instruction the name of its value; t and its number where nothing better is short."""
    scope = Scope([*(field.name for field in routine.fields), "s"])
    found: dict[int, str] = {}
    for index, one in enumerate(routine.program.instructions):
        label = _label(routine, one) if one.op in (Op.SINCOS, Op.SIN, Op.COS) else ""
        label = label or routine.shared.get(index, "")
        found[index] = scope.take(label) if label else f"t{index}"
    return found


def _label(routine: Routine, one: Instruction) -> str:
    if one.op is Op.SINCOS:
        angle, word = one.operands[0], "sincos"
    else:
        pair = routine.program.instructions[one.operands[0]]
        angle, word = pair.operands[int(one.detail)], one.op.name.lower()
    said = _said(routine, angle)
    label = f"{word}_{said}"
    return label if said and len(label) <= LONGEST else ""


def _said(routine: Routine, index: int) -> str:
    """An angle in words, or nothing."""
    one = routine.program.instructions[index]
    if one.op is Op.INPUT:
        return _entry(routine, int(one.detail))
    if one.op is Op.LITERAL and float(one.detail).is_integer() and one.detail > 0:  # type: ignore[operator]
        return str(int(one.detail))
    if one.op in _WORDS:
        parts = [_said(routine, operand) for operand in one.operands]
        return _WORDS[one.op].format(*parts) if all(parts) else ""
    return ""


def _entry(routine: Routine, position: int) -> str:
    """The name of an entry of the arguments, as an identifier."""
    for field in routine.inputs:
        if position < field.size:
            name = field.entries[position].split(" ")[0].rstrip(",:") if field.entries else ""
            return identifier(name).strip("_") if name else ""
        position -= field.size
    return ""
