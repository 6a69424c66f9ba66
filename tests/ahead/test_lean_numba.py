"""A process that only compiles leaves out what others need; what it compiles is the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kinegraph.ahead.tried import is_tried

SAME = """
import gc, sys
import numba, numpy as np
from kinegraph.ahead.lean_numba import make_lean
from kinegraph.ahead.parts import PART

if sys.argv[1] == "lean":
    make_lean()
    assert not gc.isenabled()

part = numba.njit(error_model="numpy", **PART)(lambda x, n: x[n % len(x)] / n)
total = numba.njit(error_model="numpy")(lambda x: part(x, 3) + part(x, 4) ** 2 - max(x[0], 2.0) * min(len(x), 2))
print(float(total(np.arange(7.0))).hex())
(code,) = total.overloads.values()
print(len(code.library.get_asm_str().splitlines()))
"""

TOLD_APART = """
from kinegraph.ahead.lean_numba import make_lean
from llvmlite.binding import ffi
from numba.core.compiler import Flags
from numba.core.cpu import CPUContext

load = CPUContext.load_additional_registries
make_lean()
assert not ffi.lib._lock._cblist and CPUContext.load_additional_registries is not load
plain, same, other = Flags(), Flags(), Flags()
plain.nrt = same.nrt = True
other.nrt = False
assert plain == same and hash(plain) == hash(same) and plain != other and plain.copy() == plain
assert plain != "flags"
"""

UNKNOWN = """
import numba
from llvmlite.binding import ffi
from numba.core.cpu import CPUContext

numba.__version__ = "99.1.0"
from kinegraph.ahead.lean_numba import make_lean
from kinegraph.ahead.parts import PART

load, timers = CPUContext.load_additional_registries, list(ffi.lib._lock._cblist)
make_lean()
assert CPUContext.load_additional_registries is load and list(ffi.lib._lock._cblist) == timers
assert "pipeline_class" not in PART
"""


def printed(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    root = Path(__file__).parents[2] / "src"
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=root)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_code_is_the_same() -> None:
    assert printed(SAME, "lean") == printed(SAME, "whole")


@pytest.mark.skipif(not is_tried(), reason="another Numba: nothing is left out")
def test_functions_with_other_options_are_told_apart() -> None:
    printed(TOLD_APART)


def test_of_another_numba_nothing_is_left_out() -> None:
    printed(UNKNOWN)
