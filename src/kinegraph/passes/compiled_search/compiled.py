"""How functions of this folder are compiled: once each, for the types their annotations say.

Left to itself Numba would compile a function anew for every constant it is called with. Callees stand before their
callers, for that is the order they are compiled in. Only the entrance is kept on disk (`entrance.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import types

from kinegraph.ahead.numba_words import Dispatcher, Signature, machine_code, repeated, tuple_of
from kinegraph.ahead.parts import PART

#: The state; typed as a list because its elements are plain integers to compiled code.
Memory = list[int]
#: Temperatures and chances.
Schedule = list[float]

F = TypeVar("F", bound=Callable[..., object])

_TYPES = {
    "Memory": types.int64[::1],
    "Schedule": types.float64[::1],
    "int": types.int64,
    "float": types.float64,
    "bool": types.boolean,
    "None": types.none,
    "tuple[int, int]": repeated(types.int64, 2),
    "tuple[int, bool]": tuple_of((types.int64, types.boolean)),
}


#: Functions not compiled yet and their types, callees first.
_WAITING: list[tuple[Dispatcher, Signature]] = []


def compiled(function: F) -> F:
    """A function other compiled functions call; it is compiled by `compile_waiting`."""
    *arguments, result = (_TYPES[word] for word in function.__annotations__.values())
    found = machine_code(function, error_model="numpy", **PART)
    _WAITING.append((cast(Dispatcher, found), result(*arguments)))
    return found


def compile_waiting() -> None:
    """Compile all functions defined so far, each for its own types and no others; after Ctrl-C it can go on."""
    while _WAITING:
        dispatcher, types_of_it = _WAITING[0]
        dispatcher.compile(types_of_it)
        dispatcher.disable_compile()
        _WAITING.pop(0)
