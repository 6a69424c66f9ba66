"""The tables of parsers that lie beside the grammar are those of the grammar, and are used for it alone."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from lark.exceptions import UnexpectedInput

from kinegraph import library
from kinegraph.io.language import grammar as module
from kinegraph.io.language.grammar import Start, build_parser, grammar_text, parser, serialized_tables, stamp

EXPRESSIONS = ("1", "pi/2", "-l1*cos(a + b)^2", "atan2(x, 1e-3)", "2 +", "sin(", "a b", "1;", "")
#: Models with faults, each told apart by what stands there and what might.
WRONG = ("coordinates q1", "A | Rz(q) | m(1)", "A | | ;", "parameter = 1;", "loop a | revolute |;", "?", "gravity 1,;")


@pytest.mark.parametrize("start", Start)
def test_the_tables_are_those_of_the_grammar(start: Start) -> None:
    of = start.tables.read_bytes().partition(b"\n")[0].decode()
    current = sha256(grammar_text().encode()).hexdigest()
    assert of.endswith(f"grammar {current}"), "run `python -m kinegraph.io.language`"


def outcome(start: Start, text: str, stored: bool) -> object:
    """The tree of a text, or the complaint and what is said to be allowed."""
    try:
        return (parser(start) if stored else build_parser(start)).parse(text)
    except UnexpectedInput as error:
        return type(error), error.pos_in_stream, getattr(error, "accepts", None), getattr(error, "allowed", None)


def test_they_read_models_as_the_grammar_does() -> None:
    texts = [library.text(name) for name in library.names()[::12]] + list(WRONG)
    grammar = build_parser(Start.MODEL)
    for text in texts[: -len(WRONG)]:
        assert parser(Start.MODEL).parse(text) == grammar.parse(text)
    for text in WRONG:
        assert outcome(Start.MODEL, text, True) == outcome(Start.MODEL, text, False)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_they_read_expressions_as_the_grammar_does(text: str) -> None:
    assert outcome(Start.EXPRESSION, text, True) == outcome(Start.EXPRESSION, text, False)


@pytest.mark.parametrize(
    "contents",
    [b"", b"lark 0.1, grammar 0\nrubbish", stamp()[:-1] + b"\n", b"x" + serialized_tables(Start.EXPRESSION)],
    ids=["empty", "another version", "another grammar", "shifted"],
)
def test_other_tables_are_not_used(contents: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "expression.tables").write_bytes(contents)
    (tmp_path / "records.lark").write_text(grammar_text(), encoding="utf-8")
    monkeypatch.setattr(module, "_FOLDER", tmp_path)
    assert module._stored(Start.EXPRESSION) is None
    assert module.parser.__wrapped__(Start.EXPRESSION).parse("1 + 1")


def test_without_tables_parsers_are_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "records.lark").write_text(grammar_text(), encoding="utf-8")
    monkeypatch.setattr(module, "_FOLDER", tmp_path)
    assert module.parser.__wrapped__(Start.EXPRESSION).parse("2*a")
