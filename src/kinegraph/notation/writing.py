"""Write the expressions of a graph in a dialect (plain text, LaTeX, MathML): signs, parentheses, fractions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10
from typing import Protocol

from kinegraph.graph.angle import PI
from kinegraph.graph.node import Coefficient, Factor, Function, Polynomial, Symbol, Term, is_lookup
from kinegraph.notation.naming import Entry, Label, Naming, NaturalKey, is_angle_function, natural


@dataclass(frozen=True, slots=True)
class Piece:
    """One term of a sum; the sign is separate, so that sums can be joined and broken into lines."""

    negative: bool
    text: str
    #: A name, a number or a function: it never needs parentheses.
    atomic: bool = False


Sum = tuple[Piece, ...]


class Dialect(Protocol):
    """How the elements of expressions are written."""

    @property
    def bar(self) -> bool:
        """Do fractions have a bar, which replaces parentheses?"""
        ...

    def symbol(self, symbol: Symbol) -> str:
        """A symbol of the graph."""
        ...

    def label(self, label: Label) -> str:
        """The name of an abbreviation or definition."""
        ...

    def entry(self, output: str, indices: tuple[int, ...]) -> str:
        """An entry of an output array."""
        ...

    def number(self, size: Fraction) -> str:
        """A positive rational number."""
        ...

    def product(self, factors: Sequence[str]) -> str:
        """Factors side by side."""
        ...

    def quotient(self, above: str, below: Sequence[str]) -> str:
        """One product over another."""
        ...

    def power(self, base: str, exponent: int) -> str:
        """A power with an integer exponent."""
        ...

    def group(self, text: str) -> str:
        """A text in parentheses."""
        ...

    def function(self, name: str, arguments: Sequence[str]) -> str:
        """A function of arguments."""
        ...

    def sum(self, pieces: Sequence[Piece]) -> str:
        """Terms with their signs."""
        ...


@dataclass(frozen=True, slots=True)
class Equation:
    """`left = terms`; several left sides are equal to each other."""

    left: tuple[str, ...]
    right: Sum


class Writer:
    """The expressions of a graph in one dialect, children first, without recursion."""

    def __init__(self, naming: Naming, dialect: Dialect) -> None:
        self.naming = naming
        self.dialect = dialect
        self.graph = naming.graph
        self._sums: list[Sum] = []
        self._lookups: dict[str, str] = {}
        for index, used in enumerate(naming.uses):
            self._sums.append(self._written_out(index) if used else ())

    def abbreviations(self) -> Iterator[Equation]:
        """The list of abbreviations, each using only those before it."""
        for index in self.naming.order:
            right = self._sums[index]
            if index in self.naming.negative:
                right = _positive_first(_negated(right))
            yield Equation((self.dialect.label(self.naming.labels[index]),), right)

    def entries(self, entries: Sequence[Entry]) -> Iterator[Equation]:
        """The entries of an output."""
        for entry in entries:
            left = tuple(self.dialect.entry(entry.output, where) for where in (entry.indices, *entry.same))
            yield Equation(left, self.written(entry.node))

    def written(self, index: int) -> Sum:
        """A node inside another expression: its name, or its expression."""
        if label := self.naming.labels.get(index):
            return (Piece(index in self.naming.negative, self.dialect.label(label), atomic=True),)
        return self._sums[index]

    def _written_out(self, index: int) -> Sum:
        node = self.graph.nodes[index]
        if isinstance(node, Symbol):
            return (Piece(False, self.dialect.symbol(node), atomic=True),)
        if isinstance(node, Polynomial):
            return self._polynomial(node) or (Piece(False, self.dialect.number(Fraction(0)), atomic=True),)
        return (self._function(index, node),)

    def _function(self, index: int, node: Function) -> Piece:
        if is_angle_function(node):
            terms = [(coefficient, factors) for factors, coefficient in self.naming.angle(index)]
            return Piece(False, self.dialect.function(node.name, [self.dialect.sum(self._sum(terms))]), atomic=True)
        if node.name == "reciprocal":
            return self._quotient(Fraction(1), [], [(node.arguments[0], 1)])
        arguments = [self.dialect.sum(self.written(argument)) for argument in node.arguments]
        return Piece(False, self.dialect.function(self._function_name(node.name), arguments), atomic=True)

    def _function_name(self, name: str) -> str:
        """A function's own name; one with constants is numbered, `interval1` or `entry2`."""
        if not is_lookup(name):
            return name
        kind = name.partition("(")[0]
        known = [one for one in self._lookups if one.startswith(f"{kind}(")]
        return self._lookups.setdefault(name, f"{kind}{len(known) + 1}")

    def _polynomial(self, node: Polynomial) -> Sum:
        return self._sum(node.terms)

    def _sum(self, terms: Sequence[Term]) -> Sum:
        pieces = [piece for coefficient, factors in self._ordered(terms) for piece in self._term(coefficient, factors)]
        return _positive_first(pieces)

    def _ordered(self, terms: Sequence[Term]) -> Sequence[Term]:
        """Sort sums of symbols by name, as in q1 + q2; leave other sums unchanged."""
        if all(isinstance(self.graph.nodes[child], Symbol) for _, factors in terms for child, _ in factors):
            return sorted(terms, key=lambda term: (not term[1], [self._name_key(child) for child, _ in term[1]]))
        return terms

    def _name_key(self, index: int) -> NaturalKey:
        node = self.graph.nodes[index]
        return natural(node.name if isinstance(node, Symbol) else "")

    def _term(self, coefficient: Coefficient, factors: tuple[Factor, ...]) -> Sum:
        """One term; plus or minus a sum becomes part of the enclosing sum."""
        if abs(coefficient) == 1 and len(factors) == 1 and factors[0][1] == 1:
            inner = self.written(factors[0][0])
            return inner if coefficient == 1 else _negated(inner)
        return (self._product(coefficient, factors),)

    def _product(self, coefficient: Coefficient, factors: Sequence[Factor]) -> Piece:
        scale, flat = self._flattened(Fraction(coefficient), factors)
        above: list[Factor] = []
        below: list[Factor] = []
        for child, exponent in sorted(flat.items(), key=self._place):
            node = self.graph.nodes[child]
            if child in self.naming.negative and exponent % 2:
                scale = -scale
            if isinstance(node, Function) and node.name == "reciprocal" and child not in self.naming.labels:
                below.append((node.arguments[0], exponent))
            else:
                above.append((child, exponent))
        return self._quotient(scale, above, below)

    def _flattened(self, scale: Fraction, factors: Sequence[Factor]) -> tuple[Fraction, dict[int, int]]:
        """Expand nested products, unless they have a name."""
        flat: dict[int, int] = {}
        pending = list(factors)
        while pending:
            child, exponent = pending.pop()
            node = self.graph.nodes[child]
            if isinstance(node, Polynomial) and len(node.terms) == 1 and child not in self.naming.labels:
                coefficient, inner = node.terms[0]
                scale *= Fraction(coefficient) ** exponent
                pending.extend((base, power * exponent) for base, power in inner)
            else:
                flat[child] = flat.get(child, 0) + exponent
        return scale, flat

    def _quotient(self, scale: Fraction, above: Sequence[Factor], below: Sequence[Factor]) -> Piece:
        of_pi = [self.graph.nodes[child] for child, _ in above] == [PI]
        number, divisor = split_number(abs(scale), always=of_pi)
        under_bar = self.dialect.bar and bool(below or divisor != 1)
        over = [self._factor(factor, alone=under_bar and number == 1 and len(above) == 1) for factor in above]
        if number != 1 or not over:
            over.insert(0, self.dialect.number(number))
        alone = self.dialect.bar and len(below) == 1 and divisor == 1
        under = [self._factor(factor, alone) for factor in below]
        if divisor != 1:
            under.insert(0, self.dialect.number(divisor))
        text = self.dialect.product(over)
        atomic = not under and len(over) == 1 and not above
        return Piece(scale < 0, self.dialect.quotient(text, under) if under else text, atomic)

    def _factor(self, factor: Factor, alone: bool) -> str:
        """One factor, in parentheses if it is a sum, unless it is alone above or below a bar."""
        child, exponent = factor
        inner = self.written(child)
        if child in self.naming.negative:  # the product has its sign
            inner = _negated(inner)
        text = self.dialect.sum(inner)
        if not inner[0].atomic or len(inner) > 1 or inner[0].negative:
            text = text if alone and exponent == 1 else self.dialect.group(text)
        return text if exponent == 1 else self.dialect.power(text, exponent)

    def _place(self, factor: Factor) -> tuple[int, int, NaturalKey]:
        """The order of factors in a product: parameters, sines and cosines, abbreviations, sums, variables."""
        index = factor[0]
        node = self.graph.nodes[index]
        if isinstance(node, Symbol):
            return (0 if node.kind.static else 3, 0, natural(node.name))
        label = self.naming.labels.get(index)
        if label is None:
            return (2, index, ())
        return (1, 0 if is_angle_function(node) else 1, natural(str(label)))


