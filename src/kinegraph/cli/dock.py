"""`kinegraph dock`: two spacecraft from first contact to the hard joint, once or ten thousand times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, console, print_json
from kinegraph.cli.options import InputOption, ModelSource, RtolOption, RunStateOption, reads_model
from kinegraph.cli.simulate import input_values, name_files, require_files, run_parameters, run_state
from kinegraph.errors import SolveError

if TYPE_CHECKING:
    from kinegraph.docking.description import Docking
    from kinegraph.docking.result import DockingRun
    from kinegraph.model.mechanism import Mechanism
    from kinegraph.studies.results import Study


PortOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE,...",
        help="The passive spacecraft to add to a model without one: radius, latches, mass, ahead, ...",
    ),
]
LimitsOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE,...",
        help="Limits that end a docking: shortest, longest, leg, interface, bending, latch, away, lowest, highest.",
    ),
]
ScheduleOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE,...", help="Times after capture: settle, draw, after, still, even."),
]
ContactOption = Annotated[
    list[str] | None,
    typer.Option(
        "--contact",
        metavar="NAME=VALUE,...",
        help="Limits of random first contacts: closing=0.05:0.1, offset, drift, tilt, roll, tilting, spinning.",
    ),
]
VaryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="NAME=DISTRIBUTION",
        help="Another distribution of first contacts, closing=normal(0.07,0.01), or of a parameter. Repeatable.",
    ),
]
CasesOption = Annotated[int | None, typer.Option(metavar="N", help="Study N random first contacts, up to capture.")]
WholeOption = Annotated[
    bool, typer.Option("--whole", help="With --cases: up to the hard joint, on all cores, not only up to capture.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Save all columns: .csv, .npz or .parquet (extra). With --cases: save or continue the study in a folder.",
    ),
]


@reads_model
def run(
    source: ModelSource,
    duration: Annotated[
        float, typer.Option("--duration", "--for", metavar="SECONDS", help="How long to wait for capture.")
    ] = 30.0,
    state: RunStateOption = None,
    settings: SetOption = None,
    inputs: InputOption = None,
    distance: Annotated[float, typer.Option(help="Latches catch below this distance, in meters.")] = 0.015,
    speed: Annotated[float, typer.Option(help="Latches catch below this speed, in meters per second.")] = 0.05,
    angle: Annotated[float, typer.Option(help="Latches catch below this angle between the axes, in radians.")] = 0.09,
    rtol: RtolOption = 1e-9,
    port: PortOption = None,
    springs: Annotated[bool, typer.Option("--springs", help="Model single latches as springs.")] = False,
    at_once: Annotated[bool, typer.Option("--at-once", help="Close all latches together.")] = False,
    stop_at_capture: Annotated[bool, typer.Option("--stop-at-capture", help="Stop when all latches hold.")] = False,
    limits: LimitsOption = None,
    schedule: ScheduleOption = None,
    cases: CasesOption = None,
    whole: WholeOption = False,
    contact: ContactOption = None,
    vary: VaryOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random first contacts.")] = 0,
    output: OutputOption = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Save a plot: .png, .svg or .pdf.")] = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Save an animation or the study: .html.")] = None,
    json: JsonOption = False,
) -> None:
    """Simulate a docking from first contact to the hard joint; show its outcome and peak forces.

    Example: kinegraph dock docking-light-legs --state bx=0.05,b1=0.02 -o docking.csv --page docking.html
    """
    from kinegraph.docking.description import docking_of, limits_of, schedule_of

    mechanism = _with_target(source.mechanism(), port, json)
    docking = docking_of(
        mechanism, distance=distance, speed=speed, angle=angle, at_once=at_once, springs=springs,
        limits=limits_of(assignments(limits or (), "--limits")),
        schedule=schedule_of(assignments(schedule or (), "--schedule")),
    )  # fmt: skip
    if cases is not None:
        if plot is not None:
            raise SolveError("dock: --plot draws one docking; a study (--cases) has a page: give --page FILE")
        if state or settings or inputs:
            raise SolveError(
                "dock: --cases cannot be combined with --state, --set or --input; write values into the model, or "
                "vary them (--vary)"
            )
        _finish(_study(docking, cases, whole, contact, vary, seed, output), output, page, json)
        return
    if whole or contact or vary:
        raise SolveError("dock: --whole, --contact and --vary belong to a study: give --cases N")
    require_files(output, plot, page)
    from kinegraph.docking.dock import dock

    initial, parameters = run_state(docking.mechanism, state), run_parameters(docking.mechanism, settings)
    given = input_values(assignments(inputs or (), "--input"))
    found = dock(docking, duration, state=initial, parameters=parameters, inputs=given, rtol=rtol,
                 stop_at_capture=stop_at_capture)  # fmt: skip
    _write(found, output, plot, page, source.typed)
    if json:
        print_json(found.to_dict())
    else:
        console().print(str(found), markup=False, soft_wrap=True)
        name_files(output, plot, page)


def _write(found: DockingRun, output: Path | None, plot: Path | None, page: Path | None, typed: str) -> None:
    """The files that were asked for: columns, a drawing, a page."""
    if output:
        found.save(output)
    if plot:
        from kinegraph.view import plot as draw

        draw(found, plot)
    if page:
        from kinegraph.view import page as write_page

        with console(stderr=True).status(f"writing {page} ..."):
            write_page(found, page, typed)


def _with_target(mechanism: Mechanism, port: list[str] | None, json: bool) -> Mechanism:
    """The model; with a passive spacecraft, if it has none."""
    from kinegraph.docking.target import port_of, with_target

    given = assignments(port or (), "--port")
    if any(body.name == "Target" for body in mechanism.bodies):
        if given:
            raise SolveError(f"dock: {mechanism.name} has a Target: --port belongs to models without one")
        return mechanism
    if not json:
        console().print(f"{mechanism.name} has no Target: a passive spacecraft with guides and latches is added")
    return with_target(mechanism, port_of(given))


def _study(
    docking: Docking,
    cases: int,
    whole: bool,
    contact: list[str] | None,
    vary: list[str] | None,
    seed: int,
    output: Path | None,
) -> Study:
    from kinegraph.cli.study import pairs
    from kinegraph.docking.first_contacts import contact_limits_of, first_contacts
    from kinegraph.docking.whole_dockings import whole_dockings
    from kinegraph.studies.executors import Processes

    limits = contact_limits_of(assignments(contact or (), "--contact"))
    varied = pairs(vary, "--vary")
    if whole:
        return whole_dockings(
            docking, cases, limits=limits, vary=varied, seed=seed, folder=output, executor=Processes()
        )
    return first_contacts(docking, cases, limits=limits, vary=varied, seed=seed, folder=output)


def _finish(found: Study, output: Path | None, page: Path | None, json: bool) -> None:
    from kinegraph.cli.study import finish

    finish(found, output, page, json)
