"""Numbers and names as text that can stand in a page."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError

#: Something to be drawn, as the page's script reads it: its kind, where it is, and what else that kind needs.
Part: TypeAlias = dict[str, object]


def packed(array: NDArray[np.generic]) -> str:
    """An array's bytes as text."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def json_for_html(data: Mapping[str, object]) -> str:
    """JSON that can stand in a <script> element whatever strings it holds."""
    try:
        text = json.dumps(data, allow_nan=False)
    except ValueError:
        remedy = "look for numbers that are too large, and for a division by zero"
        raise ModelError("what is to be drawn has places that are no finite numbers", remedy=remedy) from None
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
