"""Numbers of thousands of digits: a clear error wherever numbers are read or written."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

import kinegraph as kg
from kinegraph.cli.common import parse_value
from kinegraph.errors import GraphError, KinegraphError, ModelError
from kinegraph.graph import text as graph_text
from kinegraph.graph.text import exact_text
from kinegraph.io.dh import denavit_hartenberg
from kinegraph.io.mjcf import parse_mjcf
from kinegraph.io.urdf import parse_urdf
from kinegraph.model.builder import Rz, inertia
from kinegraph.store.rows import from_columns, to_columns

NINES = "9" * 5000
SMALL = "0." + "0" * 5000 + "1"
LARGE_EXPONENTS = ["1e99999", "1e999999999999", "1e-999999999"]


def built(number) -> None:
    builder = kg.Builder("m")
    builder.body("A", None, (Rz(builder.coordinate("q") * number),), inertia(mass=1))
    builder.build()


@pytest.mark.parametrize(
    "number", [NINES, SMALL, f"-{NINES}", f"{NINES}e-4999", *LARGE_EXPONENTS], ids=lambda n: n[:12]
)
@pytest.mark.parametrize(
    "read",
    [
        lambda n: kg.parse(f"coordinates q; A | Rz({n}*q) | m(1);"),
        lambda n: kg.parse(f"coordinates q = {n}; A | Rz(q) | m({n});"),
        lambda n: kg.parse(f"parameters a = {n}; A | Rz(a);"),
        lambda n: parse_value(n, "--set"),
        lambda n: denavit_hartenberg([(0, n, 0, 0)]),
        lambda n: denavit_hartenberg([(n, 0, 0, 0)]),
        lambda n: parse_urdf(f'<robot><link name="a"><inertial><mass value="{n}"/></inertial></link></robot>'),
        lambda n: parse_mjcf(f'<mujoco><worldbody><body pos="0 0 {n}"/></worldbody></mujoco>'),
        lambda n: built(Decimal(n)),
    ],
)
def test_readers_refuse_them(read, number: str) -> None:
    with pytest.raises(KinegraphError):
        read(number)


@pytest.mark.parametrize("number", [(10**5000, 1), (1, 10**5000), (10**5000, 7)], ids=["large", "small", "ratio"])
def test_the_builder_refuses_them(number) -> None:
    with pytest.raises(ModelError, match="more than 1000 digits"):
        built(Fraction(*number))


def test_coefficients_that_outgrow_text_are_named() -> None:
    arm = kg.parse("coordinates q; A | Sx((1e900*q)^7) | m(1);")
    with pytest.raises(KinegraphError, match="digits"):
        kg.compile(arm, "tau")
    with pytest.raises(GraphError, match=r"about [0-9]+ digits"):
        exact_text(10**5000)


def test_graph_text_and_store_refuse_them() -> None:
    with pytest.raises(GraphError, match="line 2"):
        graph_text.read(f'%0 = coordinate "q"\n%1 = {NINES} %0\noutput "tau" (1) = %1')
    with pytest.raises(GraphError):
        from_columns(0.0, NINES)
    with pytest.raises(GraphError):
        from_columns(0.0, "1/0")
    with pytest.raises(GraphError):
        to_columns(10**5000)
