"""How pages look in Chromium: nothing overflows, overlaps or is clipped, and switches switch (fault 25)."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

import kinegraph as kg
from kinegraph.cli.commands import COMMANDS
from kinegraph.view import model_page, page
from tests.view.browser import launched, opened
from tests.view.test_parts import WORKSHOP

PANDA = Path(__file__).parents[1] / "data" / "panda.urdf"
SIZES = [(1400, 900), (640, 480)]

#: The boxes of visible elements on the screen.
BOXES = """(selector) => [...document.querySelectorAll(selector)].filter((one) => one.offsetParent).map((one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return { left, right, top, bottom };
})"""

#: Without pictures in three dimensions, which take a machine without graphics long.
FLAT = """
    const original = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      return kind.startsWith("webgl") ? null : original.call(this, kind, ...rest);
    };
"""


@pytest.fixture(scope="module")
def browser():
    yield from launched()


@pytest.fixture(scope="module")
def panda_file(tmp_path_factory):
    """A robot to be moved by hand."""
    return model_page(kg.load(PANDA), tmp_path_factory.mktemp("panda") / "panda.html")


@pytest.fixture(scope="module")
def panda(browser, panda_file):
    """Everything but the stage."""
    return opened(browser, panda_file, before=FLAT)


@pytest.fixture(scope="module")
def panda_on_stage(browser, panda_file):
    seen = opened(browser, panda_file)
    yield seen
    assert seen.errors == []


@pytest.fixture(scope="module")
def fall(browser, tmp_path_factory):
    """The same robot falling, without its stage."""
    run = kg.simulate(kg.load(PANDA), 0.05, times=5, progress=False)
    return opened(browser, page(run, tmp_path_factory.mktemp("fall") / "fall.html"), before=FLAT)


@pytest.fixture(scope="module")
def workshop(browser, tmp_path_factory):
    run = kg.simulate(kg.parse(WORKSHOP), 0.2, times=10, progress=False)
    seen = opened(browser, page(run, tmp_path_factory.mktemp("workshop") / "workshop.html"))
    yield seen
    assert seen.errors == []


def sized(seen, size):
    seen.page.set_viewport_size({"width": size[0], "height": size[1]})
    seen.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def switched(seen, words):
    seen.page.locator("#toggles label", has_text=words).locator("input").click()
    seen.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


#: Drawing a scene without a graphics card takes minutes a picture; `make soak` does it.


@pytest.mark.soak
@pytest.mark.parametrize("size", SIZES)
def test_long_equations_scroll_inside_their_card(panda, size):
    sized(panda, size)
    panda.run("document.querySelectorAll('#equations details').forEach((one) => { one.open = true; })")
    assert panda.run("document.documentElement.scrollWidth") <= size[0]
    card = panda.run("document.getElementById('equations').getBoundingClientRect().right")
    assert all(box["right"] <= card for box in panda.page.evaluate(BOXES, ".equation"))


def test_all_digits_on_demand(panda):
    longest = "Math.max(...[...document.querySelectorAll('mn')].map((one) => one.textContent.length))"
    assert panda.run(longest) <= 10
    panda.page.locator("#exact").check()
    assert panda.run(longest) > 14
    panda.page.locator("#exact").uncheck()
    assert panda.run(longest) <= 10


@pytest.mark.parametrize("size", SIZES)
def test_sliders_stand_in_one_column(panda, size):
    sized(panda, size)
    for selector in (".sliders input[type=range]", ".sliders .typed", ".sliders .unit"):
        boxes = panda.page.evaluate(BOXES, selector)
        assert len(boxes) == 8 and len({round(box["left"]) for box in boxes}) == 1
    assert panda.page.locator(".sliders .unit").all_inner_texts() == ["rad"] * 7 + ["m"]


def test_values_can_be_typed_and_limits_are_said(panda):
    typed = panda.page.locator(".typed[aria-label=panda_joint4]")
    warning = panda.page.locator(".sliders .warning:visible")
    assert typed.input_value() == "-0.0698" and "starts at 0 in the model" in warning.inner_text()
    typed.fill("-1.5")
    assert warning.count() == 0
    assert panda.page.locator("input[type=range][aria-label=panda_joint4]").input_value() == "-1.5"
    typed.fill("1")
    assert warning.inner_text() == "beyond the limit"
    typed.fill("")
    panda.page.locator(".degrees input").check()
    assert typed.input_value() == "57.3" and panda.page.locator(".sliders .unit").first.inner_text() == "°"
    panda.page.locator(".degrees input").uncheck()
    panda.page.locator(".sliders button").click()
    assert typed.input_value() == "-0.0698"


@pytest.mark.soak
@pytest.mark.parametrize("size", SIZES)
def test_legends_are_not_clipped(fall, size):
    sized(fall, size)
    clipped = (
        "[...document.querySelectorAll('.legend')].filter((one) => one.scrollHeight > one.clientHeight + 1).length"
    )
    assert fall.run(clipped) == 0
    for box in fall.page.evaluate(BOXES, ".plot figcaption"):
        assert box["right"] <= size[0]


def test_names_of_one_list_have_one_font(fall):
    fonts = """(selector) => [...new Set([...document.querySelectorAll(selector)].map(
        (one) => getComputedStyle(one).fontFamily))]"""
    assert len(fall.page.evaluate(fonts, ".legend button > *:last-child > *:first-child")) == 1


@pytest.mark.soak
def test_axes_have_units_and_hidden_curves_are_counted(fall):
    assert fall.run("kinegraph.axes()") == [
        ["t / s", "rad, m"], ["t / s", "rad/s, m/s"], ["t / s", "J"], ["rad, m", "rad/s, m/s"],
    ]  # fmt: skip
    plane = fall.page.locator(".plot").last
    assert "4 of 8 drawn" in plane.locator("h2").inner_text()
    for key in plane.locator(".legend button[aria-pressed=false]").all():
        key.click()
    assert plane.locator("h2").inner_text().strip() == "Phase plane"


@pytest.mark.soak
def test_labels_do_not_overlap(panda_on_stage):
    panda = panda_on_stage
    switched(panda, "Names")
    boxes = panda.page.evaluate(BOXES, "#labels span")
    assert len(boxes) > 8
    for a, b in combinations(boxes, 2):
        apart = a["right"] <= b["left"] or b["right"] <= a["left"] or a["bottom"] <= b["top"] or b["bottom"] <= a["top"]
        assert apart, (a, b)
    switched(panda, "Names")
    assert panda.page.evaluate(BOXES, "#labels span") == []


@pytest.mark.soak
def test_neighbors_have_different_colors(panda_on_stage):
    colors = panda_on_stage.run("kinegraph.colors()")
    bodies = [body.name for body in kg.load(PANDA).bodies]
    for body in kg.load(PANDA).bodies[2:]:
        assert colors[bodies.index(body.name)] != colors[bodies.index(body.base)]
    assert len(set(colors)) >= 7


@pytest.mark.soak
def test_all_ellipsoids_can_be_switched_off(workshop):
    """Those that are the only sign of a body, too."""
    assert workshop.run("kinegraph.layers().ellipsoids") == [True, True]
    switched(workshop, "Ellipsoids")
    assert workshop.run("kinegraph.layers().ellipsoids") == [False, False]
    switched(workshop, "Ellipsoids")


@pytest.mark.soak
def test_elements_forces_and_supports_are_drawn_and_can_be_switched_off(workshop):
    layers = workshop.run("kinegraph.layers()")
    assert len(layers["elements"]) == 6 and len(layers["forces"]) == 5
    assert len(layers["supports"]) == 3  # two rails and a wall; the floor is the ground
    workshop.run("kinegraph.clock.set(0.1)")
    assert any(workshop.run("kinegraph.layers().forces"))
    for words, name in (("Springs", "elements"), ("Forces", "forces"), ("Supports", "supports")):
        switched(workshop, words)
        workshop.run("kinegraph.clock.set(0.15)")
        assert not any(workshop.run("kinegraph.layers()")[name])


def test_the_contact_sheet_knows_the_commands():
    """The sheet itself takes minutes; its commands are those of the command line, each once."""
    contact_sheet = pytest.importorskip(
        "tools.contact_sheet", reason="playwright is not installed", exc_type=ImportError
    )
    words = [one.command.split()[0] for one in contact_sheet.SIGHTS]
    assert {*words} <= {*COMMANDS, contact_sheet.NOTEBOOK}
    assert len({one.name for one in contact_sheet.SIGHTS}) == len(words)
