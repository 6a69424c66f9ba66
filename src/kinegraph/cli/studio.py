"""`kinegraph studio`: the model text beside the mechanism, on a local page."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from kinegraph.cli.common import JsonOption, StoreOption, console, print_json
from kinegraph.errors import ModelError


def run(
    source: Annotated[
        str, typer.Argument(metavar="[MODEL | FOLDER]", help="A model file, a name from the library, or a folder.")
    ] = ".",
    port: Annotated[int, typer.Option("--port", help="The port of the local address; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Edit a model beside the moving mechanism: errors as you type, 3D view, equations, simulation.

    The page is served to this machine alone, under an address with a secret token.

    Example: kinegraph studio four-bar
    """
    from kinegraph import library
    from kinegraph.extras import extra

    for package in ("starlette", "uvicorn", "websockets"):
        extra(package, "the studio")
    from kinegraph.studio.folder import NEW_SUFFIXES, Folder
    from kinegraph.studio.server import Studio, serve

    path = Path(source)
    if not path.exists() and source in library.names():
        studio = Studio(Folder.of(Path.cwd()), f"library:{source}", store=store)
    elif path.exists() or path.suffix.lower() in NEW_SUFFIXES:  # a new file is made by the first save
        folder = Folder.of(path)
        studio = Studio(folder, folder.only or "", store=store)
    else:
        remedy = "see `kinegraph models`; a new file ends in .kg"
        raise ModelError(f"unknown file, folder or library model {source!r}", remedy=remedy)

    def started(address: str) -> None:
        if json:
            print_json({"address": address, "folder": str(studio.folder.root)})
            return
        console().print(f"the studio is at {address}", markup=False, soft_wrap=True)
        console().print("Ctrl-C ends it", markup=False)
        if browser:
            webbrowser.open(address)

    serve(studio, port, started)