def _negated(pieces: Sum) -> Sum:
    """The negative of a sum."""
    return tuple(replace(piece, negative=not piece.negative) for piece in pieces)


def _positive_first(pieces: Sequence[Piece]) -> Sum:
    """The sum with a positive term first, if there is one."""
    first = next((place for place, piece in enumerate(pieces) if not piece.negative), 0)
    return (pieces[first], *pieces[:first], *pieces[first + 1 :]) if pieces else ()


def joined(pieces: Sequence[Piece], plus: str = " + ", minus: str = " - ") -> str:
    """A sum on one line."""
    texts: list[str] = []
    for position, piece in enumerate(pieces):
        sign = (minus if piece.negative else plus) if position else ("-" if piece.negative else "")
        texts.append(sign + piece.text)
    return "".join(texts)


def split_number(size: Fraction, always: bool = False) -> tuple[Fraction, Fraction]:
    """Numerator and denominator: 1/3 becomes (1, 3), but 0.25 remains a decimal unless `always` is set."""
    if (always or decimal(size) is None) and max(size.numerator, size.denominator) < 10**6:
        return Fraction(size.numerator), Fraction(size.denominator)
    return size, Fraction(1)


#: Significant digits of a double. Longer numbers are rounded in print, never in the graph.
DIGITS = 17


