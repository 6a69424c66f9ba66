"""Code that another process compiles: made once, said to be there only when it is, and Ctrl-C does not reach it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from kinegraph.ahead import compilation as ahead
from kinegraph.ahead.compilation import Compilation


def write(folder: Path, signals: bool = False) -> None:
    """In place of a compiler: notes which process it was, and that Ctrl-C does not disturb it."""
    if signals:
        os.kill(os.getpid(), signal.SIGINT)
    with (folder / "made").open("a") as file:
        file.write(f"{os.getpid()}\n")


def fail() -> None:
    raise ValueError("no")


def code(folder: Path, **options: bool) -> Compilation:
    return Compilation("code", "the code", folder, partial(write, folder, **options))


def test_another_process_makes_it_once(tmp_path: Path) -> None:
    told: list[str] = []
    assert not code(tmp_path).ready
    assert code(tmp_path).require(12, told.append) > 0
    assert code(tmp_path).ready and told == ["compiling the code, first time, about 12 s"]
    (maker,) = (tmp_path / "made").read_text().split()
    assert int(maker) != os.getpid()
    assert code(tmp_path).require(12, told.append) == 0
    code(tmp_path).compile_here()
    assert len(told) == 1 and (tmp_path / "made").read_text().split() == [maker]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process there")
def test_ctrl_c_does_not_reach_it(tmp_path: Path) -> None:
    compiler = code(tmp_path, signals=True).start()
    compiler.wait()
    assert compiler.done and compiler.seconds > 0
    assert code(tmp_path).ready


def test_several_at_once_make_it_once(tmp_path: Path) -> None:
    compilers = [code(tmp_path).start() for _ in range(3)]
    for compiler in compilers:
        compiler.wait()
    assert len((tmp_path / "made").read_text().split()) == 1


def test_what_fails_is_not_ready(tmp_path: Path) -> None:
    failing = Compilation("code", "the code", tmp_path, fail)
    failing.require(1, lambda text: None)
    assert not failing.ready


def test_where_no_process_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError("too many processes")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    compiler = code(tmp_path).start()
    compiler.wait()
    assert compiler.done and not compiler.started and not code(tmp_path).ready


def test_a_module_in_the_working_directory_does_not_disturb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pickle.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ahead.sys, "path", ["", *sys.path])
    code(tmp_path).require(1, lambda text: None)
    assert code(tmp_path).ready
