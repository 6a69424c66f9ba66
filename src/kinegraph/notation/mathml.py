"""Equations as MathML: a list of abbreviations, then the entries of the outputs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from kinegraph.graph.node import Graph, Kind, Symbol
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.states import is_force, moved_by
from kinegraph.notation.latex import GREEK
from kinegraph.notation.naming import EntryName, Label, Naming, entry_name
from kinegraph.notation.writing import Equation, Piece, Writer, number_text

# ---- Names: `q1'` becomes q with a dot and the index 1, `teta$L` becomes a theta with the index L
#
# Names come from model files, so every name is escaped here.

#: A longer name is printed as typed: panda_joint1 is a word, not a letter with an index.
_LONGEST = 10

_ACCENTS = {1: "˙", 2: "¨"}


def symbol_mathml(symbol: Symbol) -> str:
    """A symbol of a graph."""
    if symbol.kind is Kind.INPUT and is_force(symbol.name):
        return _indexed("<mi>τ</mi>", name_mathml(moved_by(symbol.name)))
    return name_mathml(symbol.name)


def name_mathml(name: str, *, greek: bool | None = None) -> str:
    """A name as a stem with an index: digits, and the text after `$` or `_`, are the index. Primes become dots.

    greek: whether `mu` means the letter, as in `name_latex`.
    """
    greek = "$" in name if greek is None else greek
    base = name.rstrip("'")
    dots = len(name) - len(base)
    normalized = unicodedata.normalize("NFKC", base).replace("$", "_")
    match = re.fullmatch(r"([^\W\d_]+)(\d\w*)?((?:_\w*)*)", normalized)
    if match is None or len(normalized) > _LONGEST:
        return f"<mrow><mtext>{escape(base)}</mtext>{f'<mo>{chr(8242) * dots}</mo>' if dots else ''}</mrow>"
    indices = [part for part in (match[2] or "", *match[3].split("_")) if part]
    return _indexed(_dotted(_word(match[1], greek), dots), "<mo>,</mo>".join(_index(part, greek) for part in indices))


def _indexed(stem: str, index: str) -> str:
    return f"<msub>{stem}<mrow>{index}</mrow></msub>" if index else stem


def _dotted(stem: str, dots: int) -> str:
    return f'<mover accent="true">{stem}<mo>{_ACCENTS.get(dots, "⃛")}</mo></mover>' if dots else stem


def _word(word: str, greek_names: bool) -> str:
    """A stem: a Greek letter by its name, a single letter, or a word."""
    letter = (greek_letter(word) if greek_names else None) or word
    return f"<mi>{escape(letter)}</mi>" if len(letter) == 1 else f'<mi class="word">{escape(letter)}</mi>'


def _index(part: str, greek_names: bool) -> str:
    if part.isdigit():
        return f"<mn>{part}</mn>"
    letter = (greek_letter(part) if greek_names else None) or part
    return f"<mi>{escape(letter)}</mi>" if len(letter) == 1 else f"<mtext>{escape(letter)}</mtext>"


def greek_letter(word: str) -> str | None:
    """The Greek letter that a word names, also in the spelling of KiDyM's authors."""
    command = GREEK.get(word, "").lstrip("\\").removeprefix("var")
    if not command:
        return None
    size = "CAPITAL" if command[0].isupper() else "SMALL"
    return unicodedata.lookup(f"GREEK {size} LETTER {command.upper().replace('LAMBDA', 'LAMDA')}")


# ---- Equations: each term is a separate <math> element, so that browsers break long sums between terms

_THIN = '<mspace width="0.16em"/>'
_PARTIAL = "<mo>∂</mo>"
_MINUS, _PLUS = "<mo>−</mo>", "<mo>+</mo>"


