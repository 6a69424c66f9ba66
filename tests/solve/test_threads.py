"""Runs begun by many threads at once, in a process that has not run anything yet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import SOAK

TRIALS = 20 if SOAK else 1

ROOT = Path(__file__).parents[2]

STUDY = """
import faulthandler, sys
import kinegraph as kg
from tests.studies.oscillator import MODEL, OPTIONS, same

faulthandler.enable()
one, many = (kg.study(MODEL, 2.0, **{**OPTIONS, "native": True, "cases": 40, "chunk": 2, "threads": n}) for n in (8, 1))
sys.exit(not same(one, many))
"""

SUMS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from kinegraph.solve.methods.runge_kutta import loop_method
from kinegraph.solve.methods.tableau import DORMAND_PRINCE_5

ready = Barrier(8)

def ask(_):
    ready.wait(timeout=60)
    return loop_method(DORMAND_PRINCE_5).sums

with ThreadPoolExecutor(8) as pool:
    sys.exit(len(set(pool.map(ask, range(8)))) - 1)
"""


def ran(program):
    """What a process of its own said to this program."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240, cwd=ROOT)


def test_threads_that_ask_together_get_one_address():
    """Where each had its own, all but one would lead to code that is gone."""
    done = ran(SUMS)
    assert done.returncode == 0, done.stderr or f"{done.returncode + 1} addresses"


@pytest.mark.parametrize("trial", range(TRIALS))
def test_threads_that_begin_together_all_run_and_agree(trial):
    """In a process that has not run anything yet each thread loads what it needs; two of three such studies crashed."""
    done = ran(STUDY)
    assert done.returncode == 0, done.stderr
