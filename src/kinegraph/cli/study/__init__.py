"""`kinegraph study`: many cases of one model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli.common import JsonOption
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.run_options import (
    AtolOption,
    EventOption,
    InputOption,
    QuietOption,
    RtolOption,
    StopIfOption,
    StopOption,
)
from kinegraph.cli.study.options import StudyOptions, planned
from kinegraph.cli.study.report import finish, show_case

if TYPE_CHECKING:
    from kinegraph.solve.problem.execution import Native


VaryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--vary", metavar="NAME=LAW", help="q1=uniform(-0.1,0.1), m1=normal(1,0.1), x,y=disc(0.1); repeat it."
    ),
]
OutcomesOption = Annotated[
    list[str] | None,
    typer.Option("--outcome", metavar="NAME=FORMULA", help="top=max(tip.z), when=time(low); else the end state."),
]
ClassesOption = Annotated[
    list[str] | None, typer.Option("--class", metavar="NAME=CONDITION", help="low=happened(low); first that holds.")
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE,...", help="Initial values and parameters, as formulas if wanted."),
]
UntilOption = Annotated[
    str | None, typer.Option(metavar="INTERVAL", help="End when it is narrow enough: 'success +- 0.01'.")
]
TrajectoriesOption = Annotated[
    int | None, typer.Option(metavar="N", help="Keep the states of all cases at N equal intervals (Zarr).")
]
ClusterOption = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster there: tcp://HOST:8786.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Keep all there; what is there already is not run again."),
]
NativeOption = Annotated[
    bool | None, typer.Option("--native/--interpret", help="Compile or not; else more than a few cases are.")
]


@reads_model
def run(
    source: ModelSource,
    vary: VaryOption = None,
    cases: Annotated[int | None, typer.Option("--cases", metavar="N", help="Besides the nominal case; 100.")] = None,
    duration: Annotated[float, typer.Option("--for", metavar="SECONDS", help="How long each case runs.")] = 10.0,
    outcomes: OutcomesOption = None,
    classes: ClassesOption = None,
    success: Annotated[str | None, typer.Option(metavar="CONDITION", help="What counts as success: top > 0.")] = None,
    events: EventOption = None,
    stop: StopOption = None,
    stop_if: StopIfOption = None,
    settings: SettingsOption = None,
    inputs: InputOption = None,
    method: Annotated[str, typer.Option(help="rk4, dopri5, dop853, symplectic, adams or bdf.")] = "dop853",
    rtol: RtolOption = 1e-8,
    atol: AtolOption = None,
    step: Annotated[float | None, typer.Option(help="Length of fixed steps, in seconds.")] = None,
    design: Annotated[str, typer.Option(help="random, latin, sobol, halton, saltelli or table.")] = "random",
    seed: Annotated[int | None, typer.Option("--seed", metavar="S", min=0, help="Of all samples; 0.")] = None,
    until: UntilOption = None,
    trajectories: TrajectoriesOption = None,
    case: Annotated[int | None, typer.Option("--case", metavar="N", help="Run case N alone, and print it.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of this process; else all cores.")] = None,
    cluster: ClusterOption = None,
    mpi: Annotated[bool, typer.Option("--mpi", help="On all ranks: mpiexec -n 8 kinegraph study ... --mpi.")] = False,
    chunk: Annotated[int | None, typer.Option(metavar="N", help="Cases of one piece of work.")] = None,
    output: OutputOption = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Plots and statistics as one .html page.")] = None,
    native: NativeOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Run many cases of a model, drawn by laws or by a design; or of a study file (.toml), which says all of that.

    Example: kinegraph study double-pendulum --cases 1000 --vary "q1=uniform(-1,1)" --outcome "top=max(tip.z)" -o DIR
    Exit code 130 says that Ctrl-C ended it; the same command goes on where it was.
    """
    from kinegraph.studies.executors.choice import chosen_executor
    from kinegraph.studies.file import is_study_file
    from kinegraph.studies.run import run_plan

    options = StudyOptions(
        vary, outcomes, classes, events, stop, stop_if, settings, inputs, method, rtol, atol, step, duration,
        trajectories, design, success,
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
