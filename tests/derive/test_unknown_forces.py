"""A and B of unknown forces as quantities: tau = B - A X, proved, for trees, loops and platforms; both formations."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.plan import LoadMethod, Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.errors import DerivationError
from kinegraph.graph.build import bind
from kinegraph.graph.node import Output
from kinegraph.tasks.operating_point import taken
from tests.cli.run import data, runner
from tests.mechanisms import random_state, random_tree

SPATIAL = """
    unknown S, T, R;
    force P | at({body}), world(2*S, T*cos({q}), 0.3*S - T);
    force N | at({body}), body(S, 0, T*{q}');
    moment M | at({body}), world(R, 0, S); moment K | at({body}), body(0, 2*R, 0);
    force E | value(R + 0.1), on({q});
"""
LOOP = """
    parameters l = 0.8; coordinates a = 0.9, b = -1.2, x = 1; gravity 0, -9.81, 0; unknown S, M;
    A | Rz(a) | Sx(0.3), m(1), Jz(0.1); B~A | Sx(0.6), Rz(b) | Sx(l/2), m(0.7), Jz(0.04);
    C | Sx(x) | m(0.5), Jz(0.02); spring K | on(x) stiffness(3);
    force P | at(B), body(S, 0, 0); moment D | at(A), world(0, 0, M);
    loop pin | revolute | B: Sx(l) | C:;
"""


def loaded_tree(seed):
    tree = random_tree(seed, bodies=3)
    coordinate = next(name for name in tree.layout.positions if f"{name}'" in tree.layout.velocities)
    return kg.parse(kg.write(tree) + SPATIAL.format(body=tree.bodies[-1].name, q=coordinate))


def both(mechanism, plan):
    """tau, and B - A X in the same builder."""
    derivation = Derivation(mechanism, {}, plan)
    builder = derivation.builder
    a, b, tau = (derivation.output(Quantity.parse(word)) for word in ("A", "B_unknown", "tau"))
    x = [derivation.names[one.name].index for one in mechanism.unknowns]
    count = len(x)
    nodes = []
    for i, right in enumerate(b.nodes):
        terms = [(-1, ((a.nodes[i * count + k], 1), (unknown, 1))) for k, unknown in enumerate(x)]
        nodes.append(builder.polynomial([(1, ((right, 1),)), *terms]))
    return builder.graph([tau]), builder.graph([Output("tau", tau.shape, tuple(nodes))])


@pytest.mark.parametrize("method", LoadMethod)
@pytest.mark.parametrize("seed", [1, 3, 15])
def test_forces_are_what_a_and_b_say(seed, method):
    kg.prove(*both(loaded_tree(seed), Plan(unknowns=method))).require()


@pytest.mark.parametrize("method", LoadMethod)
def test_in_loops_they_belong_to_the_independent_coordinates(method):
    mechanism = kg.parse(LOOP)
    kg.prove(*both(mechanism, Plan(unknowns=method))).require()
    state = kg.assemble(mechanism)
    a, b = kg.compile(mechanism, "A_unknown,B_unknown")(state.q, state.v, np.zeros(3)).values()
    kinds = {name: k for k, name in enumerate(mechanism.layout.positions)}
    moving = [k for k in range(3) if a[k].any()]
    assert len(moving) == 1 and not np.delete(b, moving).any()
    found = kg.statics(mechanism, unknown=["M"], inputs={"S": 0})
    assert found["M"] * a[moving[0], 1] == pytest.approx(b[moving[0]], rel=1e-9), kinds


def test_a_does_not_depend_on_the_unknowns_nor_on_the_motion():
    mechanism = loaded_tree(3)
    graph = kg.derive(mechanism, "A_unknown,B_unknown")
    assert not {symbol.name for symbol in graph.symbols()} & {"S", "T", "R"}
    q, v, a, t = random_state(mechanism, 1)
    kernel, forces = kg.compile(mechanism, "A_unknown,B_unknown"), kg.compile(mechanism, "tau")
    assert "u" not in [one.name for one in kernel.arguments]
    values = {"q": q, "v": v, "a": a, "t": t, "u": np.array([1.3, -0.4, 2.1])}
    matrix, right = (kernel.by_name(kernel(**taken(kernel, values)))[name] for name in ("A_unknown", "B_unknown"))
    np.testing.assert_allclose(forces(**taken(forces, values)), right - matrix @ values["u"], rtol=1e-10, atol=1e-10)


def test_other_inputs_remain_arguments():
    rod = kg.parse("coordinates q; inputs u; unknown S; Rod | Ry(q) | Sx(1), m(1); force P | value(u*S + u^2), on(q);")
    a, b = kg.compile(rod, "A_unknown,B_unknown")([0.0], [0.0], [2.0], [3.0, 7.0]).values()
    assert a[0, 0] == 3 and b[0] == 2 - 9


def test_they_are_differentiated_and_bound():
    rod = kg.parse("coordinates q; unknown S; Rod | Ry(q) | Sx(1), m(1); output e = Rod (1, 0, 0);"
                   "force P | at(e), world(0, 0, S);")  # fmt: skip
    assert kg.formula(kg.derive(rod, "d(A)/d(q)")).strip() == "s_q = sin(q)\n\nd(A_unknown)/d(q)[1,1] = s_q"
    assert bind(kg.derive(rod, "A"), {}) == kg.derive(rod, "A_unknown")


def test_they_are_stored_and_evaluated_in_the_store(tmp_path, capsys):
    run, store = runner(capsys), tmp_path / "models.sqlite"
    (tmp_path / "rod.kg").write_text(
        "model rod; coordinates q; unknown S; gravity 0, 0, -9.81; Rod | Ry(q) | Sz(-1), m(2);"
        "output e = Rod (0, 0, -1); force P | at(e), world(S, 0, 0);"
    )
    assert run(f"store add {tmp_path}/rod.kg -q A_unknown,B_unknown --effort quick --store", store).code == 0
    found = data(run(f"store eval rod --state \"q=0.3,q''=1.5\" --json --store {store}"))
    values = {name.partition("[")[0]: np.ravel(value).tolist() for name, value in found.items()}
    assert values["A_unknown"] == pytest.approx([-np.cos(0.3)])
    assert values["B_unknown"] == pytest.approx([2 * 1.5 + 2 * 9.81 * np.sin(0.3)])


@pytest.mark.parametrize(("word", "message"), [
    ("A", "has no unknown forces"), ("B_unknown", "has no unknown forces"), ("B", "of unknown forces write B_unknown"),
    ("A_unknown:S", "write A_unknown alone"),
])  # fmt: skip
def test_mistakes_are_named(word, message):
    with pytest.raises(DerivationError, match=message):
        kg.derive("double-pendulum", word)
