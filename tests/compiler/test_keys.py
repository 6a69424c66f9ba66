"""No two requests share a place in the cache: every part of a request, down to the last number, is part of its key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.codegen.program.binding import Argument, BackSubstitution, Emission, bind
from kinegraph.compiler.request import Request
from kinegraph.derive.quantities.quantity import parse_list
from kinegraph.graph.node import Kind, Symbol
from kinegraph.jit import kernel as build
from kinegraph.jit.engine import Target
from kinegraph.jit.kernel import Source
from kinegraph.model.elements import Element
from kinegraph.model.expressions import Expression, expression

MODEL = """model sample; parameters k = 2, n = -1; coordinates q = 0.1, r; gravity 0, 0, -9.81; initial q' = 1;
quaternion (a,b,c,d) velocity (x,y,z); inputs u, w = sin(t);
A | Ry(q) | Sz(1), m(1), Jx(2), Jxy(0.1); B~A | Sz(1), Rx(r), Q(a,b,c,d) | m(1); D | Sx(k) | m(0.5); accept inertia A;
output tip = B (0, 0, 1);
spring S1 | on(q - r) stiffness(k) rest(1); spring S2 | between(tip, (0, 0, w)), force(k*stretch^3);
spring S3 | on(q), energy(k*stretch^2); damper D1 | on(q') damping(k);
friction F | on(q) coulomb(1) viscous(k) width(k); force P1 | value(u*tip.x') on(tip.x);
force P2 | at(tip) world(0, u, 1); moment M | at(tip) body(u, 0, 0); potential V | k*cos(q)*a;
limit L | on(q) lower(n) upper(1) stiffness(k); shape A | Sx(1) | box(1, 2, 3), color(0.1, 0.2, 0);
contact T | sphere(tip, 0.1), plane((0, 0, 0), (0, 0, 1)) | stiffness(k), damping(1), friction(k);
"""


def long_sum(last: int) -> Expression:
    """Of 1201 parts: longer than what is printed in full."""
    total = expression("n")
    for number in range(600):
        total = total + (last if number == 599 else number)
    return total


def sample() -> Request:
    mechanism = kg.parse(MODEL)
    assert {type(one) for one in mechanism.elements} == set(get_args(Element))
    bound = {"k": 2 * expression("n"), "n": expression(Fraction(1, 3))}
    return Request(mechanism, parse_list("tau,pose:tip,d(tau)/d(q)"), bound, kg.Effort.SEARCH, 0.0, 3)


def changes(value: Any) -> Iterator[Any]:
    """The value with one part changed, for every part."""
    if isinstance(value, Enum):
        yield from (other for other in type(value) if other is not value)
    elif isinstance(value, bool) or value is None:
        yield from {True: (False,), False: (True,), None: ("x", 0)}[value]
    elif isinstance(value, str):
        yield from (f"{value}'", value[1:] or "other")
    elif isinstance(value, float):
        yield from (value + 1, -value) if value else (1.0, -0.0)
    elif isinstance(value, int | Fraction):
        yield from (value + 1, value / Fraction(3) if value else Fraction(1, 3))
    elif isinstance(value, dict):
        yield from (_but(value, key, other) for key in value for other in changes(value[key]))
        yield {key: one for key, one in value.items() if key != next(iter(value))}
        yield {f"{key}'": one for key, one in value.items()}
    elif isinstance(value, tuple) and not hasattr(value, "_fields"):
        for place, part in enumerate(value):
            yield from ((*value[:place], other, *value[place + 1 :]) for other in changes(part))
        yield (*value, *(value[-1:] or (0,)))
        yield from (value[:-1],) if value else ()
        yield from (value[::-1],) if value != value[::-1] else ()
    elif is_dataclass(value) or hasattr(value, "_fields"):
        names = value._fields if hasattr(value, "_fields") else [one.name for one in fields(value) if one.init]
        for name in names:
            yield from (_with(value, names, name, other) for other in changes(getattr(value, name)))
    else:
        raise AssertionError(f"how does a {type(value)} change?")


def _but(value: dict[str, Any], key: str, other: Any) -> dict[str, Any]:
    return {name: other if name == key else one for name, one in value.items()}


def _with(value: Any, names: list[str], name: str, other: Any) -> Any:
    """A copy that has not been checked: many of the changes make no sense, but all are changes."""
    parts = {one: other if one == name else getattr(value, one) for one in names}
    if hasattr(value, "_fields"):
        return type(value)(**parts)
    copy = object.__new__(type(value))
    for one, part in parts.items():
        object.__setattr__(copy, one, part)
    return copy


def test_every_part_of_a_request_is_part_of_its_key() -> None:
    request = sample()
    keys = [one.key for one in changes(request)]
    assert len(keys) > 400
    assert request.key == sample().key
    assert len({request.key, *keys}) == 1 + len(keys)


def test_long_expressions_are_part_of_the_key_to_their_last_number() -> None:
    one, other = (replace(sample(), parameters={"k": long_sum(last)}).key for last in (1, 2))
    assert one != other


def test_the_version_of_the_program_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sample().key
    monkeypatch.setattr("kinegraph.jit.cache.sources_digest", lambda folder: "another version")
    assert sample().key != before


def source() -> Source:
    q, r, m = Symbol(Kind.COORDINATE, "q"), Symbol(Kind.COORDINATE, "r"), Symbol(Kind.PARAMETER, "m")
    graph = kg.derive(kg.parse("coordinates q, r; parameters m; A | Ry(q), Sx(r) | m(m);"), "H")
    emission = Emission(4, None, True, BackSubstitution(1, (0,), ((0, 0),), (True,)), ((q, r),))
    arguments = Argument("x", (q, r)), Argument("y", ())
    return Source(bind(graph, arguments, {m.name: Fraction(1, 3)}), emission, Target("triple", "cpu", "+fma"))


def test_every_part_of_the_code_is_part_of_its_key() -> None:
    """All that code is made of: the bound graph, how it is written, for which processor."""
    given = source()
    binding = given.binding
    variants = [Source(binding, other, given.target) for other in changes(given.emission)]
    variants += [Source(binding, given.emission, other) for other in changes(given.target)]
    variants += [replace(given, binding=replace(binding, arguments=other)) for other in changes(binding.arguments)]
    variants += [replace(given, binding=replace(binding, parameters=other)) for other in changes(binding.parameters)]
    other = kg.derive(kg.parse("coordinates q, r; parameters m; A | Ry(q), Sx(r) | m(2*m);"), "H")
    variants += [replace(given, binding=replace(binding, graph=other))]
    keys = [variant.identity for variant in variants]
    assert given.identity == source().identity
    assert len({given.identity, *keys}) == 1 + len(keys) > 30


@pytest.mark.parametrize("what", ["versions", "_emitter_version"])
def test_the_versions_are_part_of_the_codes_key(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = source().identity
    monkeypatch.setattr(build, what, lambda: "another version")
    assert source().identity != before


def test_long_values_get_kernels_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two values of 1201 parts once had the same name, and the second model got the first one's kernel."""
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path / "cache"))
    mechanism = kg.parse("parameters m1, n = 1; coordinates q; A | Ry(q), Sx(1) | m(m1);")
    found = [kg.compile(mechanism, "H", parameters={"m1": long_sum(last)})([0.0]) for last in (1, 2)]
    np.testing.assert_allclose(np.ravel(found), [1 + 598 * 599 / 2 + 599 + last - 598 for last in (0, 1)])
