"""With which versions of Numba it was tried that shorter ways of compiling make the same code; any other is slower.

Importing this module imports Numba.
"""

from __future__ import annotations

import numba

#: Numba's own parts, of which the shorter ways are made, may be other things in the next version.
TRIED = ("0.68",)


def is_tried() -> bool:
    """Whether this Numba is one of them."""
    return numba.__version__.rpartition(".")[0] in TRIED
