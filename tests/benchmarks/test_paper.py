"""The plan for large studies: what takes longest decides, and the table says so."""

from __future__ import annotations

from benchmarks.study.mock import Sizes
from benchmarks.study.paper import START_SECONDS, paper_of, span


def test_the_longest_of_three_is_the_time() -> None:
    paper = paper_of(2e-3, Sizes(100.0, 120.0, 1e-6))
    small, spread, long, wide = paper.rows
    assert (small.cases, small.cores, wide.cases, wide.cores) == (10**6, 100, 10**9, 10_000)
    assert long.bound == "cores" and long.compute == 10**9 * 1e-3 / 100
    assert wide.bound == "driver" and wide.seconds == START_SECONDS + 10**9 * 1e-6
    assert spread.compute < small.compute and wide.moved == 10**9 * 100
    assert paper.report()[-1]["stored"] == 10**9 * 120


def test_the_table_has_a_line_for_every_study() -> None:
    lines = paper_of(2e-3, Sizes(100.0, 120.0, 1e-6)).table().splitlines()
    assert len(lines) == 6 and all(line.count("|") == 9 for line in lines)
    assert "2.8 h" in lines[4] and "bound by the driver" in lines[5]


def test_times_as_one_reads_them() -> None:
    assert [span(seconds) for seconds in (0.95, 33.4, 10_000.0)] == ["0.95 s", "33 s", "2.8 h"]
