"""Loops cut at other joints: proved equal accelerations from another tree, and the choice of the fastest."""

from dataclasses import replace

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.bind import straight_kernel
from kinegraph.compiler.closures import finalists
from kinegraph.compiler.derive import Derivations, derived
from kinegraph.compiler.reduce import reduced
from kinegraph.compiler.request import request_of
from kinegraph.compiler.stored import resolve_closure
from kinegraph.derive.constraints.cuts import other_cuts, recut
from kinegraph.derive.plan import Closure
from kinegraph.errors import DerivationError, ProofError
from kinegraph.graph.interpret import interpret
from kinegraph.jit.kernel import KernelOptions
from tests.derive.constraints.test_random_linkages import linkage, values

#: A row of bars that comes back to the ground; the last joint closes it.
ROW = """
    coordinates q1 = 2.1, q2 = -1.1, q3 = -1, q4 = -1; gravity 0, -9.81, 0; parameters l = 1;
    A | Rz(q1) | Sx(0.5), m(1), Jz(1/12); B~A | Sx(l), Rz(q2) | Sx(0.4), Sy(0.1), m(2), Jz(0.2);
    C~B | Sx(l), Rz(q3) | Sx(0.5), m(1), Jz(0.1); D~C | Sx(l), Rz(q4), Rz(0.2) | Sx(0.5), m(1.5), Jz(0.1);
    loop close | revolute | D: Rz(0.1), Sx(1) | Sx(1.2);
"""
#: The same with one bar less.
SHORT_ROW = """
    coordinates q1 = 2.1, q2 = -1.1, q3 = -1; gravity 0, -9.81, 0; parameters l = 1;
    A | Rz(q1) | Sx(0.5), m(1), Jz(1/12); B~A | Sx(l), Rz(q2) | Sx(0.4), Sy(0.1), m(2), Jz(0.2);
    C~B | Sx(l), Rz(q3) | Sx(0.5), m(1), Jz(0.1); loop close | revolute | C: Rz(0.1), Sx(1) | Sx(1.2);
"""
FORCES = """
    spring coil | on(q3) stiffness(3) rest(0.2); damper oil | on(q2 + q4) damping(0.4);
    force drive | value(2*q1'), on(q4);
    spring far | between(B(0.5, 0.2, 0), (1, 2, 0)) stiffness(5) rest(1);
"""
SLIDERS = """
    coordinates crank = 1, rod = -0.8, s = 0.45; gravity 0, -9.81, 0;
    Crank | Rz(crank) | Sx(0.07), m(1), Jz(0.1); Rod~Crank | Sx(0.15), Rz(rod) | Sx(0.2), m(1), Jz(0.1);
    Piston | Rz(0.3), Sy(0.05), Sx(s) | m(2), Jz(0.3); loop pin | revolute | Rod: Sx(0.4) | Piston:;
"""
MECHANISMS = {
    "a row of bars": ROW,
    "with springs, a damper and a drive": ROW + FORCES,
    "a slider": SLIDERS,
    "absolute angles": kg.write(kg.load("four-bar")),
    "three loops": kg.write(kg.load("andrews")),
    "by time": ROW.replace("Rz(q1)", "Rz(q1 + 0.2*t)"),
}


def by_cut(mechanism, cut, closure):
    return Derivations(replace(request_of(mechanism, "qdd", numeric=True, closure=closure), cut=cut), cache=False)


def place(mechanism, seed=3):
    random = np.random.default_rng(seed)
    size = len(mechanism.layout.velocities)
    assembler = Assembler(mechanism)
    q, _ = assembler.start({})
    found = assembler.assembled(q + random.normal(scale=0.05, size=size), random.normal(size=size))
    return found.q, found.v, random.normal(size=size)


def accelerations(mechanism, graph, q, v, tau):
    layout = mechanism.layout
    given = dict(zip((*layout.positions, *layout.velocities, *layout.forces), (*q, *v, *tau), strict=True))
    return interpret(graph, given | {"t": 0.0})["qdd"]


@pytest.mark.parametrize(("name", "closure"), list(zip(MECHANISMS, ["multipliers", "partition"] * 3, strict=True)))
def test_all_cuts_give_the_same_accelerations_and_are_proved(name, closure):
    mechanism = kg.parse(MECHANISMS[name])
    q, v, tau = place(mechanism)
    wanted = accelerations(mechanism, kg.derive(mechanism, "qdd", numeric=True), q, v, tau)
    cuts = other_cuts(mechanism)
    assert cuts
    for cut in cuts[:1]:
        found = accelerations(mechanism, reduced(by_cut(mechanism, cut, closure)).graph, q, v, tau)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("seed", [0, 4])
