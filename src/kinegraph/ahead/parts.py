"""Functions that only compiled functions call: no machine code is made of them alone.

Numba optimises every function together with all that it calls and makes machine code of it, then does so again for
whoever calls it: with ten levels of calls more than half of the time is spent on code that nobody runs. A part hands
its plain instructions on, and they are optimised once, where they run.

Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

#: How the names begin of what code knows about the Python it came from; Numba writes to all of these.
_ENVIRONMENT = "_ZN08NumbaEnv"


class _Library(Protocol):
    """What is used of Numba's library of one function, public or not."""

    _finalized: bool
    _final_module: binding.ModuleRef

    def _finalize_dynamic_globals(self) -> None: ...
    def _get_module_for_linking(self) -> object: ...
    def _finalize_final_module(self) -> None: ...
    def enable_object_caching(self) -> None: ...


class _Target(Protocol):
    """What is used of Numba's context of the machine."""

    def codegen(self) -> object: ...


class _MakeLibrary(Protocol):
    def __call__(self, codegen: object, name: str) -> _Library: ...


class PartLibrary(JITCodeLibrary):
    """The instructions of a part, for others to link with; loaded are its environments alone."""

    def _optimize_final_module(self) -> None:
        """Whoever links with it optimises."""

    def _finalize_final_module(self) -> None:
        library = cast("_Library", self)
        library._finalize_dynamic_globals()
        library._finalized = True
        library._get_module_for_linking()
        library._finalized = False
        library._final_module = _environments(library._final_module)
        cast("_Library", super())._finalize_final_module()


def _environments(module: binding.ModuleRef) -> binding.ModuleRef:
    """The environments of a module without its functions."""
    names = [one.name for one in module.global_variables if one.name.startswith(_ENVIRONMENT)]
    lines = [f'@"{name}" = common global i64 0' for name in names]  # as large as an address
    alone = binding.parse_assembly("\n".join([f'target triple = "{module.triple}"', *lines]))
    alone.data_layout = module.data_layout
    alone.name = module.name
    return alone


class PartCompiler(Compiler):
    """Compiles a part."""

    def __init__(self, typing: object, target: _Target, library: _Library | None, *more: object) -> None:
        if library is None:
            library = cast("_MakeLibrary", PartLibrary)(target.codegen(), "part")
            library.enable_object_caching()
        begin: Callable[..., None] = super().__init__
        begin(typing, target, library, *more)


#: What parts need of Numba beyond its public interface. A Numba without them compiles parts its own way, only slower.
_NEEDED = (
    "_optimize_final_module",
    "_finalize_final_module",
    "_finalize_dynamic_globals",
    "_get_module_for_linking",
    "enable_object_caching",
)


def _options() -> dict[str, object]:
    uncallable: dict[str, object] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    known = all(hasattr(JITCodeLibrary, name) for name in _NEEDED)
    return {**uncallable, "pipeline_class": PartCompiler} if known else uncallable


#: Numba's options for a part. It cannot be called from Python.
PART = _options()
