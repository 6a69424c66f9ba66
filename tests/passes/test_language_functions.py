"""Every function of the model language, of every kind of argument, in transforms, elements, outputs and inputs.

Each model is derived, reduced, proved, and the reduced graph computes the same numbers as the derived one.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.graph.interpret import interpret
from kinegraph.model.expressions import FUNCTIONS
from tests.effort import SOAK

#: What a function may be taken of: values between -1 and 1, so that all are defined.
ARGUMENTS = {
    "coordinate": "0.7*q",
    "sum": "q + 0.1*r - 0.2",
    "product": "q*m",
    "power": "0.3*q^2 + 0.1",
    "time": "0.2*t",
    "function of a coordinate": "0.5*sin(2*q)",
    "function of time": "0.5*cos(3*t + q)",
    "parameter": "m",
}

#: Where an expression F may stand. Coordinates q and r, parameter m; the last is what is derived.
PLACES = {
    "rotation": ("A | Rz(r + F), Sx(q) | Sx(1), m(1), Jz(0.1);", "tau,qdd,pose:A"),
    "rotation alone": ("A | Rz(F), Sx(q), Sy(r) | Sx(1), m(1), Jz(0.1);", "bias,energy,momentum"),
    "shift": ("A | Rz(r), Sx(F + q) | Sx(1), m(1), Jz(0.1);", "gravity,energy,jacobian:A,C"),
    "element": (
        (
            "spring s | on(F*r), stiffness(20), rest(0.1); damper d | on(r), force(rate*F);"
            "force f | value(F), on(q + r); A | Rz(r), Sx(q) | Sx(1), m(1), Jz(0.1);"
        ),
        "qdd,energy,forces,power",
    ),
    "potential": ("potential p | F*r; A | Rz(r), Sx(q) | Sx(1), m(1), Jz(0.1);", "tau,energy,forces"),
    "output": (
        (
            "output tip = A (F, 0, 0.1); A | Rz(r), Sx(q) | Sx(1), m(1), Jz(0.1);"
            "spring s | between(tip, (3, 0, 0)), stiffness(20), rest(0.1);"
        ),
        "tau,energy",
    ),
    "input": ("inputs u = F; force f | value(u*u), on(q + r); A | Rz(r), Sx(q) | Sx(1), m(1), Jz(0.1);", "tau,forces"),
}

#: Outputs and inputs may not depend on coordinates.
FIXED = {"output": ("parameter",), "input": ("time", "parameter")}

STATE = {"q": 0.31, "r": 0.47, "m": 0.6, "t": 0.9, "q'": 0.4, "r'": -0.3, "q''": 0.2, "r''": 0.7}


def call(function: str, argument: str) -> str:
    """The function of an argument, others of fixed values beside it."""
    more = {1: (), 2: ("0.4",), 3: ("0.3*" + argument, "0.2")}[FUNCTIONS[function]]
    return f"{function}({', '.join((argument, *more))})"


def check(statements: str, quantities: str, expression: str) -> None:
    """Derive, reduce and prove a model; both graphs compute the same."""
    head = "parameters m = 0.6; coordinates q = 0.31, r = 0.47; gravity 0, -9.81, 0; "
    graph = kg.derive(kg.parse(head + statements.replace("F", f"({expression})")), quantities)
    reduced = kg.reduce(graph, kg.Effort.QUICK).graph
    values = {symbol.name: STATE.get(symbol.name, 0.37) for symbol in graph.symbols()}
    before, after = interpret(graph, values), interpret(reduced, values)
    for name, expected in before.items():
        np.testing.assert_allclose(after[name], expected, rtol=1e-9, atol=1e-9, err_msg=f"{name} of {expression}")


def calls() -> list[tuple[str, str]]:
    """Every function in every place; in quick runs in every third place, other ones for the next function."""
    step = 1 if SOAK else 3
    return [
        (function, place) for k, function in enumerate(sorted(FUNCTIONS)) for place in list(PLACES)[k % step :: step]
    ]


def arguments_for(place: str) -> list[str]:
    return [ARGUMENTS[kind] for kind in FIXED.get(place, ARGUMENTS)]


@pytest.mark.parametrize(("function", "place"), calls())
def test_a_function_of_every_kind_of_argument(function: str, place: str) -> None:
    statements, quantities = PLACES[place]
    found = arguments_for(place)
    if not SOAK:  # one argument in each place, another one in the next
        found = [found[(sorted(FUNCTIONS).index(function) + 2 * list(PLACES).index(place)) % len(found)]]
    for argument in found:
        check(statements, quantities, call(function, argument))


@pytest.mark.parametrize("inner", ["acos", "atan2", "sqrt", "exp"])
@pytest.mark.parametrize("outer", ["sin", "acos", "tanh", "abs"])
def test_a_function_of_a_function_inside_an_angle(outer: str, inner: str) -> None:
    check(PLACES["rotation"][0], "tau", call(outer, f"0.3*{call(inner, '0.5*q + 0.1')}"))


def test_prescribed_motion() -> None:
    for quantity in ("tau", "bias", "gravity", "qdd"):
        check("A | Rz(q + F), Sx(r) | Sx(1), m(1);", quantity, "0.3*sin(2*t)")
