"""Foreign programs that tests call: is a program here and does it run, and a call that says what went wrong."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.effort import SOAK

#: Seconds after which a program is taken to hang: less than a test may take in all (`faulthandler_timeout`), so that
#: the test says which program it was. Soaks, which may take longer, have more.
HANGS = 3600 if SOAK else 240

#: How a program is asked for its version where `--version` is not the word.
_VERSION = {"kpsewhich": ("-version",)}


@cache
def fault(program: str) -> str | None:
    """Why a program cannot be used; None if it can. One that is found and does not run is as good as none."""
    if shutil.which(program) is None:
        return f"{program} is not installed"
    try:
        done = subprocess.run([program, *_VERSION.get(program, ("--version",))], capture_output=True, timeout=HANGS)
    except OSError as error:
        return f"{program} does not run: {error.strerror}"
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        return f"{program} does not run: {said[0] if said else f'exit code {done.returncode}'}"
    return None


def require(*programs: str) -> None:
    """Skip the test, saying why, unless all these programs run."""
    for reason in map(fault, programs):
        if reason is not None:
            pytest.skip(reason)


def needs(*programs: str) -> pytest.MarkDecorator:
    """The same as a mark."""
    reasons = [reason for reason in map(fault, programs) if reason is not None]
    return pytest.mark.skipif(bool(reasons), reason=", ".join(reasons))


def shell(*command: str, folder: Path) -> str:
    """What a program prints; the test fails with its last words if the program does."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=HANGS)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout
