"""Random planar and spatial linkages: accelerations against a dense solution of 40 digits, two methods proved equal."""

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.derive import Derivations
from kinegraph.compiler.request import request_of
from kinegraph.derive.constraints.conditions import row_rank
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.dynamics import driving_forces
from kinegraph.derive.quantities.mobility import mobility
from kinegraph.derive.tree.expressions import output
from kinegraph.graph.interpret import interpret
from tests.effort import SOAK

COUNT = 500 if SOAK else 4
#: Closing joints with the rows they have.
SPATIAL = {"revolute": 5, "spherical": 3, "universal": 4, "cylindrical": 4, "prismatic": 5, "point_on_line": 2}


def values(mechanism, quantities, **arguments):
    """Results of interpreting the derived graph: these graphs are large, and each is evaluated once."""
    layout = mechanism.layout
    groups = {"q": layout.positions, "v": layout.velocities, "tau": layout.forces}
    given = {name: x for key, array in arguments.items() for name, x in zip(groups[key], array, strict=True)}
    return interpret(Derivations(request_of(mechanism, quantities), cache=False).at_once, given)


def number(value):
    return f"{value:.15f}"


def bodies(random, planar, count):
    """A random tree: records and the coordinates' initial values."""
    lines, starts = [], []
    for k in range(count):
        base = "" if k == 0 or random.random() < 0.25 else f"~B{random.integers(max(0, k - 2), k)}"
        place = f"Sx({number(random.uniform(0.3, 1))}), Sy({number(random.uniform(-0.3, 0.3))})"
        joint = "Rz" if planar else str(random.choice(["Rx", "Ry", "Rz", "Sx", "Sz"], p=[0.3, 0.3, 0.2, 0.1, 0.1]))
        if not planar:
            place += f", Sz({number(random.uniform(-0.3, 0.3))}), Rx({number(random.uniform(-1, 1))})"
        mass = random.uniform(0.5, 2)
        lines.append(
            f"B{k}{base} | {place}, {joint}(q{k}) | Sx(0.2), Sy(0.05), m({number(mass)}), "
            f"Jx({number(0.1 * mass)}), Jy({number(0.12 * mass)}), Jz({number(0.15 * mass)});"
        )
        starts.append(f"q{k} = {number(random.uniform(-1.2, 1.2))}")
    return lines, starts


def closing(tree, name, random, planar, first, second):
    """A loop whose frames coincide at the initial position, so that it is closed for every joint type."""
    q = kg.assemble(tree).q
    a = np.eye(4)
    a[:3, 3] = [random.uniform(0.3, 0.8), random.uniform(-0.2, 0.2), 0 if planar else random.uniform(-0.2, 0.2)]
    world = values(tree, f"pose:{first}", q=q)[f"pose:{first}"] @ a
    b = (np.eye(4) if second is None else np.linalg.inv(values(tree, f"pose:{second}", q=q)[f"pose:{second}"])) @ world
    turns = Rotation.from_matrix(b[:3, :3]).as_euler("XYZ")
    own = "".join(f", S{axis}({number(x)})" for axis, x in zip("xyz", a[:3, 3], strict=True))[2:]
    other = "".join(f", S{axis}({number(x)})" for axis, x in zip("xyz", b[:3, 3], strict=True))[2:]
    other += "".join(f", R{axis}({number(x)})" for axis, x in zip("xyz", turns, strict=True))
    joint = "revolute" if planar else str(random.choice(list(SPATIAL)))
    target = f"{second}: {other}" if second else other
    return f"loop {name} | {joint} | {first}: {own} | {target};"


def linkage(seed):
    """A random linkage with one or two loops."""
    random = np.random.default_rng(seed)
    planar = seed % 2 == 0
    lines, starts = bodies(random, planar, int(random.integers(4, 7) if planar else random.integers(6, 9)))
    head = f"model linkage-{seed}; coordinates {', '.join(starts)}; gravity 0.3, -9.81, {0 if planar else 2};"
    tree = kg.parse("\n".join([head, *lines]))
    names = [body.name for body in tree.bodies]
    loops = [closing(tree, "first", random, planar, names[-1], None)]
    if random.random() < 0.4:
        loops.append(closing(tree, "second", random, planar, names[-2], names[0] if names[-2] != names[0] else None))
    return kg.parse("\n".join([head, *lines, *loops]))


def dense(mechanism, q, v, tau):
    """H a - J^T lambda = tau - bias, J a = gamma, in 40 digits; redundant rows left out."""
    found = values(mechanism, "H,bias,constraint_jacobian,d(constraint_rates)/d(dq)", q=q, v=v)
    jacobian = found["constraint_jacobian"]
    rows = list(row_rank(jacobian).independent)
    gamma = -(found["d(constraint_rates)/d(dq)"] @ v)
    size, count = len(v), len(rows)
    matrix = np.zeros((size + count, size + count))
    matrix[:size, :size] = found["H"]
    matrix[:size, size:], matrix[size:, :size] = -jacobian[rows].T, jacobian[rows]
    right = np.concatenate([tau - found["bias"], gamma[rows]])
    with mpmath.workdps(40):
        solution = mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix(right.tolist()))
        return np.array([float(solution[k]) for k in range(size)]), np.linalg.cond(matrix)


@pytest.mark.parametrize("seed", sorted({*range(COUNT), 43}))  # 43: a row that rounding alone keeps from zero
def test_accelerations_of_a_random_linkage(seed):
    mechanism = linkage(seed)
    random = np.random.default_rng(seed + 10_000)
    size = len(mechanism.layout.velocities)
    found = mobility(mechanism)
    if found.dof == 0:
        pytest.skip("this one cannot move")
    place = aside(mechanism, kg.assemble(mechanism), random)
    assert found.dof == place.mobility == size - np.linalg.matrix_rank(_jacobian(mechanism, place.q), tol=1e-8)
    start = Assembler(mechanism).assembled(place.q, random.normal(size=size))
    tau = random.normal(size=size)
    wanted, condition = dense(mechanism, start.q, start.v, tau)
    accelerations = values(mechanism, "qdd", q=start.q, v=start.v, tau=tau)["qdd"]
    np.testing.assert_allclose(accelerations, wanted, atol=max(1e-9, 1e-14 * condition) * max(1, np.abs(wanted).max()))


def aside(mechanism, place, random):
    """A state reached by an allowed motion, since the initial state may be singular."""
    jacobian = _jacobian(mechanism, place.q)
    aim = random.normal(size=jacobian.shape[1])
    step = aim - np.linalg.pinv(jacobian, rcond=1e-9) @ (jacobian @ aim)
    return Assembler(mechanism).assembled(place.q + 0.2 * step / np.linalg.norm(step), np.zeros(len(aim)))


def _jacobian(mechanism, q):
    return values(mechanism, "constraint_jacobian", q=q)["constraint_jacobian"]


@pytest.mark.parametrize("seed", range(0, COUNT, 4))
def test_two_formulations_of_a_random_linkage_are_proved_equal(seed):
    mechanism = linkage(seed)
    if mobility(mechanism).dof == 0:
        pytest.skip("this one cannot move")
    derivation = Derivation(mechanism, {}, Plan())
    constrained, force = derivation.constrained, driving_forces(derivation)
    ways = [
        constrained.accelerations(force),
        constrained.partition.accelerations(derivation.inertia, force, constrained.gamma),
    ]
    size = len(mechanism.layout.velocities)
    first, second = (derivation.builder.graph([output("qdd", (size,), way)]) for way in ways)
    assert not kg.prove(first, second).differences
