"""Code that a process of its own compiles: is it there, and if not, how it comes to be."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter

from kinegraph.ahead.folder import CHOSEN, processor, unkept
from kinegraph.ahead.lock import alone
from kinegraph.interrupt import delayed

#: Processes that were started: they end by themselves, and nobody need wait for them.
_started: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True)
class Compilation:
    """Machine code that is stored in a folder once `make` was called, in whatever process.

    name: of the code, in that folder.
    what: it is called in messages: "the integrator".
    make: compiles and keeps it; another process gets it by pickle.
    """

    name: str
    what: str
    folder: Path
    make: Callable[[], object]

    @property
    def ready(self) -> bool:
        """Whether the code is on disk, for this Python and this processor."""
        return self.mark.exists()

    @property
    def mark(self) -> Path:
        """The file that says so."""
        return self.folder / f"{self.name}-{processor()}.ready"

    def start(self) -> Compiler:
        """Begin, in a process that Ctrl-C does not reach. It ends by itself, also after the one that started it."""
        return Compiler(self)

    def require(self, expected: float, tell: Callable[[str], None]) -> float:
        """Wait until the code is on disk; the seconds that took. Whoever waits is told, and may press Ctrl-C.

        expected: seconds, for the message.
        """
        if self.ready:
            return 0.0
        tell(f"compiling {self.what}, first time, about {expected:.0f} s")
        compiler = self.start()
        compiler.wait()
        return compiler.seconds

    def compile_here(self) -> None:
        """Compile in this process, unless it is done by now; others wait meanwhile."""
        with alone(self.folder / f"{self.name}.lock"):
            if not self.ready:
                self.make()
                if not unkept:
                    self.mark.touch()


class Compiler:
    """A process that compiles. If it fails, the code is compiled when it is used."""

    def __init__(self, compilation: Compilation) -> None:
        self._begun = perf_counter()
        self._process = _process(compilation)

    @property
    def started(self) -> bool:
        """Whether there is such a process; where none can be started, this one has to compile."""
        return self._process is not None

    @cached_property
    def seconds(self) -> float:
        """How long it took; asked for once it is done."""
        return perf_counter() - self._begun

    @property
    def done(self) -> bool:
        """Whether it has ended, well or not."""
        return (self._process is None or self._process.poll() is not None) and self.seconds >= 0

    def wait(self) -> None:
        """Wait for its end; Ctrl-C ends the waiting and leaves the process to its work."""
        if self._process is not None:
            self._process.wait()


def _process(compilation: Compilation) -> subprocess.Popen[bytes] | None:
    """The process, or None where none can be started."""
    places = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, CHOSEN: str(compilation.folder.parent), "PYTHONPATH": places}
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    command = [sys.executable, "-P", "-m", "kinegraph.ahead"]
    with delayed():  # or the process would be left waiting for its work
        try:
            silent = subprocess.DEVNULL
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=silent, stderr=silent, creationflags=flags,
                start_new_session=not flags,
            )  # fmt: skip
            assert process.stdin is not None
            _started.append(process)
            with process.stdin as pipe:
                pipe.write(pickle.dumps(compilation))
        except (OSError, ValueError):
            return None
    return process
