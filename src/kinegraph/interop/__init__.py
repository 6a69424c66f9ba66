"""Objects of SymPy, CasADi, python-control and Gymnasium."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.interop.control import to_control
    from kinegraph.interop.gymnasium import environment
    from kinegraph.interop.symbolic import SympyEquations, to_casadi, to_sympy

__all__ = ["SympyEquations", "environment", "to_casadi", "to_control", "to_sympy"]

load_on_demand(
    __name__,
    {
        "to_casadi": "kinegraph.interop.symbolic",
        "to_control": "kinegraph.interop.control",
        "environment": "kinegraph.interop.gymnasium",
        **dict.fromkeys(("SympyEquations", "to_sympy"), "kinegraph.interop.symbolic"),
    },
)
