"""Exports of the page: code, FMU and pages, as one file or as an archive."""

from __future__ import annotations

import base64
import io
import shlex
import tempfile
import zipfile
from pathlib import Path

from kinegraph.errors import KernelError
from kinegraph.export import ExportOptions, Language, export
from kinegraph.simulate.run import simulate
from kinegraph.studio.model_text import read_model
from kinegraph.studio.requests import Arguments, Channel
from kinegraph.studio.runs import command, numbers, python
from kinegraph.studio.scene import settings
from kinegraph.view.page import model_page, page

_LARGEST = 60 * 2**20


def export_files(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """The files of an export, packed as base64: `to` is a language, `page` (a run) or `view` (sliders)."""
    to, quantities = str(arguments.get("to") or "c"), str(arguments.get("quantities") or "tau")
    mechanism, given = read_model(arguments), settings(read_model(arguments), arguments)
    channel.progress(0.1, "writing")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "files"
        target.mkdir()
        state = numbers(arguments.get("state"))
        if to == "page":
            duration = float(str(arguments.get("duration") or 5))
            page(simulate(mechanism, duration, state=state, parameters=given, progress=False), target / "run.html")
            same = f"simulate {{model}} --duration {duration:g} --page run.html"
            code = f"kg.view(kg.simulate(model, {duration:g}{{state}}{{parameters}}), 'run.html')"
        elif to == "view":
            model_page(mechanism, target / "model.html", given)
            state, same = {}, "view {model} -o model.html"
            code = "kg.view(model, 'model.html'{parameters})"
        else:
            options = ExportOptions(parameters=given)
            export(mechanism, quantities, Language(to), target, options)
            state, same = {}, f"export {{model}} --to {to} -q {shlex.quote(quantities)} -o files"
            code = f"kg.export(model, {quantities!r}, {to!r}, 'files')"
        name, data = _packed(target, mechanism.name)
    if len(data) > _LARGEST:
        raise KernelError(f"the export has {len(data) / 1e6:.0f} MB: use the command line\n  kinegraph {same}")
    return {
        "name": name, "data": base64.b64encode(data).decode(), "command": command(arguments, same, state),
        "python": python(arguments, code, state),
    }  # fmt: skip


def _packed(folder: Path, name: str) -> tuple[str, bytes]:
    """A single file as it is, several as a zip archive."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if len(files) == 1:
        return files[0].name, files[0].read_bytes()
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            archive.write(path, path.relative_to(folder).as_posix())
    return f"{name}.zip", found.getvalue()
