"""Kernels as tasks use them: written out straight, and called with everything that is known."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.compile import compile
from kinegraph.compiler.request import Quantities, quantities_of
from kinegraph.errors import TaskError
from kinegraph.jit.kernel import Kernel
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Expression, Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.step import AT_ONCE
from kinegraph.tasks.operating_point import Floats, OperatingPoint

#: Equations of so few bodies would be written out to save operations. Kernels of tasks are called some thousand times:
#: that saves less than it takes.
_FEW = 8


def kernel_of(
    mechanism: Mechanism,
    quantities: Quantities,
    parameters: Mapping[str, Scalar] | None = None,
    runtime: tuple[str, ...] = (),
) -> Kernel:
    """Machine code for quantities, with numbers for all parameters but those of `runtime`, which it takes as p."""
    wanted = _words(tuple(quantities) if isinstance(quantities, list) else quantities)
    given = tuple(sorted((name, expression(value, name)) for name, value in (parameters or {}).items()))
    return _remembered(mechanism, wanted, given, runtime)


@lru_cache(maxsize=256)
def _words(quantities: Quantities) -> tuple[str, ...]:
    """Quantities as they are written; reading them takes longer than calling a kernel."""
    return tuple(str(quantity) for quantity in quantities_of(quantities))


@lru_cache(maxsize=32)
def _remembered(
    mechanism: Mechanism,
    quantities: tuple[str, ...],
    parameters: tuple[tuple[str, Expression], ...],
    runtime: tuple[str, ...],
) -> Kernel:
    """A task at many states, a search for a critical speed, asks for one kernel over and over."""
    passes = AT_ONCE if len(mechanism.bodies) <= _FEW else ""
    return compile(mechanism, quantities, parameters=dict(parameters), runtime=runtime, loops=False, passes=passes)


def taken(kernel: Kernel, values: Mapping[str, Floats | float]) -> dict[str, Floats | float]:
    """Of all that is known, what the kernel takes."""
    return {argument.name: values[argument.name] for argument in kernel.arguments}


def called(kernel: Kernel, values: Mapping[str, Floats | float]) -> dict[str, Floats]:
    """All results at one state, by name."""
    return dict(kernel.by_name(kernel(**taken(kernel, values))))


def called_at(
    mechanism: Mechanism, quantities: Quantities, point: OperatingPoint, parameters: Mapping[str, Scalar] | None = None
) -> dict[str, Floats]:
    """All results at one point, by name; TaskError naming the rows where a singular position leaves no values."""
    kernel = kernel_of(mechanism, quantities, parameters)
    found = called(kernel, point.arguments())
    lost = [name for name, values in found.items() if not np.isfinite(values).all()]
    if lost and is_constrained(mechanism):
        message = Assembler(mechanism, parameters).singular_message(", ".join(lost), point.q, point.t)
        if message:
            raise TaskError(message)
    return found


def called_rows(kernel: Kernel, values: Mapping[str, Floats | float]) -> dict[str, Floats]:
    """All results for rows of states, by name."""
    return dict(kernel.by_name(kernel.batch(**taken(kernel, values))))
