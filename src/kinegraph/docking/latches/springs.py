"""A latch that holds: springs and dampers on the place of the target's point as the ring sees it.

They begin where the point was caught, and draw it to the ring's own point; else two latches could keep the third away.
That place does not change when all turn and move together, so that these forces keep momentum and moment of momentum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kinegraph.docking.description import Docking, Latch
from kinegraph.docking.fastening import free_by_quaternion, turned_back
from kinegraph.docking.latches.rows import Caught, Hold
from kinegraph.model.elements import Damper, Element, Linear, Spring
from kinegraph.model.expression import Call, Expression, Name, expression
from kinegraph.model.mechanism import ZERO, Mechanism, Parameter


def can_hold(docking: Docking) -> bool:
    """Whether a latch can hold alone: on a ring that moves freely, beside other latches."""
    return len(docking.latches) > 1 and free_by_quaternion(docking.mechanism, docking.ring) is not None


def hold_name(latch: Latch) -> str:
    """The parameter that is one where a latch holds, else zero."""
    return f"hold${latch.ring}"


def since_name(latch: Latch) -> str:
    """The parameter that says when a latch caught."""
    return f"since${latch.ring}"


def rest_names(latch: Latch) -> tuple[str, ...]:
    """The parameters that say where on the ring a latch caught."""
    return tuple(f"rest${latch.ring}${axis}" for axis in "xyz")


def element_names(latch: Latch) -> tuple[str, ...]:
    """The springs and the dampers of a latch, along the axes of the ring."""
    return tuple(f"{kind}${latch.ring}${axis}" for kind in ("spring", "damper") for axis in "xyz")


def given_names(latch: Latch) -> tuple[str, ...]:
    """All parameters of a latch."""
    return (hold_name(latch), since_name(latch), *rest_names(latch))


def spring_values(docking: Docking, caught: Sequence[Caught]) -> dict[str, float]:
    """The parameters of all latches: which hold, since when, and where on the ring they caught."""
    found = dict.fromkeys((name for one in docking.latches for name in given_names(one)), 0.0)
    for one in caught:
        found |= {hold_name(one.latch): 1.0, since_name(one.latch): one.time}
        found |= zip(rest_names(one.latch), one.place, strict=True)
    return found


def place_on_ring(docking: Docking, latch: Latch) -> tuple[Expression, ...]:
    """Where the target's point of a latch is, in the axes of the ring from its origin."""
    ring = free_by_quaternion(docking.mechanism, docking.ring)
    assert ring is not None
    return turned_back(ring, [Name(f"{latch.target}.{axis}") for axis in "xyz"])


def with_latches_that_hold(docking: Docking) -> Mechanism:
    """The mechanism with springs and dampers for every latch; parameters say which of them hold."""
    mechanism = docking.mechanism
    names = [name for latch in docking.latches for name in given_names(latch)]
    return replace(
        mechanism,
        parameters=(*mechanism.parameters, *(Parameter(name, ZERO) for name in names)),
        elements=(*mechanism.elements, *(one for latch in docking.latches for one in _elements(docking, latch))),
    )


def _elements(docking: Docking, latch: Latch) -> Iterator[Element]:
    hold = Name(hold_name(latch))
    stiffness, damping = expression(latch.stiffness) * hold, expression(latch.damping) * hold
    places = place_on_ring(docking, latch)
    springs, dampers = element_names(latch)[:3], element_names(latch)[3:]
    for name, place, rest in zip(springs, places, _rests(docking, latch), strict=True):
        yield Spring(name, place, Linear(stiffness), rest)
    for name, place in zip(dampers, places, strict=True):
        yield Damper(name, place, Linear(damping))


def _rests(docking: Docking, latch: Latch) -> list[Expression]:
    """Where a latch holds: from where it caught to the ring's own point, smoothly."""
    own = next(one.position for one in docking.mechanism.points if one.name == latch.ring)
    one, ten, fifteen, six = (expression(value) for value in (1, 10, 15, 6))
    part = Call("min", (one, Call("max", (ZERO, (Name("t") - Name(since_name(latch))) / expression(latch.time)))))
    left = one - part**3 * (ten - fifteen * part + six * part**2)
    return [to + (Name(caught) - to) * left for caught, to in zip(rest_names(latch), own, strict=True)]


def spring_holds(latches: Sequence[Latch]) -> tuple[Hold, ...]:
    """What latches hold by springs: point and force on the target, along the axes of the ring, as formulas."""
    found = []
    for latch in latches:
        names = element_names(latch)
        pairs = zip(names, names[3:], strict=False)
        forces = tuple(f"(effort:{spring}[0]+effort:{damper}[0])" for spring, damper in pairs)
        found.append(Hold(latch.ring, latch.target, forces))
    return tuple(found)


def in_fixed_axes(docking: Docking, force: Sequence[str]) -> tuple[str, ...]:
    """A vector along the axes of the ring, in fixed axes, as formulas."""
    return tuple(
        "(" + "+".join(f"pose:{docking.ring}[{row},{column}]*{part}" for column, part in enumerate(force)) + ")"
        for row in range(3)
    )
