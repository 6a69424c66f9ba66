"""Equations as MathML, which every browser sets by itself: a list of abbreviations, then the outputs' entries.

A term is a <math> element of its own, so that a browser breaks long sums between terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from kinegraph.graph.node import Graph, Symbol
from kinegraph.notation.mathml_names import name_mathml, symbol_mathml
from kinegraph.notation.naming import Label, Naming
from kinegraph.notation.writing import Equation, Piece, Writer, plain_number

_OUTPUTS = {"tau": "<mi>τ</mi>", "gravity": "<msup><mi>h</mi><mi>G</mi></msup>"}
_OUTPUTS["qdd"] = '<mover accent="true"><mi>q</mi><mo>¨</mo></mover>'
_THIN = '<mspace width="0.16em"/>'
_MINUS, _PLUS = "<mo>−</mo>", "<mo>+</mo>"


class MathMl:
    """Mathematics as MathML elements."""

    bar = True

    def __init__(self, symbols: Iterable[Symbol], digits: int | None = None) -> None:
        self._digits = digits
        self._names: dict[Symbol, str] = {}
        for symbol in symbols:
            name = symbol_mathml(symbol)
            if name in self._names.values():  # q1 and q_1: the second is spelled out as it was typed
                name = f"<mtext>{escape(symbol.name)}</mtext>"
            self._names[symbol] = name

    def symbol(self, symbol: Symbol) -> str:
        return self._names.get(symbol) or symbol_mathml(symbol)

    def label(self, label: Label) -> str:
        index = label.suffix.replace("_", ",")
        plain = index.replace(",", "").isdigit()
        return (
            f"<msub><mi>{escape(label.stem)}</mi>{f'<mn>{index}</mn>' if plain else name_mathml(label.suffix)}</msub>"
        )

    def entry(self, output: str, indices: tuple[int, ...]) -> str:
        name = _OUTPUTS.get(output) or f"<mi>{escape(output)}</mi>"
        return f"<msub>{name}<mn>{','.join(map(str, indices))}</mn></msub>" if indices else name

    def number(self, size: Fraction) -> str:
        """A number; one of more digits than wanted is rounded, and the attribute data-exact keeps them all."""
        mantissa, _, exponent = plain_number(size).partition("e")
        rounded = self._rounded(mantissa)
        text = f'<mn data-exact="{mantissa}">{rounded}</mn>' if rounded else f"<mn>{mantissa}</mn>"
        return f"<mrow>{text}<mo>⋅</mo><msup><mn>10</mn><mn>{exponent}</mn></msup></mrow>" if exponent else text

    def _rounded(self, mantissa: str) -> str | None:
        """Fewer digits; None if all may stay."""
        places = mantissa.replace(".", "").lstrip("0")
        if self._digits is None or len(places) <= self._digits or "." not in mantissa:
            return None
        rounded = f"{float(mantissa):.{self._digits}g}"
        return None if "e" in rounded else rounded

    def product(self, factors: Sequence[str]) -> str:
        return f"<mrow>{_THIN.join(factors)}</mrow>" if len(factors) > 1 else factors[0]

    def quotient(self, above: str, below: Sequence[str]) -> str:
        return f"<mfrac>{_row(above)}{_row(self.product(below))}</mfrac>"

    def power(self, base: str, exponent: int) -> str:
        return f"<msup>{_row(base)}<mn>{exponent}</mn></msup>"

    def group(self, text: str) -> str:
        return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"

    def function(self, name: str, arguments: Sequence[str]) -> str:
        if name == "sqrt":
            return f"<msqrt>{arguments[0]}</msqrt>"
        if name == "abs":
            return f"<mrow><mo>|</mo>{arguments[0]}<mo>|</mo></mrow>"
        return f"<mrow><mi>{escape(name)}</mi>{self.group('<mo>,</mo>'.join(arguments))}</mrow>"

    def sum(self, pieces: Sequence[Piece]) -> str:
        return "".join(
            (_MINUS if piece.negative else _PLUS if position else "") + piece.text
            for position, piece in enumerate(pieces)
        )


@dataclass(frozen=True, slots=True)
class Display:
    """An equation as HTML: its left side, and its terms, each a <math> element with its sign."""

    left: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Displays:
    """All equations of a graph: abbreviations first, each using only those before it."""

    abbreviations: tuple[Display, ...]
    entries: tuple[Display, ...]


def mathml(graph: Graph, digits: int | None = None) -> Displays:
    """The graph's equations in MathML; `digits` rounds numbers for reading, with their exact value beside them."""
    writer = Writer(Naming(graph), MathMl(graph.symbols(), digits))
    entries = (display for section in writer.naming.sections for display in _displays(writer.entries(section.entries)))
    return Displays(tuple(_displays(writer.abbreviations())), tuple(entries))


def _displays(equations: Iterator[Equation]) -> Iterator[Display]:
    for equation in equations:
        left = "<mo>=</mo>".join(equation.left)
        yield Display(math(f"{left}<mo>=</mo>"), tuple(_terms(equation.right)))


def _terms(pieces: Sequence[Piece]) -> Iterator[str]:
    for position, piece in enumerate(pieces):
        sign = _MINUS if piece.negative else _PLUS if position else ""
        # A sign at the start of its own <math> would be set as a prefix, close to its term.
        yield math((sign.replace("<mo>", '<mo form="infix">') if position else sign) + piece.text)


def math(content: str) -> str:
    """One formula in a line of text."""
    return f"<math>{_row(content)}</math>"


def _row(content: str) -> str:
    return f"<mrow>{content}</mrow>"
