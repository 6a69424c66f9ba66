"""Other ways to write the roots of a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Alternatives:
    """For roots the ways to write them, cheapest first, and the sums of the angles these may need, by literal.

    `relations` are sums that vanish, whatever the coordinates are.
    """

    roots: Mapping[int, Sequence[Mapping[int, int]]] = field(default_factory=dict)
    angles: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    relations: Sequence[Mapping[int, int]] = ()
