"""The projection converges quadratically, in the metric of H."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.constraints.projection import projection
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.graph.interpret import interpret
from kinegraph.tasks.assemble import assemble
from tests.derive.constraints.test_four_bar import FOUR_BAR
from tests.derive.constraints.test_rows import CHAINS


@pytest.mark.parametrize(
    "text", [FOUR_BAR.format(gravity="-9.81"), CHAINS.format(joint="spherical"), CHAINS.format(joint="universal")]
)
def test_what_is_missing_is_gone_after_one_step(text):
    mechanism = kg.parse(text)
    layout = mechanism.layout
    graph = projection(Derivation(mechanism, {}, Plan()))
    state = assemble(mechanism)
    random = np.random.default_rng(3)
    size = len(layout.positions)
    y = np.concatenate([state.q, random.normal(size=len(layout.velocities))])
    names = (*layout.positions, *layout.velocities)
    values = {parameter.name: float(parameter.value.value) for parameter in mechanism.parameters}
    y[:size] += 1e-6 * random.normal(size=size)
    misses = []
    for _ in range(3):
        found = interpret(graph, values | dict(zip(names, y, strict=True)))
        misses.append(np.max(np.abs(found["missed"])))
        y = found["projected"]
    assert misses[0] > 1e-7 and misses[1] < 1e-4 and misses[2] < 1e-10


def test_the_step_is_the_shortest_measured_by_kinetic_energy():
    """The change of velocities is orthogonal, in the metric of H, to every motion the constraints allow."""
    mechanism = kg.parse(FOUR_BAR.format(gravity="0"))
    state = assemble(mechanism, {"crank": 1})
    v = np.array([1.0, -2.0, 0.5])
    graph = projection(Derivation(mechanism, {}, Plan()))
    names = (*mechanism.layout.positions, *mechanism.layout.velocities)
    values = {parameter.name: float(parameter.value.value) for parameter in mechanism.parameters}
    found = interpret(graph, values | dict(zip(names, (*state.q, *v), strict=True)))["projected"][3:]
    inertia = kg.compile(mechanism, "H")(state.q)
    jacobian = kg.compile(mechanism, "constraint_jacobian")(state.q)
    allowed = np.linalg.svd(jacobian)[2][-1]
    np.testing.assert_allclose(jacobian @ found, 0, atol=1e-13)
    assert allowed @ inertia @ (found - v) == pytest.approx(0, abs=1e-13)
