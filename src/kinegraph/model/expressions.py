"""Expressions of a model: an immutable tree with exact numbers, its text, and substitution in whole records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias, TypeVar, cast

from kinegraph.errors import ModelError, shortened
from kinegraph.model.report import Places

# The tree represents what was written, without any evaluation of Python. Simplification, sharing and derivatives are
# done in `graph`; `derive` converts expressions to it.

#: Functions of the model language, with their number of arguments.
FUNCTIONS: dict[str, int] = {
    "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2,
    "sinh": 1, "cosh": 1, "tanh": 1, "sqrt": 1, "exp": 1, "log": 1, "abs": 1, "sign": 1,
    "min": 2, "max": 2, "select": 3,
}  # fmt: skip

#: Reserved names.
TIME = "t"
PI = "pi"
RESERVED = frozenset({TIME, PI, *FUNCTIONS})

Scalar: TypeAlias = "Expression | int | float | Fraction | Decimal | str"


class Expression:
    """Base class of the five kinds of expressions, with the arithmetic operators for Python."""

    __slots__ = ()

    def __add__(self, other: Scalar) -> Expression:
        return Operation("+", (self, expression(other)))

    def __radd__(self, other: Scalar) -> Expression:
        return Operation("+", (expression(other), self))

    def __sub__(self, other: Scalar) -> Expression:
        return Operation("-", (self, expression(other)))

    def __rsub__(self, other: Scalar) -> Expression:
        return Operation("-", (expression(other), self))

    def __mul__(self, other: Scalar) -> Expression:
        return Operation("*", (self, expression(other)))

    def __rmul__(self, other: Scalar) -> Expression:
        return Operation("*", (expression(other), self))

    def __truediv__(self, other: Scalar) -> Expression:
        return Operation("/", (self, expression(other)))

    def __rtruediv__(self, other: Scalar) -> Expression:
        return Operation("/", (expression(other), self))

    def __pow__(self, other: Scalar) -> Expression:
        return Operation("^", (self, expression(other)))

    def __rpow__(self, other: Scalar) -> Expression:
        return Operation("^", (expression(other), self))

    def __neg__(self) -> Expression:
        return Operation("neg", (self,))

    def __pos__(self) -> Expression:
        return self


@dataclass(frozen=True, slots=True)
class Number(Expression):
    """An exact rational number: 0.1 is one tenth, not the nearest double."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A parameter, a coordinate, the time `t` or `pi`."""

    text: str


