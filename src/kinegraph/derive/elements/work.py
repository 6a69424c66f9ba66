"""What an element does: a force and what it works on, and the energy it keeps."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.graph.scalar import Scalar


@dataclass(frozen=True)
class Work:
    """A force and what it works on; a target that is a rate acts through dbeta/dv instead of dgamma/dq."""

    force: Scalar
    target: Scalar
    is_rate: bool = False


@dataclass(frozen=True)
class Storing:
    """An energy and the force it gives, against the growth of its target: for laws better not differentiated."""

    energy: Scalar
    work: Work
