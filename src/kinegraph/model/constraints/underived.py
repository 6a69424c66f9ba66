"""What can be described but not derived yet. Nothing is ignored: whoever derives equations asks here first."""

from __future__ import annotations

from kinegraph.errors import DerivationError
from kinegraph.model.constraints.records import described, ties
from kinegraph.model.mechanism import Mechanism


def refuse_unknowns(mechanism: Mechanism) -> None:
    """DerivationError for a mechanism with unknown forces, naming them."""
    _refuse(mechanism, _unknowns(mechanism), "equations with unknown forces")


def refuse_contact_forces(mechanism: Mechanism, what: str) -> None:
    """DerivationError for what follows from forces: those of contacts depend on which of them are closed."""
    if not mechanism.contacts:
        return
    names = ", ".join(one.name for one in mechanism.contacts[:5])
    raise DerivationError(
        f"{mechanism.name}: {what} depends on which contacts are closed ({names})\n"
        "  simulate finds that out and computes it; for equations and exported code remove them from the model, or\n"
        "  write a `bumper`, whose force is a formula of the state"
    )


def refuse_ties(mechanism: Mechanism, what: str) -> None:
    """DerivationError for a mechanism with anything beyond a tree; `what` cannot be done for it yet."""
    _refuse(mechanism, [*(described(tie) for tie in ties(mechanism)), *_unknowns(mechanism)], what)


def _unknowns(mechanism: Mechanism) -> list[str]:
    return [f"the unknown {one.name}" for one in mechanism.unknowns]


def _refuse(mechanism: Mechanism, pending: list[str], what: str) -> None:
    if not pending:
        return
    names = ", ".join(pending[:5]) + (f" and {len(pending) - 5} more" if len(pending) > 5 else "")
    raise DerivationError(
        f"{mechanism.name}: {what} are not derived yet; found {names}\n"
        "  such a model can be read, checked, written and kept"
    )
