"""Closed chains and other constraints: their rows, and the equations of motion with them.

Derivations of mechanisms that have none import none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.derive.constraints.analysis import analysed, row_names_of
    from kinegraph.derive.constraints.cuts.recut import recut, refuse_cuts
    from kinegraph.derive.constraints.dyads.choice import Choice
    from kinegraph.derive.constraints.dyads.dynamics import Dyads, NoClosedForm
    from kinegraph.derive.constraints.dynamics import ConstrainedDynamics
    from kinegraph.derive.constraints.quasi_velocities import QuasiVelocitySystem, quasi_velocity_rows
    from kinegraph.derive.constraints.segments.dynamics import SegmentedRing, lengths_of
    from kinegraph.derive.constraints.segments.lanes import WIDTH, Lanes, lane_groups, without_lanes
    from kinegraph.derive.constraints.segments.ring import planar_ring
    from kinegraph.derive.constraints.ties import Ties

__all__ = [
    "WIDTH",
    "Choice",
    "ConstrainedDynamics",
    "Dyads",
    "Lanes",
    "NoClosedForm",
    "QuasiVelocitySystem",
    "SegmentedRing",
    "Ties",
    "analysed",
    "lane_groups",
    "lengths_of",
    "planar_ring",
    "quasi_velocity_rows",
    "recut",
    "refuse_cuts",
    "row_names_of",
    "without_lanes",
]

load_on_demand(
    __name__,
    {
        "Choice": "kinegraph.derive.constraints.dyads.choice",
        "ConstrainedDynamics": "kinegraph.derive.constraints.dynamics",
        "Dyads": "kinegraph.derive.constraints.dyads.dynamics",
        "Lanes": "kinegraph.derive.constraints.segments.lanes",
        "NoClosedForm": "kinegraph.derive.constraints.dyads.dynamics",
        "QuasiVelocitySystem": "kinegraph.derive.constraints.quasi_velocities",
        "SegmentedRing": "kinegraph.derive.constraints.segments.dynamics",
        "Ties": "kinegraph.derive.constraints.ties",
        "WIDTH": "kinegraph.derive.constraints.segments.lanes",
        "analysed": "kinegraph.derive.constraints.analysis",
        "lane_groups": "kinegraph.derive.constraints.segments.lanes",
        "lengths_of": "kinegraph.derive.constraints.segments.dynamics",
        "planar_ring": "kinegraph.derive.constraints.segments.ring",
        "quasi_velocity_rows": "kinegraph.derive.constraints.quasi_velocities",
        "recut": "kinegraph.derive.constraints.cuts.recut",
        "refuse_cuts": "kinegraph.derive.constraints.cuts.recut",
        "row_names_of": "kinegraph.derive.constraints.analysis",
        "without_lanes": "kinegraph.derive.constraints.segments.lanes",
    },
)
