"""Memory for contacts as the compiled loops need it, and contact modes as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinegraph.model.constraints.impacts import ImpactLaw, ImpactOrder
from kinegraph.solve.contacts.complementarity import Floats
from kinegraph.solve.contacts.mode import ContactMode, ContactSet, Mode, Watched
from kinegraph.solve.loops.contacts import memory as loop
from kinegraph.solve.loops.contacts.memory import Contacts, Problem, View
from kinegraph.solve.problem.problem import CauchyProblem, Function, code_of

_PHASES = 256  # rows of the log

#: The words of what happens to a contact, as loops number them.
WORDS = ("impact", "jam", "rest", "held", "release", "slip", "stick")


@dataclass(frozen=True)
class LookedAt:
    """What a state says of its contacts, as code: x -> values; and which of these each part of a view is."""

    function: Function
    parts: Sequence[tuple[str, slice, tuple[int, ...]]]

    def view(self) -> View:
        """Memory of one view."""
        values = np.zeros(self.parts[-1][1].stop)
        return View(values, **{name: values[where].reshape(shape) for name, where, shape in self.parts})


def contact_memory(
    contacts: ContactSet, looked_at: LookedAt, problem: CauchyProblem, flags: int, user: int
) -> Contacts:
    """All that loops know of contacts. flags: where they begin in x. user: how many events come before theirs."""
    count, rows, size = len(contacts.names), sum(contacts.slips) + len(contacts.names), problem.rhs.size
    slips = np.array(contacts.slips, dtype=np.int64)
    widths, sticking = np.array([2, 7, 9])[slips], np.array([1, 2, 2])[slips]
    counts = np.zeros(loop.COUNTS, dtype=np.int64)
    counts[loop.POISSON] = contacts.impacts.law is ImpactLaw.POISSON
    counts[loop.SEQUENTIAL] = contacts.impacts.order is ImpactOrder.SEQUENTIAL

    def numbers(*shape: int) -> Floats:
        return np.zeros(shape)

    def integers(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, dtype=np.int64)

    return Contacts(
        code=code_of(looked_at.function),
        argument=problem.argument(),
        first=looked_at.view(),
        after=looked_at.view(),
        probe=looked_at.view(),
        restitution=np.array(contacts.restitution, dtype=float),
        friction=np.array(contacts.friction, dtype=float),
        normals=np.array(contacts.normals, dtype=np.int64),
        slips=slips,
        flags=flags + np.cumsum(widths) - widths,
        ending=user + np.cumsum(sticking) - sticking,
        user=user,
        velocities=int(contacts.changed.start),
        duration=float(contacts.duration),
        modes=numbers(count, loop.MODE), fresh=numbers(count, loop.MODE),
        closed=integers(count), resting=integers(count), acts=integers(count), hit=integers(count),
        alone=integers(count), known=integers(count), drag=numbers(count, 2),
        forces=numbers(rows), right=numbers(rows), prior=numbers(count), impulse=numbers(rows), rates=numbers(rows),
        still=numbers(rows), noise=numbers(rows), trial=numbers(size), shift=numbers(size),
        square=numbers(rows, rows),
        problem=_problem(count + 3 * int(np.sum(slips == 1)), rows),
        counts=counts,
        recent=numbers(loop.RECENT),
        starts=numbers(_PHASES), rows=integers(_PHASES), log=numbers(_PHASES, count, loop.MODE),
    )  # fmt: skip


def _problem(size: int, rows: int) -> Problem:
    integers: Callable[[int], NDArray[np.int64]] = lambda count: np.zeros(count, dtype=np.int64)  # noqa: E731
    return Problem(
        np.zeros((size, size)), np.zeros(size), np.zeros((size, 2 * size + 2)), integers(size), np.zeros(size),
        integers(size), np.zeros(rows), integers(max(size, rows)),
    )  # fmt: skip


def numbers_of(mode: Mode) -> Floats:
    """A mode as loops have it."""
    found = np.zeros((len(mode), loop.MODE))
    for row, one in zip(found, mode, strict=True):
        row[loop.CLOSED], row[loop.HELD], row[loop.STICKS] = one.closed, one.held, one.sticks
        row[loop.WATCHED], row[loop.MARGIN], row[loop.SLIP_MARGIN] = one.watched.value, one.margin, one.slip_margin
        row[loop.DRAG : loop.DRAG + len(one.drag)] = one.drag
    return found


def mode_of(rows: Floats, slips: Sequence[int]) -> Mode:
    """The same back."""
    return tuple(_mode(*row.tolist(), count=count) for row, count in zip(rows, slips, strict=True))


def _mode(
    closed: float, held: float, sticks: float, watched: float, margin: float, slip_margin: float, *drag: float,
    count: int,
) -> ContactMode:  # fmt: skip
    """One contact; a contact that sticks by its own force has no drag."""
    acts = closed and not sticks
    return ContactMode(
        bool(closed), bool(held), bool(sticks), drag[:count] if acts else (), Watched(int(watched)), margin, slip_margin
    )
