"""How many degrees of freedom a mechanism has, and which of its constraint rows say nothing new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kinegraph.derive.constraints.redundancy import row_names_of
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.errors import KinegraphError
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Mechanism


@dataclass(frozen=True)
class Mobility:
    """dof: degrees of freedom, None if unknown; rows: of loops and constraints; redundant: those without effect.

    residual: what loops miss at the start, in the sense of least squares where rounded numbers contradict each other.
    """

    dof: int | None
    velocities: int
    rows: int
    redundant: tuple[str, ...] = ()
    residual: float = 0.0


def mobility(mechanism: Mechanism, bound: Mapping[str, Expression] | None = None) -> Mobility:
    """The mobility wherever the mechanism is assembled; unknown if parameters have no values or the start misfits."""
    velocities = len(mechanism.layout.velocities)
    if not is_constrained(mechanism):
        return Mobility(velocities, velocities, 0)
    names = row_names_of(mechanism)
    ties_alone = replace(mechanism, contacts=(), unknowns=(), elements=())
    try:
        constrained = Derivation(ties_alone, bound or {}, Plan()).constrained
        empty = {row.name for row in constrained.rows if row.is_empty}
    except KinegraphError:
        return Mobility(None, velocities, len(names))
    analysis = constrained.analysis
    without = empty if analysis.mobility is None else analysis.redundant
    redundant = tuple(name for name in names if name in without)
    return Mobility(analysis.mobility, velocities, len(names), redundant, analysis.residual)
