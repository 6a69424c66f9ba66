"""The studio in a real browser: from key to view, frames a second, and how long it takes to open.

    pip install 'kinegraph[studio]' playwright       # and a Chromium: `apt install chromium`
    python -m benchmarks studio [--json]

Keys are typed into models of 12 coordinates: a leg model without loops and a robot with three of them. The frames are
counted while a run of a robot of 30 bodies is played, and while it is simulated live. Without a graphics card the
browser draws in software; `--gpu` lets it use the card. Processor time counts the browser, the studio and its
processes; it says more than the frames where the machine is busy.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import kinegraph as kg
from kinegraph import library

KEYS = 40
SECONDS = 4.0
MODELS = ("kidym-biped-new", "delta")
SOFTWARE = ("--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
TRUNK = "Sz(0.1), m(4), Jx(0.05), Jy(0.05), Jz(0.03)"
LIMB = "Sz(-0.1), m(1), Jx(0.01), Jy(0.01), Jz(0.002)"
FLAGS = ("--headless", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking")


def robot() -> str:
    """A trunk of 6 bodies with four limbs of 6 each, all of whose joints are revolute."""
    bodies = [f"T0 | Sz(1.2), Rx(t0) | {TRUNK}"]
    bodies += [f"T{k}~T{k - 1} | Sz(0.2), R{'xyz'[k % 3]}(t{k}) | {TRUNK}" for k in range(1, 6)]
    for side in range(4):
        bodies.append(f"L{side}0~T{5 * (side < 2)} | Sy({(-1) ** side * 0.3}), Rx(l{side}0) | {LIMB}")
        bodies += [f"L{side}{k}~L{side}{k - 1} | Sz(-0.2), R{'xy'[k % 2]}(l{side}{k}) | {LIMB}" for k in range(1, 6)]
    names = [f"t{k}" for k in range(6)] + [f"l{side}{k}" for side in range(4) for k in range(6)]
    start = ", ".join(f"{name} = {0.1 * (-1) ** k:g}" for k, name in enumerate(names))
    return f"model robot;\ncoordinates {start};\ngravity 0, 0, -9.81;\n" + ";\n".join(bodies) + ";\n"


@contextmanager
def served(folder: str) -> Iterator[tuple[str, float]]:
    """A running studio: its address, and the seconds until it had one."""
    begun = time.perf_counter()
    command = (sys.executable, "-m", "kinegraph", "studio", "four-bar", "--no-browser", "--json")
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        text = ""
        while "}" not in text:
            text += process.stdout.readline()
        yield json.loads(text)["address"], time.perf_counter() - begun
    finally:
        process.terminate()
        process.wait(30)


def show(page: Any, text: str) -> None:
    """Put a text into the editor and wait for its scene."""
    page.evaluate("text => { studio.ready = false; studio.editor.load(text, true); }", text)
    page.wait_for_function("() => studio.ready && !studio.error", timeout=120_000)


def keys(page: Any, name: str) -> dict[str, float]:
    """Milliseconds from each key to the view drawn with it; each key changes the radius of a ball."""
    body = kg.load(name).bodies[-1].name
    show(page, f"{library.text(name)}\nshape {body} | Sz(0) | sphere(0.05);")
    page.evaluate("() => { studio.latencies.length = 0; studio.editor.focus(); }")
    page.keyboard.press("Control+End")
    for _ in ");":
        page.keyboard.press("ArrowLeft")
    before = processor()
    for count in range(1, KEYS + 1):
        page.keyboard.press("5" if count % 2 else "Backspace")
        page.wait_for_function(f"() => studio.latencies.length >= {count}", timeout=120_000)
    times = page.evaluate("() => studio.latencies")
    return {
        "median / ms": statistics.median(times), "best / ms": min(times), "worst / ms": max(times),
        "processor ms of a key": 1000 * (processor() - before) / KEYS,
    }  # fmt: skip


FRAMES = """seconds => new Promise((resolve) => {
  const gaps = [];
  const begun = performance.now();
  let last = begun;
  const frame = (now) => {
    gaps.push(now - last);
    last = now;
    if (now - begun < 1000 * seconds) requestAnimationFrame(frame);
    else resolve(gaps.slice(1));
  };
  requestAnimationFrame(frame);
})"""


def frames(page: Any) -> dict[str, float]:
    """Frames a second on average, and in the slowest second."""
    before = processor()
    gaps = page.evaluate(FRAMES, SECONDS)
    used = processor() - before
    ends = np.cumsum(gaps)
    slowest = min(np.count_nonzero((ends > end - 1000) & (ends <= end)) for end in ends if end > 1000)
    calls = page.evaluate("() => studio.viewer.stage.renderer.info.render.calls")
    return {
        "frames/s": 1000 * len(gaps) / sum(gaps), "slowest second": slowest, "draw calls": calls,
        "processor ms of a frame": 1000 * used / len(gaps),
    }  # fmt: skip


def processor() -> float:
    """Seconds of processor time of all processes below this one, so that a busy machine changes little; Linux only."""
    rows: dict[int, tuple[int, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            rows[int(path.parent.name)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    below = {os.getpid()}
    while more := {pid for pid, (parent, _) in rows.items() if parent in below} - below:
        below |= more
    return sum(rows[pid][1] for pid in below - {os.getpid()} if pid in rows)


def measured(gpu: bool) -> dict[str, Any]:
    """All figures."""
    from playwright.sync_api import sync_playwright

    found: dict[str, Any] = {}
    flags = [*FLAGS, *(() if gpu else SOFTWARE)]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, served(folder) as (address, seconds), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        begun = time.perf_counter()
        page.goto(address)
        page.wait_for_function("() => window.studio && studio.ready && studio.scene", timeout=120_000)
        found["open"] = {"address after / s": seconds, "page after / s": time.perf_counter() - begun}
        for name in MODELS:
            found[name] = keys(page, name)
        show(page, robot())
        page.get_by_role("tab", name="Simulate").click()
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_function("() => studio.simulation.state === 'replay'", timeout=600_000)
        found["30 bodies, a run is played"] = frames(page)
        page.get_by_role("button", name="Live").click()
        page.wait_for_function("() => studio.simulation.run?.t.at(-1) > 0.2", timeout=600_000)
        found["30 bodies, live"] = frames(page)
        browser.close()
    return found


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(prog="python -m benchmarks studio", description=__doc__)
    options.add_argument("--gpu", action="store_true", help="let the browser use the graphics card")
    options.add_argument("--json", action="store_true", help="print JSON")
    chosen = options.parse_args()
    found = measured(chosen.gpu)
    if chosen.json:
        print(json.dumps(found, indent=2))
        return
    for name, figures in found.items():
        print(f"{name}: " + ", ".join(f"{what} {value:.4g}" for what, value in figures.items()))


if __name__ == "__main__":
    main()
