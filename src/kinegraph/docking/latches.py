"""Latches that hold: exactly, by constraint rows, or by springs and dampers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.docking.description import Docking, Latch
from kinegraph.docking.fastening import free_by_quaternion, turned_back
from kinegraph.model.elements import Damper, Element, Force, Input, Linear, Spring
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expressions import Call, Expression, Name, expression
from kinegraph.model.mechanism import ZERO, Mechanism, Parameter, Point
from kinegraph.solve.problem import Floats

# Latches that hold exactly, as constraint rows on points of the target. The first latch gives three rows, the second
# two across the line to the first, the third one across the plane of all three: six in total. The rings are rigid, so
# further rows would be dependent; so are those of a latch that coincides, or is collinear, with others.

#: Rows of the first, the second and the third latch that neither coincide nor are collinear.
ROWS = (3, 2, 1)

#: Latches closer to each other, or to a line, than this fraction of their distances coincide, or are collinear.
_APART = 1e-3


@dataclass(frozen=True)
class Hold:
    """A held point of the target: its name, the point, and the force on the target along the ring's axes."""

    name: str
    point: str
    force: tuple[str, ...]


@dataclass(frozen=True)
class Caught:
    """An engaged latch: its time, and the position of its point on the ring then."""

    latch: Latch
    time: float
    place: tuple[float, ...]


def slot_names(slot: int) -> tuple[str, ...]:
    """The parameters of an engaged latch: its point on the target, its point on the ring, where and when it
    engaged, how long it pulls, then the directions of its rows."""
    kinds = ("point", "own", "caught", *(f"row{k}" for k in range(ROWS[slot] if slot else 0)))
    return (*(f"{kind}{slot}${axis}" for kind in kinds for axis in "xyz"), f"since{slot}$", f"time{slot}$")


def force_names(slots: int) -> tuple[str, ...]:
    """The inputs that are the forces along all rows."""
    return tuple(f"row${k}" for k in range(sum(ROWS[:slots])))


def with_points_held(docking: Docking, slots: int) -> Mechanism:
    """The mechanism with a force along every row; their values enforce the rows."""
    given = docking.mechanism
    names = [name for slot in range(slots) for name in slot_names(slot)]
    forces = force_names(slots)
    rows = row_expressions(docking, slots)
    return replace(
        given,
        parameters=(*given.parameters, *(Parameter(name, expression(name.startswith("time"))) for name in names)),
        points=(*given.points, *(_point(docking, slot) for slot in range(slots))),
        inputs=(*given.inputs, *(Input(name) for name in forces)),
        elements=(
            *given.elements,
            *(Force(f"hold{name}", Name(name), row) for name, row in zip(forces, rows, strict=True)),
        ),
    )


def _point(docking: Docking, slot: int) -> Point:
    x, y, z = (Name(f"point{slot}${axis}") for axis in "xyz")
    return Point(f"held{slot}", docking.target, (x, y, z))


def row_expressions(docking: Docking, slots: int) -> list[Expression]:
    """The constrained expressions: positions of points on the ring, along its axes or along directions."""
    ring = free_by_quaternion(docking.mechanism, docking.ring)
    assert ring is not None
    found: list[Expression] = []
    for slot in range(slots):
        found += _along_rows(slot, turned_back(ring, [Name(f"held{slot}.{axis}") for axis in "xyz"]))
    return found


def row_values(slots: int) -> list[Expression]:
    """The prescribed values of the rows over time: from where a point engaged to the ring's own, smoothly."""
    found: list[Expression] = []
    for slot in range(slots):
        left = _left(Name(f"since{slot}$"), Name(f"time{slot}$"))
        pairs = ((Name(f"own{slot}${axis}"), Name(f"caught{slot}${axis}")) for axis in "xyz")
        found += _along_rows(slot, [own + (caught - own) * left for own, caught in pairs])
    return found


def _along_rows(slot: int, vector: Sequence[Expression]) -> list[Expression]:
    """The entries of a vector along the rows of a slot."""
    if slot == 0:
        return list(vector)
    found = []
    for row in range(ROWS[slot]):
        x, y, z = (Name(f"row{row}{slot}${axis}") * part for axis, part in zip("xyz", vector, strict=True))
        found.append(x + y + z)
    return found


def _left(since: Expression, time: Expression) -> Expression:
    """From one to zero within a time, with two continuous derivatives."""
    one, ten, fifteen, six = (expression(value) for value in (1, 10, 15, 6))
    part = Call("min", (one, Call("max", (ZERO, (Name("t") - since) / time))))
    return one - part**3 * (ten - fifteen * part + six * part**2)


def holds(names: Sequence[str]) -> tuple[Hold, ...]:
    """The latches that hold in slots, under these names, in the order of slots."""
    first = np.cumsum([0, *ROWS])
    found = []
    for slot, name in enumerate(names):
        efforts = [f"effort:holdrow${k}[0]" for k in range(first[slot], first[slot + 1])]
        if slot == 0:
            force = tuple(efforts)
        else:
            force = tuple(
                "(" + "+".join(f"row{row}{slot}${axis}*{one}" for row, one in enumerate(efforts)) + ")"
                for axis in "xyz"
            )
        found.append(Hold(name, f"held{slot}", force))
    return tuple(found)


