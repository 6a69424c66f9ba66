"""Axes of joints and vectors from joints to centres of mass: Rackovic's e_i and r_ji."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from kinegraph.derive.dynamics.composite_body import Column
from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.algebra import minus, plus
from kinegraph.derive.tree.links import centre_of_mass
from kinegraph.errors import DerivationError
from kinegraph.graph.scalar import Scalar
from kinegraph.model.names import did_you_mean

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def axis(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The unit vector about or along which a joint moves."""
    view = kinematics.seen_from(derivation.layout, derivation.frame(quantity))
    joint = _joint(derivation, quantity, quantity.of)
    screw = kinematics.joint_screws(derivation.layout, view, joint.link)[joint.component]
    return list(plus(screw.angular, screw.linear))  # one of them is zero


def arm(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The vector from the point where a joint sits to the centre of mass of a body."""
    layout = derivation.described_layout
    view = kinematics.seen_from(layout, derivation.frame(quantity, layout.tree))
    joint, _, body = quantity.of.partition(":")
    if body not in layout.tree.bodies:
        raise DerivationError(f"{quantity}: there is no body {body!r}\n  {did_you_mean(body, layout.tree.bodies)}")
    place = layout.tree.bodies[body]
    centre = centre_of_mass(place, derivation.mechanism.body(body), derivation.names)
    link = _joint(derivation, quantity, joint).link
    return list(minus(kinematics.position(layout, view, centre), view.origins[link]))


def _joint(derivation: Derivation, quantity: Quantity, name: str) -> Column:
    """The one joint component a name stands for."""
    found = _components(derivation, name)
    if len(found) == 1:
        return found[0]
    if not found:
        known = [
            *derivation.mechanism.layout.positions,
            *derivation.mechanism.layout.velocities,
            *derivation.tree.bodies,
        ]
        raise DerivationError(f"{quantity}: {name!r} names no joint\n  {did_you_mean(name, known)}")
    raise DerivationError(f"{quantity}: {name!r} stands for {len(found)} axes\n  {_remedy(derivation, found)}")


def _components(derivation: Derivation, name: str) -> list[Column]:
    """The joint components that a coordinate or velocity moves, or that lie between a body and its base."""
    mechanism = derivation.mechanism
    for velocity in (name, f"{name}'"):
        if velocity in mechanism.layout.velocities:
            index = mechanism.layout.velocities.index(velocity)
            return [column for column in sorted(derivation.driven) if index in _moved_by(derivation, column)]
    if name not in derivation.tree.bodies:
        return []
    base = mechanism.body(name).base
    link, last = derivation.tree.bodies[name].link, derivation.tree.bodies[base].link if base is not None else 0
    found = []
    while link != last:
        found += [Column(link, component) for component in range(len(derivation.at_rest.columns[link]))]
        link = derivation.tree.links[link].parent
    return found


def _moved_by(derivation: Derivation, column: Column) -> Collection[int]:
    """The velocities that move a joint component."""
    return derivation.at_rest.columns[column.link][column.component]


def _remedy(derivation: Derivation, found: list[Column]) -> str:
    names = derivation.mechanism.layout.velocities
    moving = {names[index] for column in found for index in _moved_by(derivation, column)}
    if len(moving) == len(found):
        return f"name one of them by its velocity: {', '.join(sorted(moving))}"
    return "name a body that one joint alone moves"
