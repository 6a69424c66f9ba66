"""Expressions of the model language: from a syntax tree, or from text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from lark import Token, Tree
from lark.exceptions import UnexpectedInput, VisitError
from lark.visitors import Transformer_NonRecursive

from kinegraph.errors import ModelError, Place
from kinegraph.io.language.grammar import Start, parser
from kinegraph.model.expressions import PI, Call, Expression, Name, Number, Operation, negative
from kinegraph.model.report import Places
from kinegraph.model.units import Unit, is_unit, read_unit
from kinegraph.model.validation.expressions import MAX_DIGITS, MAX_NESTING


@dataclass(frozen=True, slots=True)
class Literal:
    """A number literal: `-2` and `1/3` become one number, but `-(2)` and `(1)/3` stay operations."""

    value: Fraction
    signed: bool = False


@dataclass(frozen=True, slots=True)
class VectorCall:
    """A call with vectors as arguments: `plane((0, 0, 0), (0, 0, 1))`. Only shapes of contacts have this form."""

    word: str
    arguments: tuple[Expression | tuple[Expression, ...], ...]
    place: Place


#: The children of a grammar rule: tokens, and the results of other rules.
Children: TypeAlias = list[Any]


def check_meaning(tokens: Sequence[Token], source: str) -> None:
    """Raise a ModelError if the last four tokens could be a unit or a calculation: `2 kN/m` where m is a mass, and
    `1/2 mm`, which may be half a millimeter."""
    if len(tokens) < 4:
        return
    _check_fraction(tokens[-4:], source)
    if tokens[-4].type != "NUMBER" or tokens[-3].type != "NAME" or not is_unit(tokens[-3]):
        return
    number, unit, operator, factor = tokens[-4:]
    if operator.type == "POWER" or (operator.type in ("STAR", "SLASH") and factor.type == "NAME" and is_unit(factor)):
        place = Place(unit.line or 1, unit.column or 1, source)
        remedy = f"write `{number} [{unit}{operator}{factor}]` for the unit, or `({number} {unit}){operator}{factor}`"
        raise ModelError(f"`{number} {unit}{operator}{factor}` has two meanings", place, remedy)


def _check_fraction(tokens: Sequence[Token], source: str) -> None:
    first, operator, number, unit = tokens
    if first.type != "NUMBER" or operator.type not in ("SLASH", "POWER") or number.type != "NUMBER":
        return
    if unit.type == "UNIT" or (unit.type == "NAME" and is_unit(unit)):
        found = f"{first}{operator}{number} {unit}"
        whole = f"{first} {unit}/{number}" if operator.type == "SLASH" else f"({first}{operator}{number})*(1 {unit})"
        remedy = f"write `{whole}` for the unit of the result, or `{first}{operator}({number} {unit})`"
        raise ModelError(f"`{found}` has two meanings", Place(first.line or 1, first.column or 1, source), remedy)


class ExpressionReader(Transformer_NonRecursive[Token, Expression | Literal | VectorCall]):
    """The grammar rules of expressions; without recursion, so length and depth are not limited by the stack."""

    def __init__(self, source: str, places: Places) -> None:
        super().__init__(visit_tokens=False)
        self.source = source
        self.places = places
        self.folder: Path | None = None  # where the files of tables are
        self.units: list[tuple[Token, Token]] = []  # numbers and the words that followed them
        self._quantities: dict[int, tuple[Expression, Unit, Place]] = {}  # by the id of the expression

    def place(self, token: Token) -> Place:
        """The place of a token."""
        return Place(token.line or 1, token.column or 1, self.source)

    def literal(self, children: Children) -> Literal:
        """The exact number, of bounded length."""
        token: Token = children[0]
        mantissa, _, exponent = token.lower().partition("e")
        if len(mantissa) > MAX_DIGITS or len(exponent) > 5 or abs(int(exponent or "0")) > MAX_DIGITS:
            message = f"the number {token[:20]}... has more than {MAX_DIGITS} digits"
            raise ModelError(message, self.place(token), "round it")
        return Literal(Fraction(token))

    def quantity(self, children: Children) -> Expression:
        """A number with a unit, in SI units."""
        number, word = children
        if word.type == "NAME" and not is_unit(word):
            remedy = f"write the multiplication: `{number}*{word}`"
            raise ModelError(f"unexpected `{word}` after `{number}`", self.place(word), remedy)
        try:
            unit = read_unit(str(word))
        except ModelError as error:
            raise error.at(self.place(word)) from None
        if word.type == "NAME":
            self.units.append((number, word))
        found: Expression = Number(self.literal([number]).value * unit.size)
        if unit.pis > 0 and found == Number(Fraction(1)):
            found = Name(PI)
        elif unit.pis:
            found = Operation("*" if unit.pis > 0 else "/", (found, Name(PI)))
        return self._measured(found, unit, self.place(word))

    def unit_of(self, item: object) -> Unit | None:
        """The unit of a number with a unit; None for other expressions."""
        found = self._quantities.get(id(item))
        return found[1] if found is not None else None

    def _measured(self, item: Expression, unit: Unit, place: Place) -> Expression:
        self._quantities[id(item)] = item, unit, place
        return item

    def name(self, children: Children) -> Name:
        """A name; its meaning is resolved later."""
        return self.places.mark(Name(str(children[0])), self.place(children[0]))

    def rate(self, children: Children) -> Name:
        """The rate of a name, with its prime."""
        return self.places.mark(Name(f"{children[0]}'"), self.place(children[0]))

    def component(self, children: Children) -> Name:
        """A component of an output point, or its rate."""
        point, axis, prime = children
        return self.places.mark(Name(f"{point}.{axis}{prime or ''}"), self.place(point))

    def spots(self, children: Children) -> tuple[Expression | tuple[Expression, ...], ...]:
        """Arguments that may be vectors."""
        return tuple(child if isinstance(child, tuple) else as_expression(child) for child in children)

    def call(self, children: Children) -> Call | VectorCall:
        """A function of arguments."""
        token, arguments = children
        if any(isinstance(argument, tuple) for argument in arguments):
            return VectorCall(str(token), arguments, self.place(token))
        return self.places.mark(Call(str(token), arguments), self.place(token))

    def group(self, children: Children) -> Expression:
        """An expression in parentheses."""
        return as_expression(children[0])

    def keep(self, children: Children) -> Expression:
        """A unary plus."""
        return as_expression(children[0])

    def negate(self, children: Children) -> Expression | Literal:
        """A unary minus; before a literal, the negative number."""
        operand = children[0]
        if unit := self.unit_of(operand):
            return self._measured(negative(operand), unit, self._quantities[id(operand)][2])
        if isinstance(operand, Literal) and not operand.signed:
            return Literal(-operand.value, signed=True)
        return Operation("neg", (as_expression(operand),))

    def divide(self, children: Children) -> Expression:
        """A quotient; of two literals, the exact fraction."""
        left, right = children
        if isinstance(left, Literal) and isinstance(right, Literal) and not right.signed and right.value:
            return Number(left.value / right.value)
        return Operation("/", (as_expression(left), as_expression(right)))

    def add(self, children: Children) -> Expression:
        """A sum."""
        return self._sum("+", children)

    def subtract(self, children: Children) -> Expression:
        """A difference."""
        return self._sum("-", children)

    def _sum(self, operator: str, children: Children) -> Expression:
        one, other = (self.unit_of(child) for child in children)
        if one and other and one.dimensions != other.dimensions:
            word = "sum" if operator == "+" else "difference"
            place = self._quantities[id(children[1])][2]
            raise ModelError(f"a {word} of {one.words} and {other.words}", place, "use units of the same quantity")
        return Operation(operator, (as_expression(children[0]), as_expression(children[1])))

    def multiply(self, children: Children) -> Expression:
        """A product."""
        return Operation("*", (as_expression(children[0]), as_expression(children[1])))

    def raise_to(self, children: Children) -> Expression:
        """A power."""
        base, _, exponent = children
        return Operation("^", (as_expression(base), as_expression(exponent)))

    def arguments(self, children: Children) -> tuple[Expression, ...]:
        """The arguments of a function."""
        return tuple(as_expression(child) for child in children)

    def vector(self, children: Children) -> tuple[Expression, ...]:
        """The components of a vector."""
        return tuple(as_expression(child) for child in children)


def as_expression(read: Expression | Literal | VectorCall) -> Expression:
    """The expression of a rule's result; a literal becomes a number."""
    if isinstance(read, VectorCall):
        remedy = "vectors are only allowed in clauses such as `between(A, (0, 0, 0))` and in the shapes of a contact"
        raise ModelError(f"`{read.word}(...)` has a vector as an argument", read.place, remedy)
    return Number(read.value) if isinstance(read, Literal) else read


