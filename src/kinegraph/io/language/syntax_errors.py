"""Messages for syntax errors, with an example of each statement."""

from __future__ import annotations

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput

from kinegraph.errors import ModelError, Place
from kinegraph.model.names import CHOICE_REMEDY, STATEMENTS, did_you_mean

COMPLIANT = "`contact Floor | sphere(Ball, r), plane((0, 0, 0), (0, 0, 1)) | stiffness(k);`"

#: An example of each statement, by its keyword.
FORMS = {
    "model": "`model name;`",
    "parameters": "`parameters m1 = 2, l1 = 0.5;`",
    "coordinates": "`coordinates q1 = 0.3, q2;`",
    "quaternion": "`quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (1, 0, 0, 0);`",
    "gravity": "`gravity 0, 0, -9.81;`",
    "initial": "`initial q1 = 0.3, q1' = 1;`",
    "armature": "`armature q1 = 0.02;`",
    "output": "`output tip = Body (x, y, z);` or `output p = (x, y, z);`",
    "accept": "`accept inertia Body;`",
    "inputs": "`inputs u1, u2 = sin(3*t);`",
    "define": "`define gamma = q1 + q2;`",
    "quasivelocity": "`quasivelocity w = q1' + cos(q1)*q2';`",
    "unknown": "`unknown S, R;`",
    "state": "`state i' = k*q1' - c*i;`",
    "table": "`table torque | (0, 12), (100, 14), (200, 9) | spline, hold;`",
    "loop": "`loop Pin | revolute | Body: Sx(a) | Other: Sx(b);`",
    "constraint": "`constraint C | tip.x = 0.1*sin(t);`",
    "contact": "`contact Floor | Ball.z >= 0 | restitution(0.8);` (rigid) or " + COMPLIANT + " (compliant)",
    "impacts": "`impacts newton, simultaneous;`",
    "cut": "`cut Pin;`",
    "platform": "`platform UPS | Body | first part | second part | drive | A: base point > platform point | ...;`",
    "shape": "`shape Body | transforms | box(x, y, z);`",
    "potential": "`potential V | 3*cos(q1);`",
    "spring": "`spring S | on(q) stiffness(k);` or `spring S | between(tip, (0, 0, 0)) stiffness(k) rest(l);`",
    "damper": "`damper D | on(q) damping(c);` or `damper D | between(tip, (0, 0, 0)) damping(c);`",
    "friction": "`friction F | on(q) coulomb(f) viscous(c) width(0.01);`",
    "force": "`force P | value(f) on(tip.x);` or `force P | at(tip) world(fx, fy, fz);`",
    "moment": "`moment M | at(Body) world(mx, my, mz);`",
    "limit": "`limit L | on(q) lower(a) upper(b) stiffness(k);`",
}

#: The form of a record, the statement without a keyword.
RECORD = "`Name~Base | transforms | inertia;`"


_TYPOGRAPHY = {
    "−": "-", "–": "-", "—": "-", "·": "*", "×": "*", "⋅": "*", "÷": "/", "′": "'", "’": "'",
    "，": ",", "；": ";", "（": "(", "）": ")", "[": "(", "]": ")", "{": "(", "}": ")",
}  # fmt: skip
_WORDS = {
    "NAME": "a name", "NUMBER": "a number", "SEMICOLON": "`;`", "VBAR": "`|`", "EQUAL": "`=`", "COMMA": "`,`",
    "LPAR": "`(`", "RPAR": "`)`", "TILDE": "`~`", "MODEL_NAME": "a model name", "VELOCITY": "`velocity (wx, wy, wz)`",
    "INERTIA": "`inertia`", "COLON": "`:`", "NOT_BELOW": "`>=`",
}  # fmt: skip
_ELEMENTS = frozenset(
    {"spring", "damper", "friction", "force", "moment", "potential", "limit", "loop", "constraint", "contact"}
)
#: Comparisons and the ternary operator of other languages.
_CHOICE = frozenset("<>?!&")
_OPERATORS = frozenset({"PLUS", "MINUS", "STAR", "SLASH", "POWER"})


