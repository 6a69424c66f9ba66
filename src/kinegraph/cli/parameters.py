"""Commands on the parameters of a run: `sensitivities`, `fit`, `synthesize`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, print_json
from kinegraph.cli.options import (
    CompileOption,
    DurationOption,
    InputOption,
    IntegralOption,
    ModelSource,
    QuietOption,
    RtolOption,
    RunStateOption,
    StartTimeOption,
    reads_model,
)
from kinegraph.cli.simulate import input_values, run_parameters, run_state
from kinegraph.cli.task_options import formula_list, name_list, numbers_by_name, ranges, show_table

if TYPE_CHECKING:
    from kinegraph.tasks.gradient import Gradient
    from kinegraph.tasks.sensitivities import Sensitivities
    from kinegraph.tasks.synthesize import Synthesis


# `kinegraph sensitivities`: derivatives of a run's results.

ByOption = Annotated[
    str, typer.Option("--by", metavar="LIST", help="Parameters (m1) and initial values (q1(0), q1'(0)).")
]
OutputsOption = Annotated[
    str, typer.Option("--outputs", metavar="LIST", help="Formulas: tip.x,q1^2,energy. Default: the state.")
]
BackwardOption = Annotated[
    bool, typer.Option("--backward", help="Use the adjoint method: at the end only, for many parameters.")
]


@reads_model
def run_sensitivities(
    source: ModelSource,
    by: ByOption,
    duration: DurationOption = 10.0,
    outputs: OutputsOption = "",
    integrals: IntegralOption = None,
    state: RunStateOption = None,
    settings: SetOption = None,
    inputs: InputOption = None,
    method: Annotated[str, typer.Option(help="The integrator: rk4, dopri5, dop853, adams or bdf.")] = "dop853",
    rtol: RtolOption = 1e-10,
    times: Annotated[int, typer.Option(min=1, help="Number of equal intervals in --json.")] = 100,
    t0: StartTimeOption = 0.0,
    backward: BackwardOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Compute exact derivatives of a run with respect to parameters and initial values.

    Example: kinegraph sensitivities double-pendulum --for 2 --by m1,l1,q1(0) --outputs tip.x,tip.z
    """
    mechanism = source.mechanism()
    initial, parameters = run_state(mechanism, state), run_parameters(mechanism, settings)
    wanted = formula_list(outputs)
    integrands = assignments(integrals or (), "--integral")
    wanted_columns = [*wanted, *integrands] if wanted else None
    driven = input_values(assignments(inputs or (), "--input"))
    progress = False if quiet or json else None
    if backward:
        from kinegraph.tasks.gradient import gradient

        last = gradient(
            mechanism, duration, by, outputs=wanted_columns, integrals=integrands, state=initial,
            parameters=parameters, inputs=driven, t0=t0, method=method, rtol=rtol, progress=progress,
        )  # fmt: skip
        _show_sensitivities(last, last.time, last.values, last.derivatives, json)
        return
    from kinegraph.tasks.sensitivities import sensitivities

    found = sensitivities(
        mechanism, duration, by, outputs=wanted_columns, integrals=integrands, state=initial, parameters=parameters,
        inputs=driven, times=times, t0=t0, method=method, rtol=rtol, progress=progress,
    )  # fmt: skip
    _show_sensitivities(found, float(found.times[-1]), found.values[-1], found.final, json)


def _show_sensitivities(
    found: Sensitivities | Gradient, time: float, values: np.ndarray, derivatives: np.ndarray, json: bool
) -> None:
    if json:
        print_json(found.to_dict())
        return
    typer.echo(f"{found.model}: derivatives at t = {time:.9g}")
    rows = [("value", "", *(f"{value:.10g}" for value in values))]
    rows += [
        (f"by {name}", f"{value:.6g}", *(f"{entry:.10g}" for entry in column))
        for name, value, column in zip(found.by, found.at.tolist(), derivatives.T, strict=True)
    ]
    show_table(("", "at", *found.outputs), rows)


# `kinegraph fit`: parameters from measured motion.

DataArgument = Annotated[
    Path, typer.Argument(metavar="DATA.csv", help="Measured motion: a line of names (t,q1,...), then numbers.")
]
UnknownOption = Annotated[
    str, typer.Option("--unknown", metavar="LIST", help="Parameters (m1) and initial values (q1(0), q1'(0)).")
]
ColumnsOption = Annotated[str, typer.Option("--columns", metavar="LIST", help="Columns to use. Default: all.")]
NoiseOption = Annotated[
    list[str] | None,
    typer.Option("--noise", metavar="NAME=SIGMA", help="Standard deviation of a column. Default: estimated."),
]
FitBoundsOption = Annotated[
    list[str] | None, typer.Option("--bounds", metavar="NAME=FROM:TO", help="Limits of an unknown.")
]


