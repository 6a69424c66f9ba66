"""Compiled loops of a run: on disk, on their way there, or still to be made. Who waits for them is told."""

from __future__ import annotations

import logging

from kinegraph.ahead.compilation import Compilation, Compiler
from kinegraph.solve.problem import costs

_log = logging.getLogger("kinegraph")
_loaded: set[str] = set()  # methods whose compiled loops this process has used


class Loading:
    """The loops of one method, for one run; `tell` says whether the user wants to know what is going on."""

    def __init__(self, method: str, loops: Compilation, tell: bool) -> None:
        self._method, self._loops, self._tell = method, loops, tell
        self._compiler: Compiler | None = None

    @property
    def on_disk(self) -> bool:
        """Whether they need only be loaded."""
        return self._method in _loaded or self._loops.ready

    def seconds(self, known: costs.Costs) -> float:
        """How long it takes until they can be used."""
        return known.load(self._method, self._method in _loaded, self.on_disk)

    def arrived(self) -> bool:
        """Whether they can be loaded by now; another process begins to make them, where they are missing."""
        if self.on_disk:
            return True
        if self._compiler is None:
            self._say("compiling the integrator, first time, about {} s; until then the run is interpreted")
            self._compiler = self._loops.start()
        if not self._compiler.done:
            return False
        if self.on_disk:
            costs.store(costs.stored().made(self._compiler.seconds))
            return True
        return not self._compiler.started  # what was killed or failed there is not tried here: the run goes on

    def wait(self) -> None:
        """Come back when they can be loaded."""
        if self._compiler is not None or self.on_disk:  # where another process could not make them, this one does
            return
        known = costs.stored()
        seconds = self._loops.require(known.make(), _log.warning if self._tell else lambda text: None)
        if self.on_disk:
            costs.store(known.made(seconds))

    def learn(self, seconds: float) -> None:
        """Keep what loading cost, once in a process."""
        if seconds and self._method not in _loaded:
            _loaded.add(self._method)
            costs.store(costs.stored().loaded(self._method, seconds))

    def _say(self, text: str) -> None:
        if self._tell:
            _log.warning(text.format(round(costs.stored().make())))
