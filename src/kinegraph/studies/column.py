"""The columns of a table of cases."""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy.typing import NDArray

#: One entry for each case: numbers, words (`status`), or whether something holds. Who asks for a column by its name
#: knows which of these; of a union everyone would have to convert it.
Column: TypeAlias = NDArray[Any]
