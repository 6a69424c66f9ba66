"""All exceptions of Kinegraph. Each message says what is wrong, where, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

E = TypeVar("E", bound=Enum)

#: Maximum length of a message in characters. A model may contain names of any length, and messages repeat them.
MAX_MESSAGE = 2000


def shortened(text: str, most: int) -> str:
    """The text; its middle is omitted if it is longer than `most` characters."""
    if len(text) <= most:
        return text
    gap = f" [... {len(text)} characters ...] "
    retained = most - len(gap)
    return text[: retained - retained // 4] + gap + text[len(text) - retained // 4 :]


class KinegraphError(Exception):
    """Base class of all errors that a user can cause. The message is complete and can be shown as it is."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message, MAX_MESSAGE))


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a model file. Lines and columns count from 1."""

    line: int
    column: int
    source: str = ""

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}"
        return f"{shortened(self.source, 300)}: {where}" if self.source else where


class Interrupted(KinegraphError):
    """A long computation was interrupted (`interrupt.Interrupt`) before it had a result to save."""


class ModelError(KinegraphError):
    """The description of the mechanism is invalid."""

    def __init__(self, message: str, place: Place | None = None, remedy: str = "") -> None:
        self.place = place
        self.remedy = shortened(remedy, 600)
        self._parts = message, place, remedy
        text = f"{place}: {shortened(message, 1000)}" if place else shortened(message, 1000)
        super().__init__(f"{text}\n  {self.remedy}" if remedy else text)

    @property
    def problem(self) -> str:
        """What is wrong, without the place and the remedy."""
        return self._parts[0]

    def at(self, place: Place | None) -> ModelError:
        """The same error with another place, for text that is part of a larger file."""
        message, _, remedy = self._parts
        return ModelError(message, place, remedy)

    def __reduce__(self) -> tuple[type[ModelError], tuple[str, Place | None, str]]:
        return type(self), self._parts


class GraphError(KinegraphError):
    """A graph is malformed, or its text cannot be read."""


class NumberSizeError(GraphError):
    """An exact number would have thousands of digits."""


class ProofError(KinegraphError):
    """Two graphs that must be equal differ."""


class DerivationError(KinegraphError):
    """A quantity cannot be derived for this mechanism."""


class MasslessError(DerivationError):
    """A velocity moves no mass, so the mass matrix is singular; the message names the velocity."""

    def __init__(self, velocity: str) -> None:
        self.velocity = velocity
        super().__init__(f"forward dynamics: {velocity} moves no mass; give a body that it moves mass or inertia")

    def __reduce__(self) -> tuple[type[MasslessError], tuple[str]]:
        return type(self), (self.velocity,)


class KernelError(KinegraphError):
    """A kernel got invalid arguments, or could not be built."""


class StoreError(KinegraphError):
    """The model database cannot be opened, read or written, or does not contain the requested entry."""


class SolveError(KinegraphError):
    """A simulation cannot be run as requested; the message says what to change."""


class ControllerError(SolveError):
    """A controller, which is a Python function of the user, raised an exception or returned no finite numbers."""


class TableauError(SolveError):
    """The coefficients of a Runge-Kutta method are inconsistent."""


class LeftOutWarning(UserWarning):
    """Data of a model file is not part of the mechanism, or was rounded."""


class TaskError(KinegraphError):
    """A task has no solution for this mechanism, or its arguments are invalid."""


class AssemblyError(KinegraphError):
    """The loops and constraints of a mechanism cannot be satisfied."""


class MissingPackageError(KinegraphError):
    """A required package is not installed; the message says which, and how to install it."""


class StudyError(KinegraphError):
    """A study cannot be run as requested, or its results cannot be read or written."""


def one_of(kind: type[E], given: object, what: str, error: type[KinegraphError]) -> E:
    """The member of an enum, given as itself or by its word in any case; the error lists all words."""
    if isinstance(given, kind):
        return given
    words = {member.value if isinstance(member.value, str) else member.name.lower(): member for member in kind}
    word = str(given).lower() if isinstance(given, str | int) else None
    if word in words:
        return words[word]
    raise error(f"{what}: unknown value {given!r:.80}; choose one of {', '.join(words)}")
