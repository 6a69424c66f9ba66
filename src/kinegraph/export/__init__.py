"""Code out: a mechanism's quantities as source text of other languages, or as objects of other systems.

    export(mechanism, "tau", Language.C, "out")     writes out/NAME.h and out/NAME.c

mechanism --prepare--> Unit (programs, arguments, test vectors) --c, cpp, python, ...--> text by file name --> files
"""

from __future__ import annotations

from kinegraph.export.casadi import to_casadi
from kinegraph.export.options import ExportOptions, Fmi, Language, Layout, Precision, Sines
from kinegraph.export.sympy import SympyEquations, to_sympy
from kinegraph.export.write import ExportReport, export, render

__all__ = [
    "ExportOptions",
    "ExportReport",
    "Fmi",
    "Language",
    "Layout",
    "Precision",
    "Sines",
    "SympyEquations",
    "export",
    "render",
    "to_casadi",
    "to_sympy",
]
