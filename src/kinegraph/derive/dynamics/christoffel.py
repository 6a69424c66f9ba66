"""The three-index array C: tau_i = sum_kh C^i_kh v_k v_h, by recursion instead of differentiating H.

With u_k(x) the velocity of a point x when joint component k moves alone at unit rate, and w_h the angular velocity of
component h, everything follows from D_{i,kh} = sum over the mass beyond k of m u_i . (w_h x u_k), for i and h at or
below k. For h below k the pair (k, h) accelerates a point by 2 w_h x u_k; two components of one ball joint
accelerate it by w_h x u_k + w_k x u_h.
"""

from __future__ import annotations

from kinegraph.derive.dynamics.composite_body import Column, Screw, all_screws, composite_moments, own_columns, power
from kinegraph.derive.tree.algebra import Symmetric, Vector, cross, plus, times
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.inertia import MassMoments
from kinegraph.graph.scalar import Scalar

Key = tuple[Column, Column, Column]


def christoffel(layout: FrameAssignment, wanted: frozenset[Column]) -> dict[Key, Scalar]:
    """C in joint components, key (i, k, h); entries that vanish identically are left out."""
    base = _basic_products(layout, wanted)
    entries: dict[Key, Scalar] = {}
    for i, k, h in base:
        if k.link == h.link:
            value = (base[i, k, h] + base[i, h, k]) / 2 if k != h else base[i, k, k]
        else:
            value = base[i, k, h]
        _store(entries, i, k, h, value)
        if i.link < k.link and h.link <= i.link:
            _store(entries, k, i, h, _from_below(base, i, k, h))
    return entries


def _from_below(base: dict[Key, Scalar], i: Column, k: Column, h: Column) -> Scalar:
    """Joint k beyond the pair (i, h): u_k . (w_h x u_i) = - u_i . (w_h x u_k)."""
    if i.link == h.link and i != h:
        return (base[i, k, h] + base[h, k, i]) / -2
    return -base[i, k, h]


def _store(entries: dict[Key, Scalar], i: Column, k: Column, h: Column, value: Scalar) -> None:
    if not value.is_zero:
        entries[i, k, h] = entries[i, h, k] = value


def _basic_products(layout: FrameAssignment, wanted: frozenset[Column]) -> dict[Key, Scalar]:
    """D_{i,kh} for every k and all i, h at or below it."""
    composites = composite_moments(layout)
    screws = all_screws(layout, wanted)
    products: dict[Key, Scalar] = {}
    for index in range(1, len(layout.tree.links)):
        for k in own_columns(layout, index, wanted):
            own = screws[index][k]
            for h, other in screws[index].items():
                force, moment = _rotational_wrench(composites[index], own, other.angular)
                for i, screw in screws[index].items():
                    products[i, k, h] = power(screw, force, moment)
    return products


def _rotational_wrench(moments: MassMoments, screw: Screw, w: Vector) -> tuple[Vector, Vector]:
    """Force and moment about the origin of sum m (w x u(x)) for the composite body's own unit motion u = v + e x."""
    p = plus(times(moments.mass, screw.linear), cross(screw.angular, moments.first))
    force = cross(w, p)
    # sum m x x (w x (e x x)) = - e x S w, and mc x (w x v) for a prismatic joint
    moment = plus(_minus_cross(screw.angular, moments.second, w), cross(moments.first, cross(w, screw.linear)))
    return force, moment


def _minus_cross(e: Vector, s: Symmetric, w: Vector) -> Vector:
    """- e x S w."""
    return cross(s.apply(w), e)
