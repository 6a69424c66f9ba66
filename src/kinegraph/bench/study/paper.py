"""A plan on paper: what large studies would take, from figures measured here."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.bench.study.mock import Sizes

CASES = (10**6, 10**9)
CORES = (100, 10_000)
CASE_SECONDS = 1e-3
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
    """What so many cases of so many seconds take, in the best of some chunks; task: seconds the scheduler needs."""
    rows = [_row(cases, cores, 10**power, task, sizes, seconds) for power in range(1, 7) if 10**power <= cases]
    return min(rows, key=lambda row: max(row.compute, row.scheduler))


def _row(cases: int, cores: int, chunk: int, task: float, sizes: Sizes, seconds: float) -> Row:
    tasks = -(-cases // chunk)
    compute = -(-tasks // cores) * chunk * seconds
    return Row(cases, cores, chunk, compute, tasks * task, cases * sizes.writing, cases * sizes.sent)
