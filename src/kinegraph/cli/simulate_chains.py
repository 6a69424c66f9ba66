"""`kinegraph simulate-chains`: the motion of a mechanism with loops, chain by chain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, console, print_json
from kinegraph.cli.options import (
    DurationOption,
    InputOption,
    ModelSource,
    QuietOption,
    RtolOption,
    RunStateOption,
    StartTimeOption,
    reads_model,
)
from kinegraph.cli.simulate import (
    OutputOption,
    PageOption,
    gains,
    name_files,
    require_files,
    run_parameters,
    run_state,
    write_files,
)


@reads_model
def run(
    source: ModelSource,
    duration: DurationOption = 10.0,
    state: RunStateOption = None,
    settings: SetOption = None,
    inputs: InputOption = None,
    body: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Reduce chains to this body, or `ground`. Default: as the graph suggests."),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Share the chains among so many threads.")] = 1,
    mpi: Annotated[
        bool, typer.Option("--mpi", help="Share the chains among all ranks: mpiexec -n 2 kinegraph simulate-chains ...")
    ] = False,
    method: Annotated[str, typer.Option(help="The integrator: bdf, adams, dop853, dopri5 or rk4.")] = "bdf",
    rtol: RtolOption = 1e-8,
    step: Annotated[float | None, typer.Option(help="Length of fixed steps, in seconds.")] = None,
    times: Annotated[
        int, typer.Option(help="Number of equal intervals to save; 0 saves the integrator's steps.")
    ] = 1000,
    t0: StartTimeOption = 0.0,
    baumgarte: Annotated[
        str | None, typer.Option(metavar="ALPHA,BETA", help="Gains of the stabilization (1/s); 5,5 by default.")
    ] = None,
    output: OutputOption = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Save a plot: .png, .svg or .pdf.")] = None,
    page: PageOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Simulate a mechanism with loops chain by chain, on threads or MPI ranks.

    The exit code is 1 if the run stops early.

    Example: kinegraph simulate-chains loop-301 --duration 1 --threads 2 -o run.npz
    """
    from kinegraph.extras import extra
    from kinegraph.simulate.chains import simulate_chains

    require_files(output, plot, page)
    mechanism = source.mechanism()
    world = extra("mpi4py.MPI", "computing chains on ranks").COMM_WORLD if mpi else None
    leads = world is None or world.Get_rank() == 0
    found = simulate_chains(
        mechanism, duration, state=run_state(mechanism, state), parameters=run_parameters(mechanism, settings),
        inputs=assignments(inputs or (), "--input"), body=body, threads=threads, communicator=world, method=method,
        rtol=rtol, step=step, times=times or None, t0=t0, baumgarte=gains(baumgarte),
        progress=False if quiet or json or not leads else None,
    )  # fmt: skip
    if leads:
        write_files(found, output, plot, page, source.typed)
        if json:
            print_json(found.to_dict())
        else:
            console().print(str(found), markup=False, soft_wrap=True)
            name_files(output, plot, page)
    if not found.status.good:
        raise typer.Exit(1)
