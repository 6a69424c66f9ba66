"""Expected results of the library: accelerations of trees and tops, and the two forms of the biped."""

import json
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.cli.count import known_values, reduce_with_account
from kinegraph.graph.interpret import interpret
from kinegraph.model import initial_positions, initial_velocities, parameter_values
from kinegraph.recursive.systems import RecursiveSystem
from tests.recursive.test_reference import rbdl_tree

RBDL = json.loads((Path(__file__).parents[1] / "data" / "rbdl_small_trees.json").read_text())


def start(mechanism):
    values = parameter_values(mechanism)
    return np.array(initial_positions(mechanism, values)), np.array(initial_velocities(mechanism, values))


@pytest.mark.parametrize("name", RBDL["cases"])
def test_rbdl_trees(name):
    case = RBDL["cases"][name]
    rest = np.zeros(len(case["qdd"]))
    found = kg.compile(rbdl_tree(case), "qdd")(rest, rest, rest)
    np.testing.assert_allclose(found, case["qdd"], rtol=0, atol=1e-13)


def test_heavy_top_starts_by_eulers_equations_about_the_pivot():
    q, w = start(top := kg.load("heavy-top"))
    found = kg.compile(top, "qdd")(q, w, np.zeros(3))
    inertia = np.array([0.234375 + 15, 0.46875, 0.234375 + 15])  # one meter from pivot to center of mass
    moment = np.cross([0, 1, 0], [0, 0, -15 * 9.81])
    np.testing.assert_allclose(found, (moment - np.cross(w, inertia * w)) / inertia, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("name", "J"), [("wing-nut", (1, 2, 3)), ("free-body", (0.1, 0.2, 0.25))])
def test_free_bodies_obey_euler(name, J):
    q, v = start(body := kg.load(name))
    found = kg.compile(body, "qdd")(q, v, np.zeros(len(v)))
    w = v[-3:]
    np.testing.assert_allclose(found[-3:], -np.cross(w, np.array(J) * w) / J, rtol=1e-13, atol=1e-15)
    if len(v) == 6:
        np.testing.assert_allclose(found[:3], [0, 0, -9.81], atol=1e-14)


def test_five_link_tree_starts_as_the_loops_say():
    q, v = start(tree := kg.load("five-link-tree"))
    none = np.zeros(5)
    found = kg.compile(tree, "qdd")(q, v, none)
    np.testing.assert_allclose(found, RecursiveSystem(tree).qdd(q, v, none), rtol=1e-11)
    graph = kg.derive(tree, "tau", numeric=True)
    names = (tree.layout.positions, tree.layout.velocities, tree.layout.accelerations)
    values = {n: x for group, some in zip(names, (q, v, found), strict=True) for n, x in zip(group, some, strict=True)}
    assert np.abs(interpret(graph, values)["tau"]).max() < 1e-9  # forces of 1e3 cancel


def test_both_biped_forms_give_the_same_tau():
    old, new = (kg.compile(kg.load(f"kidym-biped-{form}"), "tau") for form in ("old", "new"))
    random = np.random.default_rng(3)
    state = [random.uniform(-1, 1, (200, 12)) for _ in range(3)]
    first, second = old.batch(*state), new.batch(*state)
    assert np.abs(first - second).max() < 1e-13 * np.abs(first).max()


def test_both_biped_forms_have_the_same_count_after_ops():
    mechanisms = [kg.load(f"kidym-biped-{form}") for form in ("old", "new")]
    old, new = (reduce_with_account(m, "tau", known_values(m), kg.Effort.QUICK) for m in mechanisms)
    assert old.proved and new.proved and old.result == new.result
