"""Quaternions of zeros among a caller's numbers: the formulas would take them for some orientation, unsaid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinegraph.codegen.program.binding import Argument
from kinegraph.errors import KernelError


def refuse_zero_quaternions(argument: Argument, array: NDArray[np.generic]) -> None:
    """A quaternion of zeros (of one state, or in a row of many) is no orientation, though formulas give it one."""
    for start in argument.quaternions:
        scalar_parts = array[..., start]
        if np.count_nonzero(scalar_parts) == scalar_parts.size:  # nearly always; the quickest way NumPy has to know
            continue
        rows = np.flatnonzero(~array[..., start : start + 4].any(axis=-1))
        if len(rows):
            names = ", ".join(symbol.name for symbol in argument.symbols[start : start + 4])
            where = f" of row {rows[0]}" if array.ndim > 1 else ""
            raise KernelError(
                f"argument {argument.name!r}: the quaternion ({names}){where} is zero, which is no orientation; "
                "give it unit length, such as 1, 0, 0, 0"
            )
