"""Published mechanisms with loops against their reference values (IFToMM A03 to A05, IVP test set, SUNDIALS, Haug)."""

import numpy as np
import pytest

import kinegraph as kg

#: Andrews' squeezing mechanism at 0.03 s, as the IVP test set prints it (about ten digits are right).
ANDREWS = {
    "beta": 15.81077119629904, "theta": -15.75637105984298, "gamma": 0.04082224013073101, "phi": -0.5347301163226948,
    "delta": 0.5244099658805303, "omega": 0.5347301163226948, "epsilon": 1.048080741042263,
}  # fmt: skip

#: The height of the governor's slider at 0.5, 1, 2, 5 and 10 s, from a symmetric reduction by Radau at 3e-12.
GOVERNOR = [0.7432494247863, 0.5014209223796, 0.5059092942967, 0.5355631037216, 0.6196229170613]

#: Crank angle and slider of the spatial slider-crank at 0.2, 1 and 5 s, from an exact reduction to one coordinate.
SPATIAL = {"crank": [1.230926918453, 10.484073838524, 51.369439887929],
           "s": [0.260545932689, 0.233764750335, 0.254650085467]}  # fmt: skip

#: Bricard's linkage: the third joint at 5 and 10 s, computed by a projected integration.
BRICARD = [[0.999932742301, -0.999999997738, -6.725543686e-05], [0.999730987302, -0.999999963826, -0.00026897651364]]

#: SUNDIALS' planar slider-crank (Haug 1992, 6.1.8) at 1, 2, 5, 8 and 10 s: crank, slider, rod and their rates.
SLIDER_CRANK = [
    [1.31542057088, 1.00149180723, -0.504973470642, -0.50879297691, 0.281669094687, 0.0734275290142],
    [0.579038812049, 1.38033527196, -0.277144095739, -0.942187072785, 0.369956161789, 0.409943237195],
    [-1.42999696765, 0.939030613578, 0.51789475649, 0.0549916105378, 0.0294222316478, -0.00444098975895],
    [0.644225539481, 1.35363061453, -0.304996349857, 0.838418337213, -0.357291074715, -0.351402966725],
    [1.27567584865, 1.02357855898, -0.498813049182, -0.239914997196, 0.133778283216, 0.0397314959913],
]

SLIDER_CRANK_MODEL = """
model slider-crank-of-sundials;
parameters a = 0.5;
coordinates q = pi/2, p = asin(-a), x = cos(asin(-a));
Crank | Rz(q)        | Jz(1);
Rod   | Sx(x), Rz(p) | m(1), Jz(2);
loop pin | revolute | Crank: Sx(a) | Rod: Sx(-1);
spring coil  | between(Crank(a/2, 0, 0), Rod(-1/2, 0, 0)), stiffness(1), rest(1);
damper shock | between(Crank(a/2, 0, 0), Rod(-1/2, 0, 0)), damping(1);
output far = Rod (1, 0, 0);
force  push  | value(1), on(far.x);
"""


def test_andrews_squeezing_mechanism() -> None:
    run = kg.simulate("andrews", 0.03, times=[0, 0.03], rtol=1e-12, atol=1e-12, native=False, progress=False)
    for name, value in ANDREWS.items():
        assert run[name][-1] == pytest.approx(value, abs=1e-8)


def test_governor_with_stiff_springs() -> None:
    times = [0, 0.5, 1, 2, 5, 10]
    run = kg.simulate("governor", 10, times=times, method="bdf", rtol=1e-10, atol=1e-11, progress=False)
    np.testing.assert_allclose(run["s"][1:], GOVERNOR, atol=2e-8)
    np.testing.assert_allclose(run["left"], run["right"], atol=1e-9)


def test_spatial_slider_crank() -> None:
    run = kg.simulate("spatial-slider-crank", 5, times=[0, 0.2, 1, 5], rtol=1e-11, atol=1e-12, native=False)
    for name, values in SPATIAL.items():
        np.testing.assert_allclose(run[name][1:], values, atol=1e-8)
    assert np.ptp(run["energy"]) < 1e-8 * abs(run["energy"][0])


def test_bricard_for_ten_seconds() -> None:
    run = kg.simulate("bricard", 10, times=[0, 5, 10], rtol=1e-10, atol=1e-11, native=False, progress=False)
    found = np.column_stack([run[f"P3.{axis}"] for axis in "xyz"])
    np.testing.assert_allclose(found[1:], BRICARD, atol=1e-8)


def test_planar_slider_crank_with_a_spring_and_a_damper() -> None:
    times = [0, 1, 2, 5, 8, 10]
    run = kg.simulate(kg.parse(SLIDER_CRANK_MODEL), 10, times=times, rtol=1e-11, atol=1e-12, native=False)
    found = np.column_stack([run[name] for name in ("q", "x", "p", "q'", "x'", "p'")])
    np.testing.assert_allclose(found[1:], SLIDER_CRANK, atol=1e-8)
