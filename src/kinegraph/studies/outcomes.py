"""Outputs and outcomes of a case: formulas along its run, and reductions of the whole run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, ClassVar, TypeAlias

import numpy as np
from lark import Lark, Token, Tree
from lark.exceptions import LarkError
from numpy.typing import NDArray

from kinegraph.errors import KinegraphError, StudyError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Output
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.formulas import StateNames, formula
from kinegraph.solve.ensemble import CaseRows

# The columns of a table of cases.

#: One entry per case: numbers, text (`status`), or booleans. The name of a column determines which of these; with a
#: union every use would need a conversion.
Column: TypeAlias = NDArray[Any]


# Outputs: formulas of the state along a run, with points, energies and any quantity of the model, as one graph.


class OutputNames(StateNames):
    """The names for the outputs of a study."""

    error: ClassVar[type[KinegraphError]] = StudyError


def output_graph(equations: Equations, texts: Sequence[str]) -> Graph:
    """All outputs as one graph in q, v, t, inputs and parameters."""
    builder = GraphBuilder()
    names = OutputNames(builder, equations)
    nodes = tuple(one.index for one in names.read([formula(text) for text in texts]))
    return builder.graph([Output("outputs", (len(nodes),), nodes)])


# Reductions of a run to one number: `max(tip.z)`, `time(touch)`, `at(touch, q1')`.

#: Reductions of a formula along the run, and their columns of `CaseRows`.
OVER_FORMULA = {
    "final": "last", "initial": "first", "max": "high", "min": "low", "time_of_max": "high_at", "time_of_min": "low_at",
    "integral": "area", "mean": "area",
}  # fmt: skip
#: Reductions of an event, and of an event and a formula.
OVER_EVENT = {"time": "first_at", "last_time": "last_at", "count": "count", "happened": "count", "stopped_by": ""}
AT_EVENT = {"at": "at_first", "at_last": "at_last"}
#: Reductions that need values inside every step, and which values.
ALONG = {
    "max": "high", "time_of_max": "high", "min": "low", "time_of_min": "low", "integral": "area", "mean": "area",
}  # fmt: skip
WORDS = (*OVER_FORMULA, *OVER_EVENT, *AT_EVENT)

_WORD = re.compile(r"(?<![\w$.])(" + "|".join(sorted(WORDS, key=len, reverse=True)) + r")\s*\(")


@dataclass(frozen=True)
class Reduction:
    """One number of a run: the reduction, its formula, and its event."""

    word: str
    formula: str = ""
    event: str = ""


def extracted(text: str) -> tuple[str, list[Reduction]]:
    """The text with `@0`, `@1`, ... instead of its reductions, and the reductions."""
    found: list[Reduction] = []
    pieces: list[str] = []
    place = 0
    while match := _WORD.search(text, place):
        end = _closing(text, match.end())
        arguments = _arguments(text[match.end() : end])
        if len(arguments) == 2 and match[1] in ("max", "min"):  # the larger of two numbers, not over a run
            pieces.append(text[place : match.end()])
            place = match.end()
            continue
        pieces.append(f"{text[place : match.start()]} @{len(found)} ")
        found.append(_reduction(match[1], arguments, text))
        place = end + 1
    return "".join([*pieces, text[place:]]), found


def _closing(text: str, start: int) -> int:
    """The index of the parenthesis that closes the one before `start`."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise StudyError(f"cannot parse the outcome {text!r}: a parenthesis is not closed")


def _arguments(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]


def _reduction(word: str, arguments: list[str], text: str) -> Reduction:
    wanted = 2 if word in AT_EVENT else 1
    if len(arguments) != wanted or not all(arguments):
        usual = {1: f"{word}(q1)" if word in OVER_FORMULA else f"{word}(event)", 2: f"{word}(event, q1)"}[wanted]
        raise StudyError(f"cannot parse the outcome {text!r}: write {usual}")
    if word in OVER_FORMULA:
        return Reduction(word, formula=arguments[0])
    return Reduction(word, event=arguments[0], formula=arguments[1] if wanted == 2 else "")


@dataclass(frozen=True)
class Reduced:
    """Cases with the data of their reductions: the rows, the names of the outputs, and the events."""

    rows: CaseRows
    outputs: Sequence[str]
    events: Sequence[str]
    start: float

    def value(self, one: Reduction) -> Column:
        """One reduction of all cases."""
        rows = self.rows
        if one.word in OVER_FORMULA:
            column = getattr(rows, OVER_FORMULA[one.word])[:, self.outputs.index(one.formula)]
            return np.asarray(column / self._lengths if one.word == "mean" else column)
        place = self.events.index(one.event)
        if one.word in AT_EVENT:
            return np.asarray(getattr(rows, AT_EVENT[one.word])[:, place, self.outputs.index(one.formula)])
        if one.word == "stopped_by":
            return np.array([end.status.name == "EVENT" and end.detail == one.event for end in rows.endings])
        column = getattr(rows, OVER_EVENT[one.word])[:, place]
        return np.asarray(column > 0 if one.word == "happened" else column.astype(float))

    @property
    def _lengths(self) -> NDArray[np.float64]:
        return np.array([end.time for end in self.rows.endings]) - self.start


