"""Single expressions from text, in the grammar of the model language."""

from __future__ import annotations

from lark.exceptions import UnexpectedInput, VisitError

from kinegraph.errors import ModelError, Place
from kinegraph.io.records.expression_reader import ExpressionReader, as_expression
from kinegraph.io.records.grammar.parser import Start, parser
from kinegraph.model.expression import Expression
from kinegraph.model.places import Places
from kinegraph.model.validation.expressions import MAX_NESTING

#: Longest expression, in characters.
MAX_LENGTH = 10_000


def read_expression(text: str, place: Place) -> Expression:
    """The expression a text says; `place` is where it stands."""
    shortened = text if len(text) <= 60 else text[:57] + "..."
    if len(text) > MAX_LENGTH or text.count("(") > MAX_NESTING:
        raise ModelError(f"`{shortened}` is too long for one expression", place, "name parts of it")
    try:
        return as_expression(ExpressionReader(place.source, Places()).transform(parser(Start.EXPRESSION).parse(text)))
    except UnexpectedInput:
        remedy = "write numbers, names, + - * / ^ and functions, e.g. pi/2 or l1*cos(a)"
        raise ModelError(f"`{shortened}` is no expression", place, remedy) from None
    except VisitError as error:  # how lark passes on what a rule raised
        problem = error.orig_exc
        raise (problem.at(place) if isinstance(problem, ModelError) else problem) from None
