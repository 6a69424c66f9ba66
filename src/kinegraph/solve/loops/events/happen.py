"""An event happens: it is recorded, together with all others at the same time."""

from __future__ import annotations

from kinegraph.solve.loops.events.values import event_rates, look
from kinegraph.solve.loops.events.watch import CALM, DONE, DUE, RECORD, Watch, passes
from kinegraph.solve.loops.marks import Floats, Integers, part
from kinegraph.solve.loops.record import EVENT_TOTAL, EVENTS
from kinegraph.solve.loops.step import System, Work


@part
def note(watch: Watch, counters: Integers, event: int, t: float, y: Floats) -> None:
    """Record one event, with the state before it acts. It is done, or it is due to act."""
    place = counters[EVENTS]
    watch.times[place] = t
    watch.which[place] = event
    for d in range(watch.states.shape[1]):
        watch.states[place, d] = y[d]
    counters[EVENTS] = place + 1
    counters[EVENT_TOTAL] += 1
    if watch.actions[event] == RECORD:
        watch.side[event] = -watch.side[event]
        watch.stage[event] = DONE
    else:
        watch.stage[event] = DUE


@part
def happen(
    system: System, watch: Watch, counters: Integers, work: Work, event: int, t: float, h: float, u: float
) -> None:
    """Record an event, and all others that happen at the same time."""
    look(system, watch, work, t, h, u)
    event_rates(system, watch, work.x, len(work.y), t + u * h)
    for k in range(len(watch.side)):
        happens = k == event or passes(watch.side[k], watch.ahead[k], watch.directions[k])
        watch.incoming[k] = watch.rates[k]
        watch.before[k] = watch.values[k]
        watch.residual[k] = abs(watch.values[k] - watch.zero[k]) if happens else 0.0
        watch.stage[k] = CALM
        if happens:
            note(watch, counters, k, t + u * h, work.x)
        elif watch.ahead[k] != 0:
            watch.side[k] = watch.ahead[k]
