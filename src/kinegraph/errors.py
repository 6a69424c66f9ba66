"""Every exception Kinegraph raises on purpose. Each says what arrived, where, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass


class KinegraphError(Exception):
    """Base of all errors a user can cause; the message is complete and meant to be shown."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a model file, both counted from one."""

    line: int
    column: int
    source: str = ""

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}"
        return f"{self.source}: {where}" if self.source else where


class Interrupted(KinegraphError):
    """Long work was asked to end (`interrupt.Interrupt`) before it had a result to keep."""


class ModelError(KinegraphError):
    """The mechanism is not well described."""

    def __init__(self, message: str, place: Place | None = None, remedy: str = "") -> None:
        self.place = place
        self.remedy = remedy
        text = f"{place}: {message}" if place else message
        super().__init__(f"{text}\n  {remedy}" if remedy else text)


class GraphError(KinegraphError):
    """A graph breaks the law, or its text cannot be read."""


class ProofError(KinegraphError):
    """Two graphs that should be equal are not."""


class DerivationError(KinegraphError):
    """A quantity cannot be derived for this mechanism."""


class KernelError(KinegraphError):
    """A kernel was called with arguments it cannot take, or could not be built."""


class StoreError(KinegraphError):
    """The model database cannot be opened, read or written, or does not hold what was asked for."""


class SolveError(KinegraphError):
    """A run was asked for that cannot be made; the message says what to give instead."""


class TableauError(SolveError):
    """The numbers of a Runge-Kutta method contradict each other."""
