"""What the command line says of a study, as a plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kinegraph.cli.common import assignments
from kinegraph.cli.model_source import ModelSource
from kinegraph.cli.simulate import formulas, input_values, read_events
from kinegraph.errors import StudyError

if TYPE_CHECKING:
    from kinegraph.model.mechanism import Mechanism
    from kinegraph.solve.problem.execution import Native
    from kinegraph.studies.plan import Plan
    from kinegraph.studies.statistics.stopping import Until


@dataclass(frozen=True)
class StudyOptions:
    """What the command line says of a study."""

    vary: list[str] | None
    outcomes: list[str] | None
    classes: list[str] | None
    events: list[str] | None
    stop: list[str] | None
    stop_if: list[str] | None
    settings: list[str] | None
    inputs: list[str] | None
    method: str
    rtol: float
    atol: float | None
    step: float | None
    duration: float
    trajectories: int | None
    design: str
    success: str | None


def planned(
    source: ModelSource, options: StudyOptions | None, vary: list[str] | None, cases: int | None, seed: int | None,
    chunk: int | None, native: Native,
) -> tuple[Plan, Until | None]:  # fmt: skip
    """The plan of a study file, or of the command line."""
    from kinegraph.simulate import Adaptive, FixedStep
    from kinegraph.studies.describe import StudySettings
    from kinegraph.studies.file import read_study_file

    if options is None:
        if vary:
            raise StudyError(f"{source.model} says what is varied: change the file, or leave --vary out")
        described, known = read_study_file(Path(source.model), cases, seed, chunk, native)
        return described.plan(), known
    mechanism = source.mechanism()
    initial, parameters = _split(mechanism, assignments(options.settings or (), "--set"))
    control = FixedStep(options.step) if options.step is not None else Adaptive(options.rtol, options.atol)
    described = StudySettings(
        mechanism, options.duration, pairs(options.vary, "--vary"), 100 if cases is None else cases,
        pairs(options.outcomes, "--outcome"), pairs(options.classes, "--class"), options.success,
        read_events(options.events, options.stop, options.stop_if), formulas(initial), formulas(parameters),
        input_values(assignments(options.inputs or (), "--input")), options.method, control, 0.0,
        options.trajectories, options.design, seed or 0, chunk, native,
    )  # fmt: skip
    return described.plan(), None


def _split(mechanism: Mechanism, given: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Initial values and parameters; names that do not exist are named by the plan."""
    state = (*mechanism.layout.positions, *mechanism.layout.velocities)
    initial = {name: text for name, text in given.items() if name in state}
    return initial, {name: text for name, text in given.items() if name not in state}


def pairs(texts: list[str] | None, option: str) -> dict[str, str]:
    """`name=formula`, one for every time the option is given: formulas may hold commas and comparisons."""
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise StudyError(f"{option}: cannot read {text!r}; write {option} name=...")
        if name in found:
            raise StudyError(f"{option}: {name!r} is given twice")
        found[name] = value
    return found
