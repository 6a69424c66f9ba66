"""Objects of other systems: SymPy, CasADi, python-control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.interop.casadi import to_casadi
    from kinegraph.interop.control import to_control
    from kinegraph.interop.sympy import SympyEquations, to_sympy

__all__ = ["SympyEquations", "to_casadi", "to_control", "to_sympy"]

load_on_demand(
    __name__,
    {
        "to_casadi": "kinegraph.interop.casadi",
        "to_control": "kinegraph.interop.control",
        **dict.fromkeys(("SympyEquations", "to_sympy"), "kinegraph.interop.sympy"),
    },
)
