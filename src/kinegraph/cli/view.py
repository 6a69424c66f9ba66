"""`kinegraph view`: a mechanism to be moved by hand, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinegraph.cli.common import (
    SetOption,
    console,
    parameter_settings,
)
from kinegraph.cli.model_source import ModelSource, reads_model


@reads_model
def run(
    source: ModelSource,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The .html file.  [default: MODEL.html]")
    ] = None,
    settings: SetOption = None,
) -> None:
    """Write a page that shows a mechanism where it starts, with a slider for each coordinate."""
    from kinegraph.view import model_page

    mechanism = source.mechanism()
    file = output or Path(f"{mechanism.name}.html")
    with console(stderr=True).status(f"writing {file} ..."):
        model_page(mechanism, file, parameter_settings(mechanism, settings))
    console().print(f"{file}: {file.stat().st_size / 1e6:.1f} MB, to be opened in a browser", markup=False)
