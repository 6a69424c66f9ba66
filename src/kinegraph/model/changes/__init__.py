"""Modified mechanisms: lock coordinates, set parameters, add contacts, use principal axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.model.changes.coordinates import lock, with_parameters
    from kinegraph.model.changes.inertial_parameters import with_inertial_parameters
    from kinegraph.model.changes.principal_axes import declared_principal, in_principal_axes
    from kinegraph.model.changes.shape_contacts import with_contacts

__all__ = [
    "declared_principal",
    "in_principal_axes",
    "lock",
    "with_contacts",
    "with_inertial_parameters",
    "with_parameters",
]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("declared_principal", "in_principal_axes"), "kinegraph.model.changes.principal_axes"),
        "with_inertial_parameters": "kinegraph.model.changes.inertial_parameters",
        "lock": "kinegraph.model.changes.coordinates",
        "with_contacts": "kinegraph.model.changes.shape_contacts",
        "with_parameters": "kinegraph.model.changes.coordinates",
    },
)
