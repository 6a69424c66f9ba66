"""What a method can do and what it asks for. Whoever chooses, prepares or refuses a method reads it here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinegraph.solve.methods.tableau import Tableau


class StateForm(Enum):
    """In which variables the equations of motion stand."""

    VELOCITIES = "q, v"
    MOMENTA = "q, p"
    #: Residuals of positions, velocities and multipliers together.
    MULTIPLIERS = "q, v, multipliers"


@dataclass(frozen=True)
class Capabilities:
    """The capabilities of one method.

    form: the variables it integrates; momenta are for conservative systems alone.
    fixed_step, adaptive: which step controllers it takes.
    evaluations: about how many right-hand sides one step takes, for estimates of time.
    jacobian: it needs df/dy.
    stiff: it takes long steps where forces are stiff.
    symplectic: it keeps the structure of Hamilton's equations.
    resets: it goes on from another state after an event.
    starts_slowly: it begins with a low order, so that a motion smaller than its tolerances may escape it.
    projection: it returns to loops, constraints and unit quaternions while it steps.
    lanes: the tableau by which many trajectories run side by side in compiled sweeps; None: each runs alone.
    """

    form: StateForm = StateForm.VELOCITIES
    fixed_step: bool = True
    adaptive: bool = True
    evaluations: int = 1
    jacobian: bool = False
    stiff: bool = False
    symplectic: bool = False
    resets: bool = True
    starts_slowly: bool = False
    projection: bool = True
    lanes: Tableau | None = None