def decimal(size: Fraction) -> tuple[str, int] | None:
    """Digits and exponent of a decimal with at most DIGITS digits: value = 0.digits 10^exponent; otherwise None."""
    rest, twos, fives = size.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1 or not size:
        return None
    places = max(twos, fives)
    digits = str(size.numerator * 10**places // size.denominator)
    return (digits.rstrip("0"), len(digits) - places) if len(digits.rstrip("0")) <= DIGITS else None


def digits_of(size: Fraction) -> tuple[str, int]:
    """Digits and exponent of any positive number, rounded to DIGITS if it is longer."""
    if exact := decimal(size):
        return exact
    exponent = floor(log10(size.numerator) - log10(size.denominator)) + 1
    scaled = round(size * Fraction(10) ** (DIGITS - exponent))
    text = str(scaled)
    return text.rstrip("0"), exponent + len(text) - DIGITS


def number_text(size: Fraction, times_ten: str = "e{}") -> str:
    """A number in decimal notation; times_ten: the format of the power of ten of very large and small numbers."""
    if not size:
        return "0"
    digits, exponent = digits_of(size)
    if len(digits) <= exponent <= 15:
        return digits + "0" * (exponent - len(digits))
    if -3 <= exponent <= 0:
        return "0." + "0" * -exponent + digits
    if 0 < exponent < len(digits):
        return f"{digits[:exponent]}.{digits[exponent:]}"
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return mantissa + times_ten.format(exponent - 1)