class MathMl:
    """MathML elements, which every browser renders."""

    bar = True

    def __init__(
        self, symbols: Iterable[Symbol], mechanism: Mechanism | None = None, digits: int | None = None
    ) -> None:
        self.mechanism = mechanism
        self._digits = digits
        self._names: dict[Symbol, str] = {}
        for symbol in symbols:
            name = symbol_mathml(symbol)
            if name in self._names.values():  # q1 and q_1: the second is printed as typed
                name = f"<mtext>{escape(symbol.name)}</mtext>"
            self._names[symbol] = name

    def symbol(self, symbol: Symbol) -> str:
        """A symbol by the name readers know."""
        return self._names.get(symbol) or symbol_mathml(symbol)

    def label(self, label: Label) -> str:
        """The name of an abbreviation or definition."""
        if not label.suffix:
            return name_mathml(label.stem)
        index = label.suffix.replace("_", ",")
        numbered = index.replace(",", "").isdigit()
        below = f"<mn>{index}</mn>" if numbered else name_mathml(label.suffix)
        return f"<msub><mi>{escape(label.stem)}</mi>{below}</msub>"

    def entry(self, output: str, indices: tuple[int, ...]) -> str:
        """The name of one entry of an output."""
        name = entry_name(output, indices, self.mechanism)
        text = self.symbol(name.variable) if name.variable else _quantity_mathml(name)
        if not name.by:
            return text
        order = f"<msup>{_PARTIAL}<mn>{len(name.by)}</mn></msup>" if len(name.by) > 1 else _PARTIAL
        below = _THIN.join(_PARTIAL + self.symbol(variable) for variable in name.by)
        return f"<mfrac><mrow>{order}{text}</mrow><mrow>{below}</mrow></mfrac>"

    def number(self, size: Fraction) -> str:
        """A number, rounded to `digits`; the attribute data-exact keeps all digits."""
        mantissa, _, exponent = number_text(size).partition("e")
        rounded = self._rounded(mantissa)
        text = f'<mn data-exact="{mantissa}">{rounded}</mn>' if rounded else f"<mn>{mantissa}</mn>"
        return f"<mrow>{text}<mo>⋅</mo><msup><mn>10</mn><mn>{exponent}</mn></msup></mrow>" if exponent else text

    def _rounded(self, mantissa: str) -> str | None:
        """The rounded mantissa; None if it is short enough."""
        places = mantissa.replace(".", "").lstrip("0")
        if self._digits is None or len(places) <= self._digits or "." not in mantissa:
            return None
        rounded = f"{float(mantissa):.{self._digits}g}"
        return None if "e" in rounded else rounded

    def product(self, factors: Sequence[str]) -> str:
        """Factors side by side."""
        return f"<mrow>{_THIN.join(factors)}</mrow>" if len(factors) > 1 else factors[0]

    def quotient(self, above: str, below: Sequence[str]) -> str:
        """One expression over another."""
        return f"<mfrac>{_row(above)}{_row(self.product(below))}</mfrac>"

    def power(self, base: str, exponent: int) -> str:
        """A power of an expression."""
        return f"<msup>{_row(base)}<mn>{exponent}</mn></msup>"

    def group(self, text: str) -> str:
        """An expression in parentheses."""
        return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"

    def function(self, name: str, arguments: Sequence[str]) -> str:
        """A function of its arguments."""
        if name == "sqrt":
            return f"<msqrt>{arguments[0]}</msqrt>"
        if name == "abs":
            return f"<mrow><mo>|</mo>{arguments[0]}<mo>|</mo></mrow>"
        return f"<mrow><mi>{escape(name)}</mi>{self.group('<mo>,</mo>'.join(arguments))}</mrow>"

    def sum(self, pieces: Sequence[Piece]) -> str:
        """Terms with their signs."""
        return "".join(
            (_MINUS if piece.negative else _PLUS if position else "") + piece.text
            for position, piece in enumerate(pieces)
        )


def _quantity_mathml(name: EntryName) -> str:
    """The letter of a quantity, or its name, with its subject, frame and indices."""
    lower = "<mo>,</mo>".join(f"<mn>{i}</mn>" if i.isdigit() else name_mathml(i) for i in name.indices)
    if name.letter is None:
        text = f"<mi>{escape(name.word)}</mi>"
        return f"<msub>{text}<mrow>{lower}</mrow></msub>" if lower else text
    text = name_mathml(name.letter.stem + "'" * name.letter.dots, greek=True)
    upper = [part for part in (name.letter.upper, *name.of.split(":")) if part]
    above = "<mo>,</mo>".join(f"<mi>{escape(part)}</mi>" for part in upper)
    if name.frame:
        text = f"<mmultiscripts>{text}<mprescripts/><none/><mi>{escape(name.frame)}</mi></mmultiscripts>"
    text = f"<msup>{text}<mrow>{above}</mrow></msup>" if above else text
    return f"<msub>{text}<mrow>{lower}</mrow></msub>" if lower else text


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


def mathml(graph: Graph, mechanism: Mechanism | None = None, digits: int | None = None) -> Displays:
    """The graph's equations in MathML.

    mechanism: the mechanism that the graph was derived from; its names replace the indices of entries.
    digits: numbers are rounded for reading, and their exact values are kept in an attribute.
    """
    writer = Writer(Naming(graph, mechanism=mechanism), MathMl(graph.symbols(), mechanism, digits))
    entries = (display for section in writer.naming.sections for display in _displays(writer.entries(section.entries)))
    return Displays(tuple(_displays(writer.abbreviations())), tuple(entries))


def _displays(equations: Iterator[Equation]) -> Iterator[Display]:
    for equation in equations:
        left = "<mo>=</mo>".join(equation.left)
        yield Display(math(f"{left}<mo>=</mo>"), tuple(_terms(equation.right)))


def _terms(pieces: Sequence[Piece]) -> Iterator[str]:
    for position, piece in enumerate(pieces):
        sign = _MINUS if piece.negative else _PLUS if position else ""
        # A sign at the start of a <math> element would be rendered as a prefix, too close to its term.
        yield math((sign.replace("<mo>", '<mo form="infix">') if position else sign) + piece.text)


def math(content: str) -> str:
    """One formula in a line of text."""
    return f"<math>{_row(content)}</math>"


def _row(content: str) -> str:
    return f"<mrow>{content}</mrow>"
