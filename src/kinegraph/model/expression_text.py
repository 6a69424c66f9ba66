"""Expressions as the text that the language reads back, with as few parentheses as it takes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.model.expression import Call, Defined, Expression, Name, Number, Operation

# Binding strength of what is written, weakest first; an operand weaker than its place asks for is put in parentheses.
_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)
_BINARY = {  # operator -> its own strength, the least of its left and of its right operand
    "+": (_SUM, _SUM, _PRODUCT), "-": (_SUM, _SUM, _PRODUCT),
    "*": (_PRODUCT, _PRODUCT, _SIGN), "/": (_PRODUCT, _PRODUCT, _SIGN),
    "^": (_POWER, _ATOM, _SIGN),
}  # fmt: skip


def text(root: Expression) -> str:
    """The expression in the model language; reading it back gives an equal expression."""
    return "".join(_pieces(root))


def nesting(root: Expression) -> int:
    """How deep the parentheses of `text(root)` nest."""
    depth = deepest = 0
    for piece in _pieces(root):
        depth += piece.count("(") - piece.count(")")
        deepest = max(deepest, depth)
    return deepest


def _pieces(root: Expression) -> Iterator[str]:
    stack: list[str | tuple[Expression, int]] = [(root, _SUM)]
    while stack:
        entry = stack.pop()
        if isinstance(entry, str):
            yield entry
            continue
        here, least = entry
        content = _layout(here)
        stack.extend(reversed(content if _strength(here) >= least else ["(", *content, ")"]))


def _layout(here: Expression) -> list[str | tuple[Expression, int]]:
    """The pieces of one node: strings as they stand, parts with the strength their place asks for."""
    match here:
        case Number(value):
            return [_number_text(value)]
        case Name(name) | Defined(name):
            return [name]
        case Operation("neg", (operand,)):
            return ["-", (operand, _ATOM + 1 if _is_literal(operand) else _SIGN)]
        case Operation(operator, (left, right)) if operator in _BINARY:
            _, least_left, least_right = _BINARY[operator]
            if operator == "/" and _is_literal(left, signed=True) and _is_literal(right):
                least_left = _ATOM + 1
            return [(left, least_left), f" {operator} " if operator in "+-" else operator, (right, least_right)]
        case Call(function, arguments):
            inner: list[str | tuple[Expression, int]] = [", "] * (2 * len(arguments) - 1)
            inner[::2] = [(argument, _SUM) for argument in arguments]
            return [f"{function}(", *inner, ")"]
    raise ModelError(f"{type(here).__name__} is not an expression the model language can say")


def _strength(here: Expression) -> int:
    match here:
        case Number(value) if not is_decimal(value):
            return _PRODUCT
        case Number(value) if value < 0:
            return _SIGN
        case Operation("neg", _):
            return _SIGN
        case Operation(operator, _):
            return _BINARY[operator][0]
    return _ATOM


def _is_literal(here: Expression, signed: bool = False) -> bool:
    """Written as one literal. `-2` and `1/3` are read as numbers, so operations on literals are `-(2)` and `(1)/3`."""
    return isinstance(here, Number) and is_decimal(here.value) and (signed or here.value >= 0)


def is_decimal(value: Fraction) -> bool:
    """Whether the value is written as one decimal literal; otherwise it is written as a quotient of two integers."""
    return _decimal_places(value) is not None


def _decimal_places(value: Fraction) -> int | None:
    rest, twos = _divide_out(value.denominator, 2)
    rest, fives = _divide_out(rest, 5)
    return max(twos, fives) if rest == 1 else None


def _divide_out(rest: int, prime: int) -> tuple[int, int]:
    times = 0
    while rest % prime == 0 and times < _MOST_PLACES:
        rest, times = rest // prime, times + 1
    return rest, times


_MOST_PLACES = 400  # enough for the shortest decimal of every double


def _number_text(value: Fraction) -> str:
    places = _decimal_places(value)
    if places is None:
        return f"{value.numerator}/{value.denominator}"
    sign, digits, exponent = "-" * (value < 0), str(abs(value.numerator) * 10**places // value.denominator), -places
    padded = digits.rjust(places + 1, "0")
    decimal_text = f"{padded[:-places]}.{padded[-places:]}" if places else digits
    stripped = digits.rstrip("0")
    scientific = f"{stripped}e{exponent + len(digits) - len(stripped)}"
    return sign + (decimal_text if len(decimal_text) <= max(12, len(scientific)) else scientific)
