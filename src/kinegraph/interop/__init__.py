"""Objects of other systems: SymPy, CasADi, python-control."""

from kinegraph.interop.casadi import to_casadi
from kinegraph.interop.control import to_control
from kinegraph.interop.sympy import SympyEquations, to_sympy

__all__ = ["SympyEquations", "to_casadi", "to_control", "to_sympy"]
