"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """How a run ended; the value is the message."""

    FINISHED = "the end time was reached"
    EVENT = "an event stopped the run"
    INTERRUPTED = "the run was interrupted; what had been computed is kept"
    NOT_A_NUMBER = "a value became infinite or not a number"
    STEP_TOO_SMALL = "the step became too small to go on"
    TOO_MANY_STEPS = "the limit of steps was reached"
    TOO_MANY_EVENTS = "the limit of events was reached"
    ACCUMULATED = "an event repeats ever faster and cannot get beyond this time"
    STALLED = "the run gets no further: its steps are too short ever to reach the end"
    NO_CONVERGENCE = "the equations of an implicit step could not be solved"
    SOLVER_FAILED = "the solver gave up"
    SINGULAR = "the position is singular: loops allow more than one way on"
    OPEN = "loops and constraints cannot be closed beyond this position"
    SINGULAR_COORDINATES = "the coordinates are singular there, as in gimbal lock"
    CONTACT = "the laws of contact lead no further"

    @property
    def good(self) -> bool:
        """True if the run ended as planned."""
        return self in (Status.FINISHED, Status.EVENT)


#: What to try when a run ends badly.
HINTS: dict[Status, str] = {
    Status.NOT_A_NUMBER: "look for a division by zero, a singular position or a massless body there; "
    "a smaller max_step, first_step or rtol shows where it begins",
    Status.STEP_TOO_SMALL: "a singularity or very stiff forces: try method='bdf', or larger tolerances",
    Status.TOO_MANY_STEPS: "raise max_steps, loosen rtol and atol, or try method='bdf' if forces are stiff",
    Status.TOO_MANY_EVENTS: "look for an event that happens again and again, or raise `limit` of the events",
    Status.ACCUMULATED: "a ball comes to rest so, and the run ends there; a `contact` of the model rests by itself; or "
    "hold what rests (kg.lock, or a constraint) and start a second run from this state",
    Status.STALLED: "forces change too fast there: try method='bdf' or larger tolerances, give friction a larger "
    "`width`, or state a force that jumps as an event or a `contact`",
    Status.NO_CONVERGENCE: "make the step smaller",
    Status.SINGULAR: "rows of constraints depend on each other there; start beside this position, choose another step, "
    "or a method that steps over it (dop853)",
    Status.OPEN: "either a prescribed motion leads them beyond their reach, or the step is too long: take a shorter "
    "one, or a method that chooses it (dop853)",
    Status.SINGULAR_COORDINATES: "start beside this position, or use other coordinates: a quaternion, or rotations in "
    "another order",
    Status.CONTACT: "look at the state there; less friction, `impacts poisson;` or another restitution may agree "
    "with the laws, and a start must not lie inside a body",
    Status.SOLVER_FAILED: "loosen rtol and atol, or try method='dop853'",
}


_IN = (Status.SINGULAR, Status.OPEN)


@dataclass(frozen=True)
class Ending:
    """How a run ended, when, and where the trouble showed first: `component` names an entry of the state.

    hint: what to try, where more is known than the status says.
    """

    status: Status
    time: float
    component: str = ""
    detail: str = ""
    hint: str = ""

    def __str__(self) -> str:
        message = f"{self.status.value} at t = {self.time:.9g}"
        if self.component:
            message += f", {'in' if self.status in _IN else 'first in'} {self.component}"
        if self.detail:
            message += f" ({self.detail})"
        hint = self.hint or HINTS.get(self.status)
        return f"{message}\n  {hint}" if hint else message
