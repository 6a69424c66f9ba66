"""The compiled loop of explicit methods with contacts: phases of one mode each."""

from __future__ import annotations

from kinegraph.jit.marks import loop, part
from kinegraph.solve.loops.after_step import cut_step, end_of, needs_dense, room
from kinegraph.solve.loops.case_outputs import Tally, climb_all, look_at_samples, look_through, note_events
from kinegraph.solve.loops.contact_memory import (
    CLOSED,
    DRAG,
    HELD,
    IMPACT,
    LOGGED,
    NOTHING,
    PHASES,
    RECENT,
    RELEASE,
    REST,
    SAVED_BEFORE,
    SLIP,
    SLIPS,
    STICK,
    WATCHED,
    WORDS,
    Contacts,
    any_closed,
    begin_log,
    write_flags,
)
from kinegraph.solve.loops.contact_modes import adopt, decide
from kinegraph.solve.loops.marks import Floats, Integers
from kinegraph.solve.loops.penetration import ALWAYS, CLOSED_GAP, LOOSELY, find_rounding, oversteps, watch_gaps
from kinegraph.solve.loops.runge_kutta import Control, begin, move_on, one_step, start_steps
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
    SINCE_START,
    STEP,
    STEPS,
    STOPPED,
    TIME,
    TOO_MANY_STEPS,
    CompiledTableau,
    Saving,
    System,
    Work,
    prepare_dense,
    project,
    save_step,
)
from kinegraph.solve.loops.zero_crossings import DUE, Watch

# The end of a step of one trajectory, with a look at the outputs along it.


@part
def finish_observed_step(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, tally: Tally, row: int,
    h: float,
) -> int:  # fmt: skip
    """As `finish_step`, with a look at the outputs along the part of the step that stands."""
    counters[STEPS] += 1
    counters[SINCE_START] += 1
    t, t_new = clock[TIME], end_of(clock, h)
    code, u = RUNNING, 1.0
    if len(watch.side):
        code, u = watch_gaps(system, watch, counters, work, t, h)
    if code != RUNNING and code != CUT:
        return int(code)
    if tally.along:
        look_at_samples(system, tally, work, t, h, u)
        if look_through(tally, row, t, h, u):
            climb_all(system, tally, work, row, t, h, u)
    tally.known[0] = 1 if code == RUNNING else 0  # an event may change the state
    if code == CUT:
        return int(cut_step(system, work, clock, watch, saving, counters, u, h))
    save_step(saving, counters, work, t, h, t_new)
    clock[TIME] = t_new
    return RUNNING


# The loop of explicit methods with contacts: phases of one mode each, and what is decided between them.
#
# A phase is a run as any other, with equations and events of its mode. Python is asked only where loops cannot decide.

_SHORTER = 0.25  # of a step within which a closed contact leaves its surface
_MOMENT = 1e-7  # of the run: phases that follow each other within do not get on
_FIRST, _SHORTEST = 1 / 8, 1e-13  # the first step of a rebound, of the time it takes; and at least


@part
def clear(watch: Watch, counters: Integers) -> None:
    """All that events remember, as a new run finds it."""
    watch.side[:] = watch.ahead[:] = watch.stage[:] = watch.on_surface[:] = 0
    watch.before[:] = watch.values[:] = watch.rates[:] = watch.incoming[:] = 0.0
    watch.residual[:] = watch.zero[:] = watch.since[:] = watch.noise[:] = 0.0
    counters[BEGUN] = 0


@part
def choose_watched(contacts: Contacts, watch: Watch) -> None:
    """Which gaps are watched inside of steps: those of contacts without a force."""
    watch.projects[0] = 0
    for k in range(len(contacts.modes)):
        watch.active[k] = CLOSED_GAP if contacts.modes[k, CLOSED] > 0.0 else ALWAYS
        if contacts.modes[k, HELD] > 0.0:
            watch.active[k], watch.projects[0] = LOOSELY, 1


