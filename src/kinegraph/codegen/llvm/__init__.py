"""Programs as LLVM assembly text: one emitter, generic in the number of lanes; one lane is the scalar kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.codegen.llvm.module import module_text, scalar_program

__all__ = ["module_text", "scalar_program"]

load_on_demand(__name__, dict.fromkeys(("module_text", "scalar_program"), "kinegraph.codegen.llvm.module"))