def check_event(one: Reduction, events: Sequence[str], text: str) -> None:
    """StudyError for a reduction of an unknown event."""
    if one.event and one.event not in events:
        remedy = did_you_mean(one.event, events) or "the study has no events"
        raise StudyError(
            f"the outcome {text!r} names the event {one.event!r}, which the study does not have\n  {remedy}"
        )


# Outcomes as text: reductions of a run with arithmetic, comparisons, and, or, not. Nothing is ever executed.

#: A number or a column of numbers.
Value: TypeAlias = float | np.generic | Column
_LONGEST = 10_000

_FUNCTIONS: dict[str, tuple[int, Callable[..., Value]]] = {
    **{name: (1, getattr(np, name)) for name in ("sin", "cos", "tan", "sqrt", "exp", "log", "abs", "sign")},
    **{name: (1, getattr(np, f"arc{name[1:]}")) for name in ("asin", "acos", "atan")},
    "atan2": (2, np.arctan2), "hypot": (2, np.hypot), "max": (2, np.maximum), "min": (2, np.minimum),
    "known": (1, np.isfinite),
}  # fmt: skip
_COMPARED: dict[str, Callable[..., Value]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[..., Value]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "raise_to": np.power,
    "negate": np.negative,
}  # fmt: skip
_LOGIC: dict[str, Callable[..., Value]] = {"either": np.logical_or, "both": np.logical_and, "negation": np.logical_not}


@dataclass(frozen=True)
class OutcomeFormula:
    """A parsed formula over the whole run: its text, its reductions, and the tree that joins them."""

    text: str
    reductions: tuple[Reduction, ...]
    tree: Tree[Token]

    @property
    def names(self) -> frozenset[str]:
        """Names that are not reductions: other outcomes, varied names, classes."""
        return frozenset(_written(token) for token in _tokens(self.tree) if token.type in ("NAME", "QUOTED"))

    def value(self, reductions: Sequence[Column], named: Mapping[str, Column], rows: int) -> Column:
        """The outcome of all cases; NaN stays NaN, and a comparison with it is false."""
        with np.errstate(all="ignore"):
            return np.broadcast_to(_evaluated(self.tree, reductions, named), rows)


