"""Commands of machine design: cycles, flywheels, rotors, and dimensions of linkages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, parameter_settings, print_json
from kinegraph.cli.options import InputOption, ModelSource, RtolOption, StartTimeOption, reads_model
from kinegraph.cli.simulate import input_values
from kinegraph.cli.task_options import (
    PlotOption,
    StateOption,
    formula_list,
    name_list,
    numbers_by_name,
    plot_units,
    ranges,
    show_table,
    state_settings,
    written_complex,
)
from kinegraph.errors import TaskError

if TYPE_CHECKING:
    from kinegraph.model.expressions import Scalar
    from kinegraph.tasks.goals import Wanted
    from kinegraph.tasks.periodic_motion import PeriodicMotion


# `kinegraph periodic-motion`: the steady cycle of a machine.

PeriodOption = Annotated[
    float | None,
    typer.Option("--period", metavar="SECONDS", help="The period of the drive, or a first guess if none drives."),
]
OutputsOption = Annotated[
    str, typer.Option("--outputs", metavar="LIST", help="Formulas: tip.x,q1^2,energy. Default: the state.")
]
SettleOption = Annotated[float, typer.Option("--settle", metavar="SECONDS", help="Simulate this long before.")]
CycleTimesOption = Annotated[int, typer.Option("--times", min=8, help="Number of equal intervals of a cycle.")]


@reads_model
def run_periodic_motion(
    source: ModelSource,
    period: PeriodOption = None,
    outputs: OutputsOption = "",
    by: Annotated[str, typer.Option("--by", metavar="LIST", help="Parameters for derivatives.")] = "",
    hold: Annotated[str, typer.Option("--hold", metavar="LIST", help="Initial values that stay.")] = "",
    settle: SettleOption = 0.0,
    state: StateOption = None,
    settings: SetOption = None,
    inputs: InputOption = None,
    times: CycleTimesOption = 200,
    t0: StartTimeOption = 0.0,
    bounds: Annotated[
        list[str] | None,
        typer.Option("--bounds", metavar="NAME=FROM:TO", help="Initial values of further starts, e.g. q1'=0:10."),
    ] = None,
    starts: Annotated[int, typer.Option(min=1, max=10_000, help="Number of starts.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random starts.")] = 0,
    method: Annotated[str, typer.Option(help="The integrator: rk4, dopri5, dop853, adams or bdf.")] = "dop853",
    rtol: RtolOption = 1e-11,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Find a steady periodic motion, its stability, and its mean, rms and extremes over a cycle.

    Example: kinegraph periodic-motion double-pendulum --hold q1 --state q1=0.3 --period 2.3 --plot cycle.png
    """
    from kinegraph.tasks.periodic_motion import periodic_motion

    mechanism = source.mechanism()
    found = periodic_motion(
        mechanism, period, outputs=formula_list(outputs) or None, by=name_list(by), hold=name_list(hold), settle=settle,
        state=state_settings(mechanism, state), parameters=parameter_settings(mechanism, settings),
        inputs=input_values(assignments(inputs or (), "--input")), times=times, t0=t0,
        bounds=ranges(bounds or (), "--bounds"), starts=starts, seed=seed, method=method, rtol=rtol,
    )  # fmt: skip
    if plot is not None:
        _plot_cycle(found, plot, plot_units(mechanism, settings))
    if json:
        print_json(found.to_dict())
        return
    _show_cycle(found)
    for one in found.others:
        typer.echo("further motion")
        _show_cycle(one)


def _plot_cycle(found: PeriodicMotion, path: Path, units: Mapping[str, str]) -> None:
    from kinegraph.view.task_figures import panels_of, plot_curves

    plot_curves(path, found.times, panels_of({name: found[name] for name in found.outputs}, units), found.model)


