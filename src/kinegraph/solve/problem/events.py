"""Events: something passes zero, and the run records it, stops, or goes on from another state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from kinegraph.errors import SolveError, one_of
from kinegraph.model.expression import Scalar
from kinegraph.solve.problem.problem import Function, refuse_addresses


class Direction(Enum):
    """Which passages through zero count."""

    BOTH = 0
    RISING = 1
    FALLING = -1


class Action(Enum):
    """What an event does."""

    RECORD = 0
    STOP = 1
    RESET = 2


@dataclass(frozen=True)
class Event:
    """Happens when `condition` passes zero.

    condition: an expression in coordinates, velocities (`q1'`), output points (`tip.z`), parameters and t.
    direction: BOTH, RISING or FALLING; action: RECORD, STOP or RESET. Words such as "falling" will do.
    reset: new values of coordinates and velocities by name, expressions of the state just before; makes it a reset.
    holds: it stops the run wherever its condition is beyond zero (positive with RISING, negative with FALLING) and not
    only where it passes: at the start, and after a jump, too.
    """

    name: str
    condition: Scalar
    direction: Direction = Direction.BOTH
    action: Action = Action.RECORD
    reset: Mapping[str, Scalar] = field(default_factory=dict)
    holds: bool = False

    def __post_init__(self) -> None:
        where = f"event {self.name}:"
        object.__setattr__(self, "direction", one_of(Direction, self.direction, f"{where} direction", SolveError))
        object.__setattr__(self, "action", one_of(Action, self.action, f"{where} action", SolveError))
        if self.reset and self.action is Action.RECORD:
            object.__setattr__(self, "action", Action.RESET)
        if bool(self.reset) != (self.action is Action.RESET):
            raise SolveError(f"event {self.name}: action RESET and `reset={{name: value}}` belong together")
        if self.holds and (self.action is not Action.STOP or self.direction is Direction.BOTH):
            raise SolveError(
                f"event {self.name}: what stops wherever its condition holds needs action STOP and a direction: "
                "RISING if it holds above zero, FALLING if below"
            )


@dataclass(frozen=True)
class EventSet:
    """Events as kernels: x -> values, [x, y', u'] -> their slopes and (0: none) x -> new states, a row for each event.

    boundaries: which events act on a condition of positions alone, so that a motion may begin there. holding: which
    stop wherever their condition holds.
    samples: at how many points of a step the signs are compared. limit: how many events may happen in all.
    acted: for every event how far from zero it was found when it acted at the very start, and so may still be; less
    than zero where it did not. Nothing is as if none had.
    enclosure: a box of states and their rates -> enclosures of conditions and of their rates, for the events `enclosed`
    that may not be passed by unseen. needed: entries of the state these depend on. active: how each is watched (see
    `loops.events.dips`). projected: look at conditions on the constraints, not where dense output leaves them.
    """

    names: tuple[str, ...] = ()
    directions: tuple[Direction, ...] = ()
    actions: tuple[Action, ...] = ()
    boundaries: tuple[bool, ...] = ()
    holding: tuple[bool, ...] = ()
    code: Function = 0
    slope: Function = 0
    reset: Function = 0
    samples: int = 4
    limit: int = 1_000_000
    acted: tuple[float, ...] = ()
    enclosure: Function = 0
    enclosed: tuple[int, ...] = ()
    needed: tuple[int, ...] = ()
    active: tuple[int, ...] = ()
    projected: bool = False

    def __getstate__(self) -> dict[str, object]:
        refuse_addresses((self.code, self.slope, self.reset, self.enclosure))
        return self.__dict__
