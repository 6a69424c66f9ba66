"""Equations as a LaTeX fragment for amsmath: a list of abbreviations, then every nonzero output entry."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from kinegraph.graph.node import Graph, Kind, Symbol
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.states import is_force, moved_by
from kinegraph.notation.naming import EntryName, Label, Naming, Section, entry_name
from kinegraph.notation.writing import Equation, Piece, Writer, joined, number_text

# ---- Names: `q1'` becomes \dot{q}_{1}, `teta$L` becomes \theta_{L}; all other text is escaped

_LETTERS = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
)  # fmt: skip
_CAPITALS = {"Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"}
#: Greek letters as users type them; the second row has the spellings of KiDyM's authors.
GREEK = {name: rf"\{name}" for name in (*_LETTERS, *_CAPITALS) if name != "omicron"} | {
    "alfa": r"\alpha", "teta": r"\theta", "fi": r"\varphi", "ksi": r"\xi", "hi": r"\chi",
}  # fmt: skip

_ESCAPES = {"$": r"\$", "_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "{": r"\{", "}": r"\}", "\\": r"\backslash "}
_ESCAPES |= {"^": r"\hat{}", "~": r"\sim "}


class LatexNames:
    """One LaTeX name for every symbol; no two symbols look alike."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self._names: dict[Symbol, str] = {}
        for symbol in symbols:
            name = symbol_name(symbol)
            if name in self._names.values():  # q1 and q_1: the second is printed as typed
                name = rf"\mathtt{{{escaped(symbol.name)}}}"
            self._names[symbol] = name

    def __getitem__(self, symbol: Symbol) -> str:
        return self._names.get(symbol) or symbol_name(symbol)


def symbol_name(symbol: Symbol) -> str:
    """A symbol in LaTeX."""
    if symbol.kind is Kind.INPUT and is_force(symbol.name):
        return rf"\tau_{{{name_latex(moved_by(symbol.name))}}}"
    base = symbol.name.rstrip("'")
    return name_latex(base, len(symbol.name) - len(base))


def name_latex(name: str, dots: int = 0, *, greek: bool | None = None) -> str:
    """A name as a stem with an index: digits, and the text after `$` or `_`, are the index.

    greek: whether `mu` means the letter; by default only in names with `$`, the convention of KiDyM. The letter itself,
    μ, is always one.
    """
    greek = "$" in name if greek is None else greek
    name = unicodedata.normalize("NFKC", name)
    match = re.fullmatch(r"([^\W\d_]+)(\d\w*)?((?:[$_]\w*)*)", name.replace("$", "_"))
    if match is None:
        return _dotted(rf"\mathtt{{{escaped(name)}}}", dots)
    indices = [part for part in (match[2] or "", *match[3].split("_")) if part]
    stem = _dotted(_word(match[1], greek), dots)
    return f"{stem}_{{{','.join(_index(part, greek) for part in indices)}}}" if indices else stem


def _dotted(stem: str, dots: int) -> str:
    accent = {0: "", 1: r"\dot", 2: r"\ddot"}.get(dots, r"\dddot")
    return f"{accent}{{{stem}}}" if accent else stem


def _word(word: str, greek_names: bool) -> str:
    """A stem: a Greek letter by name or character, a single letter, or a word."""
    if greek_names and word in GREEK:
        return GREEK[word]
    if len(word) == 1 and (greek := _greek_character(word)):
        return greek
    if not word.isascii():
        return rf"\text{{{''.join(_greek_in_text(letter) for letter in word)}}}"
    return word if len(word) == 1 else rf"\mathit{{{word}}}"


def _index(part: str, greek_names: bool) -> str:
    if part.isascii() and part.isalnum():
        letter = GREEK.get(part) if greek_names else None
        return letter or (part if len(part) == 1 or part[0].isdigit() else rf"\mathrm{{{part}}}")
    return _word(part, greek_names) if part.isalpha() else rf"\text{{{escaped(part)}}}"


def _greek_character(letter: str) -> str | None:
    """The command of a Greek letter; None for other letters."""
    name = unicodedata.name(letter, "")
    match = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)", name)
    if match is None:
        return None
    word = match[2].lower().replace("lamda", "lambda")
    if word not in _LETTERS:
        return None
    if match[1] == "SMALL":
        return "o" if word == "omicron" else rf"\{word}"
    capital = word.capitalize()
    return rf"\{capital}" if capital in _CAPITALS else rf"\mathrm{{{_LOOKALIKE[word]}}}"


