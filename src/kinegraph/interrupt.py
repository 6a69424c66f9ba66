"""Cancellation tokens for long computations, which check them between two steps.

Ctrl-C raises Python's KeyboardInterrupt at any instruction; `catching` turns it into a request that every holder of the
token sees. A window or a server makes requests from another thread. An exception would leave some operations half done
(a step of an integrator, an import, code being loaded): there `deferring` and `delayed` postpone it. Nothing else below
the command line handles signals.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kinegraph.errors import Interrupted


class Interrupt:
    """A cancellation token, shared by all work it is passed to. A request is safe from any thread."""

    __slots__ = ("_pressed", "_requested", "_within")

    def __init__(self, within: Interrupt | None = None) -> None:
        """within: the token of an enclosing computation, whose requests also end this part."""
        self._requested = self._pressed = False
        self._within = within

    @property
    def requested(self) -> bool:
        """True after a request to end the work."""
        return self._requested or self.from_outside

    @property
    def from_outside(self) -> bool:
        """True if Ctrl-C or the enclosing token ended the work, so that no other method is tried."""
        return self._pressed or (self._within is not None and self._within.requested)

    def request(self) -> None:
        """Ask the work to end and keep its partial results."""
        self._requested = True

    def _press(self) -> None:
        self._pressed = True

    def check(self) -> None:
        """Raise Interrupted after a request: for loops without partial results."""
        if self.requested:
            raise Interrupted("interrupted")

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Run a block that Ctrl-C or `check` may end. The exception becomes a request, and execution continues."""
        try:
            yield
        except KeyboardInterrupt:
            self._press()
        except Interrupted:
            self.request()

    @contextmanager
    def deferring(self) -> Iterator[None]:
        """Run a block that Ctrl-C does not end. It becomes a request, which the block checks for."""
        ours = threading.current_thread() is threading.main_thread()
        if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield  # Ctrl-C does not arrive in this thread, or the application has its own handler
            return
        signal.signal(signal.SIGINT, lambda *_: self._press())
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def delayed() -> Iterator[None]:
    """Run a short block to its end before Ctrl-C takes effect, such as an import."""
    interrupt = Interrupt()
    try:
        with interrupt.deferring():
            yield
    finally:
        if interrupt.requested:
            raise KeyboardInterrupt
