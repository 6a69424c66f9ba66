"""What a docking looks for along its run, as formulas of the state: touches, latches, capture, and what ends it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

from kinegraph.derive.elements.structure import component_count
from kinegraph.docking.description import Docking, Latch, body_of
from kinegraph.model.elements import Bumper, anchors_of
from kinegraph.solve.problem.events import Action, Direction, Event

TOUCH, CAPTURE, STROKE, OVERLOAD, AWAY, HARD = "touch", "capture", "stroke", "overload", "away", "hard"


def contact_events(docking: Docking, each_latch: bool = True) -> list[Event]:
    """The events until capture. Conditions are squares where lengths would have no slope at zero.

    each_latch: record when every latch could engage, too.
    """
    latches = [Event(latch.ring, ready(latch), Direction.RISING) for latch in docking.latches if each_latch]
    captured = least(ready(latch) for latch in docking.latches)
    return [
        Event(TOUCH, depth(docking), Direction.RISING),
        *latches,
        Event(CAPTURE, captured, Direction.RISING, Action.STOP),
        Event(STROKE, _stroke(docking), Direction.RISING, Action.STOP),
        Event(OVERLOAD, _overload(docking), Direction.RISING, Action.STOP),
        Event(AWAY, _away(docking), Direction.RISING, Action.STOP),
    ]


def joined_events(docking: Docking) -> list[Event]:
    """What ends a docking after capture: a leg out of its stroke, or overloaded."""
    return [
        Event(STROKE, _stroke(docking), Direction.RISING, Action.STOP),
        Event(OVERLOAD, _leg_overload(docking), Direction.RISING, Action.STOP),
    ]


def hard_event(docking: Docking, drawn: float) -> Event:
    """The ring is drawn in, stands still against the chaser, and is level."""
    still, even = docking.schedule.still, docking.schedule.even
    fastest = greatest(f"abs({leg.rate})" for leg in docking.legs)
    longest, shortest = greatest(leg.length for leg in docking.legs), least(leg.length for leg in docking.legs)
    conditions = (f"t-{drawn!r}", f"{still!r}-{fastest}", f"{even!r}-({longest})+({shortest})")
    return Event(HARD, least(conditions), Direction.RISING, Action.STOP)


def ready(latch: Latch) -> str:
    """Positive where a latch can engage: the square of what is left to its limits, in parts of these."""
    near = "+".join(f"({latch.ring}.{axis}-{latch.target}.{axis})^2" for axis in "xyz")
    slow = "+".join(f"({latch.ring}.{axis}'-{latch.target}.{axis}')^2" for axis in "xyz")
    return f"min(1-({near})/{latch.distance!r}^2, 1-({slow})/{latch.speed!r}^2)"


def depth(docking: Docking) -> str:
    """How deep the guides overlap, the deepest of all pairs."""
    return greatest(f"-contact:{one.name}[{place},0]" for one, place in guide_places(docking))


def guide_places(docking: Docking) -> Iterator[tuple[Bumper, int]]:
    """Every place at which guides can touch."""
    for one in docking.guides:
        yield from ((one, place) for place in range(component_count(one)))


def is_ring_first(docking: Docking, bumper: Bumper) -> bool:
    """Whether the first shape of a guide belongs to the ring."""
    return body_of(docking.mechanism, anchors_of(bumper.shapes[0])[0]) == docking.ring


def _interface_force(docking: Docking, axis: int) -> str:
    """The force of all guides on the ring, in fixed axes."""
    signs = {one.name: "+" if is_ring_first(docking, one) else "-" for one in docking.guides}
    return "0" + "".join(f"{signs[one.name]}contact:{one.name}[{place},{axis}]" for one, place in guide_places(docking))


def least(formulas: Iterable[str]) -> str:
    """The smallest of formulas."""
    return reduce(lambda first, second: f"min({first}, {second})", formulas)


def greatest(formulas: Iterable[str]) -> str:
    """The largest of formulas."""
    return reduce(lambda first, second: f"max({first}, {second})", formulas)


def _stroke(docking: Docking) -> str:
    shortest, longest = docking.limits.shortest, docking.limits.longest
    return greatest(f"max({shortest!r}-({leg.length}), ({leg.length})-{longest!r})" for leg in docking.legs)


def leg_load(docking: Docking) -> str:
    """The largest force along a leg, whether it pushes or pulls."""
    return greatest(f"abs({leg.load})" for leg in docking.legs)


def interface_square(docking: Docking) -> str:
    """The square of the force between the rings."""
    return "+".join(f"({_interface_force(docking, axis)})^2" for axis in (1, 2, 3))


def _leg_overload(docking: Docking) -> str:
    return f"{leg_load(docking)}-{docking.limits.leg!r}"


def _overload(docking: Docking) -> str:
    most = docking.limits.interface
    return f"max({_leg_overload(docking)}, ({interface_square(docking)})/{most!r}-{most!r})"


def _away(docking: Docking) -> str:
    between = (f"(pose:{docking.ring}[{row},3]-pose:{docking.target}[{row},3])^2" for row in range(3))
    return f"{'+'.join(between)}-{docking.limits.away!r}^2"
