"""Section 5: the inertia matrix A_k and the forces b_k of one leg by the algorithm of the composite body; section 6:
what the leg does to the base."""

from __future__ import annotations

from kinegraph.reproduce.docking.arrays import Array, array, cross, zeros
from kinegraph.reproduce.docking.chain import Chain, Segment


def inertia_matrix(chain: Chain) -> Array:
    """A_k, a column for each unit acceleration of a joint."""
    n = len(chain.segments)
    found = zeros(chain.end[0], n, n)
    for j in range(n):
        for i, entry in _column(chain, j):
            found[i, j] = found[j, i] = entry
    return found


def _column(chain: Chain, j: int) -> list[tuple[int, object]]:
    """Entries i >= j: forces of inertia of body i and all behind it, along the axis of joint i."""
    none = zeros(chain.end[0], 3)
    own = chain.segments[j]
    linear, angular = (own.axis, none) if own.prismatic else (none, own.axis)
    loads = [_inertial(own, linear, angular)]
    for segment in chain.segments[j + 1 :]:
        linear, angular = segment.turn.T @ (linear + cross(angular, segment.arm)), segment.turn.T @ angular
        loads.append(_inertial(segment, linear, angular))
    sums = _inwards(chain.segments[j:], loads)
    return [(j + k, _along(segment, *sums[k])) for k, segment in enumerate(chain.segments[j:])]


def _inertial(segment: Segment, linear: Array, angular: Array) -> tuple[Array, Array]:
    force = linear * segment.mass + cross(angular, segment.first)
    return force, segment.inertia @ angular + cross(segment.first, linear)


def _along(segment: Segment, force: Array, moment: Array) -> object:
    return segment.axis @ (force if segment.prismatic else moment)


def _inwards(segments: tuple[Segment, ...], loads: list[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
    """By body the force and moment, about its origin, of itself and all behind it."""
    found = [loads[-1]]
    for k in range(len(segments) - 2, -1, -1):
        force, moment = propagated(segments[k + 1], *found[0])
        found.insert(0, (loads[k][0] + force, loads[k][1] + moment))
    return found


def propagated(segment: Segment, force: Array, moment: Array) -> tuple[Array, Array]:
    """A force and moment on a body, on the one before it, about its origin and in its axes."""
    turned = segment.turn @ force
    return turned, segment.turn @ moment + cross(segment.arm, turned)


def bias_loads(chain: Chain) -> list[tuple[Array, Array]]:
    """Forces and moments of inertia of each body when no joint accelerates."""
    like = chain.end[0]
    spin, bias, angular = zeros(like, 3), zeros(like, 3), zeros(like, 3)
    found = []
    for one in chain.segments:
        bias = one.turn.T @ (bias + cross(angular, one.arm) + cross(spin, cross(spin, one.arm)))
        spin, angular = one.turn.T @ spin, one.turn.T @ angular
        relative = one.axis * one.rate
        if one.prismatic:
            bias = bias + cross(spin, relative) * 2
        else:
            angular = angular + cross(spin, relative)
            spin = spin + relative
        force = bias * one.mass + cross(angular, one.first) + cross(spin, cross(spin, one.first))
        moment = one.inertia @ angular + cross(one.first, bias) + cross(spin, one.inertia @ spin)
        found.append((force, moment))
    return found


def generalized_forces(chain: Chain, loads: list[tuple[Array, Array]]) -> Array:
    """b_k: the active forces in the joints less what inertia takes without accelerations."""
    sums = _inwards(chain.segments, loads)
    along = (_along(segment, *one) for segment, one in zip(chain.segments, sums, strict=True))
    return array(array([segment.force for segment in chain.segments]) - array(list(along)))


def on_base(
    chain: Chain, loads: list[tuple[Array, Array]], accelerations: Array, at_end: tuple[Array, Array]
) -> tuple[Array, Array]:
    """(6.2), (6.3): force and moment on the base about the fixed origin.

    `at_end` are force and moment of the ring on the last body, about its origin and in its axes; the printed recursion
    has zeros there.
    """
    none = zeros(chain.end[0], 3)
    linear, angular, needed = none, none, []
    for segment, acceleration, load in zip(chain.segments, accelerations, loads, strict=True):
        linear, angular = segment.turn.T @ (linear + cross(angular, segment.arm)), segment.turn.T @ angular
        own = segment.axis * acceleration
        linear, angular = (linear + own, angular) if segment.prismatic else (linear, angular + own)
        force, moment = _inertial(segment, linear, angular)
        needed.append((force + load[0], moment + load[1]))
    force, moment = (-one for one in at_end)
    for segment, load in zip(reversed(chain.segments), reversed(needed), strict=True):
        force, moment = _transmitted(segment, force + load[0], moment + load[1])
        force, moment = propagated(segment, force, moment)
    return -force, -moment


def _transmitted(segment: Segment, force: Array, moment: Array) -> tuple[Array, Array]:
    """Along its axis a joint transmits its active force or moment, across it whatever is needed."""
    if segment.prismatic:
        return force + segment.axis * (segment.force - segment.axis @ force), moment
    return force, moment + segment.axis * (segment.force - segment.axis @ moment)
