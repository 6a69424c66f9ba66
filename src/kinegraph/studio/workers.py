"""Processes that compute for the studio. Each has limits, can be ended at any time, and is replaced when it dies.

The server never computes: a model that is huge or endless occupies one process, and the page stays alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Message: TypeAlias = Mapping[str, object]
#: Takes what a process writes: its kind (`D` answer, `P` progress, `F` frame) and the JSON text.
Receiver: TypeAlias = Callable[[str, str], None]

_LONGEST_LINE = 256 * 2**20
_MOST_WAITING = 200


class Worker:
    """A process that answers one request after another."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._receiver: Receiver | None = None
        self._ended: Callable[[str], None] | None = None
        self._errors: deque[str] = deque(maxlen=20)
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._read_errors())]

    @classmethod
    async def started(cls) -> Worker:
        """A new process, which imports what it needs while it waits."""
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-P", "-m", "kinegraph.studio.worker")
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=pipe, limit=_LONGEST_LINE, start_new_session=True
        )
        return cls(process)

    def attach(self, receiver: Receiver, ended: Callable[[str], None]) -> None:
        """From now on `receiver` takes what the process writes; `ended` is called with its last words if it dies."""
        self._receiver, self._ended = receiver, ended

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.returncode is None

    def send(self, message: Message) -> None:
        """Pass a request on."""
        assert self._process.stdin is not None
        if not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    def kill(self) -> None:
        """End the process at once; nothing it writes is passed on any more."""
        self._receiver = self._ended = None
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError, ConnectionError):
            while line := await self._process.stdout.readline():
                if self._receiver is not None:
                    self._receiver(chr(line[0]), line[1:].decode())
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        if self._ended is not None:
            self._ended(self._errors[-1] if self._errors else "")

    async def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(ValueError, ConnectionError):
            while line := await self._process.stderr.readline():
                self._errors.append(line.decode(errors="replace").strip())


class Spares:
    """A process kept ready, so that nobody waits for its imports."""

    def __init__(self) -> None:
        self._next: asyncio.Task[Worker] | None = None

    def prepare(self) -> None:
        """Start a process ahead of its use."""
        if self._next is None:
            self._next = asyncio.create_task(Worker.started())

    async def take(self) -> Worker:
        """A process of one's own; the next one starts."""
        self.prepare()
        assert self._next is not None
        task, self._next = self._next, None
        worker = await task
        self.prepare()
        return worker if worker.alive else await Worker.started()

    async def close(self) -> None:
        """End the process that waits."""
        if self._next is not None:
            (await self._next).kill()
            self._next = None


@dataclass
class Lane:
    """Requests that are answered one after another, by one process.

    newest_only: of waiting requests, only the last of each kind is answered: people type faster than models compute.
    seconds: the most time for one request.
    """

    spares: Spares
    tell: Receiver
    seconds: float
    newest_only: bool = False
    _worker: Worker | None = None
    _waiting: deque[Message] = field(default_factory=deque)
    _current: Message | None = None
    _timer: asyncio.TimerHandle | None = None
    _starting: asyncio.Task[None] | None = None

    def submit(self, message: Message) -> None:
        """Answer this request after those before it."""
        if self.newest_only:
            for old in [one for one in self._waiting if one["do"] == message["do"]]:
                self._waiting.remove(old)
                self._refuse(old, "", superseded=True)
        if len(self._waiting) >= _MOST_WAITING:
            self._refuse(message, "too many requests wait: cancel some first")
            return
        self._waiting.append(message)
        self._next()

    def steer(self, message: Message) -> None:
        """Tell the request that is being answered something, such as a new value of a parameter."""
        if self._worker is not None and self._current is not None:
            self._worker.send(message)

    def cancel(self, reason: str = "canceled") -> None:
        """End what is being computed, and drop what waits."""
        waiting = [one for one in (self._current, *self._waiting) if one is not None]
        self._waiting.clear()
        self._drop()
        for message in waiting:
            self._refuse(message, reason)

    def close(self) -> None:
        """End the process."""
        self._waiting.clear()
        self._drop()

    def _next(self) -> None:
        if self._current is not None or not self._waiting or self._starting is not None:
            return
        if self._worker is None or not self._worker.alive:
            self._starting = asyncio.create_task(self._start())
            return
        self._current = self._waiting.popleft()
        self._timer = asyncio.get_running_loop().call_later(self.seconds, self._late)
        self._worker.send(self._current)

    async def _start(self) -> None:
        worker = await self.spares.take()
        worker.attach(self._received, self._ended)
        self._worker, self._starting = worker, None
        self._next()

    def _received(self, kind: str, text: str) -> None:
        self.tell(kind, text)
        if kind == "D":
            self._finished()
            self._next()

    def _finished(self) -> None:
        self._current = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self.cancel(f"stopped after {self.seconds:g} s: the model is too large for this; use the command line")

    def _ended(self, words: str) -> None:
        """The process died: it used too much memory, or a library failed."""
        current, self._worker = self._current, None
        self._finished()
        if current is not None:
            reason = "it needed more memory than a studio gives" if "MemoryError" in words else words or "it crashed"
            self._refuse(current, f"the computation ended: {reason[:300]}")
        self._next()

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.kill()
        self._worker = None
        self._finished()

    def _refuse(self, message: Message, reason: str, superseded: bool = False) -> None:
        answer = {"id": message["id"], "do": message["do"], "error": {"message": reason}, "superseded": superseded}
        self.tell("D", json.dumps(answer))
