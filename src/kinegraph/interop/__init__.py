"""Conversion to objects of SymPy, CasADi and python-control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.interop.control import to_control
    from kinegraph.interop.symbolic import SympyEquations, to_casadi, to_sympy

__all__ = ["SympyEquations", "to_casadi", "to_control", "to_sympy"]

load_on_demand(
    __name__,
    {
        "to_casadi": "kinegraph.interop.symbolic",
        "to_control": "kinegraph.interop.control",
        **dict.fromkeys(("SympyEquations", "to_sympy"), "kinegraph.interop.symbolic"),
    },
)
