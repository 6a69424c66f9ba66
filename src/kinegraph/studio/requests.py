"""The requests of a studio's page: which function answers each, in which lane."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

#: What a page sends with a request.
Arguments: TypeAlias = Mapping[str, object]


@dataclass(frozen=True)
class Operation:
    """A request: the function that answers it, as `module:name`, and the lane in which it waits."""

    function: str
    lane: str


#: Lanes, each with a process of its own: the model while it is typed, a live simulation, and longer work.
LANES = {"model": 30.0, "live": 24 * 3600.0, "work": 1800.0}

OPERATIONS = {
    "scene": Operation("kinegraph.studio.scene:scene", "model"),
    "forces": Operation("kinegraph.studio.scene:forces", "model"),
    "live": Operation("kinegraph.studio.live:live", "live"),
    "run": Operation("kinegraph.studio.runs:run", "work"),
    "equations": Operation("kinegraph.studio.equations:equations", "work"),
    "equations-as": Operation("kinegraph.studio.equations:equations_as", "work"),
    "branches": Operation("kinegraph.studio.tasks:branches", "work"),
    "equilibria": Operation("kinegraph.studio.tasks:find_equilibria", "work"),
    "modes": Operation("kinegraph.studio.tasks:find_modes", "work"),
    "linearize": Operation("kinegraph.studio.tasks:linear_system", "work"),
    "reactions": Operation("kinegraph.studio.tasks:joint_reactions", "work"),
    "response": Operation("kinegraph.studio.tasks:frequency_response", "work"),
    "campbell": Operation("kinegraph.studio.tasks:campbell_diagram", "work"),
    "study": Operation("kinegraph.studio.studies:run_study", "work"),
    "versions": Operation("kinegraph.studio.versions:versions", "work"),
    "version": Operation("kinegraph.studio.versions:version", "work"),
    "keep-version": Operation("kinegraph.studio.versions:keep_version", "work"),
    "export": Operation("kinegraph.studio.exports:export_files", "work"),
}


@dataclass
class Channel:
    """How the function that answers a request speaks with the page meanwhile."""

    inbox: queue.SimpleQueue[dict[str, object] | None]
    tell: Callable[[str, object], None]
    request: Mapping[str, object] = field(default_factory=dict)
    _told: float = 0.0

    def progress(self, share: float, words: str = "") -> None:
        """Say how far the work is, at most ten times a second."""
        now = time.monotonic()
        if now - self._told > 0.1:
            self._told = now
            self.tell("P", {**self.request, "share": share, "words": words})

    def frame(self, content: Mapping[str, object]) -> None:
        """Send a frame of a live simulation. The page may miss some."""
        self.tell("F", {**self.request, **content})

    def heard(self, seconds: float) -> dict[str, object] | None:
        """What the page says within some seconds, if anything."""
        try:
            return self.inbox.get(timeout=seconds) if seconds > 0 else self.inbox.get_nowait()
        except queue.Empty:
            return None
