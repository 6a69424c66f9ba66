"""The script and style shipped in the package are those of `web/`; no Node is needed to know."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("name", ["page.js", "page.css"])
def test_the_shipped_bundle_is_built_from_the_present_sources(name: str) -> None:
    built = re.search(r"sources ([0-9a-f]{64})", asset(name).partition("\n")[0])
    assert built and built[1] == digest(), "web/ has changed: run `make web`"


def test_the_bundle_can_stand_in_a_page() -> None:
    script, style = asset("page.js").lower(), asset("page.css").lower()
    assert "</script" not in script and "<!--" not in script and "</style" not in style


def test_licenses_of_bundled_libraries_are_kept() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text())
    shipped = [name for name, package in lock["packages"].items() if name and not package.get("dev")]
    assert shipped == ["node_modules/three"]
    head = asset("page.js")[:3000]
    assert "three.js" in head and "MIT" in head and "Permission is hereby granted" in head


def test_the_lock_file_names_no_host() -> None:
    assert "resolved" not in (WEB / "package-lock.json").read_text()
