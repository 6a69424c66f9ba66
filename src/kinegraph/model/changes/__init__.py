"""Mechanisms made from mechanisms: coordinates held, parameters set, expressions replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.model.changes.lock import lock
    from kinegraph.model.changes.principal_velocities import declared_principal, in_principal_axes
    from kinegraph.model.changes.set_parameters import with_parameters
    from kinegraph.model.changes.shape_contacts import with_contacts

__all__ = ["declared_principal", "in_principal_axes", "lock", "with_contacts", "with_parameters"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("declared_principal", "in_principal_axes"), "kinegraph.model.changes.principal_velocities"),
        "lock": "kinegraph.model.changes.lock",
        "with_contacts": "kinegraph.model.changes.shape_contacts",
        "with_parameters": "kinegraph.model.changes.set_parameters",
    },
)
