"""The template of all pages, filled: parts of HTML, the script and the style, and a policy that allows only these."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path

from kinegraph.errors import SolveError
from kinegraph.io.records.write import write
from kinegraph.view.page import facts
from kinegraph.view.page.equations import counted, typeset
from kinegraph.view.page.geometry.packing import json_for_html
from kinegraph.view.page.scene import Scene

_LONGEST_TEXT = 100_000


def page_path(path: str | Path) -> Path:
    """The path if a page can be written to it; asked before a long run, so that a slip costs nothing."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise SolveError(f"cannot write a page to {path.name}: the ending must be .html")
    if not path.absolute().parent.is_dir():
        raise SolveError(f"cannot write a page to {path}: there is no folder {path.parent}")
    return path


def page_of(
    scene: Scene, data: Mapping[str, object], headline: str, source: str | None = None, report: str = ""
) -> str:
    """The text of a page: what is said of every mechanism, and a report of the run if there was one."""
    mechanism = scene.mechanism
    records = write(mechanism)
    cards = {
        "Operations": facts.operations(counted(mechanism, scene.bound)),
        "Solver": report,
        "Bodies": facts.bodies(mechanism, scene.values, scene.drawing.missing),
        "Parameters": facts.parameters(mechanism, scene.values),
        "Elements": facts.elements(mechanism),
    }
    names = facts.names((*mechanism.layout.positions, *mechanism.layout.velocities))
    return filled({
        "title": escape(mechanism.name),
        "headline": headline,
        "equations": typeset(mechanism, source),
        "cards": "".join(_card(title, body) for title, body in cards.items() if body),
        "records": escape(records if len(records) <= _LONGEST_TEXT else records[:_LONGEST_TEXT] + "\n..."),
        "names": "".join(f"<span>{name}</span>" for name in names),
        "data": json_for_html(data),
    })  # fmt: skip


def _card(title: str, body: str) -> str:
    return f'<div class="card {title.lower()}"><h2>{title}</h2><div>{body}</div></div>'


def filled(parts: Mapping[str, str]) -> str:
    """The template with its parts, the script and the style put in; only these two may run or apply."""
    script, style, template = (asset(name) for name in ("page.js", "page.css", "page.html"))
    everything = {**parts, "script": script, "style": style, "policy": _policy(script, style)}
    return re.sub(r"\{\{(\w+)\}\}", lambda match: everything[match[1]], template)


def _policy(script: str, style: str) -> str:
    """A content security policy: nothing is fetched, and no other script or style than the page's own is used."""
    allowed = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    return (
        f"default-src 'none'; script-src 'sha256-{allowed[0]}'; style-src 'sha256-{allowed[1]}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def asset(name: str) -> str:
    """A file of the page that is shipped with the package; page.js and page.css are built from `web/`."""
    return (files("kinegraph.view.page") / "assets" / name).read_text("utf-8")
