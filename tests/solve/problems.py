"""Problems that several tests integrate."""

from __future__ import annotations

import numpy as np

import kinegraph as kg
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.model.evaluate import parameter_values
from kinegraph.simulate.equations import Equations, VelocityForm
from kinegraph.simulate.hamiltonian import MomentumForm
from kinegraph.simulate.inputs import starting_state
from kinegraph.solve.problem import CauchyProblem

PENDULUM = """
model point-pendulum;
coordinates q = pi/2;
gravity 0, 0, -9.81;
Rod | Ry(q) | Sz(-1), m(1);
output mass = Rod (0, 0, -1);
"""

BALL = """
model ball;
coordinates z = 1;
gravity 0, 0, -9.81;
Ball | Sz(z) | m(1);
"""


def problem(
    mechanism: kg.Mechanism, duration: float, form: type[Equations] = VelocityForm, jacobian: bool = False
) -> CauchyProblem:
    """The free motion of a mechanism from its initial values."""
    equations = form(mechanism, {}, NO_FORCES)
    q, v = starting_state(mechanism, {}, parameter_values(mechanism))
    state = equations.pack(q, v, np.zeros(0))
    return CauchyProblem(equations.right_hand_side(jacobian=jacobian), state, 0.0, duration)


__all__ = ["BALL", "PENDULUM", "MomentumForm", "VelocityForm", "problem"]
