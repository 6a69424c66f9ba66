"""The folder of a study: killed, damaged, full or of another study; every case exactly once."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import StudyError
from kinegraph.studies import storage
from kinegraph.studies.executors import Threads
from tests.cli.run import ENVIRONMENT
from tests.programs import HANGS
from tests.studies.oscillator import MODEL, OPTIONS, same


def run(folder, **options):
    return kg.study(MODEL, 1, **{**OPTIONS, "folder": folder, **options})


class Counting:
    """Threads that say which chunks they ran, and end after some."""

    leads = True

    def __init__(self, most=10**9):
        self.ran, self.most = [], most

    def shared(self, found):
        return found

    def run(self, work, chunks):
        for chunk, table in Threads(1).run(work, chunks):
            if len(self.ran) >= self.most:
                raise KeyboardInterrupt
            self.ran.append(chunk)
            yield chunk, table


def test_an_interrupted_study_goes_on_where_it_was(tmp_path):
    whole = run(None)
    first = Counting(2)
    part = run(tmp_path, executor=first)
    assert not part.complete and len(part) == 8 and first.ran == [0, 1]
    second = Counting()
    rest = run(tmp_path, executor=second)
    assert rest.complete and second.ran == [2, 3] and rest.resumed == 8 and same(rest, whole)
    third = Counting()
    assert same(run(tmp_path, executor=third), whole) and third.ran == []


def test_more_cases_in_the_same_folder(tmp_path):
    run(tmp_path, cases=7)
    second = Counting()
    assert same(run(tmp_path, cases=15, executor=second), run(None, cases=15)) and second.ran == [2, 3]


def test_a_last_chunk_that_was_short_is_run_again(tmp_path):
    run(tmp_path, cases=5)
    second = Counting()
    assert same(run(tmp_path, cases=9, executor=second), run(None, cases=9)) and second.ran == [1, 2]


def test_a_damaged_chunk_is_run_again(tmp_path):
    whole = run(tmp_path)
    chunks = sorted((tmp_path / "chunks").iterdir())
    chunks[1].write_bytes(chunks[1].read_bytes()[:700])
    chunks[2].write_bytes(b"")
    second = Counting()
    assert same(run(tmp_path, executor=second), whole) and second.ran == [1, 2]


def test_another_study_is_refused(tmp_path):
    run(tmp_path)
    for options, word in (({"seed": 1}, "seed"), ({"success": "high > 0"}, "success"), ({"chunk": 5}, "chunk")):
        with pytest.raises(StudyError, match=f"differs in .*{word}"):
            run(tmp_path, **options)
    (tmp_path / "study.json").write_text("{")
    with pytest.raises(StudyError, match="not a description"):
        run(tmp_path)
    (tmp_path / "study.json").unlink()
    with pytest.raises(StudyError, match="unknown study"):
        run(tmp_path)


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path, monkeypatch):
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == 4:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(storage.os, "fsync", full)
    with pytest.raises(StudyError, match=r"no space is left.*\n.*run the same study again"):
        run(tmp_path)
    assert len(list((tmp_path / "chunks").iterdir())) == 2  # two whole chunks, nothing half written
    second = Counting()
    assert same(run(tmp_path, executor=second), run(None)) and second.ran == [2, 3]


def test_two_processes_do_not_share_a_folder(tmp_path):
    study = run(tmp_path)
    with storage.Folder(tmp_path, study.plan).held(), pytest.raises(StudyError, match="another process"):
        run(tmp_path)


def test_of_two_that_begin_in_a_new_folder_the_one_that_holds_it_describes_it(tmp_path):
    """Both see not a description. Had each written its own, one would run under that of the other."""
    first, second = run(None).plan, run(None, seed=5).plan
    one, other = (storage.Folder(tmp_path, plan) for plan in (first, second))
    with one.held(), pytest.raises(StudyError, match="another process"), other.held():
        pass
    with pytest.raises(StudyError, match=r"contains another study: it differs in .*seed"), other.held():
        pass
    with storage.Folder(tmp_path, first).held():
        pass


def test_results_are_one_row_a_case(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs the extra `parquet`")
    study = run(tmp_path)
    table = parquet.read_table(tmp_path / "results.parquet")
    assert table.num_rows == 13 and table.column_names[:3] == ["case", "q", "k"]
    assert np.array_equal(table.column("low").to_numpy(), study["low"])


def test_without_pyarrow_results_are_npz(tmp_path, monkeypatch):
    from kinegraph.studies import storage as tables

    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    study = run(tmp_path)
    with np.load(tmp_path / "results.npz") as archive:
        assert np.array_equal(archive["low"], study["low"])


def test_trajectories_are_a_zarr_group(tmp_path):
    zarr = pytest.importorskip("zarr", reason="trajectories need the extra `studies`")
    study = run(tmp_path, times=4, cases=5)
    group = zarr.open_group(str(tmp_path / "trajectories.zarr"), mode="r")
    assert np.array_equal(group["states"][:], study.states) and group.attrs["names"][:2] == ["q", "q'"]


PROGRAM = """
import sys, time
import kinegraph as kg
from kinegraph.studies import cases
from tests.studies.oscillator import MODEL, OPTIONS
plain = cases.CaseRunner.run
def slow(self, first, last, stop=None):
    time.sleep(0.02)
    print(first, flush=True)
    return plain(self, first, last, stop)
cases.CaseRunner.run = slow
kg.study(MODEL, 0.1, **{**OPTIONS, "cases": 60, "chunk": 2, "folder": sys.argv[1], "threads": 2})
"""


@pytest.mark.soak
def test_a_driver_killed_at_any_time_repeats_and_loses_nothing(tmp_path):
    """Killed by SIGKILL at a moment that differs from run to run; what is whole is never run again."""
    ran = []
    for pause in (0.2, None):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
        )
        whole = {path.name for path in (tmp_path / "chunks").glob("*")}
        assert process.stdout is not None
        if pause is not None:
            lines = [process.stdout.readline()]
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
        else:
            lines = []
        lines += process.communicate(timeout=HANGS)[0].splitlines()
        begun = {f"{int(line) // 2:08d}.npz" for line in lines if line.strip()}
        assert not begun & whole
        ran.append(begun)
    assert process.returncode == 0 and ran[0]
    final = kg.study(MODEL, 0.1, **{**OPTIONS, "cases": 60, "chunk": 2, "folder": tmp_path})
    assert final.resumed == 61 and final["case"].tolist() == list(range(61))
    assert same(final, kg.study(MODEL, 0.1, **{**OPTIONS, "cases": 60, "chunk": 2}))
    assert json.loads((tmp_path / "study.json").read_text())["format"] == 1
