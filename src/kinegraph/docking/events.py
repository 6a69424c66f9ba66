"""The events of a docking as formulas of the state: touches, latches, capture, and failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from math import cos

from kinegraph.derive.elements.forces import component_count
from kinegraph.docking.description import Docking, Latch, Leg, body_of
from kinegraph.docking.latches import Hold, in_fixed_axes
from kinegraph.model.elements import CompliantContact, anchors_of
from kinegraph.solve.problem import Action, Direction, Event

TOUCH, CAPTURE, STROKE, OVERLOAD, AWAY, HARD = "touch", "capture", "stroke", "overload", "away", "hard"

#: The separator between an event and its place.
OF = " of "


def contact_events(docking: Docking) -> list[Event]:
    """The events until capture by all latches at once, for studies.

    Conditions are squares where lengths would have no slope at zero.
    """
    captured = least(ready(latch) for latch in docking.latches)
    limits = docking.limits
    overload = f"max({leg_load(docking)}-{limits.leg!r}, {_beyond(interface_square(docking), limits.interface)})"
    return [
        Event(TOUCH, depth(docking), Direction.RISING),
        _stop(CAPTURE, captured),
        _stop(STROKE, greatest(_stroke(docking, leg) for leg in docking.legs)),
        _stop(OVERLOAD, overload),
        _leaves(AWAY, _away(docking)),
    ]


def catching_events(docking: Docking, waiting: Sequence[Latch], holding: Sequence[Hold]) -> list[Event]:
    """The events while some latches hold and others wait: the next one engages, or a limit is exceeded."""
    if docking.at_once:
        caught = [_stop(CAPTURE, least(fits(docking, latch) for latch in waiting))]
        caught += [Event(latch.ring, ready(latch), Direction.RISING) for latch in waiting]
    else:
        caught = [_stop(latch.ring, fits(docking, latch)) for latch in waiting]
    most = docking.limits.interface
    return [
        Event(TOUCH, depth(docking), Direction.RISING),
        *caught,
        *leg_events(docking),
        *(_overload(one.name, squares(one.force), docking.limits.latch) for one in holding),
        _overload("interface", interface_square(docking, holding), most),
        *([] if holding else [_leaves(AWAY, _away(docking))]),
    ]


def joined_events(docking: Docking, reaction: str) -> list[Event]:
    """The events that end a docking after capture: a leg out of its stroke, or an overloaded leg or interface.

    reaction: the quantity of the force and moment of the ring on the target.
    """
    force, moment = ([f"{reaction}[{entry}]" for entry in entries] for entries in (range(3), range(3, 6)))
    return [
        *leg_events(docking),
        _overload("interface", squares(force), docking.limits.interface),
        _overload("bending", squares(moment), docking.limits.bending),
    ]


def leg_events(docking: Docking) -> list[Event]:
    """Every leg that leaves its stroke or is overloaded, by name."""
    limit = docking.limits.leg
    strokes = [_stop(f"{STROKE}{OF}{leg.name}", _stroke(docking, leg)) for leg in docking.legs]
    return strokes + [_stop(f"{OVERLOAD}{OF}{leg.name}", f"abs({leg.load})-{limit!r}") for leg in docking.legs]


def _stop(name: str, condition: str) -> Event:
    """An event that ends a phase wherever it holds: also if the limit is already exceeded at the start of a phase."""
    return Event(name, condition, Direction.RISING, Action.STOP, holds=True)


def _leaves(name: str, condition: str) -> Event:
    """An event that ends a phase only when it starts to hold: a docking may begin far away."""
    return Event(name, condition, Direction.RISING, Action.STOP)


def _overload(where: str, square: str, most: float) -> Event:
    return _stop(f"{OVERLOAD}{OF}{where}", _beyond(square, most))


def _beyond(square: str, most: float) -> str:
    """The excess of a square over that of a limit, in the limit's unit."""
    return f"({square})/{most!r}-{most!r}"


def squares(parts: Iterable[str]) -> str:
    """The sum of squares of formulas."""
    return "+".join(f"({part})^2" for part in parts)


