"""The same study on threads, Dask and MPI, bit for bit; workers and schedulers that die."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import MissingPackageError, StudyError
from kinegraph.studies.executors import DaskCluster
from tests.cli.run import ENVIRONMENT
from tests.programs import HANGS
from tests.studies.oscillator import MODEL, OPTIONS, same


def run(**options):
    return kg.study(MODEL, 1, **{**OPTIONS, "cases": 30, **options})


@pytest.fixture(scope="module")
def serial():
    return run(threads=1)


@pytest.mark.parametrize("threads", [2, 5])
def test_threads(serial, threads):
    assert same(run(threads=threads), serial)


def test_chunks_do_not_matter(serial):
    assert same(run(chunk=1), serial) and same(run(chunk=31), serial)


def test_the_plan_travels_as_a_recipe(serial):
    plan = pickle.loads(pickle.dumps(serial.plan))
    assert plan.facts == serial.plan.facts and b"address" not in pickle.dumps(serial.plan)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="Dask needs the extra `cluster`")
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(n_workers=2, **options) as local, distributed.Client(local) as client:
        yield client


@pytest.mark.soak
def test_dask_with_two_workers(serial, cluster):
    assert same(run(cluster=cluster), serial)
    assert same(run(cluster=cluster.scheduler.address), serial)


@pytest.mark.soak
def test_dask_with_four_workers(serial, cluster):
    cluster.cluster.scale(4)
    cluster.wait_for_workers(4)
    assert same(run(cluster=cluster), serial)


def test_a_worker_killed_by_sigkill(serial, cluster):
    """Dask runs what it was about elsewhere; every case is there once."""
    processes = list(cluster.run(os.getpid).values())
    killed = []

    class Killing(DaskCluster):
        def run(self, work, chunks):
            for finished in super().run(work, chunks):
                if not killed:
                    killed.append(processes[0])
                    os.kill(processes[0], signal.SIGKILL)
                yield finished

    found = run(executor=Killing(cluster), chunk=1)
    assert killed and found["case"].tolist() == list(range(31)) and same(found, serial)


SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"


@pytest.mark.soak
def test_a_scheduler_that_is_restarted(serial):
    distributed = pytest.importorskip("distributed", reason="Dask needs the extra `cluster`")
    port = distributed.utils.open_port()
    address = f"tcp://127.0.0.1:{port}"
    scheduler = [sys.executable, "-c", SCHEDULER, "--port", str(port), "--no-dashboard", "--host", "127.0.0.1"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    worker += ["--death-timeout", "120"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": ENVIRONMENT}
    started = [subprocess.Popen(scheduler, **quiet), subprocess.Popen(worker, **quiet)]
    seen = []

    class Restarting(DaskCluster):
        def run(self, work, chunks):
            for finished in super().run(work, chunks):
                seen.append(finished[0])
                if len(seen) == 3:
                    started[0].send_signal(signal.SIGKILL)
                    started[0].wait()
                    started.append(subprocess.Popen(scheduler, **quiet))
                    started.append(subprocess.Popen(worker, **quiet))
                yield finished

    try:
        for _ in range(60):
            try:
                distributed.Client(address, timeout=2).close()
                break
            except OSError:
                pass
        found = run(executor=Restarting(address), chunk=1)
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert found["case"].tolist() == list(range(31)) and same(found, serial)
    assert len(started) == 4 and sorted(seen) == sorted(set(seen))


def test_a_cluster_that_is_not_there():
    pytest.importorskip("distributed", reason="Dask needs the extra `cluster`")
    from kinegraph.studies import executors as dask

    before = dask._CONNECT
    dask._CONNECT = 1.0
    try:
        with pytest.raises(StudyError, match=r"no Dask cluster found at 'tcp://127\.0\.0\.1:1'"):
            run(cluster="tcp://127.0.0.1:1")
    finally:
        dask._CONNECT = before


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingPackageError, match=r"kinegraph\[cluster\]"):
        run(cluster="tcp://127.0.0.1:1")


PROGRAM = """
import sys
import numpy as np, kinegraph as kg
from kinegraph.studies.executors import Mpi
from tests.studies.oscillator import MODEL, OPTIONS
found = kg.study(MODEL, 1, **{**OPTIONS, "cases": 30, "executor": Mpi()})
rows = np.column_stack([found[name] for name in ("case", "low", "area", "speed")])
np.save(sys.argv[1] + str(Mpi().ranks.rank), rows)
"""


@pytest.mark.soak
def test_mpi_with_two_ranks(serial, tmp_path):
    pytest.importorskip("mpi4py", reason="MPI needs the extra `mpi`")
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if mpiexec is None:
        pytest.skip("there is no mpiexec")
    command = [mpiexec, "-n", "2", sys.executable, "-c", PROGRAM, str(tmp_path / "rank")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    expected = np.column_stack([serial[name] for name in ("case", "low", "area", "speed")])
    for rank in "01":
        assert np.array_equal(np.load(tmp_path / f"rank{rank}.npy"), expected, equal_nan=True)
