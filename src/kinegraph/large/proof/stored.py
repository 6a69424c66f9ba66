"""Proofs of looped kernels, made when they are asked for and stored on disk."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from kinegraph.graph.proof.whole import LoopsProof
from kinegraph.jit import cache as disk
from kinegraph.jit.contents import digest
from kinegraph.model.expression import Scalar, expression
from kinegraph.model.mechanism import Mechanism

if TYPE_CHECKING:
    from kinegraph.large.proof.over_field import System

_log = logging.getLogger("kinegraph")


def proof_of(
    loops: System, mechanism: Mechanism, quantities: Sequence[str], parameters: Mapping[str, Scalar]
) -> LoopsProof | None:
    """The proof of all quantities that Newton's law says; None, with a word about it, where none is made."""
    from kinegraph.large.proof.prove import PROVED, proved, unproved  # few ask

    given = {name: expression(value, name) for name, value in parameters.items()}
    wanted = tuple(name for name in quantities if name in PROVED)
    why = unproved(loops, mechanism, given) if wanted else f"{', '.join(quantities)} by loops over bodies: not proved"
    if why:
        _log.warning("%s: %s", mechanism.name, why)
        return None
    name = f"loops-proof-{digest(mechanism, wanted, given, disk.sources_digest(Path(__file__).parents[2]))}"
    found = _stored(name)
    if found is None:
        found = proved(loops, mechanism, wanted, given)
        disk.save(name, json.dumps(asdict(found)).encode())
    return found


def _stored(name: str) -> LoopsProof | None:
    data = disk.load(name)
    try:
        found = None if data is None else json.loads(data)
        return found and LoopsProof(**{**found, "quantities": tuple(found["quantities"])})
    except (ValueError, TypeError, KeyError):
        return None