_LOOKALIKE = {
    "alpha": "A", "beta": "B", "epsilon": "E", "zeta": "Z", "eta": "H", "iota": "I", "kappa": "K", "mu": "M", "nu": "N",
    "omicron": "O", "rho": "P", "tau": "T", "chi": "X",
}  # fmt: skip


def _greek_in_text(letter: str) -> str:
    greek = _greek_character(letter)
    return f"${greek}$" if greek else letter


def escaped(text: str) -> str:
    """Text with TeX's special characters escaped."""
    return "".join(_ESCAPES.get(letter, letter) for letter in text)


def needs_cyrillic(names: Iterable[str]) -> bool:
    """Does any name have Cyrillic letters? TeX needs a font encoding for them."""
    return any(unicodedata.name(letter, "").startswith("CYRILLIC") for name in names for letter in name)


# ---- Equations

#: The approximate number of lines of a display: TeX holds a whole display in memory.
ROWS = 30

_FUNCTIONS = {
    "sin": r"\sin", "cos": r"\cos", "exp": r"\exp", "log": r"\ln", "asin": r"\arcsin", "acos": r"\arccos",
    "atan": r"\arctan", "sinh": r"\sinh", "cosh": r"\cosh", "tanh": r"\tanh",
}  # fmt: skip


class Latex:
    """LaTeX with amsmath."""

    bar = True

    def __init__(self, symbols: Iterable[Symbol], mechanism: Mechanism | None = None) -> None:
        self._names = LatexNames(symbols)
        self.mechanism = mechanism

    def symbol(self, symbol: Symbol) -> str:
        """A symbol by the name readers know."""
        return self._names[symbol]

    def label(self, label: Label) -> str:
        """The name of an abbreviation or definition."""
        if not label.suffix:
            return name_latex(label.stem)
        stem = label.stem if len(label.stem) == 1 else rf"\mathrm{{{label.stem}}}"
        numbered = re.fullmatch(r"[\d_]+|[A-Z]\d*", label.suffix)
        index = label.suffix.replace("_", ",") if numbered else name_latex(label.suffix)
        return f"{stem}_{{{index}}}"

    def entry(self, output: str, indices: tuple[int, ...]) -> str:
        """The name of one entry of an output."""
        name = entry_name(output, indices, self.mechanism)
        text = self.symbol(name.variable) if name.variable else _quantity_latex(name)
        if not name.by:
            return text
        order = f"^{{{len(name.by)}}}" if len(name.by) > 1 else ""
        below = r"\,".join(rf"\partial {self.symbol(variable)}" for variable in name.by)
        return rf"\frac{{\partial{order} {text}}}{{{below}}}"

    def number(self, size: Fraction) -> str:
        """An exact number, as short as it can be written."""
        return number_text(size, r" \cdot 10^{{{}}}")

    def product(self, factors: Sequence[str]) -> str:
        """Factors side by side."""
        return r"\,".join(factors)

    def quotient(self, above: str, below: Sequence[str]) -> str:
        """One expression over another."""
        return rf"\frac{{{above}}}{{{self.product(below)}}}"

    def power(self, base: str, exponent: int) -> str:
        """A power of an expression."""
        name = re.match(r"\\[a-z]+(?=[ (])", base)
        return f"{self.group(base) if name else base}^{{{exponent}}}"

    def group(self, text: str) -> str:
        """An expression in parentheses."""
        return rf"\bigl({text}\bigr)" if r"\frac" in text else f"({text})"

    def function(self, name: str, arguments: Sequence[str]) -> str:
        """A function of its arguments."""
        if name == "sqrt":
            return rf"\sqrt{{{arguments[0]}}}"
        if name == "abs":
            return rf"\lvert {arguments[0]}\rvert "
        command = _FUNCTIONS.get(name) or rf"\operatorname{{{name}}}"
        if name in ("sin", "cos") and not re.search(r"[ +(]|\\,|\\frac", arguments[0]):
            return f"{command} {arguments[0]}"
        return f"{command}({', '.join(arguments)})"

    def sum(self, pieces: Sequence[Piece]) -> str:
        """Terms with their signs."""
        return joined(pieces)


