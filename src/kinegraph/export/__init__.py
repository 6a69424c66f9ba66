"""Export: a mechanism's quantities as source code of other languages.

    export(mechanism, "tau", Language.C, "out")     writes out/NAME.h and out/NAME.c

mechanism --prepare--> Unit (programs, arguments, test vectors) --c, cpp, python, ...--> text by file name --> files
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.export.options import ExportOptions, Fmi, FunctionLayout, Language, Precision, Sines
    from kinegraph.export.write import ExportReport, export, render

__all__ = [
    "ExportOptions",
    "ExportReport",
    "Fmi",
    "FunctionLayout",
    "Language",
    "Precision",
    "Sines",
    "export",
    "render",
]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(
            ("ExportOptions", "Fmi", "FunctionLayout", "Language", "Precision", "Sines"), "kinegraph.export.options"
        ),
        **dict.fromkeys(("ExportReport", "export", "render"), "kinegraph.export.write"),
    },
)
