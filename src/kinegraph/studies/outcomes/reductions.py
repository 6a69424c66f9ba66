"""Reductions: what makes one number of a run. `max(tip.z)`, `time(touch)`, `at(touch, q1')`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import StudyError
from kinegraph.model.names import did_you_mean
from kinegraph.solve.batch.cases import CaseRows
from kinegraph.studies.column import Column

#: Reductions of a formula along the run, and the columns of `CaseRows` they are.
OVER_FORMULA = {
    "final": "last", "initial": "first", "max": "high", "min": "low", "time_of_max": "high_at", "time_of_min": "low_at",
    "integral": "area", "mean": "area",
}  # fmt: skip
#: Reductions of an event, and of an event and a formula.
OVER_EVENT = {"time": "first_at", "last_time": "last_at", "count": "count", "happened": "count", "stopped_by": ""}
AT_EVENT = {"at": "at_first", "at_last": "at_last"}
#: Those that need a look inside every step, and what is looked for.
ALONG = {
    "max": "high", "time_of_max": "high", "min": "low", "time_of_min": "low", "integral": "area", "mean": "area",
}  # fmt: skip
WORDS = (*OVER_FORMULA, *OVER_EVENT, *AT_EVENT)

_WORD = re.compile(r"(?<![\w$.])(" + "|".join(sorted(WORDS, key=len, reverse=True)) + r")\s*\(")


@dataclass(frozen=True)
class Reduction:
    """One number of a run: the word, the formula it is taken of, and the event."""

    word: str
    formula: str = ""
    event: str = ""


def extracted(text: str) -> tuple[str, list[Reduction]]:
    """The text with `@0`, `@1`, ... in place of its reductions, and these."""
    found: list[Reduction] = []
    pieces: list[str] = []
    place = 0
    while match := _WORD.search(text, place):
        end = _closing(text, match.end())
        arguments = _arguments(text[match.end() : end])
        if len(arguments) == 2 and match[1] in ("max", "min"):  # the larger of two numbers, not of a run
            pieces.append(text[place : match.end()])
            place = match.end()
            continue
        pieces.append(f"{text[place : match.start()]} @{len(found)} ")
        found.append(_reduction(match[1], arguments, text))
        place = end + 1
    return "".join([*pieces, text[place:]]), found


def _closing(text: str, start: int) -> int:
    """Where the parenthesis before `start` closes."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise StudyError(f"cannot read the outcome {text!r}: a parenthesis is not closed")


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
        raise StudyError(f"cannot read the outcome {text!r}: write {usual}")
    if word in OVER_FORMULA:
        return Reduction(word, formula=arguments[0])
    return Reduction(word, event=arguments[0], formula=arguments[1] if wanted == 2 else "")


@dataclass(frozen=True)
class Reduced:
    """Cases whose reductions can be asked for: the rows, what the outputs are called, and the events."""

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
    """StudyError for a reduction of an event there is not."""
    if one.event and one.event not in events:
        remedy = did_you_mean(one.event, events) or "the study has no events"
        raise StudyError(f"the outcome {text!r} names no event of the study: {one.event!r}\n  {remedy}")
