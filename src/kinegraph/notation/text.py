"""Equations as plain text: a list of abbreviations, then every nonzero output entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from kinegraph.graph.node import Graph, Symbol
from kinegraph.model.mechanism import Mechanism
from kinegraph.notation.naming import Label, Naming, Section, entry_name
from kinegraph.notation.writing import Equation, Piece, Writer, joined, number_text

_INDENT = "    "


class PlainText:
    """Infix notation, as in a program."""

    bar = False

    def __init__(self, mechanism: Mechanism | None = None) -> None:
        self.mechanism = mechanism

    def symbol(self, symbol: Symbol) -> str:
        """A symbol by the name readers know."""
        return symbol.name

    def label(self, label: Label) -> str:
        """The name of an abbreviation or definition."""
        return str(label)

    def entry(self, output: str, indices: tuple[int, ...]) -> str:
        """The name of one entry of an output."""
        if self.mechanism is None or not indices:
            return f"{output}[{','.join(map(str, indices))}]" if indices else output
        name = entry_name(output, indices, self.mechanism)
        text = name.variable.name if name.variable else name.word
        if not name.variable and name.indices:
            text = f"{text}[{','.join(name.indices)}]"
        for variable in name.by:
            text = f"d({text})/d({variable.name})"
        return text

    def number(self, size: Fraction) -> str:
        """An exact number, as short as it can be written."""
        return number_text(size)

    def product(self, factors: Sequence[str]) -> str:
        """Factors side by side."""
        return "*".join(factors)

    def quotient(self, above: str, below: Sequence[str]) -> str:
        """One expression over another."""
        return f"{above}/{below[0]}" if len(below) == 1 else f"{above}/({'*'.join(below)})"

    def power(self, base: str, exponent: int) -> str:
        """A power of an expression."""
        return f"{base}^{exponent}"

    def group(self, text: str) -> str:
        """An expression in parentheses."""
        return f"({text})"

    def function(self, name: str, arguments: Sequence[str]) -> str:
        """A function of its arguments."""
        if name == "reciprocal":
            return f"1/({arguments[0]})"
        return f"{name}({', '.join(arguments)})"

    def sum(self, pieces: Sequence[Piece]) -> str:
        """Terms with their signs."""
        return joined(pieces)


def formula(graph: Graph, width: int = 110, mechanism: Mechanism | None = None) -> str:
    """The graph as equations, with lines broken at plus and minus to about `width` characters.

    mechanism: the mechanism that the graph was derived from; its names replace the indices of entries, as in
    `x'' = ...`.
    """
    naming = Naming(graph, mechanism=mechanism)
    writer = Writer(naming, PlainText(mechanism))
    blocks: list[list[str]] = []
    if naming.order:
        defined = list(writer.abbreviations())
        functions = sum(naming.is_elementary(index) for index in naming.order)
        short = [" ".join(lines(equation, width)) for equation in defined[:functions]]
        rest = [line for equation in defined[functions:] for line in lines(equation, width)]
        blocks.append([*columns(short, width), *rest])
    for section in naming.sections:
        written = [line for equation in writer.entries(section.entries) for line in lines(equation, width)]
        blocks.append([*written, *_remarks(section)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def expressions(graph: Graph) -> list[str]:
    """Every output entry on one line, without abbreviations; for small graphs."""
    naming = Naming(graph, abbreviate=False)
    writer = Writer(naming, PlainText())
    return [joined(writer.written(index)) for output in naming.graph.outputs for index in output.nodes]


def columns(entries: Sequence[str], width: int) -> list[str]:
    """Short equations in columns, a sine next to its cosine, up to four in a line."""
    cell = max((len(entry) for entry in entries), default=0) + 4
    count = 4 if 4 * cell <= width else 2 if 2 * cell <= width else 1
    rows = [entries[start : start + count] for start in range(0, len(entries), count)]
    return ["".join(entry.ljust(cell) for entry in row).rstrip() for row in rows]


def lines(equation: Equation, width: int) -> Iterator[str]:
    """The lines of an equation, broken at `width`."""
    *above, line = _left(equation.left, width)
    yield from above
    for position, piece in enumerate(equation.right):
        text = joined((piece,)) if not position else _signed(piece)
        if position and len(line) + len(text) > width:
            yield line
            line = _INDENT + text.lstrip()
        else:
            line += text
    yield line


def _left(sides: tuple[str, ...], width: int) -> list[str]:
    """The equal left sides, in lines of at most half the width."""
    found = [sides[0]]
    for side in sides[1:]:
        if len(found[-1]) + len(side) > width // 2:
            found.append(_INDENT + "= " + side)
        else:
            found[-1] += " = " + side
    found[-1] += " = "
    return found


def _signed(piece: Piece) -> str:
    return f" {'-' if piece.negative else '+'} {piece.text}"


def _remarks(section: Section) -> Iterator[str]:
    """Remarks about the entries that are not listed."""
    output = section.output
    if section.zeros == len(output.nodes):
        yield f"{output.name} = 0" if output.nodes else f"{output.name} is empty"
        return
    if section.symmetric:
        yield f"{output.name} is symmetric" + (" in its last two indices" if len(output.shape) > 2 else "")
    if section.zeros:
        what = "one entry is" if section.zeros == 1 else f"{section.zeros} entries are"
        yield f"{output.name}: {what} zero"
