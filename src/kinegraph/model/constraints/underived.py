"""What can be described but not derived yet. Nothing is ignored: whoever derives equations asks here first."""

from __future__ import annotations

from kinegraph.errors import DerivationError
from kinegraph.model.constraints.records import described, ties
from kinegraph.model.mechanism import Mechanism


def refuse_underived(mechanism: Mechanism) -> None:
    """DerivationError for a mechanism with loops, constraints, contacts or unknown forces, naming them."""
    pending = [*(described(tie) for tie in ties(mechanism)), *(f"the unknown {one.name}" for one in mechanism.unknowns)]
    if pending:
        names = ", ".join(pending[:5]) + (f" and {len(pending) - 5} more" if len(pending) > 5 else "")
        raise DerivationError(
            f"{mechanism.name}: equations of mechanisms with loops, constraints, contacts or unknown forces are not "
            f"derived yet; found {names}\n  such a model can be read, checked, written and kept, but not computed"
        )
