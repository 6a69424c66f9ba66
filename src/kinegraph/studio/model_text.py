"""The text of a model as an editor needs it: errors with their places and fixes, and the lines that declare things."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kinegraph.compiler.mechanism_source import read_text
from kinegraph.errors import KinegraphError, ModelError
from kinegraph.model.mechanism import Mechanism
from kinegraph.studio.requests import Arguments

_SUGGESTED = re.compile(r"did you mean `([^`]+)`")
_NAMED = re.compile(r"[`'\"]([^`'\"\s]{1,80})[`'\"]")
_NO_VALUE = re.compile(r"the parameter (\S+) has no value")


def read_model(arguments: Arguments) -> Mechanism:
    """The mechanism of a request: its text, and the file it belongs to."""
    return _read(str(arguments["text"]), str(arguments.get("path") or "model.kg"))


@lru_cache(maxsize=4)
def _read(text: str, path: str) -> Mechanism:
    return read_text(text, Path(path))


def described(error: KinegraphError, text: str = "") -> dict[str, object]:
    """An error in parts: the message, the remedy, the place, and the change that would mend it if one is known."""
    place = error.place if isinstance(error, ModelError) else None
    remedy = error.remedy if isinstance(error, ModelError) else ""
    message = str(error).removesuffix(f"\n  {remedy}").removeprefix(f"{place}: ")
    found: dict[str, object] = {"message": message, "remedy": remedy}
    if place is not None:
        found |= {"line": place.line, "column": place.column}
    elif text and (where := _mentioned(message, text)):
        found |= {"line": where[0], "column": where[1]}
    suggested = _SUGGESTED.search(remedy)
    named = _NAMED.search(message)
    if suggested and named:
        found["fix"] = {"replace": named[1], "with": suggested[1]}
    elif missing := _NO_VALUE.search(message):
        found["fix"] = {"value": missing[1]}
    return found


def _mentioned(message: str, text: str) -> tuple[int, int] | None:
    """Line and column of the first name of a message that the text contains."""
    for name in _NAMED.findall(message):
        match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
        if match:
            line = text.count("\n", 0, match.start())
            return line + 1, match.start() - (text.rfind("\n", 0, match.start()) + 1) + 1
    return None


@dataclass(frozen=True)
class Statement:
    """A statement of a text: what it declares, from which line to which, counted from 1."""

    kind: str
    name: str
    first: int
    last: int


_COMMENT = re.compile(r"#[^\n]*|//[^\n]*|/\*[\s\S]*?\*/")
_BODY = re.compile(r"\s*([^\W\d_][\w$]*)\s*(?:~\s*[^\W\d_][\w$]*\s*)?\|")
_WORD = re.compile(r"\s*([^\W\d_][\w$]*)\s+([^\W\d_][\w$]*)")
_ELEMENT = re.compile(r"<(?:link|body)\b[^>]*?\bname\s*=\s*[\"']([^\"']*)[\"']")


def statements(text: str) -> list[Statement]:
    """The statements of a text in order, also of one with errors; the bodies alone for XML."""
    return list(_elements(text) if text.lstrip("\ufeff \t\r\n").startswith("<") else _records(text))


def _records(text: str) -> Iterator[Statement]:
    code = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    start = 0
    for piece in code.split(";"):
        lead = len(piece) - len(piece.lstrip())
        first = code.count("\n", 0, start + lead) + 1
        last = first + piece.strip().count("\n")
        if match := _BODY.match(piece):
            yield Statement("body", match[1], first, last)
        elif match := _WORD.match(piece):
            yield Statement(match[1], match[2], first, last)
        start += len(piece) + 1


def _elements(text: str) -> Iterator[Statement]:
    for match in _ELEMENT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Statement("body", match[1], line, line)
