"""Numba's compiler for parts: it makes no machine code, and only as many instructions as others need to go on.

Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from llvmlite import binding
from llvmlite.binding.newpassmanagers import PassBuilder, create_new_function_pass_manager
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from kinegraph.ahead.part_passes import PartFlags, State, part_passes

#: How the names begin of what code knows about the Python it came from; Numba writes to all of these.
_ENVIRONMENT = "_ZN08NumbaEnv"


class _Codegen(Protocol):
    """What is used of Numba's settings of LLVM."""

    _data_layout: str

    def _pass_builder(self) -> PassBuilder: ...


class _Library(Protocol):
    """What is used of Numba's library of one function, public or not."""

    _codegen: _Codegen
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


class CalledPartLibrary(PartLibrary):
    """A part that is not copied to where it is called, so that it is optimised once in any case: not here."""

    def _optimize_functions(self, module: binding.ModuleRef) -> None:
        """Take variables out of memory and empty blocks away; what is left is small enough to be handed on."""
        codegen = cast("_Library", self)._codegen
        module.data_layout = codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes = create_new_function_pass_manager()
                passes.add_sroa_pass()
                passes.add_simplify_cfg_pass()
                passes.run(function, codegen._pass_builder())


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

    def __init__(
        self,
        typing: object,
        target: _Target,
        library: _Library | None,
        arguments: object,
        result: object,
        flags: PartFlags,
        names: object,
    ) -> None:
        if library is None:
            kind = PartLibrary if flags.forceinline else CalledPartLibrary
            library = cast("_MakeLibrary", kind)(target.codegen(), "part")
            library.enable_object_caching()
        begin: Callable[..., None] = super().__init__
        begin(typing, target, library, arguments, result, flags, names)

    def define_pipelines(self) -> list[object]:
        """The one way in which parts are compiled."""
        return [part_passes(cast(State, self.state))]
