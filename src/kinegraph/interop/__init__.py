"""Objects of other systems: SymPy, CasADi."""

from kinegraph.interop.casadi import to_casadi
from kinegraph.interop.sympy import SympyEquations, to_sympy

__all__ = ["SympyEquations", "to_casadi", "to_sympy"]
