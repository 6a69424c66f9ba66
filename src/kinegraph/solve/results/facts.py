"""What stands beside the columns of a solution in a file, as JSON has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from kinegraph.solve.problem.execution import DecisionFacts


class EndingFacts(TypedDict):
    """How a run ended; the status by its name."""

    status: str
    time: float
    component: str
    detail: str


class EventFacts(TypedDict):
    """One event."""

    name: str
    time: float
    state: list[float]


class CheckFacts(TypedDict):
    """One check."""

    name: str
    error: float
    limit: float | None


class StatisticsFacts(TypedDict):
    """What the run cost."""

    steps: int
    rejected: int
    evaluations: int
    jacobians: int
    seconds: float
    loading: float


class SolutionFacts(TypedDict):
    """All that is no column; `drift` is missing in older files."""

    model: str
    method: str
    positions: Sequence[str]
    velocities: Sequence[str]
    ending: EndingFacts
    events: list[EventFacts]
    checks: list[CheckFacts]
    statistics: StatisticsFacts
    decision: DecisionFacts
    drift: Mapping[str, float | None]
