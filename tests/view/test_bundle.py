"""The script and style shipped in the package are those of `web/`; no Node is needed to know."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from kinegraph.studio.server import asset as studio_asset
from kinegraph.view.page.solution_page import asset

WEB = Path(__file__).parents[2] / "web"


def digest() -> str:
    """The same as in web/build.mjs."""
    names = [
        "build.mjs",
        "package.json",
        "package-lock.json",
        *(path.relative_to(WEB).as_posix() for path in (WEB / "src").rglob("*") if path.is_file()),
    ]
    found = hashlib.sha256()
    for name in sorted(names):
        found.update(f"{name}\n".encode() + (WEB / name).read_bytes())
    return found.hexdigest()


@pytest.mark.parametrize(
    "name", ["page.js", "page.css", "widget.js", "study.js", "study.css", "studio.js", "studio.css"]
)
def test_the_shipped_bundle_is_built_from_the_present_sources(name: str) -> None:
    text = studio_asset(name) if name.startswith("studio.") else asset(name)
    built = re.search(r"sources ([0-9a-f]{64})", text.partition("\n")[0])
    assert built and built[1] == digest(), "web/ has changed: run `make web`"


def test_the_bundle_can_stand_in_a_page() -> None:
    script, style = asset("page.js").lower(), asset("page.css").lower()
    assert "</script" not in script and "<!--" not in script and "</style" not in style


def test_licenses_of_bundled_libraries_are_kept() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text())
    shipped = [name for name, package in lock["packages"].items() if name and not package.get("dev")]
    head = asset("page.js")[:3000]
    assert "three.js" in head and "MIT" in head and "Permission is hereby granted" in head
    whole = studio_asset("studio.js").partition("*/\n")[2].partition("*/")[0]
    assert [name for name in shipped if name.removeprefix("node_modules/") not in whole] == []
    assert whole.count("Permission is hereby granted") >= 3


def test_the_lock_file_names_no_host() -> None:
    assert "resolved" not in (WEB / "package-lock.json").read_text()
