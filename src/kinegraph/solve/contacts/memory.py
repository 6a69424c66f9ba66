"""Memory for the contacts of a run as loops need it, and contact modes as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.arrays import Floats, Integers
from kinegraph.model.mechanism import ImpactLaw, ImpactOrder
from kinegraph.solve.contacts.mode import ContactMode, ContactSet, Mode, Watched
from kinegraph.solve.loops.contact_memory import (
    CLOSED,
    COUNTS,
    DRAG,
    FLAGS,
    HELD,
    MARGIN,
    MODE,
    POISSON,
    RECENT,
    SEQUENTIAL,
    SLIP_MARGIN,
    STICKS,
    WATCHED,
    ComplementarityMemory,
    Contacts,
    ContactView,
    write_flags,
)
from kinegraph.solve.problem import CauchyProblem, Function, code_of

_PHASES = 256  # rows of the log


@dataclass(frozen=True)
class ContactObservation:
    """The function from x to the contact quantities of a state; parts: where each quantity is among its values."""

    function: Function
    parts: Sequence[tuple[str, slice, tuple[int, ...]]]

    def view(self) -> ContactView:
        """Memory of one view."""
        values = np.zeros(self.parts[-1][1].stop)
        return ContactView(values, **{name: values[where].reshape(shape) for name, where, shape in self.parts})


def contact_memory(
    contacts: ContactSet, observation: ContactObservation, problem: CauchyProblem, user: int
) -> Contacts:
    """The contacts of a run as loops need them. user: the number of events before those of contacts."""
    count, rows, size = len(contacts.names), sum(contacts.slips) + len(contacts.names), problem.rhs.size
    slips = np.array(contacts.slips, dtype=np.int64)
    flags, sticking = _flag_places(slips), np.array([1, 2, 2])[slips]
    counts = np.zeros(COUNTS, dtype=np.int64)
    counts[POISSON] = contacts.impacts.law is ImpactLaw.POISSON
    counts[SEQUENTIAL] = contacts.impacts.order is ImpactOrder.SEQUENTIAL
    return Contacts(
        code=code_of(observation.function),
        argument=problem.argument(),
        first=observation.view(),
        after=observation.view(),
        probe=observation.view(),
        restitution=np.array(contacts.restitution, dtype=float),
        friction=np.array(contacts.friction, dtype=float),
        normals=np.array(contacts.normals, dtype=np.int64),
        slips=slips,
        flags=flags[:-1] + problem.rhs.input_size - flags[-1],
        ending=user + np.cumsum(sticking) - sticking,
        user=user,
        velocities=int(contacts.changed.start),
        duration=float(contacts.duration),
        modes=np.zeros((count, MODE)), fresh=np.zeros((count, MODE)),
        closed=_integers(count), resting=_integers(count), acts=_integers(count), hit=_integers(count),
        jammed=_integers(count), alone=_integers(count), known=_integers(count), drag=np.zeros((count, 2)),
        forces=np.zeros(rows), right=np.zeros(rows), prior=np.zeros(count), impulse=np.zeros(rows),
        rates=np.zeros(rows), still=np.zeros(rows), noise=np.zeros(rows), trial=np.zeros(size), shift=np.zeros(size),
        square=np.zeros((rows, rows)),
        problem=complementarity_memory(count + 3 * int(np.sum(slips == 1)), rows),
        counts=counts,
        recent=np.zeros(RECENT),
        starts=np.zeros(_PHASES), rows=_integers(_PHASES), log=np.zeros((_PHASES, count, MODE)),
    )  # fmt: skip


def complementarity_memory(size: int, rows: int) -> ComplementarityMemory:
    """Memory for linear complementarity problems of up to so many unknowns; rows: of the contacts they belong to."""
    return ComplementarityMemory(
        np.zeros((size, size)), np.zeros(size), np.zeros((size, 2 * size + 2)), _integers(size), np.zeros(size),
        _integers(size), np.zeros(rows), _integers(max(size, rows)),
    )  # fmt: skip


def _integers(count: int) -> Integers:
    return np.zeros(count, dtype=np.int64)


def numbers_of(mode: Mode) -> Floats:
    """A mode as loops store it."""
    rows = np.zeros((len(mode), MODE))
    for row, one in zip(rows, mode, strict=True):
        row[CLOSED], row[HELD], row[STICKS] = one.closed, one.held, one.sticks
        row[WATCHED], row[MARGIN], row[SLIP_MARGIN] = one.watched.value, one.margin, one.slip_margin
        row[DRAG : DRAG + len(one.drag)] = one.drag
    return rows


def mode_of(rows: Floats, slips: Sequence[int]) -> Mode:
    """The inverse of `numbers_of`; slips: the number of slip directions of each contact."""
    return tuple(_contact_mode(*row.tolist(), count=count) for row, count in zip(rows, slips, strict=True))


def _contact_mode(
    closed: float, held: float, sticks: float, watched: float, margin: float, slip_margin: float, *drag: float,
    count: int,
) -> ContactMode:  # fmt: skip
    """The mode of one contact. A contact that sticks by friction alone has no drag."""
    acts = closed and not sticks
    return ContactMode(
        bool(closed), bool(held), bool(sticks), drag[:count] if acts else (), Watched(int(watched)), margin, slip_margin
    )


def mode_flags(mode: Mode, slips: Sequence[int]) -> Floats:
    """The flags of a mode, in the order of x."""
    directions = np.array(slips, dtype=np.int64)
    places = _flag_places(directions)
    flags = np.zeros(places[-1])
    write_flags(numbers_of(mode), directions, places[:-1], flags)
    return flags


def _flag_places(slips: Integers) -> Integers:
    """Where the flags of each contact begin, and where all end."""
    return np.concatenate([[0], np.cumsum(np.array(FLAGS)[slips])])
