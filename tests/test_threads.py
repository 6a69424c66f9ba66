"""Names of `kg` may be used first in several threads at once: what they load is loaded one after the other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import SOAK

_FIRST_USES = """
import threading
import kinegraph as kg

names = ["simulate", "sweep", "study", "sensitivities", "fit", "equilibria", "compile", "view"]
together, failed = threading.Barrier(len(names)), []

def use(name):
    together.wait(timeout=60)
    try:
        getattr(kg, name)
    except Exception as error:
        failed.append(f"{name}: {error!r}")

threads = [threading.Thread(target=use, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(failed)
"""


def test_first_uses_in_threads() -> None:
    starts = 2 if SOAK else 1
    for _ in range(starts):  # most of them failed with _DeadlockError while every thread imported for itself
        command = [sys.executable, "-c", _FIRST_USES]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        assert ended.stdout.strip() == "[]"


@pytest.mark.parametrize("seed", range(10 if SOAK else 1))
def test_everything_in_threads(seed: int, tmp_path: Path) -> None:
    """Nothing is cached."""
    own = {"KINEGRAPH_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "tests.everything_in_threads", str(seed), str(int(SOAK))]
    root = Path(__file__).parents[1]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=1000, cwd=root, env={**os.environ, **own}, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stdout + ended.stderr
