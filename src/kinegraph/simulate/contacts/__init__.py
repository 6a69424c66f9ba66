"""Runs of mechanisms with contacts: the equations of their modes, and what is said of the contacts afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.simulate.contacts.checks import contact_checks
    from kinegraph.simulate.contacts.forms import OpenForm
    from kinegraph.simulate.contacts.task import ContactTask

__all__ = ["ContactTask", "OpenForm", "contact_checks"]

load_on_demand(
    __name__,
    {
        "ContactTask": "kinegraph.simulate.contacts.task",
        "OpenForm": "kinegraph.simulate.contacts.forms",
        "contact_checks": "kinegraph.simulate.contacts.checks",
    },
)
