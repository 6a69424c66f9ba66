"""Calling a kernel with everything that is known: it takes what it needs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinegraph.compiler.compile import compile
from kinegraph.jit.kernel import Kernel

Floats = np.ndarray


def called(kernel: Kernel, values: Mapping[str, Floats | float]) -> dict[str, Floats]:
    """All results by name."""
    found = kernel(**{argument.name: values[argument.name] for argument in kernel.arguments})
    return found if isinstance(found, dict) else {kernel.outputs[0].name: found}


__all__ = ["called", "compile"]
