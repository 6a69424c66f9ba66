"""Whether a run is interpreted or compiled: short ones are not worth a compiler, long ones are.

A run begins on the interpreter. While it goes on, its speed says how long it will take; as soon as compiling (its cost
is known from `costs`) promises an earlier end, it is begun anew in machine code. Loops that have never been compiled on
this machine are compiled by another process, and the interpreter goes on until they are there. So a result never
depends on when the decision was made, and at most a fraction of the time was spent in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from time import perf_counter
from types import TracebackType
from typing import Literal, TypeAlias, TypedDict

from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt
from kinegraph.solve.problem.progress import Progress

#: What a user says: compile, do not, or decide.
Native: TypeAlias = bool | Literal["auto"]

_LOOK_AFTER, _LOOK_EVERY = 0.1, 0.05  # seconds a run is left alone at first (that says little), and between two looks
_GAIN = 0.8  # compiling must promise an end in less than this part of the time that is left


class Execution(Enum):
    """How a run is executed; the value is what reports say."""

    INTERPRETED = "no"
    KERNEL = "right-hand side only"
    NATIVE = "yes"


class DecisionFacts(TypedDict):
    """A decision as plain data; executions by their names."""

    execution: str
    forced: bool
    estimates: dict[str, float]


@dataclass(frozen=True)
class Decision:
    """How a run was executed and why: estimated seconds of each way, none if it was over before anyone asked."""

    execution: Execution
    forced: bool = False
    estimates: Mapping[Execution, float] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.forced:
            return f"native: {self.execution.value}, as asked for"
        if not self.estimates:
            why = "over before compiling could have paid" if self.execution is Execution.INTERPRETED else "for its size"
            return f"native: {self.execution.value}, {why}"
        names = {Execution.INTERPRETED: "interpreter", Execution.KERNEL: "right-hand side compiled",
                 Execution.NATIVE: "all compiled"}  # fmt: skip
        costs = ", ".join(f"{names[one]} {seconds:.2g} s" for one, seconds in self.estimates.items())
        return f"native: {self.execution.value}, estimated: {costs}"

    def facts(self) -> DecisionFacts:
        """As plain data."""
        estimates = {one.name: seconds for one, seconds in self.estimates.items()}
        return {"execution": self.execution.name, "forced": self.forced, "estimates": estimates}

    @classmethod
    def of_facts(cls, facts: DecisionFacts) -> Decision:
        """The decision written as plain data."""
        estimates = {Execution[name]: float(seconds) for name, seconds in facts["estimates"].items()}
        return cls(Execution[facts["execution"]], bool(facts["forced"]), estimates)


def forced(native: Native) -> Execution | None:
    """What the user asked for; None if it is to be decided."""
    if native == "auto":
        return None
    if not isinstance(native, bool):
        raise SolveError(f"native is {native!r}: give True, False or 'auto'")
    return Execution.NATIVE if native else Execution.INTERPRETED


@dataclass(frozen=True)
class Alternatives:
    """The other ways of executing a run.

    seconds: what each would take in all, from the seconds gone by and the part of the run that is done.
    arrived: whether the loops that are wanted can be loaded by now; if not, the run goes on as it is.
    """

    seconds: Callable[[float, float], Mapping[Execution, float]]
    arrived: Callable[[], bool]


class Forecast:
    """Follows the progress of a run, and asks it to end by its token when another way promises an earlier end.

    Then `better` says how to begin anew; `estimates` are those of the last look.
    """

    def __init__(
        self, bar: Progress, span: tuple[float, float], running: Execution, others: Alternatives, token: Interrupt
    ) -> None:
        self._bar, self._span, self._running, self._others, self._token = bar, span, running, others, token
        self._begun = perf_counter()
        self._looked = 0.0
        self._better: Decision | None = None
        self.estimates: Mapping[Execution, float] = {}

    def __enter__(self) -> Forecast:
        self._bar.__enter__()
        self._begun = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.__exit__(kind, error, trace)

    @property
    def better(self) -> Decision | None:
        """How the run is to be begun anew; None if it was not asked to end, or the user ended it."""
        return None if self._token.from_outside else self._better

    def reached(self, amount: float) -> None:
        """Show how far the run is, and think about it."""
        self._bar.reached(amount)
        elapsed = perf_counter() - self._begun
        start, end = self._span
        done = (amount - start) / (end - start)
        if elapsed < max(_LOOK_AFTER, self._looked + _LOOK_EVERY) or not 0 < done < 1:
            return
        self._looked = elapsed
        self.estimates = estimates = {self._running: elapsed / done, **self._others.seconds(elapsed, done)}
        best = min(estimates, key=lambda one: estimates[one])
        if estimates[best] < _GAIN * (estimates[self._running] - elapsed) and (
            best is not Execution.NATIVE or self._others.arrived()
        ):
            self._better = Decision(best, False, estimates)
            self._token.request()