@part
def put_back(system: System, work: Work, t: float) -> None:
    """Take the state at an event onto closed contacts: dense output leaves speeds there that would count as impacts."""
    for d in range(len(work.y)):
        work.x[d] = work.y[d]
    project(system, work, t)
    for d in range(len(work.y)):
        work.y[d] = work.end[d] = work.x[d]


@part
def gets_on(contacts: Contacts, t: float) -> bool:
    """Whether the last phases took some time; else Python is to decide, more coarsely."""
    done = contacts.counts[PHASES]
    return bool(done < RECENT or t - contacts.recent[done % RECENT] > _MOMENT * contacts.duration)


@part
def go_on(
    system: System, control: Control, contacts: Contacts, work: Work, clock: Floats, watch: Watch, counters: Integers,
    first_step: float,
) -> bool:  # fmt: skip
    """Decide on the mode after an event that stopped a phase; False where Python is to do it."""
    for k in range(contacts.user):
        if watch.stage[k] == DUE:
            return False
    if not gets_on(contacts, clock[TIME]):
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
    write_flags(contacts, work.x)
    clock[STEP] = first_step
    if not control.fixed and shortest < clock[END] - clock[TIME]:
        careful = max(_FIRST * shortest, _SHORTEST)
        clock[STEP] = min(careful, first_step) if first_step > 0.0 else careful
    return True


@part
def ended(contacts: Contacts, watch: Watch) -> int:
    """How many records of the last event are of conditions that ended the mode."""
    count = 0
    for k in range(contacts.user, len(watch.stage)):
        count += 1 if watch.stage[k] == DUE else 0
    return count


@part
def record_changes(contacts: Contacts, watch: Watch, counters: Integers, t: float, state: Floats) -> None:
    """Record what happened to each contact, with the state before it did."""
    for k in range(len(contacts.modes)):
        old, new = contacts.modes[k], contacts.fresh[k]
        was, now = old[CLOSED] + old[HELD] > 0.0, new[CLOSED] + new[HELD] > 0.0
        if contacts.hit[k]:
            record_change(contacts, watch, counters, k, IMPACT, t, state)
        if now and not was:
            record_change(contacts, watch, counters, k, REST, t, state)
        if was and not now:
            record_change(contacts, watch, counters, k, RELEASE, t, state)
        turned = contacts.slips[k] == 1 and new[DRAG] * old[DRAG] < 0.0
        changed = new[WATCHED] != old[WATCHED] or (new[WATCHED] == SLIP and turned)
        if was and now and changed and new[WATCHED] != NOTHING:
            record_change(contacts, watch, counters, k, SLIPS if new[WATCHED] == SLIP else STICK, t, state)


@part
def record_change(
    contacts: Contacts, watch: Watch, counters: Integers, k: int, word: int, t: float, state: Floats
) -> None:
    """One word of one contact; it is numbered after all events."""
    place = counters[EVENTS]
    watch.times[place], watch.which[place] = t, len(watch.side) + WORDS * k + word
    for d in range(len(state)):
        watch.states[place, d] = state[d]
    counters[EVENTS] += 1


@part
def begin_phase(
    system: System, method: CompiledTableau, control: Control, contacts: Contacts, work: Work, clock: Floats,
    watch: Watch,
    saving: Saving, counters: Integers,
) -> int:  # fmt: skip
    """Begin a phase as a run begins, in the mode at hand."""
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
    """Begin, or go on, for up to `slice_steps` steps, or until there is something for Python to do.

    systems, watches: of the mode with all contacts open, and of those with some closed. STOPPED says that an event of
    the user or a condition of the mode is due, about which Python is to decide. tally, row: what is kept of a case.
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
        if code == STOPPED and go_on(system, control, contacts, work, clock, watch, counters, first_step):
            counters[BEGUN] = 0  # the next phase
        elif code == RUNNING:
            move_on(work, method.stages)
        elif code == CUT:
            start_steps(system, method, control, work, clock)
        else:
            return code
        if counters[STEPS] >= control.max_steps:
            return TOO_MANY_STEPS
    return RUNNING
