"""In which form the equations of motion of a mechanism are integrated."""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate import contacts
from kinegraph.simulate.constraints.index_two import IndexTwoForm
from kinegraph.simulate.constraints.momenta import ClosedMomentumForm
from kinegraph.simulate.equations import Equations, VelocityForm
from kinegraph.simulate.momentum_form import MomentumForm
from kinegraph.solve.methods.capabilities import StateForm
from kinegraph.solve.methods.method import Solver

#: The equations of motion in the variables a method integrates.
FORMS: Mapping[StateForm, type[Equations]] = {StateForm.VELOCITIES: VelocityForm, StateForm.MOMENTA: MomentumForm}


def form_for(mechanism: Mechanism, solver: Solver) -> type[Equations]:
    """The form that a method takes for a mechanism, but for loops over bodies."""
    if mechanism.contacts:
        return contacts.OpenForm
    wanted = solver.capabilities.form
    if wanted is StateForm.MULTIPLIERS:
        return IndexTwoForm
    if wanted is StateForm.MOMENTA and is_constrained(mechanism):
        return ClosedMomentumForm
    return FORMS[wanted]
