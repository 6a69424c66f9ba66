"""Angular velocities about principal axes: shorter equations of the same motion."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler.mechanism_source import in_principal_axes
from kinegraph.compiler.request import request_of
from kinegraph.compiler.stored import reduced
from kinegraph.errors import ModelError
from kinegraph.passes.effort import Effort

HEAD = (
    "quaternion (e0, e1, e2, e3) velocity{word} (wx, wy, wz) = (0.8, 0, 0.6, 0); initial wx = 0.3, wy = 1, wz = -0.2;"
)
NUT = (
    "Nut | Q(e0, e1, e2, e3) | m(1), Jx(2), Jy(2.5), Jz(3), Jxy(0.3), Jyz(0.2), Jxz(-0.1); output tip = Nut (0, 1, 0);"
)
DIAGONAL = "Nut | Q(e0, e1, e2, e3) | m(1), Jx(2.03), Jy(2.51), Jz(2.9);"
#: A center of mass beside the joint, a child, gravity.
HANGING = """gravity 0, 0, -9.81; coordinates q = 0.3;
Nut | Q(e0, e1, e2, e3), Sx(0.1) | Sy(0.2), m(1), Jx(2), Jy(2.5), Jz(3), Jxy(0.3), Jyz(0.2), Jxz(-0.1);
Arm~Nut | Sz(0.5), Rx(q) | Sz(0.2), m(0.5), Jx(0.1), Jy(0.1), Jz(0.1); output tip = Arm (0, 0, 1);"""


def operations(mechanism: kg.Mechanism, quantity: str) -> tuple[int, int]:
    found = kg.count(reduced(request_of(mechanism, quantity, numeric=True, effort=Effort.QUICK)).graph)
    return found.mul, found.add


@pytest.mark.soak
def test_products_cost_nothing_more() -> None:
    """The figures of K1: the same cost as a body that was given in principal axes."""
    principal = kg.parse(HEAD.format(word=" principal") + NUT)
    given = kg.parse(HEAD.format(word="") + DIAGONAL)
    for quantity in ("tau", "qdd"):
        assert operations(principal, quantity) == operations(given, quantity) == (9, 3)
    assert operations(kg.parse(HEAD.format(word="") + NUT), "tau") > (9, 3)


@pytest.mark.parametrize("body", [pytest.param(NUT, marks=pytest.mark.soak), HANGING])
def test_the_motion_is_the_same_in_the_axes_of_the_model(body: str) -> None:
    plain = kg.parse(HEAD.format(word="") + body)
    runs = [kg.simulate(one, 0.7, rtol=1e-10, native=False, progress=False, times=2) for one in
            (plain, in_principal_axes(plain))]  # fmt: skip
    for column in ("tip.x", "tip.y", "tip.z", "energy"):
        assert runs[0][column][-1] == pytest.approx(runs[1][column][-1], abs=1e-8)


def test_velocities_of_bodies_stay_in_their_axes() -> None:
    plain = kg.parse(HEAD.format(word="") + NUT)
    principal = in_principal_axes(plain)
    found, wanted = (
        np.asarray(kg.compile(one, "velocity:Nut")(*(kg.assemble(one).q, kg.assemble(one).v)))
        for one in (principal, plain)
    )
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_what_is_written_reads_back() -> None:
    principal = kg.parse(HEAD.format(word=" principal") + NUT)
    assert kg.parse(kg.write(principal)) == principal
    assert [body.name for body in principal.bodies] == ["Nut_principal", "Nut"]


def test_without_products_nothing_changes() -> None:
    plain = kg.parse(HEAD.format(word="") + DIAGONAL)
    assert in_principal_axes(plain) == plain == kg.parse(HEAD.format(word=" principal") + DIAGONAL)


def test_moments_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ModelError, match="principal axes of Nut"):
        kg.parse("parameters k; " + HEAD.format(word=" principal") + NUT.replace("Jxy(0.3)", "Jxy(k)"))
