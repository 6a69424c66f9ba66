"""Whether a run is interpreted or compiled: a short one is not worth a compiler.

Interpreting takes as long as compiling would after some thousand evaluations, whatever the size of the equations. A run
that may take more is compiled; a run of unknown length is interpreted up to that limit, then begun anew in machine
code. The limit counts evaluations, not seconds, so a result does not depend on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias, TypedDict

from kinegraph.errors import SolveError

#: What a user says: compile, do not, or decide.
Native: TypeAlias = bool | Literal["auto"]

#: Evaluations of the equations that the interpreter makes in about the time that compiling them takes.
WORTH_COMPILING = 6000


class Execution(Enum):
    """How a run is executed; the value is what reports say."""

    INTERPRETED = "no"
    KERNEL = "right-hand side only"
    NATIVE = "yes"


class DecisionFacts(TypedDict):
    """A decision as plain data; the execution by its name."""

    execution: str
    forced: bool


@dataclass(frozen=True)
class Decision:
    """How a run was executed; forced: the user asked for it."""

    execution: Execution
    forced: bool = False

    def __str__(self) -> str:
        if self.forced:
            return f"native: {self.execution.value}, as asked for"
        short = ", the run is short" if self.execution is Execution.INTERPRETED else ""
        return f"native: {self.execution.value}{short}"

    def facts(self) -> DecisionFacts:
        """As plain data."""
        return {"execution": self.execution.name, "forced": self.forced}

    @classmethod
    def of_facts(cls, facts: DecisionFacts) -> Decision:
        """The decision written as plain data."""
        return cls(Execution[facts["execution"]], bool(facts["forced"]))


def forced(native: Native) -> Execution | None:
    """What the user asked for; None if it is to be decided."""
    if native == "auto":
        return None
    if not isinstance(native, bool):
        raise SolveError(f"native is {native!r}: give True, False or 'auto'")
    return Execution.NATIVE if native else Execution.INTERPRETED