def read_outcome(text: str) -> OutcomeFormula:
    """The outcome of a text; StudyError if it cannot be parsed."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise StudyError(f"an outcome is a formula of at most {_LONGEST} characters, not {text!r:.80}")
    spelled, reductions = extracted(text)
    try:
        tree = _grammar().parse(spelled)
    except LarkError:
        words = ", ".join(WORDS)
        raise StudyError(
            f"cannot parse the outcome {text!r}: write e.g. max(tip.z) > 0.5 and count(touch) > 0\n"
            f"  reductions: {words}"
        ) from None
    for call in tree.find_data("call") if isinstance(tree, Tree) else ():
        _check_call(call, text)
    return OutcomeFormula(text, tuple(reductions), tree)


def _check_call(call: Tree[Token], text: str) -> None:
    name = str(call.children[0])
    if name not in _FUNCTIONS:
        hint = did_you_mean(name, (*_FUNCTIONS, *WORDS))
        raise StudyError(f"the outcome {text!r}: unknown function {name!r}\n  {hint}")
    if len(call.children) - 1 != _FUNCTIONS[name][0]:
        raise StudyError(f"the outcome {text!r}: {name} takes {_FUNCTIONS[name][0]} arguments")


@cache
def _grammar() -> Lark:
    text = files("kinegraph.studies").joinpath("outcomes.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", maybe_placeholders=True)


def _tokens(tree: Tree[Token] | Token) -> list[Token]:
    if isinstance(tree, Token):
        return [tree]
    names = tree.data == "call"
    return [token for child in tree.children[names:] for token in _tokens(child)]


def _written(token: str) -> str:
    return str(token).strip('"')


def _evaluated(tree: Tree[Token] | Token, reductions: Sequence[Column], named: Mapping[str, Column]) -> Value:
    assert isinstance(tree, Tree)
    children = tree.children
    first = str(children[0]) if children else ""
    match tree.data:
        case "number":
            return float(first)
        case "true" | "false":
            return np.bool_(tree.data == "true")
        case "mark":
            return reductions[int(first[1:])]
        case "name" | "quoted":
            return np.pi if first == "pi" and "pi" not in named else named[_written(first)]
        case "comparison":
            left, compared, right = children
            return _COMPARED[str(compared)](*(_evaluated(one, reductions, named) for one in (left, right)))
    skipped = {"call": 1, "raise_to": 0}.get(tree.data, 0)
    values = [_evaluated(one, reductions, named) for one in children[skipped:] if not isinstance(one, Token)]
    if tree.data == "call":
        return _FUNCTIONS[first][1](*values)
    return {**_ARITHMETIC, **_LOGIC}[tree.data](*values)


# The outcomes, classes and success of a study, checked, and their columns for finished cases.

#: Columns of every study, which no outcome may use as its name.
OWN_COLUMNS = ("case", "status", "reason", "end_time", "steps", "class", "success")
#: Numbers of a run that need no formula.
END_TIME, STEPS = "end_time", "steps"
UNCLASSED = "none"


@dataclass(frozen=True)
class OutcomeTable:
    """Outcomes by name, classes (the first that holds is the class of the case) and the condition of success."""

    outcomes: Mapping[str, str]
    classes: Mapping[str, str]
    success: str | None
    varied: tuple[str, ...]
    events: tuple[str, ...]

    @cached_property
    def read(self) -> dict[str, OutcomeFormula]:
        """All texts parsed, in the order of computation, with names checked."""
        found: dict[str, OutcomeFormula] = {}
        known = {*self.varied, END_TIME, STEPS, "pi"}
        for name, text in self.outcomes.items():
            if name in OWN_COLUMNS or name in self.varied:
                raise StudyError(f"outcome {name!r}: the table already has a column of that name, choose another")
            found[name] = self._checked(text, known)
            known.add(name)
        for name, text in self.classes.items():
            if name in known:
                raise StudyError(f"class {name!r}: the name is already in use, choose another")
            found[f"class {name}"] = self._checked(text, known)
        if self.success is not None:
            found["success"] = self._checked(self.success, known | {*self.classes})
        return found

    def _checked(self, text: str, known: set[str]) -> OutcomeFormula:
        outcome = read_outcome(text)
        for one in outcome.reductions:
            check_event(one, self.events, text)
        for name in outcome.names - known:
            remedy = did_you_mean(name, known)
            hint = f"for a variable of the model write final({name}), max({name}), ..."
            raise StudyError(f"the outcome {text!r}: unknown name {name!r}\n  {remedy}; {hint}")
        return outcome

    @property
    def outputs(self) -> tuple[str, ...]:
        """The formulas evaluated along runs."""
        found = (one.formula for outcome in self.read.values() for one in outcome.reductions if one.formula)
        return tuple(dict.fromkeys(found))

    @property
    def along(self) -> tuple[frozenset[str], ...]:
        """For each output, the values needed inside steps: columns of `CaseRows`, "high", "low", "area"."""
        wanted = [one for outcome in self.read.values() for one in outcome.reductions if one.word in ALONG]
        return tuple(frozenset(ALONG[one.word] for one in wanted if one.formula == text) for text in self.outputs)

    def columns(self, reduced: Reduced, varied: Mapping[str, Column], good: Column) -> dict[str, Column]:
        """Outcomes, class and success of cases; a failed case has no success, and the class `failed`."""
        rows = len(good)
        ends = np.array([end.time for end in reduced.rows.endings])
        named: dict[str, Column] = {**varied, END_TIME: ends, STEPS: reduced.rows.steps}
        columns: dict[str, Column] = {}
        for name in self.outcomes:
            named[name] = columns[name] = _as_numbers(self._value(name, reduced, named, rows))
        if self.classes:
            columns["class"] = self._class(reduced, named, good)
            named |= {name: columns["class"] == name for name in self.classes}
        if self.success is not None:
            held = self._value("success", reduced, named, rows).astype(bool)
            columns["success"] = np.logical_and(held, good)
        return columns

    def _value(self, key: str, reduced: Reduced, named: Mapping[str, Column], rows: int) -> Column:
        outcome = self.read[key]
        return outcome.value([reduced.value(one) for one in outcome.reductions], named, rows)

    def _class(self, reduced: Reduced, named: Mapping[str, Column], good: Column) -> Column:
        rows = len(good)
        chosen = np.full(rows, UNCLASSED, dtype=object)
        for name in reversed(list(self.classes)):
            chosen[self._value(f"class {name}", reduced, named, rows).astype(bool)] = name
        chosen[~good.astype(bool)] = "failed"
        return chosen.astype(str)


def _as_numbers(column: Column) -> Column:
    """Booleans unchanged; everything else as doubles."""
    return np.array(column) if column.dtype == np.bool_ else np.array(column, dtype=float)


def default_outcomes(names: Sequence[str]) -> dict[str, str]:
    """The default outcomes: the state at the end."""
    return {f"final({name})": f"final({name})" for name in names}