def test_random_linkages_are_cut_elsewhere(seed):
    mechanism = linkage(seed)
    q, v, tau = place(mechanism)
    wanted = values(mechanism, "qdd", q=q, v=v, tau=tau)["qdd"]
    for cut in other_cuts(mechanism)[:2]:
        graph = derived(by_cut(mechanism, cut, "multipliers")).graph
        np.testing.assert_allclose(accelerations(mechanism, graph, q, v, tau), wanted, rtol=1e-8, atol=1e-8)


def test_the_proof_would_see_another_mechanism():
    mechanism, heavier = kg.parse(ROW), kg.parse(ROW.replace("m(2)", "m(2.001)"))
    own, other = (by_cut(one, ("C",), "multipliers") for one in (mechanism, heavier))
    assert own.proved(derived(own).graph, derived(own).plan)
    with pytest.raises(ProofError):
        own.proved(derived(other).graph, derived(own).plan)


def test_the_cut_that_the_model_names_is_kept():
    plain, fixed = kg.parse(SHORT_ROW), kg.parse(SHORT_ROW + "cut C;")
    request = resolve_closure(request_of(fixed, "qdd", numeric=True), ())
    assert request.cut == ("C",)
    assert resolve_closure(request_of(fixed, "qdd", numeric=True, closure="fastest"), ()).cut == ("C",)
    q, v, tau = place(plain)
    kernels = [kg.compile(one, "qdd") for one in (plain, fixed)]
    np.testing.assert_allclose(kernels[1](q, v, tau), kernels[0](q, v, tau), rtol=1e-10)
    assert kernels[1].operations.total < kernels[0].operations.total
    assert kg.derive(fixed, "multipliers") == kg.derive(plain, "multipliers")


def test_a_row_of_bars_is_cut_elsewhere_by_the_search():
    found = finalists(request_of(kg.parse(SHORT_ROW), "qdd", numeric=True), (), cache=False)
    stated = next(one for one in found if not one.cut)
    assert found[0].cut and found[0].cycles < 0.9 * stated.cycles


def test_parameters_may_stay_open():
    """Equal bars whose length is a run-time parameter or unknown."""
    plain, fixed = kg.parse(SHORT_ROW), kg.parse(SHORT_ROW + "cut C;")
    q, v, tau = place(plain)
    kernels = [kg.compile(one, "qdd", runtime=["l"]) for one in (plain, fixed)]
    np.testing.assert_allclose(kernels[1](q, v, tau, [1]), kernels[0](q, v, tau, [1]), rtol=1e-10)
    assert kg.derive(kg.load("slider-crank"), "qdd", closure="fastest").output("qdd").shape == (3,)


def test_no_numbers_in_singular_positions():
    linkage = kg.load("n-four-bar-1")
    flat = -np.pi / 2
    for closure in ("multipliers", "partition"):
        kernel = straight_kernel(by_cut(linkage, ("Coupler1",), closure).request, options=KernelOptions(cache=False))
        assert np.isnan(kernel([flat, flat, 0], [-1, -1, 0], [0, 0, 0])).all()
        beside = kernel([flat + 0.1, flat + 0.1, 0], [-1, -1, 0], [0, 0, 0])
        np.testing.assert_allclose(beside[:2], 1.2 * 9.81 * np.sin(flat + 0.1), rtol=1e-8)


def test_cuts_in_space_say_that_they_are_not_derived():
    bricard = kg.parse(kg.write(kg.load("bricard")) + "cut R3;")
    with pytest.raises(DerivationError, match=r"a cut at R3 is not supported\n.*planar linkages"):
        kg.compile(bricard, "qdd")
    assert other_cuts(kg.load("bricard")) == ()
    with pytest.raises(DerivationError, match="a cut at B, C"):
        recut(kg.parse(ROW), ("B", "C"))


def test_quantities_of_the_records_take_no_other_cut():
    request = request_of(kg.load("slider-crank"), "qdd,multipliers", numeric=True, closure="fastest")
    found = resolve_closure(request, (), cache=False)
    assert found.cut == () and found.closure is not Closure.FASTEST
