"""Compiling an FMU's sources for the machine at hand, if it has a C compiler."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from kinegraph.errors import KernelError
from kinegraph.export.options import Fmi

_COMPILERS = ("cc", "gcc", "clang")
_FLAGS = ("-std=c99", "-O2", "-shared", "-fvisibility=hidden")
_SYSTEMS = {"Linux": ("linux", ".so"), "Windows": ("windows", ".dll"), "Darwin": ("darwin", ".dylib")}
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "i386": "x86", "i686": "x86"}


def find_compiler() -> str | None:
    """The C compiler: what CC names, else the first of cc, gcc and clang that is installed."""
    wanted = (os.environ["CC"],) if os.environ.get("CC") else _COMPILERS
    return next((found for found in map(shutil.which, wanted) if found), None)


def binary_path(identifier: str, fmi: Fmi) -> str:
    """Where FMI wants the binary of this machine inside the archive."""
    system, suffix = _SYSTEMS.get(platform.system(), (platform.system().lower(), ".so"))
    if fmi is Fmi.TWO:
        bits = 64 if sys.maxsize > 2**32 else 32
        return f"binaries/{'win' if system == 'windows' else system}{bits}/{identifier}{suffix}"
    machine = platform.machine().lower()
    return f"binaries/{_MACHINES.get(machine, machine)}-{system}/{identifier}{suffix}"


def compile_sources(compiler: str, texts: Mapping[str, str], identifier: str) -> bytes:
    """The shared library of C sources; CFLAGS are added to the flags of ours."""
    with TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        target = Path(folder) / f"{identifier}.bin"
        position = () if platform.system() == "Windows" else ("-fPIC",)
        units = [name for name in texts if name.endswith(".c")]
        given = shlex.split(os.environ.get("CFLAGS", ""))
        command = [compiler, *_FLAGS, *position, *given, *units, "-o", target.name, "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            raise KernelError(
                f"{compiler} could not compile the FMU's sources: {done.stderr.strip()[:500]}\n"
                "  set CC to another compiler, or leave the binary out (--no-binary)"
            )
        return target.read_bytes()
