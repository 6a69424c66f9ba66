"""A plan on paper: what large studies would take, from figures measured here."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.bench.study.mock import Sizes

CASES = (10**6, 10**9)
CORES = (100, 10_000)
CASE_SECONDS = 1e-3
_TASK_SECONDS = 10.0  # what a chunk should take, so that the scheduler hears of it seldom
_START_SECONDS = 30.0  # until a worker has imported all and loaded its kernels


@dataclass(frozen=True)
class Row:
    """One study on one cluster. The longest of three is the time: the cores', the scheduler's, the driver's."""

    cases: int
    cores: int
    chunk: int
    compute: float
    scheduler: float
    driver: float
    moved: float

    @property
    def seconds(self) -> float:
        """Until it is done, with the start of the workers."""
        return _START_SECONDS + max(self.compute, self.scheduler, self.driver)

    @property
    def bound(self) -> str:
        """What takes longest."""
        parts = {"cores": self.compute, "scheduler": self.scheduler, "driver": self.driver}
        return max(parts, key=lambda name: parts[name])


def planned(cases: int, cores: int, task: float, sizes: Sizes, seconds: float = CASE_SECONDS) -> Row:
    """What so many cases of so many seconds take; task: seconds the scheduler needs for one."""
    chunk = max(min(int(_TASK_SECONDS / seconds), -(-cases // (4 * cores))), 1)
    tasks = -(-cases // chunk)
    compute = cases * seconds / cores
    return Row(cases, cores, chunk, compute, tasks * task, cases * sizes.writing, cases * sizes.sent)
