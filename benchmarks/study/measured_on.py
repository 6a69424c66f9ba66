"""Where figures were measured."""

from __future__ import annotations

from typing import TypedDict


class MeasuredOn(TypedDict):
    """The processor, the threads that were used, and how many times as fast as SciPy's loop cases are to run."""

    processor: str
    threads: int
    target: float
