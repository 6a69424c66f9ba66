"""Interrupts as a token: who starts long work makes one and passes it down; the work asks it between two steps.

Ctrl-C arrives as Python's own KeyboardInterrupt, wherever the program happens to be; `catching` turns it into a request
that everyone who holds the token can see. A window or a server requests from another thread. Where an exception would
leave something half done (a step of an integrator, an import, code that is being loaded), `deferring` and `delayed`
hold it back for the moment that takes; nothing else below the command line touches the handling of signals.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kinegraph.errors import Interrupted


class Interrupt:
    """A request to end early, seen by all work the token was passed to. Requesting is safe from any thread."""

    __slots__ = ("_pressed", "_requested", "_within")

    def __init__(self, within: Interrupt | None = None) -> None:
        """within: a token of the work that this is a part of; its requests end the part too."""
        self._requested = self._pressed = False
        self._within = within

    @property
    def requested(self) -> bool:
        """True once somebody wants the work to end; it stays so."""
        return self._requested or self.from_outside

    @property
    def from_outside(self) -> bool:
        """True if Ctrl-C or the token around this one ended the work: it is not to be begun in another way."""
        return self._pressed or (self._within is not None and self._within.requested)

    def request(self) -> None:
        """Ask the work to end and keep what it has."""
        self._requested = True

    def _press(self) -> None:
        self._pressed = True

    def check(self) -> None:
        """Raise Interrupted if the work is to end: for loops that have nothing of their own to keep."""
        if self.requested:
            raise Interrupted("interrupted")

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Run a block that Ctrl-C or `check` may end: it becomes a request, and what follows the block goes on."""
        try:
            yield
        except KeyboardInterrupt:
            self._press()
        except Interrupted:
            self.request()

    @contextmanager
    def deferring(self) -> Iterator[None]:
        """Run a block that Ctrl-C does not end: it becomes a request, which the block looks for when it can."""
        ours = threading.current_thread() is threading.main_thread()
        if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield  # Ctrl-C does not arrive here, or is in the hands of somebody else
            return
        signal.signal(signal.SIGINT, lambda *_: self._press())
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def delayed() -> Iterator[None]:
    """Run a short block to its end before Ctrl-C takes effect: what is imported or loaded must not stay half done."""
    interrupt = Interrupt()
    try:
        with interrupt.deferring():
            yield
    finally:
        if interrupt.requested:
            raise KeyboardInterrupt