def _show_cycle(found: PeriodicMotion) -> None:
    typer.echo("\n".join(line for line in str(found).splitlines() if ": mean" not in line and "further" not in line))
    typer.echo("Floquet multipliers: " + (", ".join(written_complex(value) for value in found.multipliers) or "none"))
    rows = [
        (
            one.name, f"{one.mean:.9g}", f"{one.rms:.9g}", f"{one.low:.9g}", f"{one.low_time:.6g}", f"{one.high:.9g}",
            f"{one.high_time:.6g}", f"{one.fluctuation:.6g}",
        )
        for one in found.cycle
    ]  # fmt: skip
    show_table(("", "mean", "rms", "lowest", "at t", "highest", "at t", "fluctuation"), rows)
    if not found.by:
        return
    slopes: list[tuple[str, ...]] = [
        (f"period by {name}", f"{slope:.9g}", "", "", "") for name, slope in _periods(found)
    ]
    slopes += [
        (f"{one.name} by {name}", *(f"{part:.9g}" for part in parts))
        for one in found.cycle
        for name, parts in one.derivatives.items()
    ]
    show_table(("derivatives", "of the mean", "of the rms", "of the lowest", "of the highest"), slopes)


def _periods(found: PeriodicMotion) -> list[tuple[str, float]]:
    return [] if found.driven else list(zip(found.by, found.period_derivatives, strict=True))


# `kinegraph flywheel`: the inertia for a wanted fluctuation.


