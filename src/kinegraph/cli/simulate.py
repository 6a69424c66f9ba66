"""`kinegraph simulate`: the motion of a mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import kinegraph as kg
from kinegraph.cli import INTERRUPTED
from kinegraph.cli.common import (
    JsonOption,
    PassesOption,
    SetOption,
    assignments,
    console,
    parameter_texts,
    print_json,
)
from kinegraph.cli.options import (
    AtolOption,
    DurationOption,
    EventOption,
    InputOption,
    ModelSource,
    QuietOption,
    RtolOption,
    RunStateOption,
    StartTimeOption,
    StopIfOption,
    StopOption,
    reads_model,
)
from kinegraph.cli.task_options import formula_list
from kinegraph.errors import ModelError, SolveError
from kinegraph.files import read_input_text
from kinegraph.model.names import did_you_mean

if TYPE_CHECKING:
    from kinegraph.model.expressions import Expression
    from kinegraph.simulate.inputs import Input
    from kinegraph.simulate.observation import ErrorEstimate
    from kinegraph.simulate.stabilization import Baumgarte
    from kinegraph.solve.problem import Event, Floats
    from kinegraph.solve.solution import Solution


OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Save the motion: .csv, .npz or .parquet (extra).")
]
PageOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Save an animation, plots and equations as an .html page.")
]
NativeOption = Annotated[
    bool | None,
    typer.Option("--native/--interpret", help="Compile the run, or interpret it. Default: compile long runs."),
]
LoopsOption = Annotated[
    bool | None,
    typer.Option("--loops/--no-loops", help="Use recursive algorithms. Default: for large models only."),
]
BaumgarteOption = Annotated[
    str | None,
    typer.Option(
        metavar="ALPHA,BETA", help="Stabilize constraints with these gains (1/s, or `auto`) instead of projection."
    ),
]
EstimateErrorOption = Annotated[
    bool, typer.Option("--estimate-error", help="Run again with a hundredth of the tolerance, and compare.")
]


@reads_model
def run(
    source: ModelSource,
    duration: DurationOption = 10.0,
    state: RunStateOption = None,
    settings: SetOption = None,
    inputs: InputOption = None,
    events: EventOption = None,
    stop: StopOption = None,
    stop_if: StopIfOption = None,
    method: Annotated[
        str, typer.Option(help="The integrator: rk4, dopri5, dop853, symplectic, adams, bdf or ida.")
    ] = "dop853",
    rtol: RtolOption = 1e-8,
    atol: AtolOption = None,
    step: Annotated[float | None, typer.Option(help="Length of fixed steps, in seconds.")] = None,
    times: Annotated[
        int, typer.Option(help="Number of equal intervals to save; 0 saves the integrator's steps.")
    ] = 1000,
    t0: StartTimeOption = 0.0,
    output: OutputOption = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Save a plot: .png, .svg or .pdf.")] = None,
    page: PageOption = None,
    outputs: Annotated[
        str, typer.Option(metavar="LIST", help="Add formulas as columns: tip.z',pull=reaction:Rod[0].")
    ] = "",
    show: Annotated[str, typer.Option(metavar="LIST", help="Draw these columns instead of the usual ones.")] = "",
    wrap: Annotated[bool, typer.Option("--wrap", help="Draw angles between -pi and pi in plots.")] = False,
    native: NativeOption = None,
    loops: LoopsOption = None,
    baumgarte: BaumgarteOption = None,
    passes: PassesOption = "",
    estimate_error: EstimateErrorOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Simulate a mechanism; save, plot, or animate the result.

    The exit code is 1 if the run stops early, and 130 after Ctrl-C. Partial results are saved.

    Example: kinegraph simulate double-pendulum --for 5 --state q1=1 --event low=tip.z+1.9 --page run.html -o run.csv
    """
    from kinegraph.simulate import Adaptive, FixedStep, Status, simulate
    from kinegraph.simulate.observation import error_estimates, tighter

    require_files(output, plot, page)
    mechanism = source.mechanism()
    control = FixedStep(step) if step is not None else Adaptive(rtol, atol)
    simulated = partial(
        simulate, mechanism, duration, method=method, state=run_state(mechanism, state),
        parameters=run_parameters(mechanism, settings),
        outputs=output_formulas(outputs),
        inputs=input_values(assignments(inputs or (), "--input")), events=read_events(events, stop, stop_if),
        times=times or None, t0=t0, native="auto" if native is None else native, baumgarte=gains(baumgarte),
        loops=loops, passes=passes, progress=False if quiet or json else None,
    )  # fmt: skip
    solution = simulated(control=control)
    estimates: tuple[ErrorEstimate, ...] = ()
    if estimate_error:
        estimates = error_estimates(solution, simulated(control=tighter(control)))
    write_files(solution, output, plot, page, source.typed, formula_list(show), wrap)
    _report(solution, estimates, json)
    if not json:
        name_files(output, plot, page)
    if not solution.status.good:
        raise typer.Exit(INTERRUPTED if solution.status is Status.INTERRUPTED else 1)


