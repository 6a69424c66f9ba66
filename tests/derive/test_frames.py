"""Poses, Jacobians, axes and moment arms in any frame agree with those in fixed axes."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.plan import OriginShift, Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.errors import DerivationError
from kinegraph.graph.interpret import interpret
from kinegraph.model.evaluate import number, parameter_values
from kinegraph.model.mechanism import Mechanism
from tests.derive.random_elements import random_loaded_tree
from tests.mechanisms import Floats, Joint, random_state, random_tree


def _values(mechanism: Mechanism, words: list[str], seed: int, plan: Plan | None = None) -> dict[str, Floats]:
    derivation = Derivation(mechanism, bound_parameters(mechanism, True, None), plan or Plan())
    graph = derivation.builder.graph([derivation.output(Quantity.parse(word)) for word in words])
    q, _, _, t = random_state(mechanism, seed)
    return interpret(graph, dict(zip(mechanism.layout.positions, q, strict=True)) | {"t": t})


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kept", [None, frozenset()])
def test_poses_and_jacobians_are_seen_from_any_body(seed: int, kept: frozenset[int] | None) -> None:
    mechanism = random_loaded_tree(seed, bodies=6, count=1)
    random = Random(seed)
    names = [body.name for body in mechanism.bodies]
    body, frame = random.choice([*names, "tip"]), random.choice([*names, "end"])
    words = [f"pose:{body}", f"pose:{frame}", f"jacobian:{body}"]
    asked = [f"pose:{body}@{frame}", f"jacobian:{body}@{frame}", f"pose:{body}@world", f"pose:{body}@{body}"]
    found = _values(mechanism, [*words, *asked], seed, Plan(in_parent_frame=kept))
    seen = np.linalg.inv(found[f"pose:{frame}"]) @ found[f"pose:{body}"]
    np.testing.assert_allclose(found[f"pose:{body}@{frame}"], seen, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(found[f"pose:{body}@world"], found[f"pose:{body}"])
    np.testing.assert_array_equal(found[f"pose:{body}@{body}"], np.eye(4))
    turn = np.kron(np.eye(2), found[f"pose:{frame}"][:3, :3].T)
    expected = turn @ found[f"jacobian:{body}"]
    np.testing.assert_allclose(found[f"jacobian:{body}@{frame}"], expected, rtol=0, atol=1e-11)


def test_what_lies_between_two_bodies_is_all_their_pose_depends_on() -> None:
    graph = kg.derive(kg.load("puma560"), "pose:L6@L3", numeric=True)
    assert {symbol.name for symbol in graph.symbols()} - {"pi"} == {"q4", "q5", "q6"}


def test_a_body_may_be_called_world() -> None:
    mechanism = kg.parse("coordinates q; world | Sx(1), Rz(q) | ; A~world | Sx(2) | m(1);")
    found = interpret(kg.derive(mechanism, "pose:A@world"), {})["pose:A@world"]
    assert found[:3, 3].tolist() == [2, 0, 0]


@pytest.mark.parametrize("model", ["rackovic-6r", "stanford", "puma560"])
def test_axes_and_arms_give_the_forces_of_gravity(model: str) -> None:
    """Rackovic: h_i = - sum_j (e_i x r_ji) . m_j g over the bodies j beyond joint i; without the arm if it slides."""
    mechanism = kg.load(model)
    chain = [body.name for body in mechanism.bodies]
    words = [f"axis:{q}" for q in mechanism.layout.positions]
    words += [f"arm:{q}:{body}" for q in mechanism.layout.positions for body in chain]
    found = _values(mechanism, [*words, "gravity", *(f"jacobian:{body}" for body in chain)], 3)
    values = parameter_values(mechanism)
    gravity = np.array([number(item, values) for item in mechanism.gravity])
    for i, q in enumerate(mechanism.layout.positions):
        axis, total = found[f"axis:{q}"], 0.0
        assert axis @ axis == pytest.approx(1)
        for body in mechanism.bodies:
            velocity, turning = found[f"jacobian:{body.name}"][:3, i], found[f"jacobian:{body.name}"][3:, i]
            if velocity.any() or turning.any():  # the body lies beyond the joint
                way = np.cross(axis, found[f"arm:{q}:{body.name}"]) if turning.any() else axis
                total -= number(body.inertia.mass, values) * way @ gravity
        assert total == pytest.approx(found["gravity"][i], abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_axes_are_the_columns_of_jacobians(seed: int) -> None:
    mechanism = random_tree(seed, bodies=5, joints=(Joint.REVOLUTE, Joint.PRISMATIC, Joint.AFFINE, Joint.SPHERICAL))
    body = mechanism.bodies[-1].name
    velocities = [name.removesuffix("'") for name in mechanism.layout.velocities]
    found = _values(mechanism, [f"jacobian:{body}@{body}", *(f"axis:{name}@{body}" for name in velocities)], seed)
    for column, name in zip(found[f"jacobian:{body}@{body}"].T, velocities, strict=True):
        axis = found[f"axis:{name}@{body}"]
        moved = column[3:] if column[3:].any() else column[:3]  # about the axis, or along it
        if moved.any():
            np.testing.assert_allclose(np.cross(axis, moved), 0, atol=1e-12)
            assert axis @ axis == pytest.approx(1)


def test_joints_do_not_move_with_the_plan() -> None:
    """Origins may be shifted along axes to save operations; the position of a joint is that of the model."""
    mechanism = kg.load("puma560")
    words = ["arm:q2:L3", "arm:q3:L6@L2", "axis:q4"]
    shifts = frozenset((link, OriginShift.CHILD) for link in range(1, 7))
    found, shifted = _values(mechanism, words, 1), _values(mechanism, words, 1, Plan(origin_shifts=shifts))
    for word in words:
        np.testing.assert_allclose(shifted[word], found[word], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "message"),
    [("A", "stands for 2 axes\n  name one of them by its velocity: q1', q2'"), ("G", "'G' is not a joint"),
     ("e0", "'e0' is not a joint"), ("B", "stands for 3 axes.*wx, wy, wz"), ("q3", "stands for 2 axes.*name a body")],
)  # fmt: skip
def test_a_joint_has_one_axis(name: str, message: str) -> None:
    mechanism = kg.parse(
        """coordinates q1, q2, q3; quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);
        A | Rz(q1), Rx(q2) | m(1); B~A | Q(e0, e1, e2, e3) | m(1); C~A | Rz(q3) | m(1); D~C | Sx(q3) | m(1);
        G~A | Sx(1) | m(1);"""
    )
    with pytest.raises(DerivationError, match=f"(?s){message}"):
        kg.derive(mechanism, f"axis:{name}")
    assert interpret(kg.derive(mechanism, "axis:C@C"), {})["axis:C@C"].tolist() == [0, 0, 1]
