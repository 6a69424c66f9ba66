"""Complementarity: solutions of random problems obey its three conditions, also where rows depend on each other."""

import numpy as np
import pytest

from kinegraph.solve.contacts.memory import complementarity_memory
from kinegraph.solve.loops import contact_forces
from kinegraph.solve.loops.contact_cones import ActingContact, solve_cones
from tests.solve.contacts.memory import memory


def solve_complementarity(matrix, q):
    problem = complementarity_memory(len(q), len(q))
    problem.matrix[:], problem.right[:] = matrix, q
    return problem if contact_forces.solve_complementarity(problem, len(q)) else None


@pytest.mark.parametrize("seed", range(40))
def test_random_problems(seed):
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 9))
    rank = int(random.integers(1, size + 1))
    rows = random.normal(size=(size, rank))
    matrix, q = rows @ rows.T, rows @ random.normal(size=rank)  # dependent rows that a solution exists for
    found = solve_complementarity(matrix, q)
    assert found is not None
    w = matrix @ found.z + q
    assert np.min(found.z) >= 0.0 and np.min(w) > -1e-9 and np.max(np.abs(w * found.z)) < 1e-8
    basis = np.flatnonzero(found.basic)
    assert np.linalg.matrix_rank(matrix[np.ix_(basis, basis)], tol=1e-9) == len(basis)


def test_a_problem_without_solution():
    """w = -z - 1 is never positive."""
    assert solve_complementarity(np.array([[-1.0]]), np.array([-1.0])) is None


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("seed", range(15))
def test_coulomb_friction_of_several_contacts(seed, directions):
    random = np.random.default_rng(seed)
    count, each = int(random.integers(1, 4)), 1 + directions
    rows = random.normal(size=(count * each, 12))
    compliance, q = rows @ rows.T / 12 + 0.2 * np.eye(count * each), random.normal(size=count * each)
    contacts = [ActingContact(k * each, tuple(range(k * each + 1, (k + 1) * each)), 0.4) for k in range(count)]
    if directions == 1:
        numbers = memory((1,) * count, (0.4,) * count)
        numbers.right[:] = q
        assert contact_forces.respond(numbers, compliance, np.ones(count, dtype=np.int64))
        forces = numbers.forces
    else:
        found = solve_cones(compliance, q, contacts)
        assert found is not None
        forces = found.forces
    rates = compliance @ forces + q
    for one in contacts:
        normal, sliding, slip = forces[one.normal], forces[list(one.rows)], rates[list(one.rows)]
        assert normal >= 0.0 and rates[one.normal] > -1e-9 and abs(normal * rates[one.normal]) < 1e-9
        assert np.linalg.norm(sliding) <= 0.4 * normal + 1e-10
        if np.linalg.norm(slip) > 1e-7:
            np.testing.assert_allclose(sliding, -0.4 * normal * slip / np.linalg.norm(slip), atol=1e-7)
