"""Physics that must hold for every mechanism, on random trees."""

from dataclasses import replace

import numpy as np
import pytest

from kinegraph.model.mechanism import ZERO, QuaternionCoordinates
from kinegraph.recursive.forward import DenseForward, ForwardRecursion
from kinegraph.recursive.systems import RecursiveSystem
from tests.effort import SOAK
from tests.mechanisms import ALL_JOINTS, PLAIN_JOINTS, Joint, random_state, random_tree

from .naive import advanced, energy, slope

SEEDS = range(40 if SOAK else 20)
RHEONOMIC = {Joint.PRESCRIBED, Joint.DRIVEN}
AUTONOMOUS = tuple(joint for joint in ALL_JOINTS if joint not in RHEONOMIC)


def tree(seed):
    joints = PLAIN_JOINTS if seed % 4 == 0 else ALL_JOINTS
    return random_tree(seed, bodies=1 + seed % 9, joints=joints, branching=0.2 + 0.1 * (seed % 5))


def close(left, right, tolerance):
    left, right = np.asarray(left), np.asarray(right)
    assert np.abs(left - right).max() <= tolerance * max(1.0, np.abs(right).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_is_that_of_first_principles(seed):
    mechanism = tree(seed)
    q, v, _, t = random_state(mechanism, seed)
    close(RecursiveSystem(mechanism).energy(q, v, t), energy(mechanism, q, v, t), 1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_is_quadratic_with_the_inertia_matrix(seed):
    mechanism = tree(seed)
    system = RecursiveSystem(mechanism)
    q, v, _, t = random_state(mechanism, seed)
    H = system.inertia(q, t)
    kinetic = [system.energy(q, sign * v, t)[0] for sign in (1, -1, 0)]
    close(kinetic[0] + kinetic[1] - 2 * kinetic[2], v @ H @ v, 1e-13)
    close(H, H.T, 1e-14)
    assert np.linalg.eigvalsh(H).min() > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_are_affine_in_accelerations(seed):
    mechanism = tree(seed)
    system = RecursiveSystem(mechanism)
    q, v, a, t = random_state(mechanism, seed)
    close(system.tau(q, v, a, t) - system.tau(q, v, 0 * a, t), system.inertia(q, t) @ a, 1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_gravity_is_the_gradient_of_the_potential(seed):
    mechanism = tree(seed)
    system, weightless = RecursiveSystem(mechanism), RecursiveSystem(replace(mechanism, gravity=(ZERO, ZERO, ZERO)))
    q, v, a, t = random_state(mechanism, seed)
    unit = np.eye(v.size)
    gradient = [slope(lambda h, e=e: system.energy(advanced(mechanism, q, e, h), v, t)[1]) for e in unit]
    close(system.tau(q, v, a, t) - weightless.tau(q, v, a, t), gradient, 1e-10)


def lagrange(mechanism, system, q, v, a, t):
    """d/dt dT/dv - dL/dq, and w x dT/dw for the quasi-velocities of a quaternion (Boltzmann-Hamel)."""
    unit = np.eye(v.size)

    def momentum(q, v, t):
        kinetic = lambda u: system.energy(q, u, t)[0]  # noqa: E731
        return np.array([(kinetic(v + e) - kinetic(v - e)) / 2 for e in unit])

    def lagrangian(q):
        kinetic, potential = system.energy(q, v, t)
        return kinetic - potential

    forces = slope(lambda h: momentum(advanced(mechanism, q, v, h), v + h * a, t + h))
    forces = forces - [slope(lambda h, e=e: lagrangian(advanced(mechanism, q, e, h))) for e in unit]
    p, k = momentum(q, v, t), 0
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, QuaternionCoordinates):
            forces[k : k + 3] += np.cross(v[k : k + 3], p[k : k + 3])
            k += 2
        k += 1
    return forces


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_are_those_of_lagrange(seed):
    mechanism = tree(seed)
    system = RecursiveSystem(mechanism)
    state = random_state(mechanism, seed)
    close(system.tau(*state), lagrange(mechanism, system, *state), 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_power_of_the_forces_changes_the_energy(seed):
    mechanism = random_tree(seed, bodies=2 + seed % 7, joints=AUTONOMOUS)
    system = RecursiveSystem(mechanism)
    q, v, a, _ = random_state(mechanism, seed)
    power = slope(lambda h: sum(system.energy(advanced(mechanism, q, v, h), v + h * a)))
    close(v @ system.tau(q, v, a), power, 1e-9)


@pytest.mark.parametrize("seed", range(120 if SOAK else 40))
def test_forward_undoes_inverse(seed):
    mechanism = tree(seed)
    system = RecursiveSystem(mechanism)
    q, v, a, t = random_state(mechanism, seed)
    close(system.qdd(q, v, system.tau(q, v, a, t), t), a, 1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_methods_agree(seed):
    mechanism = tree(seed)
    system = RecursiveSystem(mechanism)
    q, v, tau, t = random_state(mechanism, seed)
    moved = system.flat.displaced(q, v, 0 * v, t)
    dense = DenseForward(system.flat.tree, system.layout.velocities)
    close(system.qdd(q, v, tau, t), dense.accelerations(moved, q, v, tau, system.flat.gravity(t)), 1e-11)


def test_every_method_is_tested():
    assert {RecursiveSystem(tree(seed)).method for seed in SEEDS} == set(ForwardRecursion)


def test_quaternions_of_any_length_mean_their_rotation():
    mechanism = random_tree(3, bodies=5, joints=(Joint.SPHERICAL, Joint.FREE))
    q, v, a, t = random_state(mechanism, 3)
    longer, k = q.copy(), 0
    for coordinate in mechanism.coordinates:
        width = 4 if isinstance(coordinate, QuaternionCoordinates) else 1
        if width == 4:
            longer[k : k + 4] *= 1.7
        k += width
    system = RecursiveSystem(mechanism)
    close(system.tau(longer, v, a, t), system.tau(q, v, a, t), 1e-14)
