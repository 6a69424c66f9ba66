"""The kinds of names, and which of them may stand where."""

from __future__ import annotations

PARAMETERS = frozenset({"parameter"})
#: Known for all times before anything moves.
GIVEN = PARAMETERS | {"time", "prescribed input"}
STEERED = GIVEN | {"input"}
POSITIONS = GIVEN | {"coordinate", "quaternion coordinate", "point"}
RATES = POSITIONS | {"velocity", "point velocity"}
#: What laws of forces may use.
ANYTHING = RATES | {"input"}
MOVING = RATES - GIVEN
VELOCITIES = frozenset({"velocity", "point velocity"})
UNKNOWN = frozenset({"unknown"})
