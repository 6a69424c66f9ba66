"""Looped dynamics behind the same call as a compiled kernel, for mechanisms too large for straight-line code."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from kinegraph.ahead.compilation import Compilation
from kinegraph.codegen.program.binding import Argument
from kinegraph.codegen.program.zero_quaternions import refuse_zero_quaternions
from kinegraph.derive.quantities.table import RECORDS
from kinegraph.derive.quantities.variables import Variables
from kinegraph.errors import KernelError
from kinegraph.interrupt import delayed
from kinegraph.large.jit import kernels_folder
from kinegraph.large.system import LoopedSystem
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism

_SECONDS = 20  # that compiling takes on a common machine
_log = logging.getLogger("kinegraph")
_loaded: set[str] = set()  # loops that this process has used


class LoopedKernel:
    """`kernel(q, v, a)` like a compiled kernel's; `arguments` names what it takes, in order."""

    def __init__(
        self,
        mechanism: Mechanism,
        quantities: Sequence[str],
        arguments: Sequence[str],
        parameters: Mapping[str, Scalar] | None = None,
    ) -> None:
        self._recipe = mechanism, tuple(quantities), tuple(arguments), dict(parameters or {})
        self.quantities = tuple(quantities)
        self.arguments = tuple(arguments)
        self.system = LoopedSystem(mechanism, parameters)
        group = Variables.POSITIONS
        self._positions = Argument(group.value, group.symbols(mechanism), mechanism.layout.quaternions)

    def __reduce__(self) -> tuple[Any, ...]:
        return LoopedKernel, self._recipe  # not the arrays and compiled loops

    def __repr__(self) -> str:
        size = len(self.system.layout.velocities)
        return f"<LoopedKernel ({', '.join(self.arguments)}) -> {', '.join(self.quantities)}: {size} velocities>"

    @property
    def address(self) -> int:
        """There is none: compiled callers need straight-line code."""
        raise KernelError("a looped kernel has no address: call it, or compile with loops=False")

    def __call__(self, *values: Any, **named: Any) -> Any:
        """The outputs for one state: an array, or a dict of arrays by name if there are several."""
        given = self._named(values, named)
        self._ready(given)
        results = {name: self._quantity(name, given) for name in self.quantities}
        return results if len(results) > 1 else next(iter(results.values()))

    def batch(self, *values: Any, out: Any = None, **named: Any) -> Any:
        """The outputs for many states, one after the other; an argument of one state serves all."""
        if out is not None:
            raise KernelError("a looped kernel returns new arrays: leave `out` away, or compile with loops=False")
        given = {name: np.asarray(value, dtype=float) for name, value in self._named(values, named).items()}
        rows = max((len(value) for name, value in given.items() if value.ndim == (1 if name == "t" else 2)), default=1)
        states = [{name: _row(name, value, row) for name, value in given.items()} for row in range(rows)]
        for state in states[:1]:
            self._ready(state)
        results = {name: np.stack([self._quantity(name, state) for state in states]) for name in self.quantities}
        return results if len(results) > 1 else next(iter(results.values()))

    def _named(self, values: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        given = dict(zip(self.arguments, values, strict=False)) | dict(named)
        if len(values) + len(named) != len(self.arguments) or set(given) != set(self.arguments):
            raise KernelError(f"the kernel takes {', '.join(self.arguments)}; got {', '.join(given) or 'nothing'}")
        return given

    def _ready(self, given: Mapping[str, Any]) -> None:
        """See to it that the loops are there: from disk, or compiled by another process for this very state."""
        for name in self.quantities:
            code = f"{name}-{self.system.method.name.lower()}"
            if code not in _loaded:
                make = partial(self._quantity, name, dict(given))
                compilation = Compilation(code, "the loops of large systems", kernels_folder(), make)
                compilation.require(_SECONDS, _log.warning)
                with delayed():
                    make()
                _loaded.add(code)

    def _quantity(self, name: str, given: Mapping[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
        compute: Callable[..., Any] = getattr(self.system, name)
        arguments = [given[argument] for argument in RECORDS[name].arguments]
        if "q" in given:
            refuse_zero_quaternions(self._positions, np.asarray(given["q"], dtype=float))
        return np.asarray(compute(*arguments, float(given.get("t", 0.0))))


def _row(name: str, value: np.ndarray[Any, np.dtype[np.float64]], row: int) -> Any:
    own = value.ndim == (1 if name == "t" else 2)
    return value[row] if own else value
