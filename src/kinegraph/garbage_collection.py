"""Pause Python's garbage collector while graphs are built or modules are imported: neither leaves cycles to collect.

The collector would take a quarter of the time to build graphs, and a tenth of the time to import.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Run a block without cyclic garbage collection, then treat the new objects as old."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            _treat_new_objects_as_old()
            gc.enable()


def _treat_new_objects_as_old() -> None:
    """Move all objects to the oldest generation; otherwise the collector would visit the new ones at once."""
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
