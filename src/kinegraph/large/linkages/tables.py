"""A linkage as three tables (sizes, integers, doubles) that code called by its address reads, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.jit.marks import inlined
from kinegraph.large.linkages.records import BAR, Linkage
from kinegraph.large.records import Floats, Integers

# Places in the table of sizes: lengths of arrays; where q, v and tau begin in x; how long the state is.
BARS, PINS, OTHERS, TARGETS, PAIRS, ENTRIES, Q, V, TAU, STATE = range(10)
SIZES = 10


@dataclass(frozen=True)
class LinkageTables:
    """The three tables of one linkage. Their memory must live as long as code that reads them."""

    sizes: Integers
    integers: Integers
    doubles: Floats

    @property
    def addresses(self) -> tuple[int, ...]:
        """Where they begin."""
        return tuple(one.ctypes.data for one in (self.sizes, self.integers, self.doubles))


def linkage_tables(linkage: Linkage, places: Sequence[int], state: int) -> LinkageTables:
    """The tables of a linkage; `places` are those of q, v and tau in x, `state` the length of a state."""
    counts = [
        len(linkage.bar), len(linkage.pin), len(linkage.other), len(linkage.target), len(linkage.pair),
        len(linkage.column),
    ]  # fmt: skip
    integers = (
        linkage.base, linkage.pin, linkage.order, linkage.other, linkage.target, linkage.pair, linkage.row,
        linkage.column, linkage.solved,
    )  # fmt: skip
    doubles = linkage.bar, linkage.place, linkage.slope, linkage.gravity
    return LinkageTables(
        np.array([*counts, *places, state], dtype=np.int64),
        np.concatenate([np.asarray(one, dtype=np.int64).ravel() for one in integers]),
        np.concatenate([np.asarray(one, dtype=np.float64).ravel() for one in doubles]),
    )


@inlined
def lengths(s: Integers) -> tuple[int, int]:
    """How long the tables of integers and doubles are."""
    n, p = s[BARS], s[PINS]
    whole = n + 2 * p + 2 * (p + 1) + s[OTHERS] + s[TARGETS] + 4 * s[PAIRS] + (n + 1) + s[ENTRIES] + 2 * n
    return whole, BAR * n + 4 * p + s[ENTRIES] + 2


@inlined
def linkage_from(s: Integers, whole: Integers, real: Floats) -> Linkage:
    """The linkage the tables hold."""
    n, p = s[BARS], s[PINS]
    pin, order = n, n + 2 * p
    other = order + 2 * (p + 1)
    target = other + s[OTHERS]
    pair = target + s[TARGETS]
    row = pair + 4 * s[PAIRS]
    column = row + n + 1
    solved = column + s[ENTRIES]
    slope = BAR * n + 4 * p
    return Linkage(
        real[: BAR * n].reshape((n, BAR)), whole[:n], whole[pin:order].reshape((p, 2)),
        real[BAR * n : slope].reshape((p, 4)), whole[order:other].reshape((p + 1, 2)), whole[other:target],
        whole[target:pair], whole[pair:row].reshape((s[PAIRS], 4)), whole[row:column], whole[column:solved],
        real[slope : slope + s[ENTRIES]], whole[solved : solved + 2 * n].reshape((n, 2)), real[slope + s[ENTRIES] :],
    )  # fmt: skip
