"""The rows of contacts along which impulses act, and the rates that follow from them."""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import part


class Rows(NamedTuple):
    """Rows of all contacts, and memory: sizes[0] rows of sizes[1] contacts.

    first: the first row of each contact; widths: how many it has: 1, 3, 4 or 6. friction: sliding, spin, rolling.
    bounds: the largest impulse of dry friction in a joint; 0 of contacts.
    jacobian: over the velocities; responses: H^-1 J^T by row; matrix: J H^-1 J^T.
    rates: with the present impulses; targets: of normal rows; impulses.
    factor, steps, chosen, slopes, spare, order: memory.
    """

    sizes: Integers
    first: Integers
    widths: Integers
    friction: Floats
    bounds: Floats
    jacobian: Floats
    responses: Floats
    matrix: Floats
    rates: Floats
    free: Floats
    targets: Floats
    impulses: Floats
    factor: Floats
    steps: Floats
    chosen: Integers
    slopes: Floats
    spare: Floats
    order: Integers


@part
def apply_impulses(rows: Rows) -> None:
    """The rates that belong to the impulses."""
    count = rows.sizes[0]
    for i in range(count):
        total = rows.free[i]
        for j in range(count):
            total += rows.matrix[i, j] * rows.impulses[j]
        rows.rates[i] = total


@part
def own_response(rows: Rows, contact: int) -> float:
    """The largest response of a contact to itself."""
    most = 0.0
    for i in range(rows.first[contact], rows.first[contact] + min(rows.widths[contact], 3)):
        most = max(most, rows.matrix[i, i])
    return most
