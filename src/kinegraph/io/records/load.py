"""Models written in the record language: text in, checked Mechanism out. Nothing in a model is ever executed."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

from lark import Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, VisitError

from kinegraph.errors import ModelError, Place
from kinegraph.files import read_input_text
from kinegraph.io.records.grammar.parser import Start, parser
from kinegraph.io.records.reader import Reader
from kinegraph.io.records.syntax_error import at_character, at_token
from kinegraph.model import changes, platforms
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import model_name_from
from kinegraph.model.places import Places
from kinegraph.model.validation.expressions import MAX_NESTING, MAX_SIZE
from kinegraph.model.validation.mechanism import validate

#: Longest model text, in characters (and bytes, for a file).
MAX_LENGTH = 5_000_000

_BREAKS = frozenset({"COMMA", "SEMICOLON", "VBAR"})  # tokens between which an expression stands


def load(path: str | PathLike[str]) -> Mechanism:
    """Read a model file (UTF-8). A model without a `model` statement is named after the file."""
    text = read_input_text(path, MAX_LENGTH)
    return parse(text, str(path))


def parse(text: str, source: str = "") -> Mechanism:
    """Read a model from its text and validate it; `source` names the text in error messages."""
    if len(text) > MAX_LENGTH:
        named = f"{source}: " if source else ""
        remedy = "a model of this size is better built in Python, with kinegraph.Builder"
        message = f"{named}the model has {len(text)} characters; the limit is {MAX_LENGTH}"
        raise ModelError(message, remedy=remedy)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not source and _is_file_name(text):
        remedy = "parse reads the text of a model; kinegraph.load reads a file, or takes a name of the library"
        raise ModelError(f"{text!r} is not the text of a model", remedy=remedy)
    places = Places()
    reader = Reader(source, places)
    tree = _tree(text, source)
    try:
        reader.transform(tree)
    except VisitError as error:  # how lark passes on what a rule raised
        raise error.orig_exc from None
    mechanism = reader.mechanism(model_name_from(Path(source).stem) if source else "mechanism")
    validate(mechanism, places)
    if reader.principal:
        mechanism = changes.declared_principal(mechanism, reader.principal)
    return platforms.fitted(mechanism) if reader.has_leg_tables else mechanism


def _is_file_name(text: str) -> bool:
    """Whether a text is rather the path of a file, or a name of the library: one word without any statement's sign."""
    return re.fullmatch(r"[\w./\\:~-]*\w", text) is not None


def _tree(text: str, source: str) -> Tree[Token]:
    """The syntax tree, built token by token so that nesting can be limited and errors know what came before."""
    parsed = parser(Start.MODEL).parse_interactive(text)
    last: Token | None = None
    previous: Token | None = None
    first: Token | None = None  # of the statement
    depth = length = 0
    try:
        for token in parsed.iter_parse():
            first = token if last is None or last.type == "SEMICOLON" else first
            previous, last = last, token
            depth += (token.type == "LPAR") - (token.type == "RPAR")
            if depth > MAX_NESTING + 1:  # one for the parenthesis of a transform around its expression
                raise _over_limit(token, source, f"parentheses nest deeper than {MAX_NESTING}")
            length = 0 if token.type in _BREAKS else length + 1
            if length > 3 * MAX_SIZE:  # parentheses are no part of an expression's size
                raise _over_limit(token, source, f"an expression has more than {MAX_SIZE} parts")
        end = Token.new_borrow_pos("$END", "", last) if last else Token("$END", "", 0, 1, 1)
        tree: Tree[Token] = parsed.feed_token(end)
        return tree
    except UnexpectedCharacters as error:
        raise at_character(text, error, source, first) from None
    except UnexpectedInput as error:
        before = previous if getattr(error, "token", None) is last else last
        raise at_token(text, error, before, source, first) from None


def _over_limit(token: Token, source: str, message: str) -> ModelError:
    place = Place(token.line or 1, token.column or 1, source)
    return ModelError(message, place, "name the inner parts as parameters")
