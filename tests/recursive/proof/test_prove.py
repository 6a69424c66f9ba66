"""Loops over bodies proved in a finite field; wrong loops are found, and Newton's law there is the derived one."""

from __future__ import annotations

from dataclasses import replace

import pytest

import kinegraph as kg
from kinegraph.errors import ProofError
from kinegraph.graph.certificate import RecursiveProof
from kinegraph.graph.prime_field import FieldEvaluation, angle_tables
from kinegraph.recursive import articulated_body, flatten, newton_euler
from kinegraph.recursive.flatten import Frame
from kinegraph.recursive.forward import ForwardRecursion
from kinegraph.recursive.linkages import pins
from kinegraph.recursive.proof import prove
from kinegraph.recursive.proof.point import PointOfMechanism, Stated
from kinegraph.recursive.proof.prove import INSTEAD
from kinegraph.recursive.systems import ClosedSystem, RecursiveSystem
from tests.derive.constraints.planar_loops import ring
from tests.mechanisms import PLAIN_JOINTS, random_tree
from tests.recursive.chains_case import TRUSS

EVERYTHING = ("tau", "qdd", "energy")


@pytest.mark.parametrize("seed", range(12))
def test_trees_with_every_kind_of_joint(seed):
    tree = random_tree(seed)
    found = prove.proved(RecursiveSystem(tree), tree, EVERYTHING, None)
    assert (found.bodies, found.velocities, found.rows) == (6, len(tree.layout.velocities), 0)


def test_these_trees_need_every_method():
    assert {RecursiveSystem(random_tree(seed)).method for seed in range(12)} == set(ForwardRecursion)


def articulated_tree():
    """A tree of joints of their own, which turn and shift, on several branches."""
    tree = random_tree(5, joints=PLAIN_JOINTS)
    assert RecursiveSystem(tree).method is ForwardRecursion.ARTICULATED
    return tree


@pytest.mark.parametrize("name", ["loop-9", "n-four-bar-3", "truss", "loop about y", "closed on the ground"])
def test_closed_loops_by_pins(name):
    made = {"truss": lambda: kg.parse(TRUSS), "loop about y": lambda: ring(4, 3, "y")}
    made["closed on the ground"] = lambda: ring(5, 0)
    mechanism = made.get(name, lambda: kg.library.mechanism(name))()
    loops = ClosedSystem(mechanism)
    found = prove.proved(loops, mechanism, ("qdd", "energy"), None)
    assert found.rows == 2 * len(mechanism.loops)


@pytest.mark.parametrize(
    ("part", "other", "quantity"),
    [
        (newton_euler.gyroscopic, lambda tree, omega, j: ((0, 0, 0), (0, 0, 0)), "tau"),
        (newton_euler.to_parent, lambda turn, offset, moment, force: (moment, force), "tau"),
        (articulated_body.has_inertia, lambda tree, j: True, None),  # changes nothing but what is said of rounding
        (newton_euler.gyroscopic, lambda tree, omega, j: ((0, 0, 0), (0, 0, 0)), "qdd"),
        (newton_euler._first_moment, lambda tree, moving: (0, 0, 0), "energy"),
    ],
)
def test_wrong_loops_are_found(monkeypatch, part, other, quantity):
    tree = articulated_tree()
    monkeypatch.setattr(prove, "INSTEAD", {**INSTEAD, part: other})
    if quantity is None:
        prove.proved(RecursiveSystem(tree), tree, EVERYTHING, None)
        return
    with pytest.raises(ProofError, match=f"differs from Newton's law in '{quantity}'"):
        prove.proved(RecursiveSystem(tree), tree, (quantity,), None)


@pytest.mark.parametrize(
    ("name", "part", "other"),
    [
        ("loop-5", pins._solved, lambda *given: None),
        ("n-four-bar-2", pins._free, lambda *given: (0, 0)),
    ],
)
def test_wrong_closed_loops_are_found(monkeypatch, name, part, other):
    mechanism = kg.library.mechanism(name)
    monkeypatch.setattr(prove, "INSTEAD", {**INSTEAD, part: other})
    with pytest.raises(ProofError, match="'qdd'"):
        prove.proved(ClosedSystem(mechanism), mechanism, ("qdd",), None)


def test_wrong_tables_are_found(monkeypatch):
    tree = articulated_tree()
    loops = RecursiveSystem(tree)
    right = flatten._mass_properties

    def in_origins(rigid, steps, numbers):
        return right([replace(one, frame=replace(one.frame, origin=(0, 0, 0))) for one in rigid], steps, numbers)

    monkeypatch.setattr(flatten, "_mass_properties", in_origins)
    with pytest.raises(ProofError):
        prove.proved(loops, tree, ("tau",), None)
    monkeypatch.undo()
    monkeypatch.setattr(Frame, "moved", lambda self, transform, amount, numbers: self)
    with pytest.raises(ProofError):
        prove.proved(loops, tree, ("tau",), None)


def test_steps_that_rounding_leaves_out_are_named():
    tree = articulated_tree()
    loops = RecursiveSystem(tree)
    link = loops.flat.tree.link.copy()
    link[-1, 2] = (link[-1, 2] + 1) % 3
    loops.flat = replace(loops.flat, tree=loops.flat.tree._replace(link=link))
    with pytest.raises(ProofError, match="other steps than exact numbers"):
        prove.proved(loops, tree, ("tau",), None)


@pytest.mark.parametrize("name", ["double-pendulum", "puma560", "five-link-tree", "free-body"])
def test_newtons_law_in_the_fixed_frame_is_the_derived_one(name):
    mechanism = kg.library.mechanism(name)
    if mechanism.elements:
        mechanism = replace(mechanism, elements=())
    point = PointOfMechanism(Stated(mechanism, None), INSTEAD)
    graph = kg.derive(mechanism, "tau,energy", numeric=True)
    values = FieldEvaluation(graph, point.point({}), angle_tables(graph)[0])
    frame = point.fixed_frame()
    for name, found in (("tau", frame.forces()), ("energy", frame.energies())):
        assert [int(one) for one in found] == [values[node] for node in graph.output(name).nodes]


def test_kernels_carry_their_proof(tmp_path, monkeypatch):
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path))
    kernel = kg.compile("pendulum-4", "qdd", loops=True)
    assert isinstance(kernel.proof, RecursiveProof)
    assert "qdd by recursive algorithms proved to satisfy Newton's laws" in str(kernel.proof)
    again = kg.compile("pendulum-4", "qdd", loops=True)
    assert again.proof == kernel.proof  # to the time it took: it came from the disk


def test_pivots_alone_and_springs_are_said_to_be_unproved(caplog):
    assert kg.compile("loop-5", "pivots", loops=True).proof is None
    assert "not proved" in caplog.text
    both = kg.compile("loop-5", "qdd,pivots", loops=True).proof
    assert both is not None and both.quantities == ("qdd",)