class Compound(Expression):
    """An expression with parts. All algorithms avoid recursion: a sum of 50,000 terms is 50,000 levels deep."""

    __slots__ = ()
    _hash: int
    _size: int

    @property
    def head(self) -> str:
        """The operator or function."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The operands or arguments."""
        raise NotImplementedError

    @property
    def identity(self) -> object:
        """What two equal nodes share beside their parts."""
        return self.head

    def with_parts(self, parts: tuple[Expression, ...]) -> Compound:
        """The same operation on other parts."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((type(self), self.identity, self.parts)))
        object.__setattr__(self, "_size", 1 + sum(size(part) for part in self.parts))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return _equal(self, other) if isinstance(other, Expression) else NotImplemented

    def __reduce__(self) -> tuple[type[Compound], tuple[str, tuple[Expression, ...]]]:
        return type(self), (self.head, self.parts)  # another process hashes strings differently

    def __repr__(self) -> str:
        return f"<{text(self)}>" if self._size <= 1000 else f"<expression of {self._size} parts>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Operation(Compound):
    """One of + - * / ^ with two operands, or neg with one."""

    operator: str
    operands: tuple[Expression, ...]
    _hash: int = field(init=False)
    _size: int = field(init=False)

    def with_parts(self, parts: tuple[Expression, ...]) -> Compound:
        return Operation(self.head, parts)

    @property
    def head(self) -> str:
        return self.operator

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.operands


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Compound):
    """A function of FUNCTIONS applied to its arguments."""

    function: str
    arguments: tuple[Expression, ...]
    _hash: int = field(init=False)
    _size: int = field(init=False)

    def with_parts(self, parts: tuple[Expression, ...]) -> Compound:
        return Call(self.head, parts)

    @property
    def head(self) -> str:
        return self.function

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.arguments


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Defined(Compound):
    """A defined name: `define gamma = q1 + q2;`. It is written as its name.

    Traversals (`postorder`, `names`) see its definition.
    """

    name: str
    values: tuple[Expression, ...]  # a single entry, the definition
    _hash: int = field(init=False)
    _size: int = field(init=False)
    _names: frozenset[str] = field(init=False)  # of the definition

    def __post_init__(self) -> None:
        Compound.__post_init__(self)
        object.__setattr__(self, "_names", names(self.value))

    def with_parts(self, parts: tuple[Expression, ...]) -> Compound:
        return Defined(self.name, parts)

    @property
    def head(self) -> str:
        return self.name

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.values

    @property
    def value(self) -> Expression:
        """The definition."""
        return self.values[0]


def size(root: Expression) -> int:
    """The number of numbers, names, operators and calls in the expression."""
    return root._size if isinstance(root, Compound) else 1


def _equal(left: Expression, right: Expression) -> bool:
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        if a is b:
            continue
        if isinstance(a, Compound) and isinstance(b, Compound):
            same = type(a) is type(b) and a.identity == b.identity and len(a.parts) == len(b.parts)
            if not same or a._hash != b._hash:
                return False
            stack.extend(zip(a.parts, b.parts, strict=True))
        elif isinstance(a, Compound) or isinstance(b, Compound) or a != b:
            return False
    return True


def postorder(root: Expression) -> Iterator[Expression]:
    """All sub-expressions, each after its parts, without recursion: evaluate any depth with a stack of results.

    Defined names are replaced by their definitions.
    """
    stack: list[tuple[Expression, bool]] = [(root, False)]
    while stack:
        here, parts_done = stack.pop()
        if isinstance(here, Defined):
            stack.append((here.value, False))
        elif parts_done or not isinstance(here, Compound):
            yield here
        else:
            stack.append((here, True))
            stack.extend((part, False) for part in reversed(here.parts))


#: Larger exponents of a decimal would exhaust the memory before validation.
_LARGEST_EXPONENT = 100_000
#: Characters of formulas that no name contains.
_OPERATORS = frozenset("+-*/^( ")


def as_written(root: Expression) -> Iterator[Expression]:
    """Like `postorder`, but a defined name is a leaf: `Defined`, not its definition."""
    stack: list[tuple[Expression, bool]] = [(root, False)]
    while stack:
        here, parts_done = stack.pop()
        if parts_done or not isinstance(here, Compound) or isinstance(here, Defined):
            yield here
        else:
            stack.append((here, True))
            stack.extend((part, False) for part in reversed(here.parts))


def renamed(
    root: Expression,
    change: Callable[[Name | Defined], Expression],
    call: Callable[[Call], Expression] | None = None,
) -> Expression:
    """The expression with its names, and optionally its calls, replaced; unchanged parts stay the same objects."""
    done: list[Expression] = []
    for here in as_written(root):
        if isinstance(here, Operation | Call):
            parts = tuple(done[-len(here.parts) :]) if here.parts else ()
            del done[len(done) - len(parts) :]
            same = all(new is old for new, old in zip(parts, here.parts, strict=True))
            new = here if same else here.with_parts(parts)
            done.append(call(new) if call is not None and isinstance(new, Call) else new)
        else:
            done.append(change(here) if isinstance(here, Name | Defined) else here)
    return done[0]


def expression(value: Scalar, name: str = "") -> Expression:
    """An expression from a number, or from a name as a string. `name`: of the value, for error messages."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, str):
        if not _OPERATORS.isdisjoint(value):
            message = f"{shortened(value, 60)!r} is a formula, but a string is a single name here"
            raise ModelError(
                message,
                remedy="write it in Python, e.g. `2*Name('l1')` with kinegraph.model.Name, or a number",
            )
        return Name(value)
    try:
        if isinstance(value, Decimal) and value and abs(value.adjusted()) > _LARGEST_EXPONENT:
            raise OverflowError
        if isinstance(value, (int, Fraction, Decimal)):
            return Number(Fraction(value))
        # repr is the shortest decimal that reads back as this double: the number as it was written.
        return Number(Fraction(float.__repr__(float(value))))
    except (ValueError, OverflowError, TypeError):
        written = str(value) if isinstance(value, Decimal) else repr(value)
        whose = f"{name} = {written}" if name else written
        message = f"{whose} is not a finite number"
        raise ModelError(message, remedy="write a number, a name as a string, or an expression") from None


