"""`kinegraph study`: run many cases of one model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli import INTERRUPTED
from kinegraph.cli.common import JsonOption, SetOption, assignments, console, parameter_texts, print_json
from kinegraph.cli.options import (
    AtolOption,
    EventOption,
    InputOption,
    ModelSource,
    QuietOption,
    RtolOption,
    StartTimeOption,
    StopIfOption,
    StopOption,
    reads_model,
)
from kinegraph.cli.simulate import formulas, input_values, read_events
from kinegraph.errors import StudyError

if TYPE_CHECKING:
    from kinegraph.solve.execution import Native
    from kinegraph.studies.plan import Plan
    from kinegraph.studies.results import Study
    from kinegraph.studies.statistics import Until


# What the command line says of a study, as a plan.


@dataclass(frozen=True)
class StudyOptions:
    """What the command line says of a study."""

    vary: list[str] | None
    outcomes: list[str] | None
    classes: list[str] | None
    events: list[str] | None
    stop: list[str] | None
    stop_if: list[str] | None
    state: list[str] | None
    settings: list[str] | None
    inputs: list[str] | None
    method: str
    rtol: float
    atol: float | None
    step: float | None
    duration: float
    t0: float
    times: int | None
    design: str
    success: str | None


def planned(
    source: ModelSource, options: StudyOptions | None, vary: list[str] | None, cases: int | None, seed: int | None,
    chunk: int | None, native: Native,
) -> tuple[Plan, Until | None]:  # fmt: skip
    """The plan of a study file, or of the command line."""
    from kinegraph.simulate import Adaptive, FixedStep
    from kinegraph.studies.plan import StudySettings
    from kinegraph.studies.study_file import read_study_file

    if options is None:
        if vary:
            raise StudyError(f"{source.model} says what is varied: change the file, or leave --vary out")
        described, known = read_study_file(Path(source.model), cases, seed, chunk, native)
        return described.plan(), known
    mechanism = source.mechanism()
    state, parameters = assignments(options.state or (), "--state"), parameter_texts(mechanism, options.settings)
    control = FixedStep(options.step) if options.step is not None else Adaptive(options.rtol, options.atol)
    described = StudySettings(
        mechanism, options.duration, pairs(options.vary, "--vary"), 100 if cases is None else cases,
        pairs(options.outcomes, "--outcome"), pairs(options.classes, "--class"), options.success,
        read_events(options.events, options.stop, options.stop_if), formulas(state), formulas(parameters),
        input_values(assignments(options.inputs or (), "--input")), options.method, control, options.t0,
        options.times, options.design, seed or 0, chunk, native,
    )  # fmt: skip
    return described.plan(), None


def pairs(texts: list[str] | None, option: str) -> dict[str, str]:
    """`name=formula`, one for each use of the option: formulas may hold commas and comparisons."""
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise StudyError(f"{option}: cannot read {text!r}; write {option} name=...")
        if name in found:
            raise StudyError(f"{option}: {name!r} is given twice")
        found[name] = value
    return found


# What the command says when a study is done.

_MOST_FAILURES = 20


def show_case(plan: Plan, index: int, as_json: bool) -> None:
    """Run one case and print it."""
    from kinegraph.studies.cases import Case

    one = Case(plan, index)
    if as_json:
        print_json({"row": one.row, "seed": one.seed})
        return
    for name, value in one.row.items():
        console().print(f"{name}: {value}", markup=False)


def finish(found: Study, output: Path | None, page: Path | None, as_json: bool) -> None:
    """Write the page, print the results; exit code 130 where Ctrl-C ended the study."""
    target = page or (output / "page.html" if output is not None else None)
    if target is not None:
        from kinegraph.view.study_page import study_page

        study_page(found, target)
    if as_json:
        print_json(found.to_dict())
    else:
        _report(found, target)
    if not found.complete:
        raise typer.Exit(INTERRUPTED)


def _report(found: Study, page: Path | None) -> None:
    from kinegraph.cli.task_options import show_table

    console().print(str(found), markup=False, soft_wrap=True)
    rows = []
    for name in found.numbers:
        one = found.summary(name)
        numbers = [one.mean.value, one.mean.half_width, one.deviation, one.low, one.quantiles[0.5].value, one.high]
        rows.append([name, f"{float(found[name][0]):.6g}", *(f"{number:.6g}" for number in numbers), str(one.missing)])
    show_table(["outcome", "nominal", "mean", "+-", "deviation", "min", "median", "max", "missing"], rows)
    for failure in found.failures[:_MOST_FAILURES]:
        console().print(f"  case {failure.case} failed: {failure.reason}", markup=False, soft_wrap=True)
    if len(found.failures) > _MOST_FAILURES:
        console().print(f"  ... and {len(found.failures) - _MOST_FAILURES} more", markup=False)
    if found.folder is not None:
        console().print(f"{found.folder}: everything; {page}: plots and statistics", markup=False, soft_wrap=True)
    if not found.complete:
        console(stderr=True).print("interrupted; the same command goes on from here" if found.folder else "interrupted")


# `kinegraph study`: many cases of one model.

VaryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="NAME=DISTRIBUTION",
        help="Vary q1=uniform(-0.1,0.1), m1=normal(1,0.1), x,y=disc(0.1). Repeatable.",
    ),
]
OutcomesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--outcome", metavar="NAME=FORMULA", help="Record top=max(tip.z), when=time(low). Default: the final state."
    ),
]
ClassesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--class", metavar="NAME=CONDITION", help="Classify cases: low=happened(low). The first match counts."
    ),
]
StateOption = Annotated[
    list[str] | None,
    typer.Option("--state", metavar="NAME=FORMULA,...", help="The initial state; formulas may use varied names."),
]
UntilOption = Annotated[
    str | None, typer.Option(metavar="INTERVAL", help="Stop when an interval is narrow enough: 'success +- 0.01'.")
]
TimesOption = Annotated[
    int | None, typer.Option(metavar="N", help="Save the states of all cases at N equal intervals (Zarr).")
]
ClusterOption = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster: tcp://HOST:8786.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Save results in this folder; an interrupted study continues."),
]
NativeOption = Annotated[
    bool | None,
    typer.Option("--native/--interpret", help="Compile the cases, or interpret them. Default: compile if many."),
]


@reads_model
def run(
    source: ModelSource,
    vary: VaryOption = None,
    cases: Annotated[
        int | None, typer.Option("--cases", metavar="N", help="Number of cases besides the nominal one; default 100.")
    ] = None,
    duration: Annotated[
        float, typer.Option("--duration", "--for", metavar="SECONDS", help="How long each case runs.")
    ] = 10.0,
    outcomes: OutcomesOption = None,
    classes: ClassesOption = None,
    success: Annotated[
        str | None, typer.Option(metavar="CONDITION", help="The condition for success: top > 0.")
    ] = None,
    events: EventOption = None,
    stop: StopOption = None,
    stop_if: StopIfOption = None,
    state: StateOption = None,
    settings: SetOption = None,
    inputs: InputOption = None,
    method: Annotated[
        str, typer.Option(help="The integrator: rk4, dopri5, dop853, symplectic, adams or bdf.")
    ] = "dop853",
    rtol: RtolOption = 1e-8,
    atol: AtolOption = None,
    step: Annotated[float | None, typer.Option(help="Length of fixed steps, in seconds.")] = None,
    t0: StartTimeOption = 0.0,
    design: Annotated[
        str, typer.Option(help="How to sample: random, latin, sobol, halton, saltelli or table.")
    ] = "random",
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="S", min=0, help="Seed of all samples; default 0.")
    ] = None,
    until: UntilOption = None,
    times: TimesOption = None,
    case: Annotated[int | None, typer.Option("--case", metavar="N", help="Run only case N, and print it.")] = None,
    threads: Annotated[int | None, typer.Option(help="Number of threads. Default: all cores.")] = None,
    cluster: ClusterOption = None,
    mpi: Annotated[
        bool, typer.Option("--mpi", help="Run on all ranks: mpiexec -n 8 kinegraph study ... --mpi.")
    ] = False,
    chunk: Annotated[int | None, typer.Option(metavar="N", help="Number of cases in one piece of work.")] = None,
    output: OutputOption = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save plots and statistics as an .html page.")
    ] = None,
    native: NativeOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Run many cases of a model with varied parameters and states, or a study file (.toml).

    Example: kinegraph study double-pendulum --cases 1000 --vary "q1=uniform(-1,1)" --outcome "top=max(tip.z)" -o DIR
    The exit code is 130 after Ctrl-C; the same command continues the study.
    """
    from kinegraph.studies.executors import chosen_executor
    from kinegraph.studies.study import run_plan
    from kinegraph.studies.study_file import is_study_file

    options = StudyOptions(
        vary, outcomes, classes, events, stop, stop_if, state, settings, inputs, method, rtol, atol, step,
        duration, t0, times, design, success,
    ) if not is_study_file(source.model) else None  # fmt: skip
    compiled: Native = "auto" if native is None else native
    plan, known = planned(source, options, vary, cases, seed, chunk, compiled)
    if case is not None:
        show_case(plan, case, json)
        return
    executor = chosen_executor(threads, cluster, mpi)
    found = run_plan(plan, until or known, output, executor, False if quiet or json else None)
    if mpi and not executor.leads:
        return
    finish(found, output, page, json)
