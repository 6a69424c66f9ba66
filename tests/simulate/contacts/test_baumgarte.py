"""Contacts and Baumgarte's rows do not go together, and that is said."""

import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from kinegraph.simulate.stabilization import Baumgarte


def test_contacts_refuse_rows_that_decay() -> None:
    ball = kg.parse("""
        coordinates x, z = 1; gravity 0, 0, -9.81;
        Ball | Sx(x), Sz(z) | m(1);
        constraint wire | x = 0;
        contact floor | Ball.z >= 0;
    """)
    with pytest.raises(SolveError, match="omit `baumgarte`"):
        kg.simulate(ball, 0.05, baumgarte=Baumgarte(3, 3), native=False, progress=False)
