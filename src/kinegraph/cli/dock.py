"""`kinegraph dock`: two spacecraft from first contact to the hard joint, once or ten thousand times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli.common import JsonOption, assignments, console, print_json
from kinegraph.cli.options import InputOption, ModelSource, RtolOption, RunSetOption, reads_model
from kinegraph.cli.simulate import formulas, input_values, split_settings
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
        help="Of the passive spacecraft that is added to models without one: radius, latches, mass, ahead, ...",
    ),
]
CasesOption = Annotated[
    int | None, typer.Option(metavar="N", help="A study of so many random first contacts instead, up to capture.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Keep the study here, or go on with it."),
]


@reads_model
def run(
    source: ModelSource,
    duration: Annotated[float, typer.Option("--for", metavar="SECONDS", help="How long to wait for capture.")] = 30.0,
    settings: RunSetOption = None,
    inputs: InputOption = None,
    distance: Annotated[float, typer.Option(help="Latches catch below this distance, in metres.")] = 0.015,
    speed: Annotated[float, typer.Option(help="Latches catch below this speed, in metres per second.")] = 0.05,
    rtol: RtolOption = 1e-9,
    port: PortOption = None,
    springs: Annotated[bool, typer.Option("--springs", help="Single latches hold by springs, not exactly.")] = False,
    at_once: Annotated[bool, typer.Option("--at-once", help="No latch holds before all of them fit.")] = False,
    to_capture: Annotated[bool, typer.Option("--to-capture", help="Stop where all latches hold.")] = False,
    cases: CasesOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the random first contacts.")] = 0,
    output: OutputOption = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="The study as one .html page.")] = None,
    json: JsonOption = False,
) -> None:
    """A docking: contact, capture by latches, damping, drawing in, the hard joint; outcome and peak forces.

    Example: kinegraph dock docking-light-legs --set bx=0.05,b1=0.02
    """
    from kinegraph.docking.description import docking_of

    mechanism = _with_target(source.mechanism(), port, json)
    docking = docking_of(mechanism, distance=distance, speed=speed, at_once=at_once, springs=springs)
    if cases is not None:
        _study(docking, cases, seed, output, page, json, settings)
        return
    if output is not None or page is not None:
        raise SolveError("dock: --output and --page belong to a study: give --cases N")
    from kinegraph.docking.dock import dock

    initial, parameters = split_settings(docking.mechanism, assignments(settings or (), "--set"))
    given = input_values(assignments(inputs or (), "--input"))
    found = dock(docking, duration, state=initial, parameters=formulas(parameters), inputs=given, rtol=rtol,
                 stop_at_capture=to_capture)  # fmt: skip
    if json:
        print_json(found.report())
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
    docking: Docking, cases: int, seed: int, output: Path | None, page: Path | None, json: bool, settings: object
) -> None:
    from kinegraph.cli.study import finish
    from kinegraph.docking.first_contacts import first_contacts

    if settings:
        raise SolveError("dock: --set belongs to one docking, not to --cases; write a study file for others")
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
        f"{docking.target} and {docking.ring} apart, by --set of {', '.join(docking.coordinates(docking.target))}",
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
