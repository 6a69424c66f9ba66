"""Names of a model in MathML: `q1'` becomes q with a dot and the index 1, `teta$L` a theta with the index L.

Names come from model files: every one of them is escaped here, none reaches the markup as it was typed.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape

from kinegraph.graph.node import Kind, Symbol
from kinegraph.model.state_layout import is_force, moved_by
from kinegraph.notation.latex_names import GREEK

#: A longer name is set as it was typed: panda_joint1 is a word, not a letter with an index.
_LONGEST = 10

_ACCENTS = {1: "˙", 2: "¨"}


def symbol_mathml(symbol: Symbol) -> str:
    """A symbol of a graph."""
    if symbol.kind is Kind.INPUT and is_force(symbol.name):
        return _indexed("<mi>τ</mi>", name_mathml(moved_by(symbol.name)))
    return name_mathml(symbol.name)


def name_mathml(name: str) -> str:
    """A name as a stem with an index: digits, and what follows `$` or `_`, are the index; primes become dots."""
    base = name.rstrip("'")
    dots = len(name) - len(base)
    normalised = unicodedata.normalize("NFKC", base).replace("$", "_")
    match = re.fullmatch(r"([^\W\d_]+)(\d\w*)?((?:_\w*)*)", normalised)
    if match is None or len(normalised) > _LONGEST:
        return f"<mrow><mtext>{escape(base)}</mtext>{f'<mo>{chr(8242) * dots}</mo>' if dots else ''}</mrow>"
    indices = [part for part in (match[2] or "", *match[3].split("_")) if part]
    return _indexed(_dotted(_word(match[1]), dots), "<mo>,</mo>".join(map(_index, indices)))


def _indexed(stem: str, index: str) -> str:
    return f"<msub>{stem}<mrow>{index}</mrow></msub>" if index else stem


def _dotted(stem: str, dots: int) -> str:
    return f'<mover accent="true">{stem}<mo>{_ACCENTS.get(dots, "⃛")}</mo></mover>' if dots else stem


def _word(word: str) -> str:
    """A stem: a Greek letter by its name, a single letter, or a word set as one."""
    letter = greek_letter(word) or word
    return f"<mi>{escape(letter)}</mi>" if len(letter) == 1 else f'<mi class="word">{escape(letter)}</mi>'


def _index(part: str) -> str:
    if part.isdigit():
        return f"<mn>{part}</mn>"
    letter = greek_letter(part) or part
    return f"<mi>{escape(letter)}</mi>" if len(letter) == 1 else f"<mtext>{escape(letter)}</mtext>"


def greek_letter(word: str) -> str | None:
    """The letter a word names, as people and KiDyM's authors spell it."""
    command = GREEK.get(word, "").lstrip("\\").removeprefix("var")
    if not command:
        return None
    size = "CAPITAL" if command[0].isupper() else "SMALL"
    return unicodedata.lookup(f"GREEK {size} LETTER {command.upper().replace('LAMBDA', 'LAMDA')}")