@reads_model
def run_fit(
    source: ModelSource,
    data: DataArgument,
    unknown: UnknownOption,
    columns: ColumnsOption = "",
    noise: NoiseOption = None,
    bounds: FitBoundsOption = None,
    state: RunStateOption = None,
    settings: SetOption = None,
    inputs: InputOption = None,
    t0: StartTimeOption = 0.0,
    rtol: RtolOption = 1e-9,
    native: CompileOption = True,
    json: JsonOption = False,
) -> None:
    """Estimate parameters and initial values from measured motion, with standard errors.

    Example: kinegraph fit double-pendulum measured.csv --unknown l2,amplitude --columns q1,q2
    """
    from kinegraph.tasks.fit import fit, measurements

    mechanism = source.mechanism()
    limits = ranges(bounds or (), "--bounds")
    measured = measurements(data)
    found = fit(
        mechanism,
        measured.only(formula_list(columns)) if columns else measured,
        unknown,
        noise=numbers_by_name(noise, "--noise") if noise else None,
        bounds=limits,
        state=run_state(mechanism, state),
        parameters=run_parameters(mechanism, settings),
        inputs=input_values(assignments(inputs or (), "--input")),
        t0=t0,
        rtol=rtol,
        native=native,
    )
    print_json(found.to_dict()) if json else typer.echo(str(found))


# `kinegraph synthesize`: dimensions for a wanted result.

WantedOption = Annotated[
    list[str], typer.Option("--wanted", metavar="OUTPUT=FORMULA", help="A wanted output: tip.x=0.3*sin(t).")
]
DesignBoundsOption = Annotated[
    list[str],
    typer.Option("--bounds", metavar="NAME=FROM:TO", help="A free parameter or initial value, and its limits."),
]
MotionOption = Annotated[
    list[str] | None,
    typer.Option("--motion", "-m", metavar="NAME=FORMULA", help="Prescribe the motion instead of a run."),
]
AtEndsOption = Annotated[
    str, typer.Option("--at-ends", metavar="LIST", help="With --motion: outputs that count at both ends only.")
]


@reads_model
def run_synthesize(
    source: ModelSource,
    wanted: WantedOption,
    bounds: DesignBoundsOption,
    motion: MotionOption = None,
    at_ends: AtEndsOption = "",
    duration: DurationOption = 10.0,
    at_end: Annotated[bool, typer.Option("--at-end", help="Compare at the end of the run only.")] = False,
    integrals: IntegralOption = None,
    state: RunStateOption = None,
    settings: SetOption = None,
    inputs: InputOption = None,
    times: Annotated[int, typer.Option(min=1, help="Number of equal intervals to compare at.")] = 100,
    t0: StartTimeOption = 0.0,
    starts: Annotated[int, typer.Option(min=1, max=10_000, help="Number of starts.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random starts.")] = 0,
    native: CompileOption = True,
    json: JsonOption = False,
) -> None:
    """Find parameters and initial values within bounds that bring a run closest to wanted outputs.

    Example: kinegraph synthesize double-pendulum --for 1 --wanted tip.x=0.5 --at-end --bounds amplitude=0:1.5
    Example: kinegraph synthesize crane -m s=7.1-0.12*t --for 40 --wanted F.y=level --bounds EL=24:32
    """
    from kinegraph.tasks.synthesize import synthesize, synthesize_path

    mechanism = source.mechanism()
    initial, parameters = run_state(mechanism, state), run_parameters(mechanism, settings)
    targets, limits = assignments(wanted, "--wanted"), ranges(bounds, "--bounds")
    if motion:
        ends = dict.fromkeys(name_list(at_ends), (t0, t0 + duration))
        moments = np.linspace(t0, t0 + duration, times + 1)
        laws = assignments(motion, "--motion")
        path = synthesize_path(
            mechanism, laws, targets, limits, moments, only_at=ends, parameters=parameters, starts=starts, seed=seed
        )
        _show_design(path, json)
        return
    found = synthesize(
        mechanism, duration, targets, limits, integrals=assignments(integrals or (), "--integral"), state=initial,
        parameters=parameters, inputs=input_values(assignments(inputs or (), "--input")),
        times=[t0 + duration] if at_end else times, t0=t0, starts=starts, seed=seed, native=native,
    )  # fmt: skip
    _show_design(found, json)


def _show_design(found: Synthesis, json: bool) -> None:
    if json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))
