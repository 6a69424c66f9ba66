"""The result of a study: one row per case, statistics, and any case again by its index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import StudyError
from kinegraph.extras import Foreign
from kinegraph.model.names import did_you_mean
from kinegraph.solve.recording import Status
from kinegraph.solve.solution import arrow_table, save_columns
from kinegraph.studies.cases import Case, nominal_note
from kinegraph.studies.outcomes import Column
from kinegraph.studies.plan import Plan
from kinegraph.studies.sampling import Design
from kinegraph.studies.statistics import (
    Estimate,
    Sensitivity,
    Summary,
    class_probabilities,
    clopper_pearson,
    first_order_indices,
    quantile,
    sobol_indices,
    summary,
    wilson,
)
from kinegraph.tabular import Tabular, runs_over_time

if TYPE_CHECKING:
    import pyarrow

_GOOD = [status.name for status in Status if status.good]


#: How many failures `Study.to_dict` lists.
_MOST_FAILURES = 20


@dataclass(frozen=True)
class Failure:
    """A case that did not reach its end, and why."""

    case: int
    status: str
    reason: str


@dataclass(frozen=True)
class Study(Tabular):
    """The cases of a study as columns of equal length; case 0 is the nominal one.

    complete: whether all requested cases are there; False after Ctrl-C.
    enough: the estimate that was narrow enough to end the study early, if it did.
    states: at the times of `plan.grid`, by case, time and entry. folder: where everything is stored.
    """

    plan: Plan
    columns: Mapping[str, Column]
    states: NDArray[np.float64]
    seconds: float
    complete: bool
    enough: Estimate | None = None
    resumed: int = 0
    folder: Path | None = None

    def __len__(self) -> int:
        return len(self.columns["case"])

    def __getitem__(self, name: str) -> Column:
        """A column, including the nominal case."""
        if name not in self.columns:
            raise StudyError(f"the study has no column {name!r}\n  {did_you_mean(name, self.columns)}")
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    # cases

    def case(self, index: int) -> Case:
        """Any case of the plan by its index, to inspect or run again; also one that has not run yet."""
        return Case(self.plan, index)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Cases that did not reach their end."""
        bad = np.flatnonzero(~np.isin(self.columns["status"], _GOOD))
        return tuple(
            Failure(int(self["case"][k]), str(self["status"][k]), str(self["reason"][k])) for k in bad
        )  # fmt: skip

    @cached_property
    def assembled(self) -> str | None:
        """The declared initial values that were changed to close loops in the nominal case, as text; None if all
        hold."""
        return nominal_note(self.plan)

    @cached_property
    def drawn(self) -> dict[str, Column]:
        """The columns without the nominal case, as used by statistics."""
        return {name: column[self.columns["case"] > 0] for name, column in self.columns.items()}

    @cached_property
    def _good(self) -> NDArray[np.bool_]:
        return np.isin(self.drawn["status"], _GOOD)

    # statistics

    @property
    def numbers(self) -> tuple[str, ...]:
        """The outcomes."""
        return tuple(self.plan.outcome_table.outcomes)

    def values(self, name: str) -> NDArray[np.float64]:
        """An outcome of all drawn cases as numbers; NaN for failed cases."""
        if name not in self.drawn:
            raise StudyError(f"the study has no column {name!r}\n  {did_you_mean(name, self.columns)}")
        try:
            numbers = np.asarray(self.drawn[name], dtype=float)
        except ValueError:
            raise StudyError(f"column {name!r} does not contain numbers") from None
        return np.where(self._good, numbers, np.nan)

    def summary(self, name: str, confidence: float = 0.95) -> Summary:
        """Mean, spread and quantiles of an outcome."""
        return summary(name, self.values(name), confidence)

    def quantile(self, name: str, level: float, confidence: float = 0.95) -> Estimate:
        """A quantile of an outcome with its interval."""
        values = self.values(name)
        return quantile(values[np.isfinite(values)], level, confidence)

    def probability(self, confidence: float = 0.95, exact: bool = False) -> Estimate:
        """The probability of success; failed cases count as no success. exact: the interval of Clopper and Pearson."""
        if "success" not in self.columns:
            raise StudyError("the study has no success condition: give success='...' to study")
        held = self.drawn["success"].astype(bool)
        return (clopper_pearson if exact else wilson)(int(held.sum()), len(held), confidence)

    def classes(self, confidence: float = 0.95) -> dict[str, Estimate]:
        """The probability of every class."""
        if "class" not in self.columns:
            raise StudyError("the study has no classes: give classes={name: condition} to study")
        return class_probabilities(self.drawn["class"], confidence)

    def sensitivity(self, outcome: str, confidence: float = 0.95) -> Sensitivity:
        """The varied names that an outcome depends on; `success` counts as 0 and 1."""
        samples, values = self.plan.samples, self.values(outcome)
        if samples.design is Design.SALTELLI and self.complete:
            return sobol_indices(samples, outcome, values, confidence)
        inputs = np.column_stack([np.asarray(self.drawn[name], dtype=float) for name in samples.names])
        return first_order_indices(samples.names, inputs, outcome, values, confidence)

    # files

    def table(self) -> pyarrow.Table:
        """The columns as an Arrow table."""
        return arrow_table(self.columns)

    def save(self, path: str | Path) -> Path:
        """Write one row per case to a .parquet, .csv or .npz file."""
        return save_columns(path, self.columns)

    def _table(self) -> Mapping[str, Column]:
        return self.columns

    def to_xarray(self) -> Foreign:
        """The saved trajectories by `case` and `t`, with outcomes and varied values, as an xarray Dataset.

        Needs the extra `tables`, and a study with `times`.
        """
        if not self.plan.grid:
            raise StudyError("the study saved no trajectories: give times=... to study, or use to_pandas")
        values = {name: self.states[:, :, place] for place, name in enumerate(self.plan.equations().names)}
        known = {f"{name}(0)" if name in values else name: column for name, column in self.columns.items()}
        facts = {"model": self.plan.mechanism.name}
        return runs_over_time(values, self.plan.grid_times(), known, facts, dimension="case")

    # printing

    def __repr__(self) -> str:
        return f"<Study of {self}>"

    def __str__(self) -> str:
        name, failed = self.plan.mechanism.name, len(self.failures)
        rate = (len(self) - self.resumed) / self.seconds if self.seconds else 0.0
        planned = self.plan.samples.total
        count = f"{len(self)} cases" if len(self) == planned else f"{len(self)} of {planned} cases"
        lines = [f"{name}: {count} in {self.seconds:.3g} s ({rate:.3g} per second), {failed} failed"]
        if self.assembled:
            lines.append(f"  {self.assembled}")
        if self.resumed:
            lines.append(f"  {self.resumed} of them were already finished")
        if self.enough is not None:
            lines.append(f"  ended early: {self.enough} is narrow enough")
        if "success" in self.columns and len(self) > 1:
            lines.append(f"  success: {self.probability()}")
        if "class" in self.columns and len(self) > 1:
            lines += [f"  {one}: {found}" for one, found in self.classes().items()]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """Statistics and the first failures as JSON can hold them; `table` has all cases."""
        summaries = {name: self.summary(name) for name in self.numbers}
        classes = self.classes() if "class" in self.columns else {}
        return {
            "model": self.plan.mechanism.name, "cases": len(self), "planned": self.plan.samples.total,
            "complete": self.complete, "seconds": self.seconds, "resumed": self.resumed,
            "success": self.probability().to_dict() if "success" in self.columns else None,
            "classes": {name: one.to_dict() for name, one in classes.items()},
            "outcomes": {
                name: {
                    "nominal": self[name][0].item(), "mean": one.mean.to_dict(), "deviation": one.deviation,
                    "min": one.low, "max": one.high, "missing": one.missing,
                    "quantiles": {f"{level:g}": value.to_dict() for level, value in one.quantiles.items()},
                }
                for name, one in summaries.items()
            },
            "failed": len(self.failures), "failures": [vars(one) for one in self.failures[:_MOST_FAILURES]],
            "folder": None if self.folder is None else str(self.folder),
        }  # fmt: skip
