"""The loads of a docking as formulas of the state: in every leg, of all legs on the ring, between the rings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinegraph.docking.conditions import guide_places, interface_force, is_ring_first, squares
from kinegraph.docking.description import Docking
from kinegraph.docking.latches.rows import Hold, holds
from kinegraph.docking.latches.springs import in_fixed_axes, spring_holds
from kinegraph.docking.modes import Mode, ModeEquations

LEG, LATCH, INTERFACE, BENDING, RING = "load:", "latch:", "interface", "bending", "ring"


def signed_loads(mode: ModeEquations) -> dict[str, str]:
    """Forces along legs, where these move."""
    return {} if mode.mode is Mode.HARD else {f"{LEG}{leg.name}": leg.load for leg in mode.docking.legs}


def squared_loads(mode: ModeEquations) -> dict[str, str]:
    """Squares of the other loads: of all legs on the ring, between the rings (force, moment), in latches that hold."""
    docking = mode.docking
    ring = {} if mode.mode is Mode.HARD else {RING: squares(_on_ring(docking))}
    if mode.joints:
        force, moment = ([f"{mode.reaction}[{entry}]" for entry in some] for some in (range(3), range(3, 6)))
        return ring | {INTERFACE: squares(force), BENDING: squares(moment)}
    sprung = spring_holds(docking.latches) if mode.mode is Mode.SPRUNG else ()
    holding = (*sprung, *holds([str(slot) for slot in range(mode.slots)]))
    between = [interface_force(docking, axis, holding) for axis in range(3)]
    latches = {f"{LATCH}{one.name}": squares(one.force) for one in holding}
    return ring | {INTERFACE: squares(between), BENDING: squares(_moment(docking, holding))} | latches


def _on_ring(docking: Docking) -> list[str]:
    """The force of all legs on the ring, in fixed axes."""
    return ["+".join(f"({leg.load})*({leg.along[axis]})" for leg in docking.legs) for axis in range(3)]


def _moment(docking: Docking, holding: Sequence[Hold]) -> list[str]:
    """The moment of all guides and latches on the ring, about its origin, in fixed axes."""
    pairs = list(_forces(docking, holding))
    turns = [(1, 2), (2, 0), (0, 1)]
    return ["0" + "".join(f"+({at[i]}*{f[j]}-{at[j]}*{f[i]})" for at, f in pairs) for i, j in turns]


def _forces(docking: Docking, holding: Sequence[Hold]) -> Iterator[tuple[list[str], list[str]]]:
    """Where guides and latches press on the ring, from its origin, and the forces."""
    origin = [f"pose:{docking.ring}[{row},3]" for row in range(3)]
    for one, place in guide_places(docking):
        sign = "" if is_ring_first(docking, one) else "-"
        entries = [f"contact:{one.name}[{place},{entry}]" for entry in range(1, 7)]
        yield _differences(entries[3:], origin), [f"({sign}{force})" for force in entries[:3]]
    for one_more in holding:
        point = [f"pose:{one_more.point}[{row},3]" for row in range(3)]
        yield _differences(point, origin), [f"(-{force})" for force in in_fixed_axes(docking, one_more.force)]


def _differences(a: Sequence[str], b: Sequence[str]) -> list[str]:
    return [f"({one}-{other})" for one, other in zip(a, b, strict=True)]
