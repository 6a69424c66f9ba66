"""How functions of this folder are compiled: once each, for the types their annotations say.

Left to itself Numba would compile a function anew for every constant it is called with. Callees stand before their
callers, for that is the order they are compiled in. Only the entrance is kept on disk (`entrance.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit, types

#: The state; typed as a list because its elements are plain integers to compiled code.
Memory = list[int]
#: Temperatures and chances.
Schedule = list[float]

F = TypeVar("F", bound=Callable[..., Any])

_TYPES = {
    "Memory": types.int64[::1],
    "Schedule": types.float64[::1],
    "int": types.int64,
    "float": types.float64,
    "bool": types.boolean,
    "None": types.none,
    "tuple[int, int]": cast(Any, types).UniTuple(types.int64, 2),
    "tuple[int, bool]": cast(Any, types).Tuple((types.int64, types.boolean)),
}


#: Functions not compiled yet and their types, callees first.
_WAITING: list[tuple[Any, Any]] = []


def compiled(function: F) -> F:
    """A function other compiled functions call; it is compiled by `compile_waiting`."""
    *arguments, result = (_TYPES[word] for word in function.__annotations__.values())
    dispatcher = cast(Any, njit)(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")(function)
    _WAITING.append((dispatcher, result(*arguments)))
    return cast(F, dispatcher)


def compile_waiting() -> None:
    """Compile all functions defined so far, each for its own types and no others; after Ctrl-C it can go on."""
    while _WAITING:
        dispatcher, types_of_it = _WAITING[0]
        dispatcher.compile(types_of_it)
        dispatcher.disable_compile()
        _WAITING.pop(0)
