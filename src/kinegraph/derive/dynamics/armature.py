"""Inertia in the coordinates themselves, such as that of rotors seen through their gears.

It adds J_k to the diagonal of the inertia matrix, and so J_k a_k to the forces and 1/2 J_k v_k^2 to the kinetic energy.
It belongs to no body: momentum in space, gravity and centrifugal forces know nothing of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kinegraph.derive.tree.coordinates import Square
from kinegraph.derive.tree.displacements import Motion
from kinegraph.graph.scalar import Scalar


def add_forces(forces: Sequence[Scalar], armature: Sequence[Scalar], motion: Motion) -> list[Scalar]:
    """Generalized forces together with those that accelerate the armature."""
    moved = zip(forces, armature, motion.accelerations, strict=True)
    return [force + inertia * acceleration for force, inertia, acceleration in moved]


def add_inertia(matrix: Square, armature: Sequence[Scalar]) -> Square:
    """The inertia matrix of the bodies with the armature on its diagonal."""
    added = [list(row) for row in matrix]
    for index, inertia in enumerate(armature):
        added[index][index] = added[index][index] + inertia
    return added


def kinetic_energy(armature: Sequence[Scalar], motion: Motion, zero: Scalar) -> Scalar:
    """The kinetic energy of the armature alone."""
    total = zero
    for inertia, velocity in zip(armature, motion.velocities, strict=True):
        total = total + inertia * velocity**2
    return Fraction(1, 2) * total
