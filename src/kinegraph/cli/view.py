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
    json: JsonOption = False,
) -> None:
    """Write an interactive 3D page of a mechanism, with a slider for each coordinate.

    Example: kinegraph view slider-crank -o slider-crank.html
    """
    from kinegraph.view import model_page

    mechanism = source.mechanism()
    file = output or Path(f"{mechanism.name}.html")
    with console(stderr=True).status(f"writing {file} ..."):
        model_page(mechanism, file, parameter_settings(mechanism, settings), source.typed)
    size = file.stat().st_size
    if json:
        names = list(mechanism.layout.positions)
        print_json({"model": mechanism.name, "file": str(file), "bytes": size, "coordinates": names})
    else:
        console().print(f"{file}: {size / 1e6:.1f} MB, to be opened in a browser", markup=False)
