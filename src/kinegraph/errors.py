"""Every exception Kinegraph raises on purpose. Each says what arrived, where, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

E = TypeVar("E", bound=Enum)

#: The longest message in characters. A model may hold names of any length, and messages repeat what arrived.
MAX_MESSAGE = 2000


def shortened(text: str, most: int) -> str:
    """The text, with its middle left out where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    gap = f" [... {len(text)} characters ...] "
    retained = most - len(gap)
    return text[: retained - retained // 4] + gap + text[len(text) - retained // 4 :]


class KinegraphError(Exception):
    """Base of all errors a user can cause; the message is complete and meant to be shown."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message, MAX_MESSAGE))


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a model file, both counted from one."""

    line: int
    column: int
    source: str = ""

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}"
        return f"{shortened(self.source, 300)}: {where}" if self.source else where


class Interrupted(KinegraphError):
    """Long work was asked to end (`interrupt.Interrupt`) before it had a result to keep."""


class ModelError(KinegraphError):
    """The mechanism is not well described."""

    def __init__(self, message: str, place: Place | None = None, remedy: str = "") -> None:
        self.place = place
        self.remedy = shortened(remedy, 600)
        self._parts = message, place, remedy
        text = f"{place}: {shortened(message, 1000)}" if place else shortened(message, 1000)
        super().__init__(f"{text}\n  {self.remedy}" if remedy else text)

    def at(self, place: Place) -> ModelError:
        """The same error in another place: where what it speaks of stands in a larger whole."""
        message, _, remedy = self._parts
        return ModelError(message, place, remedy)

    def __reduce__(self) -> tuple[type[ModelError], tuple[str, Place | None, str]]:
        return type(self), self._parts


class GraphError(KinegraphError):
    """A graph breaks the law, or its text cannot be read."""


class NumberSizeError(GraphError):
    """An exact number would have thousands of digits."""


class ProofError(KinegraphError):
    """Two graphs that should be equal are not."""


class DerivationError(KinegraphError):
    """A quantity cannot be derived for this mechanism."""


class MasslessError(DerivationError):
    """Nothing with mass moves with a velocity, which is named."""

    def __init__(self, velocity: str) -> None:
        self.velocity = velocity
        super().__init__(f"forward dynamics: nothing with mass moves with {velocity}; give a body mass")

    def __reduce__(self) -> tuple[type[MasslessError], tuple[str]]:
        return type(self), (self.velocity,)


class KernelError(KinegraphError):
    """A kernel was called with arguments it cannot take, or could not be built."""


class StoreError(KinegraphError):
    """The model database cannot be opened, read or written, or does not hold what was asked for."""


class SolveError(KinegraphError):
    """A run was asked for that cannot be made; the message says what to give instead."""


class TableauError(SolveError):
    """The numbers of a Runge-Kutta method contradict each other."""


class LeftOutWarning(UserWarning):
    """A model file says what the mechanism does not have, or something in it was rounded."""


class TaskError(KinegraphError):
    """A task of mechanics has no answer for this mechanism, or was asked for something that does not exist."""


class AssemblyError(KinegraphError):
    """The loops and constraints of a mechanism cannot be made to fit."""


class MissingPackageError(KinegraphError):
    """Something needs a package that is not installed; the message says which, and how to install it."""


class StudyError(KinegraphError):
    """A study was asked for that cannot be made, or its results cannot be read or written."""


def one_of(kind: type[E], given: object, what: str, error: type[KinegraphError]) -> E:
    """The member of an enum that is given, by itself or by its word in capitals or not; an error lists the words."""
    if isinstance(given, kind):
        return given
    words = {one.value if isinstance(one.value, str) else one.name.lower(): one for one in kind}
    word = str(given).lower() if isinstance(given, str | int) else None
    if word in words:
        return words[word]
    raise error(f"{what} is {given!r:.80}; known are {', '.join(words)}")
