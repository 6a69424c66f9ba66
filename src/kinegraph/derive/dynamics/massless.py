"""What to do about joints that move nothing with mass: words for an error."""

from __future__ import annotations

from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import names
from kinegraph.model.mechanism import Mechanism, amounts


def massless_remedy(mechanism: Mechanism, velocity: str) -> str:
    """The bodies that a velocity moves, and what loops have to do with it, as further lines of an error."""
    coordinate = velocity.removesuffix("'")
    moved = [
        body.name
        for body in mechanism.bodies
        if any(coordinate in names(amount) for transform in body.transforms for amount in amounts(transform))
    ]
    text = f"\n  {', '.join(moved)} and what stands on it have none" if moved else ""
    if is_constrained(mechanism):
        text += "\n  without loops the tree of records leaves it free: cut another joint (`cut NAME;`), or give it mass"
    return text