@reads_model
def run_flywheel(
    source: ModelSource,
    inertia: Annotated[str, typer.Option("--inertia", metavar="NAME", help="The parameter to find.")],
    speed: Annotated[str, typer.Option("--speed", metavar="FORMULA", help="The speed, e.g. crank'.")],
    fluctuation: Annotated[
        float,
        typer.Option("--fluctuation", metavar="NUMBER", help="The wanted (largest - smallest)/mean over a cycle."),
    ],
    period: PeriodOption = None,
    settle: SettleOption = 0.0,
    state: StateOption = None,
    settings: SetOption = None,
    inputs: InputOption = None,
    times: CycleTimesOption = 200,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Find the inertia at which the speed of a machine fluctuates as wanted.

    Example: kinegraph flywheel press.kg --inertia J --speed crank' --fluctuation 0.02
    """
    from kinegraph.tasks.flywheel import flywheel

    mechanism = source.mechanism()
    found = flywheel(
        mechanism, inertia, speed, fluctuation, period, settle=settle, state=state_settings(mechanism, state),
        parameters=parameter_settings(mechanism, settings),
        inputs=input_values(assignments(inputs or (), "--input")), times=times,
    )  # fmt: skip
    if plot is not None:
        _plot_cycle(found.motion, plot, plot_units(mechanism, settings))
    print_json(found.to_dict()) if json else typer.echo(str(found))


# `kinegraph campbell` and `kinegraph unbalance-response`: rotors over their speed.

SpeedOption = Annotated[
    str, typer.Option("--over", metavar="NAME=FROM:TO", help="The rate of the rotation in rad/s, e.g. spin'=0:1000.")
]


def _speed_range(text: str) -> tuple[str, float, float]:
    ((name, (low, high)),) = ranges([text], "--over").items()
    return name, low, high


@reads_model
def run_campbell(
    source: ModelSource,
    over: SpeedOption,
    state: StateOption = None,
    times: Annotated[int, typer.Option("--times", min=2, help="Number of equal intervals of speed.")] = 100,
    orders: Annotated[str, typer.Option("--orders", metavar="LIST", help="Multiples of the speed that excite.")] = "1",
    body: Annotated[
        str | None, typer.Option("--body", metavar="NAME", help="The body whose whirl is named. Default: the fastest.")
    ] = None,
    plot: PlotOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Compute a Campbell diagram: whirl frequencies over the speed of a rotor, and its critical speeds.

    Example: kinegraph campbell rotor --over "spin'=0:1000" --plot campbell.png
    """
    from kinegraph.tasks.campbell import campbell

    mechanism = source.mechanism()
    name, low, high = _speed_range(over)
    found = campbell(
        mechanism, name, low, high, state_settings(mechanism, state), times=times, orders=_numbers(orders, "--orders"),
        body=body, parameters=parameter_settings(mechanism, settings),
    )  # fmt: skip
    if plot is not None:
        from kinegraph.view.task_figures import plot_campbell

        plot_campbell(found, plot)
    if json:
        print_json(found.to_dict())
        return
    typer.echo(str(found).partition("\n")[0])
    step = max(1, len(found.speeds) // 20)
    rows = [
        (f"{speed:.6g}", *(f"{value:.8g} {word}" for value, word in zip(values, words, strict=True)))
        for speed, values, words in list(zip(found.speeds, found.frequencies, found.whirl, strict=True))[::step]
    ]
    show_table((found.over, *(f"mode {k + 1}" for k in range(found.frequencies.shape[1]))), rows)
    typer.echo("\n".join(line.strip() for line in str(found).splitlines()[1:]))


def _numbers(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in name_list(text)]
    except ValueError:
        raise TaskError(f"{option}: cannot read {text!r}; write numbers, e.g. 1,2") from None


@reads_model
def run_unbalance_response(
    source: ModelSource,
    over: SpeedOption,
    unbalance: Annotated[
        list[str], typer.Option("--unbalance", metavar="NAME=VALUE", help="A small parameter, e.g. ecc=1e-5.")
    ],
    outputs: Annotated[
        str, typer.Option("--outputs", metavar="LIST", help="Coordinates and points, e.g. x,A.y. Default: coordinates.")
    ] = "",
    state: StateOption = None,
    times: Annotated[int, typer.Option("--times", min=2, help="Number of equal intervals of speed.")] = 200,
    plot: PlotOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Compute the whirl of a rotor under small unbalances over its speed, and its peaks.

    Example: kinegraph unbalance-response rotor --over "spin'=10:900" --unbalance ecc=1e-5 --set c=300
    """
    from kinegraph.tasks.unbalance_response import unbalance_response

    mechanism = source.mechanism()
    name, low, high = _speed_range(over)
    found = unbalance_response(
        mechanism, name, numbers_by_name(unbalance, "--unbalance"), low, high, state_settings(mechanism, state),
        outputs=name_list(outputs), times=times, parameters=parameter_settings(mechanism, settings),
    )  # fmt: skip
    if plot is not None:
        from kinegraph.view.task_figures import plot_unbalance

        plot_unbalance(found, plot, plot_units(mechanism, settings))
    if json:
        print_json(found.to_dict())
        return
    step = max(1, len(found.speeds) // 20)
    rows = [
        (f"{speed:.6g}", *(f"{value:.6g}" for value in row))
        for speed, row in list(zip(found.speeds, found.amplitude, strict=True))[::step]
    ]
    show_table((found.over, *found.outputs), rows)
    typer.echo(str(found))


# `kinegraph synthesize-cycle` and `kinegraph tolerances`: dimensions of a linkage.

CycleMotionOption = Annotated[
    list[str],
    typer.Option(
        "--motion", "-m", metavar="NAME=FORMULA", help="A formula of t, or the name of a crank that turns once."
    ),
]
CycleDurationOption = Annotated[float, typer.Option("--duration", "--for", metavar="SECONDS", help="The cycle's time.")]


def _cycle_motion(texts: list[str]) -> Mapping[str, Scalar] | str:
    """Formulas by coordinate, or the name of a crank."""
    return texts[0].strip() if len(texts) == 1 and "=" not in texts[0] else assignments(texts, "--motion")


def _goals(texts: list[str]) -> dict[str, Wanted]:
    """`stroke:ram=0.3` is a value, `max:tip.y=:0.7` and `transmission:A,B,C=0.7:` are limits."""
    found: dict[str, Wanted] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        sides = value.split(":")
        try:
            numbers = [None if not side.strip() else float(side) for side in sides]
        except ValueError:
            numbers = []
        if not name or not numbers or len(numbers) > 2 or all(side is None for side in numbers):
            raise TaskError(
                f"--goal: cannot read {text!r}; write stroke:ram=0.3, or limits, max:tip.y=0.1:0.7 or =:0.7"
            )
        first, last = numbers[0], numbers[-1]
        found[name.strip()] = (first, last) if len(numbers) == 2 or first is None else first
    return found


@reads_model
def run_synthesize_cycle(
    source: ModelSource,
    motion: CycleMotionOption,
    bounds: Annotated[
        list[str], typer.Option("--bounds", metavar="NAME=FROM:TO", help="A free parameter and its limits.")
    ],
    goal: Annotated[
        list[str] | None,
        typer.Option(
            "--goal", metavar="KIND:FORMULA=VALUE", help="Goals: stroke:ram=0.3, max:tip.y=:0.7, time_ratio:ram=1.6."
        ),
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option("--path", metavar="POINT=FILE.csv", help="Points to pass: rows of x,y or x,y,z in m."),
    ] = None,
    duration: CycleDurationOption = 1.0,
    settings: SetOption = None,
    times: CycleTimesOption = 180,
    t0: StartTimeOption = 0.0,
    starts: Annotated[int, typer.Option(min=1, max=10_000, help="Number of starts.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random starts.")] = 0,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Find dimensions of a linkage for goals over a cycle: stroke, extremes, time ratio, transmission angle, path.

    Example: kinegraph synthesize-cycle quick-return -m crank --goal stroke:ram=0.3 --bounds r=0.05:0.2
    """
    from kinegraph.tasks.synthesize_cycle import synthesize_cycle

    mechanism = source.mechanism()
    found = synthesize_cycle(
        mechanism, _cycle_motion(motion), _goals(goal or []), ranges(bounds, "--bounds"), duration,
        path=_paths(path or []), parameters=parameter_settings(mechanism, settings), times=times, t0=t0, starts=starts,
        seed=seed,
    )  # fmt: skip
    if plot is not None:
        from kinegraph.view.task_figures import panels_of, plot_curves

        own = {name: column for name, column in found.columns.items() if name.partition(":")[2] not in found.columns}
        plot_curves(plot, found.times, panels_of(own, plot_units(mechanism, settings)), found.model)
    print_json(found.to_dict()) if json else typer.echo(str(found))


def _paths(texts: list[str]) -> dict[str, np.ndarray]:
    """The points of the files by the name of the point that draws them."""
    found = {}
    for name, file in assignments(texts, "--path").items():
        try:
            found[name] = np.atleast_2d(np.genfromtxt(file, delimiter=",", comments="#"))
        except (OSError, ValueError) as error:
            raise TaskError(f"--path: cannot read {file}: {error}") from None
        found[name] = found[name][~np.isnan(found[name]).all(axis=1)]  # a line of names
    return found


@reads_model
def run_tolerances(
    source: ModelSource,
    outputs: Annotated[
        str,
        typer.Option(
            "--outputs", metavar="LIST", help="Formulas: tip.y. With --motion numbers of a cycle: stroke:ram."
        ),
    ],
    tolerance: Annotated[
        list[str], typer.Option("--tolerance", metavar="NAME=VALUE", help="The largest deviation of a parameter.")
    ],
    motion: Annotated[
        list[str] | None,
        typer.Option("--motion", "-m", metavar="NAME=FORMULA", help="A cycle: a formula of t, or the name of a crank."),
    ] = None,
    duration: Annotated[
        float | None, typer.Option("--duration", "--for", metavar="SECONDS", help="The time of the cycle, or of a run.")
    ] = None,
    state: StateOption = None,
    settings: SetOption = None,
    distribution: Annotated[
        str, typer.Option("--distribution", help="The distribution: normal (the tolerance is 3 sigma) or uniform.")
    ] = "normal",
    samples: Annotated[
        int | None, typer.Option("--samples", min=0, help="Number of samples. Default: 2000, of cycles and runs 200.")
    ] = None,
    times: CycleTimesOption = 180,
    t0: StartTimeOption = 0.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the samples.")] = 0,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Compute which tolerance contributes how much to an output, by exact derivatives and by samples.

    Example: kinegraph tolerances slider-crank --outputs s --tolerance r=1e-4 --tolerance l=2e-4 --state crank=1
    """
    from kinegraph.tasks.tolerances import tolerances

    mechanism = source.mechanism()
    found = tolerances(
        mechanism, formula_list(outputs), numbers_by_name(tolerance, "--tolerance"),
        motion=_cycle_motion(motion) if motion else None, duration=duration, state=state_settings(mechanism, state),
        parameters=parameter_settings(mechanism, settings), distribution=distribution, samples=samples, times=times,
        t0=t0, seed=seed,
    )  # fmt: skip
    if plot is not None:
        from kinegraph.view.task_figures import plot_tolerances

        plot_tolerances(found, plot)
    print_json(found.to_dict()) if json else typer.echo(str(found))
