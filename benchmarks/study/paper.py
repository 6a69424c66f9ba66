"""A plan on paper: what large studies would take, from figures measured here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import log10

from benchmarks.study.mock import Sizes

CASES = (10**6, 10**9)
CORES = (100, 10_000)
CASE_SECONDS = 1e-3
START_SECONDS = 30.0  # until a worker has imported all and loaded its kernels


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
        return START_SECONDS + max(self.compute, self.scheduler, self.driver)

    @property
    def bound(self) -> str:
        """What takes longest."""
        parts = {"cores": self.compute, "scheduler": self.scheduler, "driver": self.driver}
        return max(parts, key=lambda name: parts[name])


@dataclass(frozen=True)
class Paper:
    """The plan: what a chunk costs scheduler and driver [s], the sizes of a row, and what studies take from that."""

    task: float
    sizes: Sizes
    rows: tuple[Row, ...]

    def report(self) -> list[dict[str, float | str]]:
        """The rows for JSON."""
        return [
            asdict(row) | {"seconds": row.seconds, "bound": row.bound, "stored": row.cases * self.sizes.stored}
            for row in self.rows
        ]

    def table(self) -> str:
        """The plan as the table of the documentation."""
        head = "| cases | cores | chunk | cores are busy | scheduler | driver writes | moved | done after |"
        return "\n".join([head, "|" + "---|" * 8, *(_line(row) for row in self.rows)])


def paper_of(task: float, sizes: Sizes) -> Paper:
    """The plan for all studies and clusters."""
    return Paper(task, sizes, tuple(planned(cases, count, task, sizes) for cases in CASES for count in CORES))


def _line(row: Row) -> str:
    busy = min(row.cores, -(-row.cases // row.chunk))
    compute = span(row.compute) + (f" on {busy} of them" if busy < row.cores else "")
    moved = f"{row.moved / 1e9:.2f}" if row.moved < 1e10 else f"{row.moved / 1e9:.0f}"
    done = f"{span(row.seconds)}, bound by the {row.bound}"
    parts = f"10^{round(log10(row.cases))}", f"{row.cores:,}", f"{row.chunk:,}", compute, span(row.scheduler)
    return f"| {' | '.join(parts)} | {span(row.driver)} | {moved} GB | {done} |"


def span(seconds: float) -> str:
    """A time as one reads it."""
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 3600:.1f} h"


def planned(cases: int, cores: int, task: float, sizes: Sizes, seconds: float = CASE_SECONDS) -> Row:
    """What so many cases of so many seconds take, in the best of some chunks; task: seconds the scheduler needs."""
    rows = [_row(cases, cores, 10**power, task, sizes, seconds) for power in range(1, 7) if 10**power <= cases]
    return min(rows, key=lambda row: max(row.compute, row.scheduler))


def _row(cases: int, cores: int, chunk: int, task: float, sizes: Sizes, seconds: float) -> Row:
    tasks = -(-cases // chunk)
    compute = -(-tasks // cores) * chunk * seconds
    return Row(cases, cores, chunk, compute, tasks * task, cases * sizes.writing, cases * sizes.sent)
