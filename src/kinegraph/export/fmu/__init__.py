"""A mechanism as a Functional Mock-up Unit (FMI 2.0 and 3.0), for Model Exchange and Co-Simulation.

mechanism --equations--> parts (graphs) --prepare--> Unit --c--> sources, with the runtime in c/
          --variables--> what the unit is known by outside --description--> XML --archive--> one .fmu file
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.export.fmu.package import Fmu, make_fmu

__all__ = ["Fmu", "make_fmu"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("Fmu", "make_fmu"), "kinegraph.export.fmu.package"),
    },
)
