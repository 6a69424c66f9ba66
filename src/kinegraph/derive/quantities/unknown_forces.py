"""A and B of the equations A X = B of unknown forces X, sorted while the elements are walked (KiDyM's new way).

Elements that contain an unknown give A = W^T dR/dX, where R are the components they act with and W their structure
matrix. Everything else gives B: inertia, weight, and elements at X = 0. So tau = B - A X, with constraints too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.derive.elements.forces import Elements, efforts, structure_matrix
from kinegraph.derive.plan import LoadMethod
from kinegraph.derive.quantities import dynamics
from kinegraph.derive.tree.algebra import sum_of_products
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar, substituted
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.node import Kind, Output, Symbol
from kinegraph.model.elements import Element, Force, Input, Moment, PointForce, mentions
from kinegraph.model.mechanism import ZERO

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def matrix(derivation: Derivation, quantity: Quantity) -> Square:
    """A: how a unit of each unknown acts on each coordinate."""
    symbols = _symbols(derivation, quantity)
    if derivation.platform is not None and derivation.platform.is_driven:
        tau = dynamics.tau(derivation, quantity)
        return [[-entry for entry in row] for row in _slopes(derivation, tau, symbols)]
    acting = [one for one in derivation.mechanism.elements if any(mentions(one, name) for name in _names(symbols))]
    simple = all(isinstance(one, Force | PointForce | Moment) for one in acting)
    form = _by_structure if simple and derivation.plan.unknowns is LoadMethod.STRUCTURE else _by_work
    found = form(derivation, acting, symbols)
    _require_linear(derivation, found, symbols)
    if not derivation.is_constrained:
        return found
    columns = [derivation.constrained.on_independent(column) for column in zip(*found, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def right_side(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """B: the generalized forces that the motion needs while all unknowns are zero."""
    symbols = _symbols(derivation, quantity)
    if derivation.platform is not None and derivation.platform.is_driven:
        nodes = [one.index for one in dynamics.tau(derivation, quantity)]
        zeros = dict.fromkeys(symbols, derivation.builder.zero)
        return [Scalar(derivation.builder, node) for node in substituted(derivation.builder, nodes, zeros)]
    needed = dynamics.tree_forces(derivation, derivation.motion(velocities=True, accelerations=True))
    forces = [force - given for force, given in zip(needed, _known_forces(derivation, symbols), strict=True)]
    return derivation.constrained.on_independent(forces) if derivation.is_constrained else forces


def _symbols(derivation: Derivation, quantity: Quantity) -> list[Symbol]:
    mechanism = derivation.mechanism
    if not mechanism.unknowns:
        raise DerivationError(
            f"{quantity}: {mechanism.name} has no unknown forces\n  declare them, e.g. `unknown S; force P | value(S), "
            "on(q1);`"
        )
    return [Symbol(Kind.INPUT, one.name) for one in mechanism.unknowns]


def _names(symbols: Sequence[Symbol]) -> list[str]:
    return [one.name for one in symbols]


def _known_forces(derivation: Derivation, symbols: Sequence[Symbol]) -> list[Scalar]:
    """The generalized forces of all elements while the unknowns are zero."""
    mechanism = derivation.mechanism
    if not mechanism.elements:
        return [derivation.zero] * derivation.size
    absent = tuple(Input(name, ZERO) for name in _names(symbols))
    known = replace(mechanism, unknowns=(), inputs=(*mechanism.inputs, *absent))
    return Elements(known, derivation.bound, derivation.layout, derivation.motion(velocities=True)).forces()


# A by the gradient of the work, or by the structure matrix of each element.


def _by_work(derivation: Derivation, acting: Sequence[Element], symbols: Sequence[Symbol]) -> Square:
    return _slopes(derivation, _elements(derivation, acting).forces(), symbols)


def _by_structure(derivation: Derivation, acting: Sequence[Element], symbols: Sequence[Symbol]) -> Square:
    elements = _elements(derivation, acting)
    found = [[derivation.zero] * len(symbols) for _ in range(derivation.size)]
    for one in acting:
        slopes = _slopes(derivation, efforts(elements, one), symbols)
        rows = structure_matrix(elements, one, derivation.at_rest)
        for i, line in enumerate(found):
            for k, total in enumerate(line):
                line[k] = total + sum_of_products([row[i] for row in rows], [slope[k] for slope in slopes])
    return found


def _elements(derivation: Derivation, acting: Sequence[Element]) -> Elements:
    mechanism = replace(derivation.mechanism, elements=tuple(acting))
    return Elements(mechanism, derivation.bound, derivation.layout, derivation.motion(velocities=True))


def _slopes(derivation: Derivation, values: Sequence[Scalar], symbols: Sequence[Symbol]) -> Square:
    """The derivatives of values by unknowns."""
    builder = derivation.builder
    by = [builder.symbol(one.kind, one.name) for one in symbols]
    return [[Scalar(builder, node) for node in row] for row in jacobian(builder, [one.index for one in values], by)]


def _require_linear(derivation: Derivation, rows: Square, symbols: Sequence[Symbol]) -> None:
    nodes = tuple(entry.index for row in rows for entry in row)
    graph = derivation.builder.graph([Output("A", (len(nodes),), nodes)])
    for symbol in graph.symbols(Kind.INPUT):
        if symbol in symbols:
            raise DerivationError(
                f"the equations are not linear in {symbol.name}: an unknown may be multiplied by known values only\n"
                "  find it by kg.fit, or make the force itself the unknown"
            )
