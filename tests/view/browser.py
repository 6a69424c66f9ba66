"""Chromium without a window, where there is one; what happened in it is kept to be looked at."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.programs import HANGS, fault

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def launched():
    """A browser to be used as a context; the test is skipped where there is none."""
    faults = {name: fault(name) for name in ("chromium", "chromium-browser", "google-chrome")}
    chromium = next((shutil.which(name) for name, reason in faults.items() if reason is None), None)
    if chromium is None:
        reasons = ", ".join(filter(None, faults.values()))
        pytest.skip(f"no Chromium on this machine ({reasons}): install the package `chromium` to test pages")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install '.[test]'")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS), timeout=1000 * HANGS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Seen:
    """A page in the browser, the errors it made and the addresses it asked for."""

    page: object
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def run(self, code):
        """The value of an expression in the page."""
        return self.page.evaluate(f"() => ({code})")

    def wait(self, code):
        self.page.wait_for_function(f"() => ({code})", timeout=1000 * HANGS)


def watched(browser, address: str, width: int, height: int, before: str = "", **settings) -> Seen:
    """A page at an address, whose errors and requests are kept; `before` is a script that runs first."""
    page = browser.new_page(viewport={"width": width, "height": height}, **settings)
    page.set_default_timeout(1000 * HANGS)
    seen = Seen(page)
    page.on("console", lambda message: seen.errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("request", lambda request: seen.requests.append(request.url))
    if before:
        page.add_init_script(before)
    page.goto(address)
    return seen


def opened(browser, file: Path, before: str = "", motion: str = "reduce", **settings) -> Seen:
    """A page from a file, once its script has run; `before` is a script that runs first.

    With reduced motion a page does not play by itself, which spares a machine without graphics much work.
    """
    seen = watched(browser, file.as_uri(), 640, 480, before, reduced_motion=motion, **settings)
    seen.wait("window.kinegraph !== undefined")
    return seen
