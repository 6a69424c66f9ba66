"""Whether a run gets on: forces that jump make steps so short that it would never end.

CVODE limits the steps between outputs, Simulink the zero crossings in a row; here the steps of the last while are
compared with what is left of the run.
"""

from __future__ import annotations

import logging

from kinegraph.solve.loops.marks import Floats, Integers
from kinegraph.solve.loops.record import END, REJECTED, STEPS, TIME

#: So many steps are looked at together.
WINDOW = 20_000

#: A run that needs more steps than this for the rest, at the pace of the window, will never end.
NEVER = 1e12

#: A run that needs more than this takes long, which is said once.
LONG = 2e7

_log = logging.getLogger("kinegraph")
_WARNING = (
    "at t = %.9g the last %d steps took the run on by %.3g: at this pace the rest takes %.1g steps. Where forces jump, "
    "state the jump as an event or a contact, or give friction a larger `width`; method='bdf' is for stiff forces"
)


class Headway:
    """Looks at clock and counters of a run between its slices."""

    def __init__(self, clock: Floats, counters: Integers) -> None:
        self._clock, self._counters = clock, counters
        self._said = False
        self._mark()

    def _mark(self) -> None:
        self._steps, self._time = self._tried, float(self._clock[TIME])

    @property
    def _tried(self) -> int:
        return int(self._counters[STEPS] + self._counters[REJECTED])

    @property
    def is_lost(self) -> bool:
        """Whether the run would never end; a pace that is merely slow is told to the log, once."""
        steps, passed = self._tried - self._steps, float(self._clock[TIME]) - self._time
        if steps < WINDOW:
            return False
        left = float(self._clock[END] - self._clock[TIME])
        needed = left / passed * steps if passed > 0 else float("inf")
        if LONG < needed <= NEVER and not self._said:
            self._said = True
            _log.warning(_WARNING, self._clock[TIME], steps, passed, needed)
        self._mark()
        return needed > NEVER
