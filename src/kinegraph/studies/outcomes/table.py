"""The outcomes, classes and success of a study, checked, and their columns for cases that have been run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinegraph.errors import StudyError
from kinegraph.model.names import did_you_mean
from kinegraph.studies.column import Column
from kinegraph.studies.outcomes.language import OutcomeFormula, read_outcome
from kinegraph.studies.outcomes.reductions import ALONG, Reduced, check_event

#: Columns that every study has; no outcome may be called so.
OWN_COLUMNS = ("case", "status", "reason", "end_time", "steps", "class", "success")
#: Numbers of a run that need no formula.
END_TIME, STEPS = "end_time", "steps"
UNCLASSED = "none"


@dataclass(frozen=True)
class OutcomeTable:
    """Outcomes by name, classes (the first that holds names the case) and the condition of success."""

    outcomes: Mapping[str, str]
    classes: Mapping[str, str]
    success: str | None
    varied: tuple[str, ...]
    events: tuple[str, ...]

    @cached_property
    def read(self) -> dict[str, OutcomeFormula]:
        """All texts read, in the order in which they are computed; names are checked."""
        found: dict[str, OutcomeFormula] = {}
        known = {*self.varied, END_TIME, STEPS, "pi"}
        for name, text in self.outcomes.items():
            if name in OWN_COLUMNS or name in self.varied:
                raise StudyError(f"no outcome can be called {name!r}: the table has a column of that name")
            found[name] = self._checked(text, known)
            known.add(name)
        for name, text in self.classes.items():
            if name in known:
                raise StudyError(f"no class can be called {name!r}: something else has that name")
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
            hint = f"of the model write final({name}), max({name}), ..."
            raise StudyError(f"the outcome {text!r}: there is no {name!r}\n  {remedy}; {hint}")
        return outcome

    @property
    def outputs(self) -> tuple[str, ...]:
        """The formulas that are looked at along runs."""
        found = (one.formula for outcome in self.read.values() for one in outcome.reductions if one.formula)
        return tuple(dict.fromkeys(found))

    @property
    def along(self) -> tuple[frozenset[str], ...]:
        """For each output, what is looked for inside steps: columns of `CaseRows`, "high", "low", "area"."""
        wanted = [one for outcome in self.read.values() for one in outcome.reductions if one.word in ALONG]
        return tuple(frozenset(ALONG[one.word] for one in wanted if one.formula == text) for text in self.outputs)

    def columns(self, reduced: Reduced, varied: Mapping[str, Column], good: Column) -> dict[str, Column]:
        """Outcomes, class and success of cases; a case that failed has no success, and the class `failed`."""
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
    """Conditions stay so; all else is a double."""
    return np.array(column) if column.dtype == np.bool_ else np.array(column, dtype=float)


def default_outcomes(names: Sequence[str]) -> dict[str, str]:
    """Where nothing is asked for: all of the state at the end."""
    return {f"final({name})": f"final({name})" for name in names}
