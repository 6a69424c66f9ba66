"""Parsers of the model language.

Building the parser tables takes longer than everything else at startup, so they are stored beside the grammar. Tables
of another grammar or another version of lark are not used. `python -m kinegraph.io.language` writes them again.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from hashlib import sha256
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING

from lark import Lark, __version__

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_FOLDER = files("kinegraph.io.language")


class Start(Enum):
    """What a parser reads: the value is the start rule of the grammar."""

    MODEL = "start"
    EXPRESSION = "sum"

    @property
    def tables(self) -> Traversable:
        """The file of the parser's tables; its first line is the stamp of grammar and lark version."""
        return _FOLDER.joinpath(f"{self.name.lower()}.tables")


def grammar_text() -> str:
    """The grammar."""
    return _FOLDER.joinpath("records.lark").read_text(encoding="utf-8")


@cache
def parser(start: Start) -> Lark:
    """The parser of models, or of single expressions."""
    return _stored(start) or build_parser(start)


def build_parser(start: Start) -> Lark:
    """A parser built from the grammar."""
    return Lark(grammar_text(), parser="lalr", lexer="contextual", maybe_placeholders=True, start=start.value)


def stamp() -> bytes:
    """The version of lark and the hash of the grammar."""
    return f"lark {__version__}, grammar {sha256(grammar_text().encode()).hexdigest()}".encode()


def serialized_tables(start: Start) -> bytes:
    """The contents of the file of a parser's tables."""
    file = BytesIO()
    build_parser(start).save(file)
    return stamp() + b"\n" + file.getvalue()


def _stored(start: Start) -> Lark | None:
    """A parser from the stored tables; None if they are missing or of another grammar."""
    try:
        of, _, tables = start.tables.read_bytes().partition(b"\n")
    except OSError:
        return None
    return Lark.load(BytesIO(tables)) if of == stamp() else None
