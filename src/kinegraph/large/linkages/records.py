"""What the compiled loops know of a planar linkage."""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.large.records import Floats, Integers

# Columns of Linkage.bar: 1/m, 1/G with G the central moment of inertia, centre of mass in the bar's axes, origin in the
# axes of the bar it stands on, angle against that bar while all coordinates are zero
LIGHT, TURNS, CENTRE, ORIGIN, ANGLE, BAR = 0, 1, 2, 4, 6, 7
# Columns of Linkage.pin: the bars it joins, -1 for the ground
ONE, OTHER = 0, 1
# Columns of Linkage.order: the pin, and the first of its entries
PIN, FIRST = 0, 1
# Columns of Linkage.pair: the bar, two of its pins (the one eliminated earlier first), the entry of their block
ON, EARLIER, LATER, ENTRY = 0, 1, 2, 3


class Linkage(NamedTuple):
    """Bars, each after the one it stands on; the pin of every bar to that one, then the pins that close loops.

    Forces at the pins solve a symmetric system of 2 x 2 blocks, eliminated in `order`: pins that close loops last.
    Block `e` stands in the row of its pin and the column of pin `other[e]`; `target` are the blocks that change when a
    pin is eliminated, for every two of its entries.
    """

    bar: Floats  #: (bars, 7)
    base: Integers  #: the bar each stands on, -1 for the ground
    pin: Integers  #: (pins, 2)
    place: Floats  #: (pins, 4): from both bars' centres of mass (or the ground's origin) to the pin, in their axes
    order: Integers  #: (pins + 1, 2)
    other: Integers
    target: Integers
    pair: Integers  #: (pairs, 4)
    row: Integers  #: row[k]:row[k+1] are the entries of a bar's displacement in `column` and `slope`
    column: Integers
    slope: Floats
    solved: Integers  #: (bars, 2): an order of bars in which each has one unknown coordinate left, and its entry
    gravity: Floats

    @property
    def loops(self) -> int:
        """How many pins close loops."""
        return len(self.pin) - len(self.bar)