def require_files(output: Path | None, plot: Path | None, page: Path | None) -> None:
    """An error for a file that could not be written, before the run and not after it."""
    if page:
        from kinegraph.view.page import page_path

        page_path(page)
    if plot:
        from kinegraph.view.plot import picture_path

        picture_path(plot, SolveError)
    if output:
        from kinegraph.solve.solution import require_format

        require_format(output)


def name_files(output: Path | None, plot: Path | None, page: Path | None) -> None:
    """Say which files were written."""
    for file in filter(None, (output, plot)):
        console().print(f"wrote {file}", markup=False)
    if page:
        console().print(f"{page}: {page.stat().st_size / 1e6:.1f} MB, to be opened in a browser", markup=False)


def write_files(
    solution: Solution,
    output: Path | None,
    plot: Path | None,
    page: Path | None,
    typed: str,
    show: Sequence[str] = (),
    wrap: bool = False,
) -> None:
    """The files that were asked for: columns, a drawing, a page."""
    if output:
        solution.save(output)
    if plot:
        from kinegraph.view.plot import plot as draw

        draw(solution, plot, show, wrap=wrap)
    if page:
        from kinegraph.view import page as write_page

        with console(stderr=True).status(f"writing {page} ..."):
            write_page(solution, page, typed, show)


def gains(text: str | None) -> Baumgarte | None:
    """`20,20`, `20` for both, or `auto`."""
    if text is None:
        return None
    from kinegraph.simulate.stabilization import Baumgarte

    if text.strip() == "auto":
        return Baumgarte()
    try:
        alpha, *more = (float(part) for part in text.split(","))
        (beta,) = more or (alpha,)
    except ValueError:
        raise SolveError(f"--baumgarte: {text!r} is not a pair of gains: write ALPHA,BETA in 1/s, or auto") from None
    return Baumgarte(alpha, beta)


def run_state(mechanism: kg.Mechanism, state: list[str] | None) -> dict[str, str]:
    """The initial state of --state; an unknown name is an error."""
    given = assignments(state or (), "--state")
    known = mechanism.layout.initial
    for name in given:
        if name not in known:
            raise ModelError(f"--state: {mechanism.name} has no {name!r}", remedy=did_you_mean(name, known))
    return given


def run_parameters(mechanism: kg.Mechanism, settings: list[str] | None) -> dict[str, Expression]:
    """The parameters of --set; an unknown name is an error."""
    given = parameter_texts(mechanism, settings)
    known = [parameter.name for parameter in mechanism.parameters]
    for name in given:
        if name not in known:
            raise ModelError(f"--set: {mechanism.name} has no {name!r}", remedy=did_you_mean(name, known))
    return formulas(given)


def output_formulas(text: str) -> dict[str, str]:
    """A list of formulas, each with a name of its own or named by its text: `tip.z',pull=reaction:Rod[0]`."""
    parts = (part.rpartition("=") for part in formula_list(text))
    return {(name or value).strip(): value.strip() for name, _, value in parts}


def formulas(texts: Mapping[str, str]) -> dict[str, Expression]:
    """Texts read as formulas."""
    from kinegraph.simulate.formulas import formula

    return {name: formula(text) for name, text in texts.items()}


def input_values(texts: Mapping[str, str]) -> dict[str, Input]:
    """Formulas as they stand; `@file` are samples, two columns of numbers (time and value) with or without a head."""
    return {name: _samples(Path(text[1:])) if text.startswith("@") else text for name, text in texts.items()}


_LARGEST_TABLE = 200_000_000


def _samples(path: Path) -> tuple[Floats, Floats]:
    import numpy as np

    lines = read_input_text(path, _LARGEST_TABLE, "table of samples").splitlines()
    head = bool(lines) and lines[0][:1].strip("+-.0123456789 ") != ""
    try:
        times, values = np.loadtxt(lines[head:], delimiter=",", ndmin=2).T
    except ValueError:
        remedy = "write one line `time,value` for each sample"
        raise ModelError(f"--input: {path} does not hold two columns of numbers", remedy=remedy) from None
    return times, values


def read_events(
    recorded: list[str] | None, stopping: list[str] | None, holding: list[str] | None = None
) -> list[Event]:
    """The events of --event, --stop and --stop-if."""
    from kinegraph.solve.problem import Action, Direction, Event

    events = [Event(name, text) for name, text in assignments(recorded or (), "--event").items()]
    events += [Event(name, text, action=Action.STOP) for name, text in assignments(stopping or (), "--stop").items()]
    return events + [
        Event(name, text, Direction.RISING, Action.STOP, holds=True)
        for name, text in assignments(holding or (), "--stop-if").items()
    ]


def _report(solution: Solution, estimates: tuple[ErrorEstimate, ...], as_json: bool) -> None:
    if as_json:
        errors = [{"name": one.name, "error": one.error, "digits": one.digits} for one in estimates]
        print_json({**solution.to_dict(), "error_estimate": errors})
        return
    console().print(str(solution), markup=False, soft_wrap=True)
    if solution.checks and not estimates:
        console().print("  what is conserved does not say how exact the motion is: --estimate-error", markup=False)
    for estimate in estimates:
        console().print(f"  {estimate}", markup=False)
