"""Closed loops and other constraints: their rows, and the equations of motion with constraints.

Mechanisms without constraints import none of these modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.derive.constraints.closed_form import ClosedFormChoice, Dyads
    from kinegraph.derive.constraints.constrained_dynamics import ConstrainedDynamics
    from kinegraph.derive.constraints.constraint_rows import ConstraintEquations
    from kinegraph.derive.constraints.cuts import recut, refuse_cuts
    from kinegraph.derive.constraints.quasi_velocities import QuasiVelocitySystem, quasi_velocity_rows
    from kinegraph.derive.constraints.redundancy import analyzed, row_names_of
    from kinegraph.derive.constraints.segments import (
        WIDTH,
        SegmentedLoop,
        SegmentLanes,
        lane_groups,
        lengths_of,
        planar_loop,
        without_lanes,
    )
    from kinegraph.derive.constraints.trigonometric_polynomials import NoClosedForm

__all__ = [
    "WIDTH",
    "ClosedFormChoice",
    "ConstrainedDynamics",
    "ConstraintEquations",
    "Dyads",
    "NoClosedForm",
    "QuasiVelocitySystem",
    "SegmentLanes",
    "SegmentedLoop",
    "analyzed",
    "lane_groups",
    "lengths_of",
    "planar_loop",
    "quasi_velocity_rows",
    "recut",
    "refuse_cuts",
    "row_names_of",
    "without_lanes",
]

load_on_demand(
    __name__,
    {
        "ClosedFormChoice": "kinegraph.derive.constraints.closed_form",
        "ConstrainedDynamics": "kinegraph.derive.constraints.constrained_dynamics",
        "Dyads": "kinegraph.derive.constraints.closed_form",
        "SegmentLanes": "kinegraph.derive.constraints.segments",
        "NoClosedForm": "kinegraph.derive.constraints.trigonometric_polynomials",
        "QuasiVelocitySystem": "kinegraph.derive.constraints.quasi_velocities",
        "SegmentedLoop": "kinegraph.derive.constraints.segments",
        "ConstraintEquations": "kinegraph.derive.constraints.constraint_rows",
        "WIDTH": "kinegraph.derive.constraints.segments",
        "analyzed": "kinegraph.derive.constraints.redundancy",
        "lane_groups": "kinegraph.derive.constraints.segments",
        "lengths_of": "kinegraph.derive.constraints.segments",
        "planar_loop": "kinegraph.derive.constraints.segments",
        "quasi_velocity_rows": "kinegraph.derive.constraints.quasi_velocities",
        "recut": "kinegraph.derive.constraints.cuts",
        "refuse_cuts": "kinegraph.derive.constraints.cuts",
        "row_names_of": "kinegraph.derive.constraints.redundancy",
        "without_lanes": "kinegraph.derive.constraints.segments",
    },
)
