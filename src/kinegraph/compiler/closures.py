"""Which way loops are closed, and where they are cut, as the request says or as is estimated to run fastest."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kinegraph.compiler import stages
from kinegraph.compiler.chain import Chain
from kinegraph.compiler.request import Request
from kinegraph.derive.choices import Closure
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.constraints.topology import wanted_cut

if TYPE_CHECKING:
    from kinegraph.passes.pipeline import OnPass

_log = logging.getLogger("kinegraph")


def settled(request: Request, runtime: Sequence[str], cache: bool = True) -> Request:
    """The request with one way to close loops and one cut: the fastest is looked for where that is asked."""
    if not is_constrained(request.mechanism):
        return replace(request, closure=Closure.MULTIPLIERS)
    fixed = wanted_cut(request.mechanism) if may_be_cut(request) else ()
    if request.closure is not Closure.FASTEST:
        return replace(request, cut=() if request.closure is Closure.CLOSED_FORM else fixed)
    found = stages.finalists(request, runtime, cache)
    _log.info("%s: %s", request, "; ".join(map(str, found)))
    return replace(request, closure=found[0].closure, cut=found[0].cut)


def chain_of(request: Request, runtime: Sequence[str] = (), cache: bool = True, on_pass: OnPass | None = None) -> Chain:
    """The records of a request once it is settled how its loops are closed: what `compile` compiles."""
    return Chain(settled(request, runtime, cache), cache, on_pass)


def may_be_cut(request: Request) -> bool:
    """Cuts are a matter of accelerations alone: all else belongs to the tree of records and its closing joints."""
    return [str(quantity) for quantity in request.quantities] == ["qdd"]
