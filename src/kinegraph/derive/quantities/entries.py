"""How many entries a quantity has: what is written out straight takes a time that grows with them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from math import prod

from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.record import Extent
from kinegraph.derive.quantities.variables import DISPLACEMENTS, Variables
from kinegraph.errors import DerivationError
from kinegraph.model.mechanism import Mechanism

#: More are never written out: the graph alone would not fit into memory.
MOST = 4_000_000

#: More take tens of seconds, which is said.
MANY = 30_000

_GROUPS = {DISPLACEMENTS, *(group.value for group in Variables)}
_log = logging.getLogger("kinegraph")


def check_entries(mechanism: Mechanism, quantities: Iterable[Quantity]) -> None:
    """Refuse quantities with more entries than can be written out, and say of large ones that they take their time."""
    for quantity in quantities:
        size = entries(mechanism, quantity)
        text = f"{quantity} of {mechanism.name} has {size:,} entries"
        if size > MOST:
            raise DerivationError(
                f"{text}, more than the {MOST:,} that can be written out\n  ask for what is multiplied by it "
                "(tau, bias, qdd), or for derivatives by single names such as d(tau)/d(q1)"
            )
        if size > MANY:
            _log.warning("%s, all of them written out: this may take minutes the first time", text)


def entries(mechanism: Mechanism, quantity: Quantity) -> int:
    """About how many numbers a quantity is, from the lengths of its indices that grow with the mechanism."""
    size = len(mechanism.layout.velocities)
    lengths = {Extent.VELOCITIES: size, Extent.BASE_PARAMETERS: size}
    shape = [lengths.get(one, 1) if isinstance(one, Extent) else one for one in quantity.record.shape]
    return prod([*shape, *(size for name in quantity.by if name in _GROUPS)])
