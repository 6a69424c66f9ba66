"""What goes along with a run of any method: where to save, events, who is told, and the token that ends it early."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.interrupt import Interrupt
from kinegraph.solve.problem.events import EventSet
from kinegraph.solve.problem.progress import Progress, Silent
from kinegraph.solve.results.recording import OwnSteps, Save

NO_EVENTS = EventSet()
EVERY_STEP = OwnSteps()
SILENT = Silent()


@dataclass(frozen=True)
class RunOptions:
    """How one run is saved, watched and interrupted; as it stands every step is saved and nobody is told."""

    save: Save = EVERY_STEP
    events: EventSet = NO_EVENTS
    progress: Progress = SILENT
    interrupt: Interrupt | None = None

    @property
    def token(self) -> Interrupt:
        """What ends the run early, if anything does: a new one where none was given, as tokens stay requested."""
        return self.interrupt or Interrupt()


AS_USUAL = RunOptions()