def _quantity_latex(name: EntryName) -> str:
    """The letter of a quantity, or its name, with its subject, frame and indices."""
    if name.letter is None:
        text = rf"\mathrm{{{escaped(name.word)}}}"
    else:
        upper = [name.letter.upper, *(part for part in name.of.split(":") if part)]
        text = name_latex(name.letter.stem, name.letter.dots, greek=True)
        text += f"^{{{','.join(_upper(part) for part in upper if part)}}}" if any(upper) else ""
        text = rf"{{}}^{{{_upper(name.frame)}}}{text}" if name.frame else text
    lower = ",".join(index if index.isdigit() else name_latex(index) for index in name.indices)
    return f"{text}_{{{lower}}}" if lower else text


def _upper(part: str) -> str:
    if not part.isascii():
        return name_latex(part)
    return part if len(part) == 1 and part.isalpha() else rf"\mathrm{{{escaped(part)}}}"


def latex(graph: Graph, title: str = "", width: int = 75, mechanism: Mechanism | None = None) -> str:
    """The graph as an aligned LaTeX fragment, with lines broken at plus and minus to about `width` characters.

    mechanism: the mechanism that the graph was derived from; its names replace the indices of entries.
    """
    naming = Naming(graph, mechanism=mechanism)
    writer = Writer(naming, Latex(graph.symbols(), mechanism))
    parts = [*_head(graph, title)]
    if naming.order:
        parts.append("Abbreviations:")
        parts += _displays(writer.abbreviations(), width)
    for section in naming.sections:
        parts += _displays(writer.entries(section.entries), width)
        parts += _remarks(section)
    return "\n".join(parts) + "\n"


def _head(graph: Graph, title: str) -> Iterator[str]:
    if title:
        yield f"% {' '.join(title.split())}"
    yield r"% Needs \usepackage{amsmath}; \allowdisplaybreaks lets long lists run over pages."
    if needs_cyrillic(symbol.name for symbol in graph.symbols()):
        yield r"% Cyrillic names: \usepackage[T2A]{fontenc}, or XeLaTeX or LuaLaTeX with a font that has them."


def _displays(equations: Iterable[Equation], width: int) -> Iterator[str]:
    """The equations in displays of at most about ROWS lines."""
    rows: list[str] = []
    for equation in equations:
        if len(rows) > ROWS:
            yield _display(rows)
            rows = []
        rows += _rows(equation, width)
    if rows:
        yield _display(rows)


def _display(rows: Sequence[str]) -> str:
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def _rows(equation: Equation, width: int) -> Iterator[str]:
    """The lines of an equation: equal left sides, then the terms."""
    first, *others = equation.left
    line = first + " &= "
    length = visible(line)
    for side in others:
        if length + visible(side) > width:
            yield line
            line, length = "&= ", 2
        line += side + " = "
        length += visible(side) + 3
    for position, piece in enumerate(equation.right):
        text = joined((piece,)) if not position else f" {'-' if piece.negative else '+'} {piece.text}"
        if position and length + visible(text) > width:
            yield line
            line, length = r"&\quad {}", 4
        line += text
        length += visible(text)
    yield line


def visible(text: str) -> int:
    """The approximate number of visible characters of a fragment."""
    commands = re.sub(r"\\(frac|mathit|mathrm|text|dot|ddot|bigl|bigr|quad)\b|\\[,;!]", "", text)
    return len(re.sub(r"[{}_^&]", "", re.sub(r"\\[A-Za-z]+ ?", "x", commands)))


def _remarks(section: Section) -> Iterator[str]:
    """Remarks about the entries that are not listed, as text between displays."""
    output = section.output
    name = Latex(()).entry(output.name, ())
    if section.zeros == len(output.nodes):
        yield f"${name} = 0$." if output.nodes else f"${name}$ is empty."
        return
    if section.symmetric:
        yield f"${name}$ is symmetric" + (" in its last two indices." if len(output.shape) > 2 else ".")
    if section.zeros:
        verb = "is" if section.zeros == 1 else "are"
        yield f"{section.zeros} of {len(output.nodes)} entries of ${name}$ {verb} zero."
