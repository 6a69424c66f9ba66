r"""Names of a model in LaTeX: `q1'` becomes \dot{q}_{1}, `teta$L` \theta_{L}; nothing reaches the text unescaped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from kinegraph.graph.node import Kind, Symbol
from kinegraph.model.state_layout import is_force, moved_by

_LETTERS = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
)  # fmt: skip
_CAPITALS = {"Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"}
#: Greek letters as people type them; the second row is how KiDyM's authors spell them.
GREEK = {name: rf"\{name}" for name in (*_LETTERS, *_CAPITALS) if name != "omicron"} | {
    "alfa": r"\alpha", "teta": r"\theta", "fi": r"\varphi", "ksi": r"\xi", "hi": r"\chi",
}  # fmt: skip

_ESCAPES = {"$": r"\$", "_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "{": r"\{", "}": r"\}", "\\": r"\backslash "}
_ESCAPES |= {"^": r"\hat{}", "~": r"\sim "}


class LatexNames:
    """One LaTeX name for every symbol; two symbols never look alike."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self._names: dict[Symbol, str] = {}
        for symbol in symbols:
            name = symbol_name(symbol)
            if name in self._names.values():  # q1 and q_1: the second is spelled out as it was typed
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


def name_latex(name: str, dots: int = 0) -> str:
    """A name as a stem with an index: digits, and what follows `$` or `_`, are the index."""
    name = unicodedata.normalize("NFKC", name)
    match = re.fullmatch(r"([^\W\d_]+)(\d\w*)?((?:[$_]\w*)*)", name.replace("$", "_"))
    if match is None:
        return _dotted(rf"\mathtt{{{escaped(name)}}}", dots)
    indices = [part for part in (match[2] or "", *match[3].split("_")) if part]
    stem = _dotted(_word(match[1]), dots)
    return f"{stem}_{{{','.join(map(_index, indices))}}}" if indices else stem


def _dotted(stem: str, dots: int) -> str:
    accent = {0: "", 1: r"\dot", 2: r"\ddot"}.get(dots, r"\dddot")
    return f"{accent}{{{stem}}}" if accent else stem


def _word(word: str) -> str:
    """A stem: a Greek letter by name or character, a single letter, or a word set as one."""
    if word in GREEK:
        return GREEK[word]
    if len(word) == 1 and (greek := _greek_character(word)):
        return greek
    if not word.isascii():
        return rf"\text{{{''.join(_greek_in_text(letter) for letter in word)}}}"
    return word if len(word) == 1 else rf"\mathit{{{word}}}"


def _index(part: str) -> str:
    if part.isascii() and part.isalnum():
        return GREEK.get(part) or (part if len(part) == 1 or part[0].isdigit() else rf"\mathrm{{{part}}}")
    return _word(part) if part.isalpha() else rf"\text{{{escaped(part)}}}"


def _greek_character(letter: str) -> str | None:
    """The command of a Greek letter; None if it is none."""
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
    """Text with every character that means something to TeX made harmless."""
    return "".join(_ESCAPES.get(letter, letter) for letter in text)


def needs_cyrillic(names: Iterable[str]) -> bool:
    """True if a name holds Cyrillic letters, for which TeX needs a font encoding."""
    return any(unicodedata.name(letter, "").startswith("CYRILLIC") for name in names for letter in name)
