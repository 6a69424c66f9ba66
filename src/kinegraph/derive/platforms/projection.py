"""Back onto the loops of a platform: the ring stays, the legs are put where they reach it."""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.derive.platforms.dynamics import PlatformDynamics
from kinegraph.graph.scalar import Scalar


def put_back(
    dynamics: PlatformDynamics, symbols: Mapping[str, Scalar]
) -> tuple[dict[str, Scalar], list[Scalar], list[Scalar]]:
    """Positions and velocities of legs by name, by how much each missed them, and how far legs are from singular.

    Angles are corrected by the shortest way, so that a crank may turn any number of times.
    """
    positions, rates = dynamics.leg_positions(), dynamics.leg_rates()
    lengths = {leg.drive for leg in dynamics.platform.legs if not leg.type.has_crank}
    found: dict[str, Scalar] = {}
    missed: list[Scalar] = []
    for name, place in positions.items():
        miss = place - symbols[name]
        miss = miss if name in lengths else miss.sin().apply("atan2", miss.cos())
        found[name] = symbols[name] + miss
        missed.append(miss)
    for name, rate in rates.items():
        found[name] = rate
        missed.append(rate - symbols[name])
    return found, missed, [item for leg in dynamics.legs for item in leg.pivots()]
