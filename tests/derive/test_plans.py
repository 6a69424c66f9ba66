"""Every plan gives the same equations, by proof and not only to some digits."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.plan import AxialMoment, CrossAxis, ForwardMethod, InertiaMethod, OriginShift, Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.plan_search import PlanSearch
from kinegraph.derive.quantities.quantity import Quantity, parse_list
from kinegraph.graph.node import Graph
from kinegraph.graph.proof import prove
from kinegraph.model.mechanism import Mechanism
from tests.effort import SOAK
from tests.mechanisms import Joint, random_tree

#: Ball joints are left out: their equations agree for unit quaternions only, which no field point is.
JOINTS = tuple(joint for joint in Joint if joint not in (Joint.SPHERICAL, Joint.FREE))
QUANTITIES = ("tau", "H", "C", "coriolis", "gravity", "bias", "qdd", "energy", "momentum")
FEW = [1, 3, 15, 55, 2457]  # quick ones with all kinds of joints
EVERY = frozenset(range(1, 40))
PLANS = (
    Plan(in_parent_frame=frozenset()),
    Plan(in_parent_frame=EVERY),
    Plan(regroup=False),
    Plan(inertia=InertiaMethod.WRENCHES),
    Plan(inertia=InertiaMethod.CLOSED_FORM),
    Plan(forward=ForwardMethod.ARTICULATED),
    Plan(euler=EVERY),
    Plan(euler=frozenset()),
    Plan(axial_moments=frozenset((index, AxialMoment.FIRST) for index in EVERY), euler=EVERY),
    Plan(axial_moments=frozenset((index, AxialMoment.SECOND) for index in EVERY), euler=EVERY),
    Plan(propagated=frozenset((index, CrossAxis.FIRST) for index in EVERY)),
    Plan(propagated=frozenset((index, CrossAxis.SECOND) for index in EVERY), in_parent_frame=EVERY),
    Plan(propagated=frozenset((index, CrossAxis.SECOND) for index in EVERY if index % 2), in_parent_frame=frozenset()),
    Plan(propagated=frozenset((index, CrossAxis.FIRST) for index in EVERY), euler=EVERY),
    Plan(origin_shifts=frozenset((index, OriginShift.PARENT) for index in EVERY if index < 5)),
    Plan(origin_shifts=frozenset((index, OriginShift.CHILD) for index in EVERY if index < 5)),
)


def _graph(mechanism: Mechanism, plan: Plan) -> Graph:
    derivation = Derivation(mechanism, bound_parameters(mechanism, False, None), plan)
    return derivation.builder.graph([derivation.output(Quantity.parse(word)) for word in QUANTITIES])


@pytest.mark.parametrize("seed", sorted({*FEW, *range(6)}) if SOAK else FEW[1:4])
def test_plans_are_proved_equal(seed: int) -> None:
    mechanism = random_tree(seed, bodies=3, joints=JOINTS)
    links = len(Derivation(mechanism, {}, Plan()).tree.links)
    reference = _graph(mechanism, Plan())
    for plan in PLANS:
        origin_shifts = frozenset(shift for shift in plan.origin_shifts if shift[0] < links)
        candidate = replace(plan, origin_shifts=origin_shifts)
        prove(reference, _graph(mechanism, candidate)).require()


@pytest.mark.parametrize("words", ["tau", "H,gravity", "qdd", "energy,d(tau)/d(p)", "base_parameters,regressor"])
@pytest.mark.parametrize("seed", [1])
def test_plans_of_one_search_give_the_graphs_of_single_derivations(seed: int, words: str) -> None:
    """A search shares the tree; its results are the same to the last node."""
    mechanism = random_tree(seed, bodies=2, joints=JOINTS)
    quantities = parse_list(words)
    bound = bound_parameters(mechanism, True, None)

    def search() -> PlanSearch:
        return PlanSearch(mechanism, quantities, bound)

    one, chance = search(), Random(seed)
    plans = [Plan(), *PLANS[1:4], Plan(regroup=False, in_parent_frame=frozenset()), Plan()]
    if one.has_neighbors:
        plans += [one.neighbor(plan, chance) for plan in plans]
    for plan in plans:
        assert one.derived(plan) == search().derived(plan)
        assert one.candidate(plan) == search().candidate(plan)
