"""Equations by Rackovic's formulas: sums over all links in the fixed frame, nothing regrouped."""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.compiler.request import Quantities, bound_parameters, quantities_of
from kinegraph.derive.choices import InertiaMethod
from kinegraph.derive.quantities.derivation import Plan
from kinegraph.derive.quantities.plans import PlanSearch
from kinegraph.graph.node import Graph
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Mechanism


def in_closed_form(mechanism: Mechanism, quantities: Quantities, values: Mapping[str, Expression]) -> Graph:
    """The graph the dissertation starts from; `values` are the parameters that become numbers."""
    plan = Plan(in_parent_frame=frozenset(), regroup=False, inertia=InertiaMethod.CLOSED_FORM)
    bound = bound_parameters(mechanism, False, values)
    return PlanSearch(mechanism, quantities_of(quantities), bound).derived(plan).graph
