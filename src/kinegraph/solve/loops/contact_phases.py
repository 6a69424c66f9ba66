"""The compiled loop of explicit methods with contacts.

A phase is a run like any other, with the equations and events of its mode. After each phase `decide` finds the next
mode; Python decides only where that cannot.
"""

from __future__ import annotations

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import loop, part
from kinegraph.solve.loops.after_step import end_of, end_step, needs_dense, room
from kinegraph.solve.loops.case_outputs import Tally, note_events, observe_step, refine_extremes, sample_outputs
from kinegraph.solve.loops.contact_memory import (
    CHANGES,
    CLOSED,
    HELD,
    LOGGED,
    PHASES,
    RECENT,
    SAVED_BEFORE,
    Contacts,
    any_closed,
    begin_log,
    write_flags,
)
from kinegraph.solve.loops.contact_modes import adopt, decide, first_step_of, has_changed
from kinegraph.solve.loops.penetration import ALWAYS, CLOSED_GAP, LOOSELY, find_rounding, oversteps, watch_gaps
from kinegraph.solve.loops.runge_kutta import Control, begin, continue_run, one_step
from kinegraph.solve.loops.step import (
    BEGUN,
    CUT,
    DONE,
    END,
    EVENTS,
    NO_ROOM,
    REJECTED,
    RUNNING,
    SAVED,
    STEP,
    STOPPED,
    TIME,
    CompiledTableau,
    Saving,
    System,
    Work,
    prepare_dense,
    project,
)
from kinegraph.solve.loops.zero_crossings import DUE, Watch


@part
def finish_observed_step(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, tally: Tally, row: int,
    h: float,
) -> int:  # fmt: skip
    """As `finish_step`, with the outputs observed along the part of the step that is kept."""
    t, code, u = clock[TIME], RUNNING, 1.0
    if len(watch.side):
        code, u = watch_gaps(system, watch, counters, work, t, h)
    if code in (RUNNING, CUT):
        if tally.along:
            sample_outputs(system, tally, work, t, h, u)
            if observe_step(tally, row, t, h, u):
                refine_extremes(system, tally, work, row, t, h, u)
        tally.known[0] = 1 if code == RUNNING else 0  # an event may change the state
    return int(end_step(system, work, clock, watch, saving, counters, code, u, h))


_SHORTER = 0.25  # of a step within which a closed contact leaves its surface
_MOMENT = 1e-7  # of the run: without progress, the last phases took no longer than this


@part
def clear(watch: Watch, counters: Integers) -> None:
    """Reset the memory of events, as for a new run."""
    watch.side[:] = watch.ahead[:] = watch.stage[:] = watch.on_surface[:] = 0
    watch.before[:] = watch.values[:] = watch.rates[:] = watch.incoming[:] = 0.0
    watch.residual[:] = watch.zero[:] = watch.since[:] = watch.noise[:] = 0.0
    counters[BEGUN] = 0


@part
def choose_watched(contacts: Contacts, watch: Watch) -> None:
    """Choose the gaps that are watched inside of steps: those of contacts without a force."""
    watch.projects[0] = 0
    for k in range(len(contacts.modes)):
        watch.active[k] = CLOSED_GAP if contacts.modes[k, CLOSED] > 0.0 else ALWAYS
        if contacts.modes[k, HELD] > 0.0:
            watch.active[k], watch.projects[0] = LOOSELY, 1


@part
def put_back(system: System, work: Work, t: float) -> None:
    """Project the state at an event onto closed contacts: dense output leaves speeds that would count as impacts."""
    for d in range(len(work.y)):
        work.x[d] = work.y[d]
    project(system, work, t)
    for d in range(len(work.y)):
        work.y[d] = work.end[d] = work.x[d]


@part
def makes_progress(contacts: Contacts, t: float) -> bool:
    """Whether the last phases took some time; otherwise Python decides, more coarsely."""
    done = contacts.counts[PHASES]
    return bool(done < RECENT or t - contacts.recent[done % RECENT] > _MOMENT * contacts.duration)