def negative(item: Expression) -> Expression:
    """-item, with numbers and signs folded."""
    if isinstance(item, Number):
        return Number(-item.value)
    positive = without_minus(item)
    if positive is not None:
        return positive
    if isinstance(item, Operation) and item.operator in ("*", "/"):
        return Operation(item.operator, (negative(item.operands[0]), *item.operands[1:]))
    return Operation("neg", (item,))


def without_minus(item: Expression) -> Expression | None:
    """-item if item begins with a minus: -2, -x, -pi/2; None otherwise."""
    if isinstance(item, Number):
        return Number(-item.value) if item.value < 0 else None
    if not isinstance(item, Operation) or item.operator not in ("neg", "*", "/"):
        return None
    if item.operator == "neg":
        return item.operands[0]
    first = without_minus(item.operands[0])
    return None if first is None else Operation(item.operator, (first, *item.operands[1:]))


def names(root: Expression) -> frozenset[str]:
    """All names in an expression, including those of definitions."""
    found: set[str] = set()
    for part in as_written(root):
        if isinstance(part, Name):
            found.add(part.text)
        elif isinstance(part, Defined):
            found |= part._names
    return frozenset(found)


# Precedence in the text of an expression, lowest first. An operand of lower precedence than required gets parentheses.
_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)
_BINARY = {  # operator -> its own precedence, the minimum of its left and of its right operand
    "+": (_SUM, _SUM, _PRODUCT), "-": (_SUM, _SUM, _PRODUCT),
    "*": (_PRODUCT, _PRODUCT, _SIGN), "/": (_PRODUCT, _PRODUCT, _SIGN),
    "^": (_POWER, _ATOM, _SIGN),
}  # fmt: skip


def text(root: Expression) -> str:
    """The expression in the model language; reading it back gives an equal expression."""
    return "".join(_pieces(root))


def nesting(root: Expression) -> int:
    """The nesting depth of the parentheses in `text(root)`."""
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
    """The pieces of one node: strings, and parts with their required precedence."""
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
    raise ModelError(f"{type(here).__name__} is not an expression of the model language")


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
    """Whether it is one literal. `-2` and `1/3` are numbers, so operations on literals are `-(2)` and `(1)/3`."""
    return isinstance(here, Number) and is_decimal(here.value) and (signed or here.value >= 0)


def is_decimal(value: Fraction) -> bool:
    """Whether the value is a decimal literal; otherwise it is written as a quotient of two integers."""
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


T = TypeVar("T")


def rewritten(
    item: T,
    change: Callable[[Name | Defined], Expression],
    places: Places | None = None,
    call: Callable[[Call], Expression] | None = None,
) -> T:
    """A record (a mechanism, a body, a tuple of them) with its names replaced; unchanged parts stay the same objects.

    The new objects get the places of the old ones in `places`. `call` replaces calls of functions.
    """
    new: object = item
    if isinstance(item, Expression):
        new = renamed(item, change, call)
    elif isinstance(item, tuple):
        parts = tuple(rewritten(part, change, places, call) for part in item)
        new = parts if any(a is not b for a, b in zip(parts, item, strict=True)) else item
    elif is_dataclass(item) and not isinstance(item, type):
        old = {field.name: getattr(item, field.name) for field in fields(item) if field.init}
        found = {name: rewritten(value, change, places, call) for name, value in old.items()}
        changed = {name: value for name, value in found.items() if value is not old[name]}
        new = replace(item, **changed) if changed else item
    if places is not None and new is not item:
        places.renew(item, new)
    return cast(T, new)


def expressions(item: object) -> Iterator[Expression]:
    """All expressions of a record, and of the records in it."""
    stack = [item]
    while stack:
        here = stack.pop()
        if isinstance(here, Expression):
            yield here
        elif isinstance(here, tuple):
            stack.extend(reversed(here))
        elif is_dataclass(here) and not isinstance(here, type):
            stack.extend(getattr(here, field.name) for field in reversed(fields(here)) if field.init)
