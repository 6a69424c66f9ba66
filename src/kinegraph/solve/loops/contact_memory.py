"""The contacts of a run in compiled loops: their numbers, the quantities of a state, and the log of phases."""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.codegen.kernel import Code
from kinegraph.jit.marks import part
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import System, set_inputs
from kinegraph.solve.loops.zero_crossings import sign

# A row of `modes`, one for each contact: see `solve.contacts.mode.ContactMode`.
CLOSED, HELD, STICKS, WATCHED, MARGIN, SLIP_MARGIN, DRAG = range(7)
MODE = 8  # DRAG has two places

# What is watched of friction.
NOTHING, CONE, SLIP = range(3)

# How a contact changes, in the order in which events are recorded.
IMPACT, JAM, REST, HOLD, RELEASE, SLIPS, STICK = range(7)
CHANGES = 7

# Places in `counts`: phases in the log, phases in all, rows saved before the log of states was last emptied, and
# the impact law.
LOGGED, PHASES, SAVED_BEFORE, POISSON, SEQUENTIAL = range(5)
COUNTS = 5

RECENT = 100  # phases that show whether the run makes progress

FLAGS = (2, 7, 9)  # flags of a contact in x, by its number of slip directions


class ContactView(NamedTuple):
    """The contact quantities of a state. Rows: contact by contact, the normal first, then the slip directions.

    values: all quantities below, in one array. gaps, spans: of each contact; a span is the size of the terms whose
    difference is the gap. reaches: by how much unit motions of all coordinates change a gap. rates, speeds: the same
    of the velocities of all rows. free: accelerations of the rows with all contacts open. compliance: of rows by unit
    impulses along rows. responses: of the state by unit impulses along rows.
    """

    values: Floats
    gaps: Floats
    spans: Floats
    reaches: Floats
    rates: Floats
    speeds: Floats
    free: Floats
    compliance: Floats
    responses: Floats


class ComplementarityMemory(NamedTuple):
    """Memory of a linear complementarity problem w = M z + q, and its tableau."""

    matrix: Floats
    right: Floats
    tableau: Floats
    basis: Integers
    z: Floats
    basic: Integers
    scale: Floats
    order: Integers


class Contacts(NamedTuple):
    """The contacts of a run.

    code: x -> values of a view. argument: x. first, after, probe: views of the state before and after an impact, and of
    a state nearby. normals: row of each contact's normal. slips: slip directions. flags: where in x its flags begin.
    user: number of events before those of contacts. ending: the event of each contact's gap.
    modes, fresh: the current mode and the next one. closed, resting, acts, hit, jammed: by contact. known: the contact
    slips, with `drag`. prior: normal forces that act in any case. right: rates or accelerations without forces.
    impulse, rates: of rows, while impacts are found. trial: the state after impacts.
    """

    code: Code
    argument: Floats
    first: ContactView
    after: ContactView
    probe: ContactView
    restitution: Floats
    friction: Floats
    normals: Integers
    slips: Integers
    flags: Integers
    ending: Integers
    user: int
    velocities: int
    duration: float
    modes: Floats
    fresh: Floats
    closed: Integers
    resting: Integers
    acts: Integers
    hit: Integers
    jammed: Integers
    alone: Integers
    known: Integers
    drag: Floats
    forces: Floats
    right: Floats
    prior: Floats
    impulse: Floats
    rates: Floats
    still: Floats
    noise: Floats
    trial: Floats
    shift: Floats
    square: Floats
    problem: ComplementarityMemory
    counts: Integers
    recent: Floats
    starts: Floats
    rows: Integers
    log: Floats


@part
def observe_contacts(system: System, contacts: Contacts, t: float, state: Floats, view: ContactView) -> None:
    """Fill a view with the contact quantities of a state."""
    size = len(state)
    for d in range(size):
        contacts.argument[d] = state[d]
    contacts.argument[size] = t
    set_inputs(system.knots, system.coefficients, t, contacts.argument, size + 1)
    call(contacts.code, contacts.argument, view.values, 0)


@part
def any_closed(modes: Floats) -> bool:
    """Whether a contact's force acts."""
    found = False
    for k in range(len(modes)):
        found = found or modes[k, CLOSED] > 0.0
    return bool(found)


@part
def write_flags(modes: Floats, slips: Integers, flags: Integers, x: Floats) -> None:
    """Write a mode to the numbers that x ends with, in the order of `derive.contacts.ContactFlags`."""
    for k in range(len(modes)):
        place, mode = flags[k], modes[k]
        x[place], x[place + 1] = mode[CLOSED], mode[MARGIN]
        if slips[k] == 0:
            continue
        x[place + 2] = mode[STICKS]
        x[place + 4] = 1.0 if mode[WATCHED] == CONE else 0.0
        x[place + 6] = 1.0 if mode[WATCHED] == NOTHING else mode[SLIP_MARGIN]
        sliding = 1.0 if mode[WATCHED] == SLIP else 0.0
        if slips[k] == 1:
            x[place + 3] = mode[DRAG]
            x[place + 5] = -sliding * sign(mode[DRAG])
            continue
        length = (mode[DRAG] ** 2 + mode[DRAG + 1] ** 2) ** 0.5
        x[place + 3], x[place + 5] = -length, sliding
        x[place + 7] = -mode[DRAG] / length if length > 0.0 else 0.0
        x[place + 8] = -mode[DRAG + 1] / length if length > 0.0 else 0.0


@part
def begin_log(contacts: Contacts, t: float, row: int) -> None:
    """Note that a phase begins with the mode at hand, at the row that will be saved next."""
    place = contacts.counts[LOGGED]
    contacts.starts[place], contacts.rows[place] = t, row
    for k in range(len(contacts.modes)):
        for item in range(MODE):
            contacts.log[place, k, item] = contacts.modes[k, item]
    contacts.recent[contacts.counts[PHASES] % RECENT] = t
    contacts.counts[LOGGED] += 1
    contacts.counts[PHASES] += 1
