"""Interrupts as a token: who starts long work makes one and passes it down; the work asks it between two steps.

Nothing below the command line installs a signal handler. Ctrl-C arrives as Python's own KeyboardInterrupt, wherever
the program happens to be; `catching` turns it into a request that everyone who holds the token can see. A window or a
server requests from another thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kinegraph.errors import Interrupted


class Interrupt:
    """A request to end early, seen by all work the token was passed to. Requesting is safe from any thread."""

    __slots__ = ("_requested",)

    def __init__(self) -> None:
        self._requested = False

    @property
    def requested(self) -> bool:
        """True once somebody wants the work to end; it stays so."""
        return self._requested

    def request(self) -> None:
        """Ask the work to end and keep what it has."""
        self._requested = True

    def check(self) -> None:
        """Raise Interrupted if the work is to end: for loops that have nothing of their own to keep."""
        if self._requested:
            raise Interrupted("interrupted")

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Run a block that Ctrl-C or `check` may end: it becomes a request, and what follows the block goes on."""
        try:
            yield
        except (KeyboardInterrupt, Interrupted):
            self.request()