@part
def decide_next(
    system: System, control: Control, contacts: Contacts, work: Work, clock: Floats, watch: Watch, counters: Integers,
    first_step: float,
) -> bool:  # fmt: skip
    """Decide on the mode after an event that stopped a phase; False where Python has to decide."""
    for k in range(contacts.user):
        if watch.stage[k] == DUE:
            return False
    if not makes_progress(contacts, clock[TIME]):
        return False
    for k in range(len(contacts.closed)):
        contacts.closed[k] = 1 if watch.stage[contacts.ending[k]] == DUE else 0
    shortest = decide(system, contacts, clock[TIME], work.y)
    if shortest < 0.0:
        return False
    counters[EVENTS] -= ended(contacts, watch)
    record_changes(contacts, watch, counters, clock[TIME], work.y)
    adopt(contacts)
    for d in range(len(work.y)):
        work.y[d] = work.end[d] = contacts.trial[d]
    write_flags(contacts.modes, contacts.slips, contacts.flags, work.x)
    clock[STEP] = first_step_of(control.fixed, first_step, shortest, clock[END] - clock[TIME])
    return True


@part
def ended(contacts: Contacts, watch: Watch) -> int:
    """The number of records of the last event that are conditions of the mode."""
    count = 0
    for k in range(contacts.user, len(watch.stage)):
        count += 1 if watch.stage[k] == DUE else 0
    return count


@part
def record_changes(contacts: Contacts, watch: Watch, counters: Integers, t: float, state: Floats) -> None:
    """Record how each contact changes, with the state before. These events are numbered after all others."""
    for k in range(len(contacts.modes)):
        for change in range(CHANGES):
            if has_changed(contacts, k, change):
                place = counters[EVENTS]
                watch.times[place], watch.which[place] = t, len(watch.side) + CHANGES * k + change
                for d in range(len(state)):
                    watch.states[place, d] = state[d]
                counters[EVENTS] += 1


@part
def begin_phase(
    system: System, method: CompiledTableau, control: Control, contacts: Contacts, work: Work, clock: Floats,
    watch: Watch,
    saving: Saving, counters: Integers,
) -> int:  # fmt: skip
    """Begin a phase as a run begins, in the current mode."""
    clear(watch, counters)
    choose_watched(contacts, watch)
    work.projected[:] = 0.0
    begin_log(contacts, clock[TIME], contacts.counts[SAVED_BEFORE] + counters[SAVED])
    find_rounding(watch, work, clock[TIME])
    return int(begin(system, method, control, work, clock, watch, saving, counters))


@loop
def advance(
    systems: tuple[System, System], method: CompiledTableau, control: Control, contacts: Contacts, work: Work,
    clock: Floats,
    watches: tuple[Watch, Watch], saving: Saving, counters: Integers, first_step: float, tally: Tally, row: int,
    slice_steps: int,
) -> int:  # fmt: skip
    """Begin, or go on, for up to `slice_steps` steps, or until Python has something to do.

    systems, watches: of the mode with all contacts open, and of modes with closed contacts. STOPPED: an event of the
    user or a condition of the mode is due, and Python decides. tally, row: where the outputs of a case are kept.
    """
    for step in range(slice_steps + 1):
        mode = 1 if any_closed(contacts.modes) else 0
        system, watch, noted = systems[mode], watches[mode], counters[EVENTS]
        if not counters[BEGUN]:
            code = begin_phase(system, method, control, contacts, work, clock, watch, saving, counters)
            if code != RUNNING:
                return code
        if clock[TIME] >= clock[END]:
            return DONE
        if step == slice_steps:
            break
        if not room(saving, watch, counters) or contacts.counts[LOGGED] >= len(contacts.starts):
            return NO_ROOM
        code, h = one_step(system, method, control, work, clock, counters)
        if code != RUNNING:
            return code
        if tally.along or needs_dense(watch, saving, counters, end_of(clock, h)):
            prepare_dense(system, method, work, clock[TIME], h)
        if mode and not control.fixed and oversteps(watch, work, clock[TIME], h, control.rtol):
            clock[STEP] = _SHORTER * h
            counters[REJECTED] += 1
            continue
        code = finish_observed_step(system, work, clock, watch, saving, counters, tally, row, h)
        note_events(system, tally, watch, work, row, noted, counters[EVENTS])
        if code == STOPPED:
            put_back(system, work, clock[TIME])
        if code == STOPPED and decide_next(system, control, contacts, work, clock, watch, counters, first_step):
            counters[BEGUN], code = 0, RUNNING  # the next phase
        code = continue_run(system, method, control, work, clock, counters, code)
        if code != RUNNING:
            return code
    return RUNNING
