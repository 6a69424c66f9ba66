"""Runs of mechanisms with contacts: the equations of their modes, and checks of the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.simulate.contacts.equations import OpenForm
    from kinegraph.simulate.contacts.runs import ContactTask, contact_checks

__all__ = ["ContactTask", "OpenForm", "contact_checks"]

load_on_demand(
    __name__,
    {
        "ContactTask": "kinegraph.simulate.contacts.runs",
        "OpenForm": "kinegraph.simulate.contacts.equations",
        "contact_checks": "kinegraph.simulate.contacts.runs",
    },
)
