"""`python -m tools.contact_sheet -o DIR`: every kind of page and plot as pictures, and all of them on one sheet.

Pages are photographed by Chromium on a desktop and on a phone, light and dark. The command fails if a page writes
errors to the console, asks for anything outside itself, or is wider than a phone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Browser, Page, sync_playwright
from tests.view.browser import FLAGS

from kinegraph.view.widget import hosted_page

WIDTHS = {"desktop": (1280, 860), "phone": (360, 740)}
SCHEMES = ("light", "dark")
#: The longest part of a page on a picture, and the height of pictures on the sheet, in pixels.
_LONGEST = {"desktop": 1900, "phone": 2600}
_HEIGHT, _GAP, _TITLE = 900, 16, 34
#: A third of the motion has passed; live pages have run for a while.
_LATER = """() => {
  const { clock, live } = window.kinegraph ?? {};
  if (live) { live.advance(1.5); clock.tell(); }
  else if (clock?.set && clock.end > clock.start) clock.set(clock.start + 0.35 * (clock.end - clock.start));
}"""


@dataclass(frozen=True)
class Sight:
    """A command that writes a page (.html) or a plot (.png) in place of {}; `then` runs in the page first."""

    name: str
    command: str
    kind: str = "html"
    then: str = _LATER

    def words(self, file: Path) -> list[str]:
        return [str(file) if word == "{}" else word for word in self.command.split()]


def page(name: str, command: str, then: str = _LATER) -> Sight:
    return Sight(name, command, "html", then)


def plot(name: str, command: str) -> Sight:
    return Sight(name, command, "png")


#: In place of a command: the page that a widget of a notebook shows of a model.
NOTEBOOK = "notebook"
_OPEN = "() => { for (const one of document.querySelectorAll('details')) one.open = true; }"
SIGHTS = (
    page("run", "simulate four-bar --duration 5 --state crank'=9 --page {}"),
    page("run-free-body", "simulate wing-nut --duration 5 --page {}"),
    page("run-bounce", "simulate bouncing-ball --duration 3 --page {}"),
    page("run-long-equations", "simulate kidym-biped-new --duration 1 --times 60 --page {}", _OPEN),
    page("run-platform", "simulate stewart --duration 0.5 --page {}"),
    page("run-contacts", "simulate newtons-cradle --duration 3 --page {}"),
    page("run-closed-chains", "simulate-chains loop-15 --duration 0.5 --times 60 --page {}"),
    page("sliders", "view four-bar -o {}"),
    page("sliders-robot", "view ur5 -o {}"),
    page("sliders-walker", "view rackovic-14r -o {}"),
    page("live", "view four-bar --live -o {}"),
    page("live-pendulum", "view double-pendulum --live -o {}"),
    page("notebook", f"{NOTEBOOK} four-bar"),
    page("modes", "modes double-pendulum --state q1=0,q2=0 --page {}"),
    page("modes-rotor", "modes rotor --state spin'=500 --page {}"),
    page("dock", "dock docking-light-legs --state bx=0.05 --page {}"),
    page("dock-two-spacecraft", "dock docking-two-spacecraft --page {}"),
    page("dock-probe", "dock docking-probe-cone --state bx=0.06,b1=0.02 --angle 0.3 --limits away=0.5 --page {}"),
    page("dock-study", "dock docking-light-legs --cases 40 --page {}"),
    page(
        "study",
        "study double-pendulum --cases 200 --duration 2 --vary m1=normal(1,0.1) --vary q1=uniform(-1,1) "
        "--outcome high=max(tip.x) --outcome end=final(q2') --page {}",
    ),
    page("reproduce", "reproduce database -o {}"),
    page("reproduce-loops", "reproduce loops -o {}"),
    plot("plot-run", "simulate four-bar --duration 5 --state crank'=9 --plot {}"),
    plot("plot-shown", "simulate double-pendulum --duration 9 --state q1=2 --show q1,q2,tip.x,energy --wrap --plot {}"),
    plot("plot-robot", "simulate ur5 --duration 1 --plot {}"),
    plot("plot-bounce", "simulate bouncing-ball --duration 3 --plot {}"),
    plot("plot-dock", "dock docking-light-legs --state bx=0.05 --plot {}"),
    plot("plot-response", "response double-pendulum --state q1=0,q2=0 --plot {}"),
    plot("plot-branches", "continuation bead-on-hoop --over omega=0:10 --plot {}"),
    plot("plot-campbell", "campbell rotor --over spin'=0:1000 --plot {}"),
    plot("plot-unbalance", "unbalance-response rotor --over spin'=10:900 --unbalance ecc=1e-5 --set c=300 --plot {}"),
    plot("plot-workspace", "workspace stewart --over x=-2:-1 --over y=-0.5:0.5 --stroke 1.1:1.6 --plot {}"),
    plot(
        "plot-workspace-slices",
        "workspace stewart --over x=-2:-1 --over y=-0.5:0.5 --over z=-0.4:0.4 --points 21 --stroke 1.1:1.6 --plot {}",
    ),
    plot("plot-workspace-curve", "workspace stewart --over x=-2:-1 --stroke 1.1:1.6 --plot {}"),
    plot("plot-loads", "reactions trolley-crane --duration 4 --plot {}"),
    plot(
        "plot-tolerances",
        "tolerances slider-crank --outputs s --tolerance r=1e-4 --tolerance l=2e-4 --state crank=1 "
        "--samples 100 --plot {}",
    ),
    plot(
        "plot-cycle",
        "periodic-motion slider-crank --input crank=20-2*crank' --state crank'=8 --outputs crank',s --plot {}",
    ),
    plot(
        "plot-forces",
        "unknown-forces double-pendulum -m q1=sin(t) -m q2=0.5*t --unknown tau:q1,tau:q2 --for 2 --plot {}",
    ),
    plot("plot-path", "inverse-kinematics double-pendulum --path tip.x=0.5 --path tip.z=-1-0.2*t --for 2 --plot {}"),
    plot(
        "plot-synthesis",
        "synthesize-cycle quick-return -m crank --goal stroke:ram=0.3 --bounds r=0.05:0.2 --times 60 --plot {}",
    ),
    plot("plot-counts", "count double-pendulum -q H --plot {}"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("contact-sheet"), metavar="DIR")
    parser.add_argument("--only", default="", metavar="WORDS", help="only names that contain one of these: modes,live")
    parser.add_argument(
        "--again", action="store_true", help="photograph files that are there without writing them anew"
    )
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    chosen = [one for one in SIGHTS if any(word in one.name for word in given.only.split(","))]
    files = {one: _written(one, given.output, given.again) for one in chosen}
    faults: list[str] = [f"{one.name}: the command failed" for one, file in files.items() if file is None]
    rows: list[tuple[str, list[Path]]] = []
    with sync_playwright() as driver, _chromium(driver) as browser:
        for one, file in files.items():
            if file is not None and one.kind == "html":
                rows.append((one.name, list(_photographs(browser, one, file.as_uri(), given.output, faults))))
        if "studio" in given.only or not given.only:
            with _studio(given.output) as address:
                sight = page("studio", "studio double-pendulum", "() => {}")
                rows.append((sight.name, list(_photographs(browser, sight, address, given.output, faults))))
    rows += [(one.name, [file]) for one, file in files.items() if file is not None and one.kind == "png"]
    _sheet(rows, given.output / "contact-sheet.png")
    print(f"{len(rows)} rows: open {given.output / 'contact-sheet.png'}")
    sys.exit("\n".join(faults) if faults else 0)


@contextmanager
def _chromium(driver) -> Iterator[Browser]:
    import shutil

    browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
    try:
        yield browser
    finally:
        browser.close()


def _written(one: Sight, folder: Path, again: bool) -> Path | None:
    """The file of a command; a command that takes a folder writes the only .html file there."""
    into = folder / f"{one.name}.{one.kind}"
    reproduced = one.command.startswith("reproduce")
    target = folder / one.name if reproduced else into
    made = folder / one.name / f"{one.command.split()[1]}.html" if reproduced else into
    if again and made.is_file():
        return made
    if one.command.startswith(NOTEBOOK):
        made.write_text(hosted_page(one.command.split()[1]), encoding="utf-8")
        return made
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "kinegraph", *one.words(target)], capture_output=True, text=True)
    print(f"{one.name}: {time.perf_counter() - begun:.1f} s", flush=True)
    if not made.is_file():
        print(f"  exit {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}", flush=True)
        return None
    return made


def _photographs(browser: Browser, one: Sight, address: str, folder: Path, faults: list[str]) -> Iterator[Path]:
    """A page at every size, light and dark; whatever is wrong with it is added to the faults."""
    for device, (width, height) in WIDTHS.items():
        for scheme in SCHEMES:
            seen = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce",
                has_touch=device == "phone", is_mobile=device == "phone",
            )  # fmt: skip
            label = f"{one.name} ({device}, {scheme})"
            _listen(seen, address, label, faults)
            seen.goto(address)
            _settle(seen, one)
            wide = seen.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                faults.append(f"{label}: {wide} pixels wide")
            file = folder / f"{one.name}-{device}-{scheme}.png"
            tall = seen.evaluate("document.documentElement.scrollHeight")
            clip = {"x": 0, "y": 0, "width": width, "height": min(tall, _LONGEST[device])}
            seen.screenshot(path=file, full_page=True, clip=clip)
            seen.close()
            yield file


def _listen(seen: Page, address: str, label: str, faults: list[str]) -> None:
    own = address.split("?")[0].rsplit("/", 1)[0]

    def told(message) -> None:
        if message.type in ("error", "warning") and "GPU stall" not in message.text:
            faults.append(f"{label}: console: {message.text}")

    def asked(request) -> None:
        if not request.url.startswith((own, "data:", "blob:", address)):
            faults.append(f"{label}: asks for {request.url}")

    seen.on("console", told)
    seen.on("pageerror", lambda error: faults.append(f"{label}: {error}"))
    seen.on("request", asked)


def _settle(seen: Page, one: Sight) -> None:
    """Once the script has run, and the picture is drawn."""
    if one.name == "studio":
        seen.wait_for_selector("canvas")
        seen.wait_for_timeout(2500)
    seen.evaluate(one.then)
    seen.wait_for_timeout(500)


@contextmanager
def _studio(folder: Path) -> Iterator[str]:
    command = (sys.executable, "-m", "kinegraph", "studio", "double-pendulum", "--no-browser", "--json")
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        text = ""
        while "}" not in text:
            text += process.stdout.readline()
        yield json.loads(text)["address"]
    finally:
        process.terminate()
        process.wait(30)


def _sheet(rows: list[tuple[str, list[Path]]], path: Path) -> None:
    """One row of pictures per page; plots fill rows together."""
    lines: list[list[tuple[str, Image.Image]]] = []
    for name, pictures in rows:
        fitted = [(name if k == 0 else "", _fitted(picture)) for k, picture in enumerate(pictures)]
        room = 3200 - sum(image.width + _GAP for _, image in lines[-1]) if lines else 0
        if lines and len(pictures) == 1 and fitted[0][1].width < room and len(lines[-1]) != 4:
            lines[-1] += fitted
        else:
            lines.append(fitted)
    width = max(sum(image.width + _GAP for _, image in line) for line in lines) + _GAP
    tall = [max(image.height for _, image in line) + _TITLE + _GAP for line in lines]
    sheet = Image.new("RGB", (width, sum(tall) + _GAP), "#c9ced6")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(22)
    y = _GAP
    for line, height in zip(lines, tall, strict=True):
        x = _GAP
        for name, image in line:
            draw.text((x, y), name, fill="#1c2127", font=font)
            sheet.paste(image, (x, y + _TITLE))
            x += image.width + _GAP
        y += height
    sheet.save(path)


def _fitted(path: Path) -> Image.Image:
    image = Image.open(path).convert("RGB")
    scale = min(1.0, _HEIGHT / image.height, 1280 / image.width)
    return image.resize((round(image.width * scale), round(image.height * scale)))


if __name__ == "__main__":
    main()
