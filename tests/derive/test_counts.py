"""Operation counts before any polynomial pass, against published figures and the limits of this project."""

from __future__ import annotations

import pytest

from kinegraph import library
from kinegraph.compiler.compile import derive
from kinegraph.compiler.derive import PLAN_BUDGET
from kinegraph.compiler.request import bound_parameters, quantities_of
from kinegraph.derive.quantities.plan_search import PlanSearch
from kinegraph.graph.count import count
from kinegraph.passes.effort import Effort


@pytest.mark.parametrize(
    ("model", "quantities", "numeric", "mul", "add"),
    [
        ("rackovic-6r", "H,C,gravity", True, 180, 105),
        ("rackovic-14r", "H,C,gravity", True, 810, 740),
        ("puma-full", "tau", False, 300, 285),
        # SYMORO with base parameters, measured_operation_counts: the derivation alone must not need more
        ("puma-full", "H", False, 247, 163),
        ("puma-full", "qdd", False, 948, 701),
        ("stanford-full", "tau", False, 262, 211),
    ],
)
def test_derivation_alone_stays_below(model: str, quantities: str, numeric: bool, mul: int, add: int) -> None:
    operations = count(derive(library.mechanism(model), quantities, numeric=numeric))
    assert operations.mul <= mul and operations.add <= add, operations


@pytest.mark.parametrize("numeric", [False, True])
def test_both_biped_forms_cost_the_same(numeric: bool) -> None:
    forms = [library.mechanism(f"kidym-biped-{form}") for form in ("old", "new")]
    first, second = (count(derive(form, "tau", numeric=numeric, effort=Effort.QUICK)) for form in forms)
    assert first == second


def test_choosing_frames_never_costs() -> None:
    mechanism = library.mechanism("puma560")
    search = PlanSearch(mechanism, quantities_of("tau"), bound_parameters(mechanism, True, None))
    quick, normal = search.best(PLAN_BUDGET[Effort.QUICK]), search.best(PLAN_BUDGET[Effort.NORMAL])
    assert normal.cost < quick.cost
    assert normal.operations == count(normal.graph)
