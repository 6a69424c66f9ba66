"""Machine code of the loops, kept on disk.

Importing this module imports Numba, so only modules that are themselves imported when a run starts may do it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar, cast

from kinegraph.ahead.numba_cache import cached_in
from kinegraph.ahead.numba_records import by_address, is_record_class
from kinegraph.ahead.numba_words import AddressedCode, Dispatcher, addressed, machine_code
from kinegraph.ahead.parts import PART
from kinegraph.jit.once import once
from kinegraph.solve.loops import intrinsics, marks
from kinegraph.solve.loops import weights as weights_loop
from kinegraph.solve.loops.folder import loops_folder
from kinegraph.solve.loops.marks import Kind, kind_of

F = TypeVar("F", bound=Callable[..., object])

# Products and sums may be fused, nothing else is reordered; division by zero gives an infinity, as in C. Loops allocate
# nothing, so they need not count references either: counting would take more time than the steps.
_COMMON: dict[str, object] = {"error_model": "numpy", "fastmath": {"contract"}}
_OPTIONS: dict[str, object] = {**_COMMON, "_nrt": False}
_BY_KIND: dict[Kind, dict[str, object]] = {
    Kind.PART: PART,
    Kind.INLINED: {**PART, "forceinline": True},
    Kind.LOOP: {"nogil": True},
}
_INTRINSICS: dict[Callable[..., object], Callable[..., object]] = {
    marks.call: intrinsics.call,
    marks.call_batch: intrinsics.call_batch,
    weights_loop.weighted: intrinsics.weighted,
}


@once
def compiled(function: F) -> F:
    """A marked function as machine code, together with all that it calls: compiled once per machine, kept on disk."""
    kind = kind_of(function)
    assert kind is not None and isinstance(function, FunctionType)
    if kind is Kind.INTRINSIC:
        return cast(F, _INTRINSICS[function])
    names = {**function.__globals__, **_records_of(function)}
    names |= {name: compiled(names[name]) for name in function.__code__.co_names if kind_of(names.get(name))}
    twin = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    twin.__qualname__, twin.__module__ = function.__qualname__, function.__module__
    return cast(F, cached_in(loops_folder(), lambda: machine_code(twin, cache=True, **_OPTIONS, **_BY_KIND[kind])))


def _records_of(function: FunctionType) -> dict[str, Callable[..., object]]:
    """The classes of records that a function knows, each replaced by what makes one in compiled code."""
    return {name: by_address(value) for name, value in function.__globals__.items() if is_record_class(value)}


def compile_for(function: F, *arguments: object) -> None:
    """Compile a loop for arguments of these types, or load it; nothing is run."""
    code = cast(Dispatcher, compiled(function))
    code.compile(tuple(code.typeof_pyval(argument) for argument in arguments))


def callback(signature: object) -> Callable[[Callable[..., object]], AddressedCode]:
    """A function that C code calls; its `address` is a C function pointer."""
    return lambda function: cached_in(loops_folder(), lambda: addressed(function, signature, cache=True, **_COMMON))


def callback_part(function: F) -> F:
    """A function that callbacks call; it may make arrays from addresses, which needs references counted."""
    return cached_in(loops_folder(), lambda: machine_code(function, cache=True, **_COMMON))
