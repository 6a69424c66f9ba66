"""Planar loops in segments: proved equal to the multiplier form, refused for other mechanisms, in vector lanes."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler import stored
from kinegraph.compiler.bind import straight_kernel
from kinegraph.compiler.choose import fastest_segments
from kinegraph.compiler.request import arguments_of, request_of
from kinegraph.compiler.stage_records import TargetFeatures
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.plan_search import PlanSearch
from kinegraph.derive.quantities.quantity import parse_list
from kinegraph.graph.node import Graph
from kinegraph.graph.proof import prove
from kinegraph.jit.kernel import KernelOptions, compile_graph
from kinegraph.model.mechanism import Mechanism
from tests.derive.constraints.planar_loops import ring

QUANTITIES = "qdd,multipliers,pivots"


def graph(mechanism: Mechanism, segment: int) -> Graph:
    return PlanSearch(mechanism, parse_list(QUANTITIES), {}).derived(Plan(segment=segment)).graph


@pytest.mark.parametrize("axis", ["z", "y"])
@pytest.mark.parametrize(("left", "right"), [(3, 3), (4, 2), (5, 0)])
def test_segments_equal_the_multiplier_form(left: int, right: int, axis: str) -> None:
    mechanism = ring(left, right, axis)
    by_multipliers = graph(mechanism, 0)
    for segment in (1, 2, 3):
        found = graph(mechanism, segment)
        assert len(found) != len(by_multipliers)
        prove(by_multipliers, found).require()


def test_a_wrong_segment_is_noticed() -> None:
    first, other = graph(ring(3, 3, seed=1), 2), graph(ring(3, 3, seed=2), 0)
    assert prove(first, other).differences


def test_springs_and_dampers_act_on_segments() -> None:
    text = """
        gravity 0, -9.81, 0;
        coordinates a1 = 2, a2 = -1, b1 = 1, b2 = 0.5, b3 = 0.1;
        A1    |         Rz(a1) | Sx(1/2), m(1), Jz(1/12);
        A2~A1 | Sx(1),  Rz(a2) | Sx(1/2), m(2), Jz(1/12);
        B1    | Sx(1),  Rz(b1) | Sx(1/2), m(1), Jz(1/12);
        B2~B1 | Sx(1),  Rz(b2) | Sx(1/2), m(1), Jz(1/12);
        B3~B2 | Sx(1),  Rz(b3) | Sx(1/2), m(1), Jz(1/12);
        spring s | on(a2 - b2), stiffness(30), rest(0.1);
        damper d | on(b3), damping(0.2);
        loop pin | revolute | A2: Sx(1) | B3: Sx(1);
    """
    mechanism = kg.parse(text)
    prove(graph(mechanism, 0), graph(mechanism, 2)).require()


@pytest.mark.parametrize("model", ["slider-crank", "spatial-slider-crank", "bricard", "n-four-bar-2", "pendulum-3"])
def test_what_is_no_planar_ring_is_not_taken_for_one(model: str) -> None:
    assert planar_bars(kg.library.mechanism(model)) == 0


def test_absolute_angles_make_a_ring_as_well() -> None:
    mechanism = kg.library.mechanism("four-bar")
    assert planar_bars(mechanism) == 3
    for segment in (1, 2):
        prove(graph(mechanism, 0), graph(mechanism, segment)).require()


def test_inertia_in_a_coordinate_is_no_matter_of_bars() -> None:
    text = kg.library.text("loop-5").replace("gravity", "armature a2 = 0.1;\ngravity", 1)
    assert planar_bars(kg.parse(text)) == 0


def planar_bars(mechanism: Mechanism) -> int:
    return PlanSearch(mechanism, parse_list("qdd"), {}).bars


def test_kernels_of_segments_side_by_side_compute_the_same() -> None:
    for mechanism in (kg.library.mechanism("loop-10"), ring(5, 4)):
        request = request_of(mechanism, "qdd", numeric=True)
        arguments = arguments_of(mechanism, request.quantities)
        search = PlanSearch(mechanism, request.quantities, request.parameters, side_by_side=True)
        fastest = fastest_segments(search, arguments, fused=True)
        assert fastest is not None and any(isinstance(one, int) for one, _ in fastest.exchange)
        start = kg.assemble(mechanism, {})
        tau = np.linspace(-1, 1, len(start.v))
        straight = straight_kernel(request, options=KernelOptions(side_by_side=False))
        kernel = compile_graph(fastest.graph, arguments, fastest.values, exchange=fastest.exchange)
        np.testing.assert_allclose(
            kernel(start.q, start.v, tau), straight(start.q, start.v, tau), rtol=1e-11, atol=1e-11
        )


def test_long_loops_are_computed_in_segments_and_kept() -> None:
    mechanism = kg.library.mechanism("loop-46")
    request = request_of(mechanism, "qdd", numeric=True)
    chosen = stored.chosen(request, TargetFeatures(side_by_side=True))
    again = stored.chosen(request, TargetFeatures(side_by_side=True))
    assert chosen == again and any(isinstance(one, int) for one, _ in chosen.exchange)
    assert len(chosen.graph) < 60 * 46
