"""Outcomes as text: reductions of a run with arithmetic, comparisons, and, or, not. Nothing is ever executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeAlias

import numpy as np
from lark import Lark, Token, Tree
from lark.exceptions import LarkError

from kinegraph.errors import StudyError
from kinegraph.model.names import did_you_mean
from kinegraph.studies.column import Column
from kinegraph.studies.outcomes.reductions import WORDS, Reduction, extracted

#: A number or a column of them.
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
    """A formula over the whole run, read: its text, its reductions, and the tree that joins them."""

    text: str
    reductions: tuple[Reduction, ...]
    tree: Tree[Token]

    @property
    def names(self) -> frozenset[str]:
        """Names that are no reductions: other outcomes, what is varied, classes."""
        return frozenset(_written(token) for token in _tokens(self.tree) if token.type in ("NAME", "QUOTED"))

    def value(self, reductions: Sequence[Column], named: Mapping[str, Column], rows: int) -> Column:
        """The outcome of all cases; what is not a number stays so, and a comparison with it is false."""
        with np.errstate(all="ignore"):
            return np.broadcast_to(_evaluated(self.tree, reductions, named), rows)


def read_outcome(text: str) -> OutcomeFormula:
    """The outcome of a text; StudyError where it cannot be read."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise StudyError(f"an outcome is a formula of at most {_LONGEST} characters, not {text!r:.80}")
    spelled, reductions = extracted(text)
    try:
        tree = _grammar().parse(spelled)
    except LarkError:
        words = ", ".join(WORDS)
        raise StudyError(
            f"cannot read the outcome {text!r}: write e.g. max(tip.z) > 0.5 and count(touch) > 0\n  reductions: {words}"
        ) from None
    for call in tree.find_data("call") if isinstance(tree, Tree) else ():
        _check_call(call, text)
    return OutcomeFormula(text, tuple(reductions), tree)


def _check_call(call: Tree[Token], text: str) -> None:
    name = str(call.children[0])
    if name not in _FUNCTIONS:
        raise StudyError(f"the outcome {text!r}: there is no function {name!r}\n  "
                         f"{did_you_mean(name, (*_FUNCTIONS, *WORDS))}")  # fmt: skip
    if len(call.children) - 1 != _FUNCTIONS[name][0]:
        raise StudyError(f"the outcome {text!r}: {name} takes {_FUNCTIONS[name][0]} arguments")


@cache
def _grammar() -> Lark:
    text = files("kinegraph.studies.outcomes").joinpath("outcomes.lark").read_text(encoding="utf-8")
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
