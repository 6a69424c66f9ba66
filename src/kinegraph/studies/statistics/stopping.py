"""When a study has seen enough: an interval of confidence that is narrow enough.

Chunks count in the order of their cases, whoever finishes first: where a study stops does not depend on where it ran.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from kinegraph.errors import StudyError
from kinegraph.model.names import did_you_mean
from kinegraph.studies.outcomes.table import OutcomeTable
from kinegraph.studies.running.cases import CaseTable
from kinegraph.studies.statistics.intervals import Estimate, check_confidence, mean, wilson

_TEXT = re.compile(r"\s*(.+?)\s*(?:\+-|±)\s*([0-9.eE+-]+)\s*(?:@\s*([0-9.]+)\s*)?")
_FEWEST = 30  # cases before an interval means anything


@dataclass(frozen=True)
class Until:
    """Stop when the interval of an outcome's mean, or of the probability of success or of a class, is this narrow."""

    what: str
    half_width: float
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not self.half_width > 0:
            raise StudyError(f"until: the half-width is {self.half_width!r}; give a positive number")

    def check(self, outcome_table: OutcomeTable) -> None:
        """StudyError unless the study has what is named."""
        known = (
            *outcome_table.outcomes,
            *outcome_table.classes,
            *(["success"] if outcome_table.success is not None else []),
        )
        if self.what not in known:
            raise StudyError(f"until: the study has no {self.what!r}\n  {did_you_mean(self.what, known)}")

    def estimate(self, tables: list[CaseTable], outcome_table: OutcomeTable) -> Estimate:
        """The estimate by these cases, the nominal one left out."""
        if self.what in outcome_table.outcomes:
            values = np.concatenate([_drawn(table, self.what).astype(float) for table in tables])
            return mean(values[np.isfinite(values)], self.confidence)
        column = "success" if self.what == "success" else "class"
        wanted: object = True if column == "success" else self.what
        held = np.concatenate([_drawn(table, column) == wanted for table in tables])
        return wilson(int(held.sum()), len(held), self.confidence)

    def reached(self, tables: list[CaseTable], outcome_table: OutcomeTable) -> bool:
        """Whether these cases are enough."""
        found = self.estimate(tables, outcome_table)
        return found.count >= _FEWEST and found.half_width <= self.half_width


def _drawn(table: CaseTable, name: str) -> np.ndarray:
    return table.columns[name][int(table.first == 0) :]


def read_until(given: Until | str | None) -> Until | None:
    """`success +- 0.01` or `success +- 0.01 @ 0.99`."""
    if given is None or isinstance(given, Until):
        return given
    found = _TEXT.fullmatch(given)
    if found is None:
        raise StudyError(f"until: cannot read {given!r}; write e.g. 'success +- 0.01' or 'success +- 0.01 @ 0.99'")
    try:
        return Until(found[1], float(found[2]), float(found[3] or 0.95))
    except ValueError:
        raise StudyError(f"until: cannot read {given!r}; write e.g. 'success +- 0.01'") from None
