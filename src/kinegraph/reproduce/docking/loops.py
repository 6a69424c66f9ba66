"""Section 4: loop equations of one leg for velocities and accelerations, C_d p' = C_i u and C_d p'' = C_i u' + c."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegraph.reproduce.docking.arrays import Array, array, cross, inverse, zeros
from kinegraph.reproduce.docking.chain import Chain, Ring


@dataclass(frozen=True)
class LegMotion:
    """At the end of a leg, in fixed axes: partial velocities T and R by the leg's own rates, its angular velocity, the
    accelerations w and epsilon that do not depend on the rates' changes, and the axes of its last body."""

    place: Array
    axes: Array
    shifting: Array
    angular_jacobian: Array
    spin: Array
    bias: Array
    angular_bias: Array


@dataclass(frozen=True)
class LoopEquations:
    """Of one leg: the matrices and their consequence p' = H u, p'' = H u' + h. `reaction_axis` is n_R."""

    dependent: Array
    independent: Array
    constant: Array
    dependent_inverse: Array
    H: Array
    h: Array
    reaction_axis: Array | None


def moved(chain: Chain, complete: bool = True) -> LegMotion:
    """The recursions of section 4, outwards. `complete` adds epsilon x r to w, which the printed formula lacks."""
    like, n = chain.end[0], len(chain.segments)
    place, axes = zeros(like, 3), array([[like.number(int(i == j)) for j in range(3)] for i in range(3)])
    shifting, angular_jacobian = zeros(like, 3, n), zeros(like, 3, n)
    spin, bias, angular = zeros(like, 3), zeros(like, 3), zeros(like, 3)
    for j, segment in enumerate(chain.segments):
        arm = axes @ segment.arm
        place, axes = place + arm, axes @ segment.turn
        along = axes @ segment.axis
        shifting = shifting + cross_columns(angular_jacobian, arm)
        bias = bias + cross(spin, cross(spin, arm)) + (cross(angular, arm) if complete else zeros(like, 3))
        if segment.prismatic:
            shifting = _with(shifting, j, along)
            bias = bias + cross(spin, along * segment.rate) * 2
        else:
            angular_jacobian = _with(angular_jacobian, j, along)
            angular = angular + cross(spin, along * segment.rate)
            spin = spin + along * segment.rate
    arm = axes @ chain.end
    bias = bias + cross(spin, cross(spin, arm)) + (cross(angular, arm) if complete else zeros(like, 3))
    return LegMotion(
        place + arm, axes, shifting + cross_columns(angular_jacobian, arm), angular_jacobian, spin, bias, angular
    )


def cross_columns(matrix: Array, arm: Array) -> Array:
    """Every column of a matrix times an arm."""
    return array([cross(column, arm) for column in matrix.T]).T


def _with(matrix: Array, j: int, column: Array) -> Array:
    found = matrix.copy()
    found[:, j] = column
    return found


def loop_equations(chain: Chain, ring: Ring, leg: LegMotion) -> LoopEquations:
    """Three rows for the centre of the cut joint, a fourth where it is universal."""
    arm, spin = ring.rotation @ chain.ring, ring.rotation @ ring.spin
    one = array([[arm[0].number(int(i == j)) for j in range(3)] for i in range(3)])
    dependent, constant = leg.shifting, cross(spin, cross(spin, arm)) - leg.bias
    independent = np.hstack([one, cross_columns(ring.rotation, arm)])
    axis = None
    if chain.axis_on_leg is not None and chain.axis_on_ring is not None:
        first, second = leg.axes @ chain.axis_on_leg, ring.rotation @ chain.axis_on_ring
        axis = cross(first, second)
        rate = cross(cross(leg.spin, first), second) + cross(first, cross(spin, second))
        dependent = np.vstack([dependent, axis @ leg.angular_jacobian])
        independent = np.vstack([independent, np.hstack([zeros(arm[0], 3), axis @ ring.rotation])])
        last = -(axis @ leg.angular_bias) - rate @ (leg.spin - spin)
        constant = np.append(constant, last)
    solved = inverse(dependent)
    return LoopEquations(dependent, independent, constant, solved, solved @ independent, solved @ constant, axis)
