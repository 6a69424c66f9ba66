"""`kinegraph view`: a mechanism to be moved by hand, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, console, parameter_settings, print_json
from kinegraph.cli.options import ModelSource, reads_model


@reads_model
def run(
    source: ModelSource,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The .html file.  [default: MODEL.html]")
    ] = None,
    settings: SetOption = None,
    live: Annotated[
        bool, typer.Option("--live", help="Simulate in the page: play, push bodies, change parameters and inputs.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Write an interactive 3D page of a mechanism, with a slider for each coordinate.

    With --live the page runs the exact equations itself, without a server.

    Example: kinegraph view slider-crank -o slider-crank.html
    """
    from kinegraph.view import live_page, model_page

    mechanism = source.mechanism()
    file = output or Path(f"{mechanism.name}.html")
    with console(stderr=True).status(f"writing {file} ..."):
        (live_page if live else model_page)(mechanism, file, parameter_settings(mechanism, settings), source.typed)
    size = file.stat().st_size
    if json:
        names = list(mechanism.layout.positions)
        print_json({"model": mechanism.name, "file": str(file), "bytes": size, "coordinates": names})
    else:
        console().print(f"{file}: {size / 1e6:.1f} MB, to be opened in a browser", markup=False)
