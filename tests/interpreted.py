"""Equations as Python functions: for tests of which machine code is not the subject, and which need not wait for it."""

from __future__ import annotations

from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.compiler.derive import Derivations
from kinegraph.compiler.request import Quantities, arguments_of, request_of
from kinegraph.derive.plan import Closure
from kinegraph.model.mechanism import Mechanism


def interpreted(
    mechanism: Mechanism, quantities: Quantities, closure: Closure | str = Closure.MULTIPLIERS
) -> InterpretedKernel:
    """The equations as they are first derived: no other plan is tried, nothing is reduced or compiled."""
    request = request_of(mechanism, quantities, numeric=True, closure=closure)
    return InterpretedKernel(Derivations(request, cache=False).at_once, arguments_of(mechanism, quantities))