def chosen(docking: Docking, caught: Sequence[Caught], numbers: Mapping[str, Value]) -> list[Caught]:
    """The engaged latches, in order, whose rows are independent."""
    points = [target_point(docking, one.latch, numbers) for one in caught]
    size = max((float(np.linalg.norm(a - b)) for a in points for b in points), default=0.0)
    found: list[int] = []
    for place, point in enumerate(points):
        if len(found) < len(ROWS) and _says_more([points[k] for k in found], point, size):
            found.append(place)
    return [caught[place] for place in found]


def _says_more(points: Sequence[Floats], point: Floats, size: float) -> bool:
    """Whether a point is away from others: from one point, or from the line of two."""
    if not points:
        return True
    away = point - points[0]
    if len(points) > 1:
        line = points[1] - points[0]
        away = away - line * (away @ line) / (line @ line)
    return float(np.linalg.norm(away)) > _APART * size > 0


def slot_values(docking: Docking, held: Sequence[Caught], numbers: Mapping[str, Value]) -> dict[str, float]:
    """The parameters of the holding latches, by name."""
    found: dict[str, float] = {}
    for slot, one in enumerate(held):
        own = _point_of(docking, one.latch.ring, numbers)
        vectors = [target_point(docking, one.latch, numbers), own, np.array(one.place)]
        vectors += _directions(held, slot)
        values = [*np.concatenate(vectors), one.time, one.latch.time]
        found |= zip(slot_names(slot), map(float, values), strict=True)
    return found


def _directions(held: Sequence[Caught], slot: int) -> list[Floats]:
    """Directions of the rows of a slot on the ring: across the line to the first, across the plane of three."""
    if slot == 0:
        return []
    first = np.array(held[0].place)
    line = np.array(held[1].place) - first
    if slot == 2:
        normal = np.cross(line, np.array(held[2].place) - first)
        return [normal / np.linalg.norm(normal)]
    line = line / np.linalg.norm(line)
    one = np.cross(line, np.eye(3)[int(np.argmin(np.abs(line)))])
    one = one / np.linalg.norm(one)
    return [one, np.cross(line, one)]


def target_point(docking: Docking, latch: Latch, numbers: Mapping[str, Value]) -> Floats:
    """The point of a latch on the target."""
    return _point_of(docking, latch.target, numbers)


def _point_of(docking: Docking, name: str, numbers: Mapping[str, Value]) -> Floats:
    point = next(one for one in docking.mechanism.points if one.name == name)
    return np.array([float(number(part, numbers)) for part in point.position])


# Latches that hold by springs and dampers on the target's point relative to the ring. They start where the point
# engaged, and pull it to the ring's own point; otherwise two latches could keep the third away. This relative position
# is unchanged in a common rigid motion, so these forces conserve momentum and angular momentum.


def can_hold(docking: Docking) -> bool:
    """Whether a latch can hold alone: on a ring that moves freely, beside other latches."""
    return len(docking.latches) > 1 and free_by_quaternion(docking.mechanism, docking.ring) is not None


def hold_name(latch: Latch) -> str:
    """The parameter that is one if a latch holds, otherwise zero."""
    return f"hold${latch.ring}"


def since_name(latch: Latch) -> str:
    """The parameter for the time at which a latch engaged."""
    return f"since${latch.ring}"


def rest_names(latch: Latch) -> tuple[str, ...]:
    """The parameters for the position on the ring at which a latch engaged."""
    return tuple(f"rest${latch.ring}${axis}" for axis in "xyz")


def element_names(latch: Latch) -> tuple[str, ...]:
    """The springs and the dampers of a latch, along the axes of the ring."""
    return tuple(f"{kind}${latch.ring}${axis}" for kind in ("spring", "damper") for axis in "xyz")


def given_names(latch: Latch) -> tuple[str, ...]:
    """All parameters of a latch."""
    return (hold_name(latch), since_name(latch), *rest_names(latch))


def spring_values(docking: Docking, caught: Sequence[Caught]) -> dict[str, float]:
    """The parameters of all latches: which hold, since when, and where on the ring they engaged."""
    found = dict.fromkeys((name for one in docking.latches for name in given_names(one)), 0.0)
    for one in caught:
        found |= {hold_name(one.latch): 1.0, since_name(one.latch): one.time}
        found |= zip(rest_names(one.latch), one.place, strict=True)
    return found


def place_on_ring(docking: Docking, latch: Latch) -> tuple[Expression, ...]:
    """The target's point of a latch, in the axes of the ring from its origin."""
    ring = free_by_quaternion(docking.mechanism, docking.ring)
    assert ring is not None
    return turned_back(ring, [Name(f"{latch.target}.{axis}") for axis in "xyz"])


def with_latches_that_hold(docking: Docking) -> Mechanism:
    """The mechanism with springs and dampers for every latch; parameters select those that hold."""
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
    """The rest position of a latch: from where it engaged to the ring's own point, smoothly."""
    own = next(one.position for one in docking.mechanism.points if one.name == latch.ring)
    one, ten, fifteen, six = (expression(value) for value in (1, 10, 15, 6))
    part = Call("min", (one, Call("max", (ZERO, (Name("t") - Name(since_name(latch))) / expression(latch.time)))))
    left = one - part**3 * (ten - fifteen * part + six * part**2)
    return [to + (Name(caught) - to) * left for caught, to in zip(rest_names(latch), own, strict=True)]


def spring_holds(latches: Sequence[Latch]) -> tuple[Hold, ...]:
    """The latches that hold by springs: point and force on the target, along the axes of the ring, as formulas."""
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