def at_character(text: str, error: UnexpectedCharacters, source: str, first: Token | None = None) -> ModelError:
    """The error for an unexpected character; `first` is the first token of the statement."""
    place = Place(error.line, error.column, source)
    position = error.pos_in_stream or 0
    if text.startswith("/*", position):
        return _open_comment(place)
    character = text[position : position + 1]
    printable = character if character.isprintable() else f"character U+{ord(character):04X}"
    if character in _TYPOGRAPHY:
        return ModelError(f"unexpected `{printable}`", place, f"write `{_TYPOGRAPHY[character]}`")
    if character in _CHOICE:
        return ModelError(f"unexpected `{printable}`", place, CHOICE_REMEDY)
    remedy = "remove it, or put it in a comment: # ..."
    return ModelError(f"unexpected `{printable}`", place, remedy + _form(first))


def at_token(
    text: str, error: UnexpectedInput, last: Token | None, source: str, first: Token | None = None
) -> ModelError:
    """The error for an unexpected token; `last` is the token before it, `first` the first token of the statement."""
    found = getattr(error, "token", None)
    if not isinstance(found, Token) or found.type == "$END":
        place = Place(last.end_line or 1, last.end_column or 1, source) if last else Place(1, 1, source)
        return ModelError("the text ends within a statement", place, "end each statement with `;`")
    if text.startswith("/*", found.start_pos or 0):
        return _open_comment(Place(found.line or 1, found.column or 1, source))
    if last is not None and last is first and last.type == "NAME" and (meant := _meant_statement(str(last))):
        return ModelError(f"unknown statement `{_short(last)}`", Place(last.line or 1, last.column or 1, source), meant)
    expected: set[str] = set(getattr(error, "accepts", None) or getattr(error, "expected", None) or ())
    place = Place(found.line or 1, found.column or 1, source)
    after = f" after `{_short(last)}`" if last is not None and last.type != "SEMICOLON" else ""
    if text.startswith("==", found.start_pos or 0):
        return ModelError(f"unexpected `==`{after}", place, CHOICE_REMEDY)
    return ModelError(f"unexpected `{_short(found)}`{after}", place, _remedy(found, last, first, expected))


def _meant_statement(word: str) -> str:
    """A remedy for a misspelled keyword; empty if no keyword is close."""
    if word == "bumper":
        return f"a compliant contact is a `contact` with a stiffness: write {COMPLIANT}"
    proposed = did_you_mean(word, (*STATEMENTS, "table"))
    return proposed if proposed.startswith("did") else ""


def _open_comment(place: Place) -> ModelError:
    return ModelError("the comment is not closed", place, "close it with `*/`")


def _form(first: Token | None) -> str:
    """An example of the statement, as the second half of a remedy."""
    if first is None:
        return ""
    return f"; write e.g. {FORMS[str(first)]}" if str(first) in FORMS else f"; the form of a body is {RECORD}"


def _remedy(found: Token, last: Token | None, first: Token | None, expected: set[str]) -> str:
    before = str(last) if last is not None else ""
    if before in _ELEMENTS and found.type == "VBAR":
        return f"`{before}` is a keyword; give it a name: `{before} {before}_1 | ...;`, or rename the body"
    if before in STATEMENTS and found.type in ("TILDE", "VBAR"):
        return f"`{before}` is a keyword and cannot be the name of a body; rename it, e.g. `{before}_1`"
    if last is not None and last.type == "NUMBER" and found.type == "NAME":
        return f"write the multiplication: `{_short(last)}*{_short(found)}`"
    if str(first) == "contact" and found.type == "EQUAL":
        return "expected `>=`" + _form(first)
    if str(found)[:1] in _CHOICE and "PLUS" in expected:
        return CHOICE_REMEDY
    wanted = sorted(_WORDS[name] for name in expected if name in _WORDS)
    if expected & _OPERATORS:
        wanted.append("an operator")
    if last is None or last.type == "SEMICOLON":
        return f"expected a statement or a body: {RECORD}"
    return (f"expected {' or '.join(wanted)}" if wanted else "see docs/model-language.md") + _form(first)


def _short(token: Token) -> str:
    return str(token) if len(token) <= 40 else token[:37] + "..."
