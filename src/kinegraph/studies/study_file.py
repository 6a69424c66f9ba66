"""Study files: TOML that describes a study. See docs/studies.md."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from enum import Enum
from pathlib import Path
from typing import TypeAlias, TypeVar, cast

from numpy.typing import ArrayLike

from kinegraph.compiler.mechanism_source import load
from kinegraph.errors import StudyError
from kinegraph.files import read_input_text
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.inputs import Input
from kinegraph.solve.execution import Native
from kinegraph.solve.methods.step_control import Adaptive, FixedStep
from kinegraph.solve.problem import Action, Direction, Event, Sampled
from kinegraph.studies.plan import StudySettings
from kinegraph.studies.sampling import Design, DistributionLike
from kinegraph.studies.statistics import Until, read_until

#: The values of TOML.
Toml: TypeAlias = "bool | int | float | str | date | time | list[Toml] | dict[str, Toml]"

Missing = TypeVar("Missing", int, None)
One = TypeVar("One", bound=Enum)

_LARGEST = 10_000_000
_NUMBERS = ("duration", "t0", "rtol", "atol", "step")
_WORDS = ("model", "method", "design", "success", "until")
_WHOLE = ("cases", "seed", "chunk", "times")
_TABLES = ("vary", "state", "parameters", "inputs", "events", "outcomes", "classes")
#: Settings of earlier versions, and their names now.
_RENAMED = {"initial": "state", "start": "t0", "trajectories": "times"}
_EVENT = ("condition", "action", "direction", "reset", "holds")


def is_study_file(path: str | Path) -> bool:
    """Whether this is the name of a study file, by its extension."""
    return str(path).lower().endswith(".toml")


def read_study_file(
    path: Path,
    cases: int | None = None,
    seed: int | None = None,
    chunk: int | None = None,
    native: Native = "auto",
) -> tuple[StudySettings, Until | None]:
    """The settings of a study file, and its stopping rule; the arguments override the file."""
    given = _Given(path, _parsed(path))
    described = StudySettings(
        mechanism=given.mechanism(),
        duration=given.number("duration", None),
        vary={name: given.distribution(name, distribution) for name, distribution in given.table("vary").items()},
        cases=cases if cases is not None else given.whole("cases", 100),
        outcomes=given.texts("outcomes"),
        classes=given.texts("classes"),
        success=given.word("success"),
        events=[given.event(name, one) for name, one in given.table("events").items()],
        state=given.scalars("state"),
        parameters=given.scalars("parameters"),
        inputs={name: given.input(name, one) for name, one in given.table("inputs").items()},
        method=given.word("method") or "dop853",
        control=given.control(),
        t0=given.number("t0", 0.0),
        times=given.whole("times", None),
        design=given.word("design") or Design.RANDOM,
        seed=seed if seed is not None else given.whole("seed", 0),
        chunk=chunk if chunk is not None else given.whole("chunk", None),
        native=native,
        folder=path.parent,
    )
    return described, read_until(given.word("until"))


def _parsed(path: Path) -> dict[str, Toml]:
    text = read_input_text(path, _LARGEST, "study file")
    try:
        given: dict[str, Toml] = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers of 5000 digits and lists 1000 deep are not TOML errors
        raise StudyError(f"{path} is not valid TOML: {error}") from None
    known = (*_NUMBERS, *_WORDS, *_WHOLE, *_TABLES)
    for name in given:
        if name not in known:
            remedy = f"write {_RENAMED[name]}" if name in _RENAMED else did_you_mean(name, known)
            raise StudyError(f"{path}: unknown setting {name!r}\n  {remedy}")
    return given


@dataclass(frozen=True)
class _Given:
    """The settings of a file, each checked on access."""

    path: Path
    settings: Mapping[str, Toml]

    def mechanism(self) -> Mechanism:
        """The model: a file beside the study file, or a library name."""
        name = self.word("model")
        if name is None:
            raise self._fault("model is missing", "write model = 'double-pendulum', or the path of a model file")
        beside = self.path.parent / name
        return load(beside if os.path.isfile(beside) else name)  # noqa: PTH113 - also of names that no file can have

    def number(self, name: str, default: float | None) -> float:
        found = self.settings.get(name, default)
        if found is None:
            raise self._fault(f"{name} is missing", f"write {name} = 10")
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise self._fault(f"{name} is {found!r}", "give a number")
        try:
            return float(found)
        except OverflowError:
            raise self._fault(f"{name} has {len(str(found))} digits", "give a number below 1e308") from None

    def whole(self, name: str, default: Missing) -> int | Missing:
        found = self.settings.get(name)
        if found is None:
            return default
        if isinstance(found, bool) or not isinstance(found, int):
            raise self._fault(f"{name} is {found!r}", "give an integer")
        return found

    def word(self, name: str) -> str | None:
        found = self.settings.get(name)
        if found is not None and not isinstance(found, str):
            raise self._fault(f"{name} is {found!r}", "give a text in quotes")
        return found

    def table(self, name: str) -> dict[str, Toml]:
        found = self.settings.get(name, {})
        if not isinstance(found, dict):
            raise self._fault(f"{name} is {found!r:.80}", f"write [{name}] and below it lines `name = ...`")
        return found

    def texts(self, name: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, text in self.table(name).items():
            if not isinstance(text, str):
                raise self._fault(f"{name}.{key} is {text!r:.80}", "give a formula in quotes")
            found[key] = text
        return found

    def scalars(self, name: str) -> dict[str, Scalar]:
        return {key: self.scalar(f"{name}.{key}", value) for key, value in self.table(name).items()}

    def scalar(self, name: str, value: Toml) -> Scalar:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise self._fault(f"{name} is {value!r:.80}", "give a number, or a formula in quotes")
        return value

    def distribution(self, name: str, distribution: Toml) -> DistributionLike:
        if not isinstance(distribution, str | list):
            raise self._fault(f"vary.{name} is {distribution!r:.80}", "write 'uniform(-0.1, 0.1)', or a list of values")
        return cast("DistributionLike", distribution)  # the distribution checks its own entries

    def input(self, name: str, given: Toml) -> Input:
        if isinstance(given, dict):
            if {*given} - {"smooth"} != {"times", "values"}:
                raise self._fault(f"inputs.{name} is {given!r:.80}", "write {times = [...], values = [...]}")
            times, values = cast("ArrayLike", given["times"]), cast("ArrayLike", given["values"])
            return Sampled(times, values, bool(given.get("smooth", False)))
        return self.scalar(f"inputs.{name}", given)

    def control(self) -> Adaptive | FixedStep:
        if "step" in self.settings:
            return FixedStep(self.number("step", None))
        atol = self.number("atol", None) if "atol" in self.settings else None
        return Adaptive(self.number("rtol", 1e-8), atol)

    def event(self, name: str, given: Toml) -> Event:
        """An event: a condition, or a table with condition, action, direction and new values."""
        if isinstance(given, str | int | float):
            return Event(name, given)
        if not isinstance(given, dict) or "condition" not in given:
            raise self._fault(f"events.{name} is {given!r:.80}", "write a formula, or {condition = '...'}")
        for key in given:
            if key not in _EVENT:
                raise self._fault(f"events.{name} has no {key!r}", did_you_mean(key, _EVENT))
        action = self._choice(name, given.get("action", "record"), Action)
        direction = self._choice(name, given.get("direction", "both"), Direction)
        reset = given.get("reset", {})
        if not isinstance(reset, dict):
            raise self._fault(f"events.{name}.reset is {reset!r:.80}", "write {name = '...'}")
        where = f"events.{name}.reset"
        values = {key: self.scalar(f"{where}.{key}", value) for key, value in reset.items()}
        condition = self.scalar(f"events.{name}.condition", given["condition"])
        holds = given.get("holds", False)
        if not isinstance(holds, bool):
            raise self._fault(f"events.{name}.holds is {holds!r:.80}", "write true or false")
        return Event(name, condition, direction, action, values, holds)

    def _choice(self, event: str, word: object, kind: type[One]) -> One:
        known = [one.name.lower() for one in kind]
        if word not in known:
            raise self._fault(f"events.{event}: {word!r}", f"write one of {', '.join(known)}")
        return kind[str(word).upper()]

    def _fault(self, what: str, remedy: str) -> StudyError:
        return StudyError(f"{self.path}: {what}\n  {remedy}")
