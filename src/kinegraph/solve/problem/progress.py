"""A bar for long runs: simulated time, rate, time left. It appears only if a run takes a while."""

from __future__ import annotations

import sys
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

_PATIENCE = 0.7  # seconds before a bar appears


class Progress(Protocol):
    """What a solver tells how far it is."""

    def __enter__(self) -> Progress: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def reached(self, amount: float) -> None:
        """So much of the total is done."""
        ...


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def reached(self, amount: float) -> None:
        """Nothing."""


class Later:
    """Tells another one, with times that were counted from an origin."""

    def __init__(self, told: Progress, origin: float) -> None:
        self.told, self.origin = told, origin

    def __enter__(self) -> Later:
        self.told.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.told.__exit__(kind, error, trace)

    def reached(self, amount: float) -> None:
        """So much is done, counted from the origin."""
        self.told.reached(amount + self.origin)


class Bar:
    """A rich progress bar on the error stream, from `start` to `end` of whatever `unit` is counted in."""

    def __init__(self, start: float, end: float, unit: str = "s", label: str = "simulating") -> None:
        self.start, self.end, self.unit, self.label = start, end, unit, label
        self._bar: RichProgress | None = None
        self._begun = perf_counter()

    def __enter__(self) -> Bar:
        self._begun = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def reached(self, amount: float) -> None:
        """Move the bar."""
        elapsed = perf_counter() - self._begun
        if self._bar is None:
            if elapsed < _PATIENCE:
                return
            self._bar = self._started_bar()
        rate = (amount - self.start) / elapsed
        text = f"{amount:.4g} of {self.end:.4g} {self.unit}, {rate:.3g} {self.unit} per second"
        self._bar.update(self._bar.task_ids[0], completed=amount - self.start, reached=text)

    def _started_bar(self) -> RichProgress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[reached]}")
        bar_on_screen = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        bar_on_screen.add_task(self.label, total=self.end - self.start, reached="")
        bar_on_screen.start()
        return bar_on_screen


def bar(wanted: bool | None, start: float, end: float, unit: str = "s", label: str = "simulating") -> Progress:
    """A bar if it is wanted; None: if someone is looking at the terminal."""
    show = sys.stderr.isatty() if wanted is None else wanted
    return Bar(start, end, unit, label) if show else Silent()