def hard_event(docking: Docking, drawn: str) -> Event:
    """The ring is retracted, at rest relative to the chaser, and level. drawn: the time of complete retraction."""
    still, even = docking.schedule.still, docking.schedule.even
    fastest = greatest(f"abs({leg.rate})" for leg in docking.legs)
    longest, shortest = greatest(leg.length for leg in docking.legs), least(leg.length for leg in docking.legs)
    conditions = (f"t-({drawn})", f"{still!r}-{fastest}", f"{even!r}-({longest})+({shortest})")
    return _stop(HARD, least(conditions))


def ready(latch: Latch) -> str:
    """Positive if a latch can engage: the square of the remaining margins, relative to its limits."""
    near = "+".join(f"({latch.ring}.{axis}-{latch.target}.{axis})^2" for axis in "xyz")
    slow = "+".join(f"({latch.ring}.{axis}'-{latch.target}.{axis}')^2" for axis in "xyz")
    return f"min(1-({near})/{latch.distance!r}^2, 1-({slow})/{latch.speed!r}^2)"


def fits(docking: Docking, latch: Latch) -> str:
    """Positive if a latch engages: it is ready, and the axes of the rings are nearly parallel."""
    along = "+".join(f"pose:{docking.ring}[{row},2]*pose:{docking.target}[{row},2]" for row in range(3))
    least_cosine = cos(latch.angle)
    return f"min({ready(latch)}, ({along}-{least_cosine!r})/{1 - least_cosine!r})"


def depth(docking: Docking) -> str:
    """The overlap of the guides, the deepest of all pairs."""
    return greatest(depths(docking))


def depths(docking: Docking) -> tuple[str, ...]:
    """The overlap of the guides at every place, in the order of `guide_places`."""
    return tuple(f"-contact:{one.name}[{place},0]" for one, place in guide_places(docking))


def guide_places(docking: Docking) -> Iterator[tuple[CompliantContact, int]]:
    """Every place at which guides can touch."""
    for one in docking.guides:
        yield from ((one, place) for place in range(component_count(one)))


def is_ring_first(docking: Docking, contact: CompliantContact) -> bool:
    """Whether the first shape of a guide belongs to the ring."""
    return body_of(docking.mechanism, anchors_of(contact.shapes[0])[0]) == docking.ring


def interface_force(docking: Docking, axis: int, holding: Sequence[Hold] = ()) -> str:
    """The force of all guides and latches on the ring, along a fixed axis: 0, 1 or 2."""
    signs = {one.name: "+" if is_ring_first(docking, one) else "-" for one in docking.guides}
    guides = "".join(f"{signs[one.name]}contact:{one.name}[{place},{axis + 1}]" for one, place in guide_places(docking))
    return "0" + guides + "".join(f"-{in_fixed_axes(docking, one.force)[axis]}" for one in holding)


def least(formulas: Iterable[str]) -> str:
    """The smallest of formulas."""
    return reduce(lambda first, second: f"min({first}, {second})", formulas)


def greatest(formulas: Iterable[str]) -> str:
    """The largest of formulas."""
    return reduce(lambda first, second: f"max({first}, {second})", formulas)


def _stroke(docking: Docking, leg: Leg) -> str:
    limits = docking.limits
    shortest, longest = (limits.lowest, limits.highest) if leg.turns else (limits.shortest, limits.longest)
    return f"max({shortest!r}-({leg.length}), ({leg.length})-{longest!r})"


def leg_load(docking: Docking) -> str:
    """The largest force along a leg, whether it pushes or pulls."""
    return greatest(f"abs({leg.load})" for leg in docking.legs)


def interface_square(docking: Docking, holding: Sequence[Hold] = ()) -> str:
    """The square of the force between the rings, of guides and of latches that hold."""
    return squares(interface_force(docking, axis, holding) for axis in range(3))


def _away(docking: Docking) -> str:
    between = (f"(pose:{docking.ring}[{row},3]-pose:{docking.target}[{row},3])^2" for row in range(3))
    return f"{'+'.join(between)}-{docking.limits.away!r}^2"
