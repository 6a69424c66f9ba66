"""Many cases in worker processes: whatever happens to a worker is noted, and the next goes on after it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tests.fuzz.subject import Subject

#: Seconds of processor time one case may take.
SECONDS = 10.0

#: A worker is replaced after so many cases, so that what piles up in a long life is no fault of a case.
BATCH = 4000

#: Seconds of silence after which a worker is taken to wait for ever; generous, for the machine may be busy.
_HANGS = 900


@dataclass(frozen=True)
class Fault:
    """A case that went wrong, and how."""

    subject: str
    seed: int
    number: int
    what: str

    def __str__(self) -> str:
        return f"{self.subject} SEED={self.seed} CASE={self.number}: {self.what.strip()}"


@dataclass
class Tally:
    """How the cases of one subject went."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, 0)
    faults: list[Fault] = field(default_factory=list)

    def note(self, number: int, how: str, seconds: float) -> None:
        """Count one case."""
        self.counts[how] += 1
        self.seconds += seconds
        self.slowest = max(self.slowest, (seconds, number))

    def add(self, other: Tally) -> None:
        """Take in what another batch found."""
        self.counts += other.counts
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)
        self.faults += other.faults


@dataclass(frozen=True)
class Campaign:
    """Cases of several subjects with one seed. `told` is called with each fault as it is found."""

    cases: int
    seed: int
    jobs: int
    told: Callable[[Fault], None]
    seconds: float = SECONDS

    def run(self, subjects: tuple[Subject, ...]) -> dict[str, Tally]:
        """Run all cases, each subject its share, and say how they went."""
        tallies = {subject.name: Tally() for subject in subjects}
        lock = threading.Lock()

        def work(batch: tuple[Subject, int, int]) -> None:
            found = self._batch(*batch, folder)
            with lock:
                tallies[batch[0].name].add(found)

        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(work, self._batches(subjects)))
        return tallies

    def _batches(self, subjects: tuple[Subject, ...]) -> Iterator[tuple[Subject, int, int]]:
        """Batches of all subjects in turn, so that each is reached early."""
        whole = sum(subject.share for subject in subjects)
        counts = [(one, -(-self.cases * one.share // whole) if whole else self.cases) for one in subjects]
        for first in range(0, max(count for _, count in counts), BATCH):
            for subject, count in counts:
                if first < count:
                    yield subject, first, min(first + BATCH, count)

    def _batch(self, subject: Subject, first: int, last: int, folder: str) -> Tally:
        tally = Tally()
        while first < last:
            first = self._worker(subject, first, last, folder, tally)
        return tally

    def _worker(self, subject: Subject, first: int, last: int, folder: str, tally: Tally) -> int:
        """Let one worker go as far as it comes; the number of the first case that is left."""
        command = [
            sys.executable,
            "-m",
            "tests.fuzz.worker",
            subject.name,
            *map(str, (self.seed, first, last, self.seconds)),
        ]
        own = {"KINEGRAPH_CACHE": f"{folder}/cache", "KINEGRAPH_STORE": f"{folder}/store.sqlite", "MPLBACKEND": "agg"}
        environment = {**os.environ, **own, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        begun: int | None = None
        with tempfile.TemporaryFile("w+") as words:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=words, text=True, env=environment)
            watch = _Watch(process)
            assert process.stdout is not None
            for line in process.stdout:
                watch.again()
                report = json.loads(line)
                begun = report.get("begun", begun)
                if "how" in report:
                    first = report["case"] + 1
                    tally.note(report["case"], report["how"], report["seconds"])
                    if report["how"] == "fault":
                        self._tell(tally, Fault(subject.name, self.seed, report["case"], report["trace"]))
            process.wait()
            watch.stop()
            if first >= last:
                return last
            words.seek(0)
            if begun is None:
                raise RuntimeError(f"the worker did not begin: {words.read()[-3000:]}")
            tally.counts["fault"] += 1
            self._tell(tally, Fault(subject.name, self.seed, begun, _death(process.returncode) + words.read()[-3000:]))
            return begun + 1

    def _tell(self, tally: Tally, fault: Fault) -> None:
        tally.faults.append(fault)
        self.told(fault)


class _Watch:
    """Ends a process that has been silent for too long."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._timer = threading.Timer(0, lambda: None)
        self.again()

    def again(self) -> None:
        """The process was heard of: begin to wait anew."""
        self._timer.cancel()
        self._timer = threading.Timer(_HANGS, self._process.kill)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """The process has ended."""
        self._timer.cancel()


def _death(code: int) -> str:
    if code == -signal.SIGPROF:
        return "more than its processor time\n"
    if code == -signal.SIGKILL:
        return "killed: it waits for ever, or the system has no memory left\n"
    return f"the worker died, exit code {code}\n"
