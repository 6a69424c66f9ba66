"""The phases in which Numba compiles a part: those that find something to do in code that has numbers and arrays alone.

Left out are closures, `with`, dynamic exceptions, functions that are copied into their callers, literals, and what is
only printed. Where references are not counted, nothing need be said of variables that are not used any more, and there
are no expressions of arrays, which would need memory.

Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    IRLegalization,
    NoPythonBackend,
    NopythonRewrites,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)

from kinegraph.ahead.part_lowering import PartLowering

_TYPING = TranslateByteCode, FixupArgs, IRProcessing, GenericRewrites, ReconstructSSA, NopythonTypeInference
_WITH_REFERENCES = NopythonRewrites, IRLegalization
_WRITING = PartLowering, NoPythonBackend


class _Passes(Protocol):
    """What is used of Numba's list of phases."""

    def add_pass(self, kind: type, description: str) -> None: ...
    def finalize(self) -> None: ...


class PartFlags(Protocol):
    """What is used of the options of a part: whether it counts references and is copied to where it is called."""

    nrt: bool
    forceinline: bool


class State(Protocol):
    """What is known of the function that is compiled."""

    flags: PartFlags


def part_passes(state: State) -> object:
    """All phases, in order, as Numba takes them."""
    passes = cast(Callable[[str], _Passes], PassManager)("part")
    references = _WITH_REFERENCES if state.flags.nrt else ()
    for one in (*_TYPING, PreLowerStripPhis, *references, *_WRITING):
        passes.add_pass(one, one.__name__)
    passes.finalize()
    return passes
