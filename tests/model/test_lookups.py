"""Look-ups of a mechanism are made once, and are no part of what it is."""

import pickle
from copy import deepcopy
from dataclasses import replace

import kinegraph as kg
from kinegraph.jit.cache import digest

TWO = kg.parse("coordinates q1, q2; One | Rz(q1) | Sx(1), m(1); Two~One | Sx(1), Rz(q2) | Sx(1), m(1);")


def test_lookups_are_made_once() -> None:
    assert TWO.layout is TWO.layout
    assert TWO.layout.forces is TWO.layout.forces
    assert TWO.body_by_name is TWO.body_by_name
    assert TWO.body("Two") is TWO.bodies[1]


def test_lookups_are_no_contents() -> None:
    fresh = replace(TWO)
    before = digest(fresh), pickle.dumps(fresh)
    assert fresh.layout.positions == ("q1", "q2")
    assert (digest(fresh), pickle.dumps(fresh)) == before
    assert fresh == TWO == pickle.loads(pickle.dumps(TWO)) == deepcopy(TWO)
    assert hash(fresh) == hash(TWO)


def test_a_changed_mechanism_looks_up_anew() -> None:
    assert TWO.layout.positions == ("q1", "q2")
    fewer = replace(TWO, coordinates=TWO.coordinates[:1], bodies=TWO.bodies[:1])
    assert fewer.layout.positions == ("q1",)
    assert list(fewer.body_by_name) == ["One"]
