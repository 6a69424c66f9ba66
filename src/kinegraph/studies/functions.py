"""What a Python function computes, as text: the same in every process, another one if its code or its data differ.

A saved study is continued only with the same controllers. Two functions count as the same if their code, their
defaults, and the values that they refer to are the same: variables of an enclosing function, global numbers, arrays
and functions. What cannot be compared makes a function that is the same in this process alone.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from uuid import uuid4

import numpy as np

_PROCESS = uuid4().hex
_SIMPLE = (bool, int, float, complex, str, bytes, type(None))


def identity(function: Callable[..., object]) -> str:
    """The digest of what a function computes."""
    try:
        return sha256(repr(_Reader().facts(function)).encode()).hexdigest()
    except Exception:
        return f"{_PROCESS}:{id(function)}"


class _Reader:
    """Reads a function and all that it refers to, each once."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._alive: list[object] = []

    def facts(self, thing: object) -> object:
        """Data that print in the same way if and only if two things are the same."""
        if isinstance(thing, _SIMPLE):
            return (type(thing).__name__, repr(thing))
        if id(thing) in self._seen:
            return ("again", self._seen[id(thing)])
        self._seen[id(thing)] = len(self._seen)
        self._alive.append(thing)  # an id is valid only while its object lives
        match thing:
            case FunctionType():
                return self._function(thing)
            case MethodType():
                return ("method", self.facts(thing.__func__), self.facts(thing.__self__))
            case partial():
                return ("partial", self.facts(thing.func), self.facts(thing.args), self.facts(thing.keywords))
            case BuiltinFunctionType() | np.ufunc() | type():
                return ("named", getattr(thing, "__module__", ""), thing.__name__)
            case ModuleType():
                return ("module", thing.__name__)
            case CodeType():
                return self._code(thing)
            case np.ndarray() if thing.dtype.kind in "biufc":
                return (
                    "array",
                    str(thing.dtype),
                    thing.shape,
                    sha256(np.ascontiguousarray(thing).tobytes()).hexdigest(),
                )
            case tuple() | list():
                return (type(thing).__name__, [self.facts(one) for one in thing])
            case Mapping():
                return ("mapping", [(self.facts(name), self.facts(one)) for name, one in thing.items()])
        return self._object(thing)

    def _function(self, function: FunctionType) -> object:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        outside = [function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__]
        given = (function.__defaults__, function.__kwdefaults__)
        return ("function", self.facts(function.__code__), self.facts(given), self.facts(cells), self.facts(outside))

    def _code(self, code: CodeType) -> object:
        return ("code", code.co_code.hex(), self.facts(code.co_consts), code.co_names, code.co_varnames)

    def _object(self, thing: object) -> object:
        call = vars(type(thing)).get("__call__")
        if isinstance(call, FunctionType) and not type(thing).__module__.startswith("kinegraph"):
            return ("object", type(thing).__qualname__, self.facts(call), self.facts(vars(thing)))
        return ("pickled", sha256(pickle.dumps(thing)).hexdigest())


def _names(code: CodeType) -> list[str]:
    """The global names that code uses, also in functions within it."""
    inner = [name for one in code.co_consts if isinstance(one, CodeType) for name in _names(one)]
    return sorted({*code.co_names, *inner})
