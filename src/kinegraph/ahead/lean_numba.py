"""Numba in a process that compiles and ends: without what only other processes need.

A third of Numba's time goes into code that is not about the code it makes. What is left out here changes no
instruction, and where a Numba knows nothing of it that one is only slower.

Importing this module imports Numba.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from llvmlite.binding import ffi
from numba.core.compiler import Flags
from numba.core.cpu import CPUContext
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction


def make_lean() -> None:
    """Leave all of it out, for the rest of this process."""
    gc.disable()  # nearly all objects stay until the process ends, with some hundred megabytes
    for leave_out in (_timers_of_calls, _imports, _comparisons, _questions):
        with suppress(AttributeError):  # another Numba
            leave_out()


def _timers_of_calls() -> None:
    """Every call of LLVM tells all functions that are being compiled when it began and when it ended."""
    library: Any = ffi.lib
    library._lock._cblist.clear()


def _imports() -> None:
    """Before every function Numba imports some twenty modules again, to look for what was added to their tables."""
    context: Any = CPUContext
    load: Callable[[Any], None] = context.load_additional_registries
    tables: list[Any] = []

    def load_again(self: Any) -> None:
        if tables:
            for table in tables:
                self.install_registry(table)
            return
        install = self.install_registry

        def note(table: Any) -> None:
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
    flags: Any = Flags
    if not isinstance(flags()._values, dict):
        return
    flags.__eq__ = lambda one, other: type(one) is type(other) and one._values == other._values
    flags.__hash__ = lambda one: hash(frozenset(one._values))


def _questions() -> None:
    """Which code a built-in function has for some types is asked for at every call and index, and always the same."""
    function: Any = BaseFunction
    ask: Callable[..., Any] = function.get_call_type
    options: Callable[[], object] = cast(Any, ConfigStack).top_or_none
    known: dict[object, Any] = {}

    def ask_once(self: Any, context: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        question = self, context, given, tuple(sorted(named.items())), options()
        if question not in known:
            known[question] = ask(self, context, given, named)
        return known[question]

    function.get_call_type = ask_once
