"""Compiling the peers' native code: once per content, kept in a folder of the bench."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

from kinegraph.reproduce.kernel_timing import cpu_model

NATIVE = Path(__file__).parent / "native"


class Unavailable(Exception):
    """A peer cannot take part; the message says why."""


def work_folder() -> Path:
    """`$KINEGRAPH_BENCH`, or a folder in the user's cache: compiling Pinocchio takes minutes and is done once."""
    chosen = os.environ.get("KINEGRAPH_BENCH")
    folder = Path(chosen) if chosen else Path.home() / ".cache" / "kinegraph-bench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def cpp_compiler() -> str:
    """clang makes Pinocchio faster than g++ does, so it is preferred."""
    for name in ("clang++", "clang++-19", "clang++-16", "clang++-14", "g++"):
        if shutil.which(name):
            return name
    raise Unavailable("there is no C++ compiler: install clang or g++")


@cache
def shared_library(source: str | Path, compiler: str, options: tuple[str, ...] = ()) -> ctypes.CDLL:
    """A library built from a file of `native/`, or from any file given by its path."""
    return ctypes.CDLL(str(built(source, compiler, ("-shared", "-fPIC"), options, ".so")))


def built(source: str | Path, compiler: str, before: tuple[str, ...], options: tuple[str, ...], suffix: str) -> Path:
    """The compiled file; made anew when source, compiler, options or machine change."""
    path = NATIVE / source
    if shutil.which(compiler) is None:
        raise Unavailable(f"{compiler} is not installed")
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    command = [compiler, *before, str(path), *options]
    parts = [path.read_text(), version, compiler, *before, *options, os.uname().machine, cpu_model()]
    key = sha256("\0".join(parts).encode()).hexdigest()
    target = work_folder() / f"{path.stem}-{key[:16]}{suffix}"
    if not target.exists():
        if path.suffix == ".cpp":
            print(f"compiling {path.name} with {compiler}: some minutes, once", file=sys.stderr)
        partial = target.with_suffix(f".{os.getpid()}.tmp")
        done = subprocess.run(["nice", *command, "-o", str(partial)], capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"{path.name} does not compile with {compiler}: {done.stderr.strip()[-600:]}")
        partial.replace(target)
    return target


def cmeel_prefix() -> Path:
    """Where the `pin` wheel keeps headers and libraries."""
    for entry in sys.path:
        folder = Path(entry) / "cmeel.prefix"
        if (folder / "include" / "pinocchio").is_dir():
            return folder
    raise Unavailable("Pinocchio is missing: pip install pin cmeel-eigen")


def pinocchio_options() -> tuple[str, ...]:
    """What compiling against the wheel takes."""
    prefix = cmeel_prefix()
    return (
        "-DNDEBUG", "-std=c++17", "-w", "-DBOOST_FUSION_INVOKE_MAX_ARITY=10", "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
        "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DPINOCCHIO_ENABLE_COMPATIBILITY_WITH_VERSION_3",
        "-isystem", f"{prefix}/include", "-isystem", f"{prefix}/include/eigen3",
        f"-L{prefix}/lib", "-lboost_serialization", f"-Wl,-rpath,{prefix}/lib",
    )  # fmt: skip
