"""What happens when contacts close with a speed: the law of restitution, and how several impacts at once are taken."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ImpactLaw(Enum):
    """What restitution is a ratio of.

    NEWTON: the velocities along the normal, after and before. POISSON: the impulses of expansion and compression.
    """

    NEWTON = "newton"
    POISSON = "poisson"


class ImpactOrder(Enum):
    """How impacts at one time are taken.

    SIMULTANEOUS: all contacts at once, as one complementarity problem. SEQUENTIAL: one contact after the other, the
    fastest first, until none closes any more.
    """

    SIMULTANEOUS = "simultaneous"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True, slots=True)
class Impacts:
    """`impacts poisson, sequential;`: how all contacts of a model meet."""

    law: ImpactLaw = ImpactLaw.NEWTON
    order: ImpactOrder = ImpactOrder.SIMULTANEOUS