#: Maximum length of an expression, in characters.
MAX_LENGTH = 10_000


def expression_tree(text: str) -> Tree[Token]:
    """The syntax tree of an expression."""
    parsed = parser(Start.EXPRESSION).parse_interactive(text)
    tokens: list[Token] = []
    for token in parsed.iter_parse():
        tokens.append(token)
        check_meaning(tokens, "")
    end = Token.new_borrow_pos("$END", "", tokens[-1]) if tokens else Token("$END", "", 0, 1, 1)
    tree: Tree[Token] = parsed.feed_token(end)
    return tree


def read_expression(text: str, place: Place) -> Expression:
    """Read an expression from text; `place` is used in errors."""
    shortened = text if len(text) <= 60 else text[:57] + "..."
    if len(text) > MAX_LENGTH or text.count("(") > MAX_NESTING:
        raise ModelError(f"the expression `{shortened}` is too long", place, "split it")
    try:
        return as_expression(ExpressionReader(place.source, Places()).transform(expression_tree(text)))
    except ModelError as error:
        raise error.at(place) from None
    except UnexpectedInput:
        remedy = "write numbers, names, + - * / ^ and functions, e.g. pi/2 or l1*cos(a)"
        raise ModelError(f"`{shortened}` is not a valid expression", place, remedy) from None
    except VisitError as error:  # lark wraps the exceptions of rules
        problem = error.orig_exc
        raise (problem.at(place) if isinstance(problem, ModelError) else problem) from None
