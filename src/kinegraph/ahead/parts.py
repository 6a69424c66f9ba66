"""Functions that only compiled functions call: no machine code is made of them alone.

Numba optimises every function together with all that it calls and makes machine code of it, then does so again for
whoever calls it: with ten levels of calls more than half of the time is spent on code that nobody runs. A part hands
its plain instructions on, and they are optimised once, where they run.

Importing this module imports Numba.
"""

from __future__ import annotations

from kinegraph.ahead.tried import is_tried


def _options() -> dict[str, object]:
    uncallable: dict[str, object] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    if not is_tried():
        return uncallable
    from kinegraph.ahead.part_compiler import PartCompiler

    return {**uncallable, "pipeline_class": PartCompiler}


#: Numba's options for a part. It cannot be called from Python.
PART = _options()
