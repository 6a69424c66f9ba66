"""Types of NumPy arrays that many modules share."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Arrays of doubles, of any shape.
Floats: TypeAlias = NDArray[np.float64]

#: Arrays of 64-bit integers, of any shape.
Integers: TypeAlias = NDArray[np.int64]
