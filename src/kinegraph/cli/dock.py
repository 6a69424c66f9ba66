"""`kinegraph dock`: two spacecraft from first contact to the hard joint, once or ten thousand times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, console, print_json
from kinegraph.cli.options import InputOption, ModelSource, RtolOption, RunStateOption, reads_model
from kinegraph.cli.simulate import input_values, run_parameters, run_state
from kinegraph.errors import SolveError

if TYPE_CHECKING:
    from kinegraph.docking.description import Docking
    from kinegraph.docking.result import DockingRun, Peak
    from kinegraph.model.mechanism import Mechanism


_UNITS = {"bending": "N m"}


PortOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE,...",
        help="The passive spacecraft to add to a model without one: radius, latches, mass, ahead, ...",
    ),
]
CasesOption = Annotated[int | None, typer.Option(metavar="N", help="Study N random first contacts, up to capture.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Save the study in this folder, or continue it."),
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
    rtol: RtolOption = 1e-9,
    port: PortOption = None,
    springs: Annotated[bool, typer.Option("--springs", help="Model single latches as springs.")] = False,
    at_once: Annotated[bool, typer.Option("--at-once", help="Close all latches together.")] = False,
    stop_at_capture: Annotated[bool, typer.Option("--stop-at-capture", help="Stop when all latches hold.")] = False,
    cases: CasesOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random first contacts.")] = 0,
    output: OutputOption = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the study as an .html page.")] = None,
    json: JsonOption = False,
) -> None:
    """Simulate a docking from first contact to the hard joint; show its outcome and peak forces.

    Example: kinegraph dock docking-light-legs --state bx=0.05,b1=0.02
    """
    from kinegraph.docking.description import docking_of

    mechanism = _with_target(source.mechanism(), port, json)
    docking = docking_of(mechanism, distance=distance, speed=speed, at_once=at_once, springs=springs)
    if cases is not None:
        _study(docking, cases, seed, output, page, json, state, settings)
        return
    if output is not None or page is not None:
        raise SolveError("dock: --output and --page belong to a study: give --cases N")
    from kinegraph.docking.dock import dock

    initial, parameters = run_state(docking.mechanism, state), run_parameters(docking.mechanism, settings)
    given = input_values(assignments(inputs or (), "--input"))
    found = dock(docking, duration, state=initial, parameters=parameters, inputs=given, rtol=rtol,
                 stop_at_capture=stop_at_capture)  # fmt: skip
    if json:
        print_json(found.to_dict())
    else:
        _show(found)
        _show_overlaps(found, docking)


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
    seed: int,
    output: Path | None,
    page: Path | None,
    json: bool,
    state: object,
    settings: object,
) -> None:
    from kinegraph.cli.study import finish
    from kinegraph.docking.first_contacts import first_contacts

    if state or settings:
        raise SolveError("dock: --cases cannot be combined with --state or --set; write a study file instead")
    finish(first_contacts(docking, cases, seed=seed, folder=output), output, page, json)


def _peak(name: str, peak: Peak) -> str:
    where = f" {peak.where}" if peak.where else ""
    return f"{name}{where} {peak.value:.4g} {_UNITS.get(name, 'N')} at {peak.time:.3f} s"


def _show_overlaps(found: DockingRun, docking: Docking) -> None:
    """Guides that lie in each other at the start, and which coordinates move them apart."""
    if not found.overlaps:
        return
    guides = ", ".join(f"{one.guide} {1e3 * one.depth:.4g} mm deep" for one in found.overlaps)
    console().print(
        f"  guides overlap at the start: {guides}\n  their forces there are those of no docking: begin with "
        f"{docking.target} and {docking.ring} apart, by --state of {', '.join(docking.coordinates(docking.target))}",
        markup=False,
    )


def _show(found: DockingRun) -> None:
    say = console().print
    say(f"{found.outcome.value}; touches: {len(found.touches)}", markup=False)
    if found.fault is not None:
        say(f"  {found.fault.what} of {found.fault.where} at {found.fault.time:.6f} s", markup=False)
    if found.latches:
        caught = ", ".join(f"{name} {time:.4f} s" for name, time in found.latches.items())
        say(f"  latches: {caught}", markup=False)
    for phase in found.phases:
        say(
            f"  {phase.name:<11} {phase.times[0]:9.4f} s to {phase.times[-1]:9.4f} s, {phase.steps} steps", markup=False
        )
    for one in found.joinings:
        say(f"  {one.joint} at {one.time:.6f} s: {1e3 * one.shift:.2f} mm beside, {one.lost:.4g} J lost", markup=False)
    say(
        "  peaks: " + ", ".join(_peak(name, one) for name, one in found.peaks.items()),
        markup=False,
    )
    say(f"  momentum moved by {found.momentum:.1e}, the balance of energy by {found.energy:.1e}", markup=False)
