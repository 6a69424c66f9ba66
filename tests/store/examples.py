"""How many random examples go through a database; by itself, for processes without tests need no Hypothesis."""

from hypothesis import settings

#: A third as many as elsewhere.
few = settings(max_examples=settings().max_examples // 3)
