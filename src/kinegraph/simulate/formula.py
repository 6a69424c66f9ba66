"""Formulas a user types for inputs, events and initial values: the model language, with velocities and points.

`q1'` is a velocity, `tip.z` a coordinate of an output point and `forces[2]`, `reaction:pin[0]` an entry of a quantity.
Nothing is ever executed.
"""

from __future__ import annotations

import re

from lark.exceptions import UnexpectedInput, VisitError

from kinegraph.errors import SolveError
from kinegraph.io.records.expression_reader import ExpressionReader, as_expression
from kinegraph.io.records.grammar.parser import Start, parser
from kinegraph.model.expression import Call, Expression, Name, Operation, Scalar, expression, postorder
from kinegraph.model.names import CHOICE_REMEDY
from kinegraph.model.places import Places

# The grammar of models knows names of letters, digits, _ and $ only: what is special is spelled with $ meanwhile.
_PRIME, _DOT = "$prime", "$dot$"
_PRIMED = re.compile(r"([^\W\d_][\w$]*)'")
_POINT = re.compile(r"([^\W\d_][\w$]*)\.([xyz])\b")
_LONGEST = 10_000

#: An entry of a quantity: `forces[2]`, `pose:hand[0,3]`.
ENTRY = re.compile(r"([^\W\d_][\w$]*(?::[\w$]+)?)\[([\d,\s]+)\]")
_ENTRY = "entry$"


def formula(given: Scalar, name: str = "") -> Expression:
    """The expression a user means: text is read, others are taken as they are. `name`: whose value it is."""
    if not isinstance(given, str):
        return expression(given, name)
    if len(given) > _LONGEST:
        raise SolveError(f"a formula of {len(given)} characters is too long; the limit is {_LONGEST}")
    spelled = ENTRY.sub(lambda found: _ENTRY + found[0].encode().hex(), given)
    spelled = _POINT.sub(rf"\1{_DOT}\2", _PRIMED.sub(rf"\1{_PRIME}", spelled))
    try:
        read = ExpressionReader("", Places()).transform(parser(Start.EXPRESSION).parse(spelled))
    except (UnexpectedInput, VisitError):
        remedy = CHOICE_REMEDY if set("<>?&") & set(str(given)) else "write e.g. 2*sin(3*t) - 0.1*q1'"
        raise SolveError(f"cannot read the formula {given!r}: {remedy}") from None
    return _respelled(as_expression(read))


def _respelled(root: Expression) -> Expression:
    """The expression with primes, points and entries in its names again."""
    done: list[Expression] = []
    for node in postorder(root):
        if isinstance(node, Name):
            done.append(Name(_respelled_name(node.text)))
        elif isinstance(node, Operation | Call):
            parts = tuple(done[-len(node.parts) :])
            del done[-len(node.parts) :]
            done.append(type(node)(node.head, parts))
        else:
            done.append(node)
    return done[0]


def _respelled_name(text: str) -> str:
    if text.startswith(_ENTRY):
        return bytes.fromhex(text.removeprefix(_ENTRY)).decode()
    return text.replace(_PRIME, "'").replace(_DOT, ".")
