"""Numba in a process that compiles and ends: without what only other processes need.

A third of Numba's time goes into code that is not about the code it makes. What is left out here changes no
instruction.

Importing this module imports Numba.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Protocol, cast

from llvmlite.binding import ffi
from numba.core.compiler import Flags
from numba.core.cpu import CPUContext
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction

from kinegraph.ahead.tried import is_tried


class _Lock(Protocol):
    _cblist: list[object]


class _LlvmLibrary(Protocol):
    _lock: _Lock


class _Context(Protocol):
    """What is used of Numba's context of the machine."""

    install_registry: Callable[[object], None]


class _ContextClass(Protocol):
    load_additional_registries: Callable[[_Context], None]


class _Options(Protocol):
    """What is used of the options of a function: those that are set."""

    _values: dict[str, object]


class _OptionsClass(Protocol):
    __eq__: Callable[[_Options, object], bool]
    __hash__: Callable[[_Options], int]  # type: ignore[assignment]

    def __call__(self) -> _Options: ...


class _FunctionClass(Protocol):
    #: Of a function, the context, types by place and by name: a signature.
    get_call_type: Callable[[object, object, tuple[object, ...], dict[str, object]], object]


class _OptionStack(Protocol):
    top_or_none: Callable[[], object]


def make_lean() -> None:
    """Leave all of it out, for the rest of this process."""
    gc.disable()  # nearly all objects stay until the process ends, with some hundred megabytes
    if is_tried():
        for leave_out in (_timers_of_calls, _imports, _comparisons, _questions):
            leave_out()


def _timers_of_calls() -> None:
    """Every call of LLVM tells all functions that are being compiled when it began and when it ended."""
    library = cast(_LlvmLibrary, ffi.lib)
    library._lock._cblist.clear()


def _imports() -> None:
    """Before every function Numba imports some twenty modules again, to look for what was added to their tables."""
    context = cast(_ContextClass, CPUContext)
    load = context.load_additional_registries
    tables: list[object] = []

    def load_again(self: _Context) -> None:
        if tables:
            for table in tables:
                self.install_registry(table)
            return
        install = self.install_registry

        def note(table: object) -> None:
            tables.append(table)
            install(table)

        self.install_registry = note
        try:
            load(self)
        finally:
            del self.install_registry

    context.load_additional_registries = load_again


def _comparisons() -> None:
    """Options of functions are compared thousands of times, each time with the defaults of all that are not set."""
    flags = cast(_OptionsClass, Flags)
    if not isinstance(flags()._values, dict):
        return
    flags.__eq__ = lambda one, other: type(one) is type(other) and one._values == other._values
    flags.__hash__ = lambda one: hash(frozenset(one._values))


def _questions() -> None:
    """Which code a built-in function has for some types is asked for at every call and index, and always the same."""
    function = cast(_FunctionClass, BaseFunction)
    resolve = function.get_call_type
    options = cast(_OptionStack, ConfigStack).top_or_none
    known: dict[object, object] = {}

    def resolve_once(self: object, context: object, given: tuple[object, ...], named: dict[str, object]) -> object:
        question = self, context, given, tuple(sorted(named.items())), options()
        if question not in known:
            known[question] = resolve(self, context, given, named)
        return known[question]

    function.get_call_type = resolve_once
