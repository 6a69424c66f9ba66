"""The studio in Chromium, from an open page to an exported one."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import zipfile

import numpy as np
import pytest

import kinegraph as kg
from tests.studio.served import studio
from tests.view.browser import launched, watched

HOSTILE = "<img src=x onerror=alert(1)>"


#: Visible words whose contrast to what is behind them is below 4.5, as (words, contrast); disabled ones do not count.
FAINT = """() => {
    const channel = (value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
    const dot = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    const canvas = dot.getContext("2d", { willReadFrequently: true });
    const over = (color, below) => {
        canvas.fillStyle = `rgb(${below})`;
        canvas.fillRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
    };
    const behind = (one) => {
        const layers = [];
        for (; one; one = one.parentElement) layers.unshift(getComputedStyle(one).backgroundColor);
        return layers.reduce((below, color) => over(color, below), [255, 255, 255]);
    };
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { parentElement: one, textContent } = walker.currentNode;
        if (!textContent.trim() || !one.checkVisibility() || one.closest(":disabled, #notes, option, script")) continue;
        const paper = behind(one);
        const [a, b] = [light(over(getComputedStyle(one).color, paper)), light(paper)].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) found.push([textContent.trim().slice(0, 40), (a + 0.05) / (b + 0.05)]);
    }
    return found;
}"""
#: What keys reach without a name to be read aloud.
NAMELESS = """() => [...document.querySelectorAll("button, input, select, textarea, [tabindex='0']")]
    .filter((one) => !one.closest(".cm-editor"))
    .filter((one) => !one.ariaLabel && !one.labels?.length && !one.textContent.trim() && !one.title)
    .map((one) => one.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def browser():
    yield from launched()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    with studio(folder, "four-bar", "--store", str(folder / "versions.sqlite")) as found:
        yield found


@pytest.fixture(scope="module")
def bars(browser, address):
    """The studio with the four-bar; no error may be on the console at the end."""
    seen = watched(browser, address, width=1280, height=800)
    seen.wait("window.studio && studio.ready && studio.scene")
    yield seen
    assert seen.errors == []
    home = address.rpartition("/")[0]
    assert [one for one in seen.requests if not one.startswith((home, "data:", "blob:"))] == []
    seen.page.close()


def typed(seen, text):
    """Put a text into the editor as a user who pastes it, and wait until it was read."""
    seen.page.evaluate("text => { studio.ready = false; studio.editor.load(text, true); }", text)
    seen.wait("studio.ready")


def on_screen(seen, body):
    """Where the middle of a body is on the screen."""
    return seen.page.evaluate(
        """name => {
            const stage = studio.viewer.stage;
            const body = studio.viewer.data.bodies.find(one => one.name === name);
            const at = stage.center(body, 0).project(stage.camera);
            const box = stage.renderer.domElement.getBoundingClientRect();
            return [box.left + (at.x + 1) / 2 * box.width, box.top + (1 - at.y) / 2 * box.height];
        }""",
        body,
    )


def tab(seen, name):
    seen.page.get_by_role("tab", name=name).click()


def test_from_an_error_to_compiled_code(bars, tmp_path):
    """All that a first hour with the studio has, by the mouse and the keys of a user."""
    an_error_is_marked_and_corrected(bars)
    a_body_follows_the_mouse(bars)
    a_click_picks_the_line_and_the_terms(bars)
    a_live_run_takes_a_parameter_and_a_push(bars)
    a_quantity_is_plotted(bars)
    equations_have_values(bars)
    modes_move_the_mechanism(bars)
    exported_c_compiles(bars, tmp_path)


def an_error_is_marked_and_corrected(bars):
    text = bars.run("studio.editor.text")
    bars.page.locator(".cm-line", has_text="Coupler~Crank").click(position={"x": 4, "y": 6})
    bars.page.keyboard.press("Home")
    for _ in "Coupler~Cra":
        bars.page.keyboard.press("ArrowRight")
    bars.page.keyboard.press("Delete")  # Coupler~Crak
    mark = bars.page.locator(".cm-lintRange-error")
    mark.wait_for()
    assert mark.inner_text() == "Crak" and "did you mean" in bars.page.locator("#error").inner_text()
    assert bars.page.locator(".chip.blocked").inner_text() == "! text: error in line 10"
    mark.hover()
    bars.page.get_by_role("button", name="replace with Crank").click()
    bars.wait("!studio.error")
    assert bars.run("studio.editor.text") == text
    assert mark.count() == 0 and not bars.page.locator("#error").is_visible()


def a_body_follows_the_mouse(bars):
    before = bars.run("studio.viewer.values")
    x, y = on_screen(bars, "Rocker")
    bars.page.mouse.move(x, y)
    bars.page.mouse.down()
    bars.page.mouse.move(x - 25, y - 30, steps=4)
    bars.wait(f"Math.abs(studio.viewer.values[2] - {before[2]}) > 0.05")
    bars.page.mouse.up()
    assert bars.run("studio.viewer.chain.closing.missed(studio.viewer.values)") < 1e-9
    found = on_screen(bars, "Rocker")
    assert abs(found[0] - x) > 8 or abs(found[1] - y) > 8
    kg.simulate(
        kg.load("four-bar"), 0.01, state=bars.run("studio.state()"), progress=False
    )  # no error: it is assembled


def a_click_picks_the_line_and_the_terms(bars):
    bars.page.mouse.click(*on_screen(bars, "Coupler"))
    assert bars.run("studio.picked") == "Coupler"
    assert bars.page.locator(".picked-line").first.inner_text().startswith("Coupler~Crank")


def a_live_run_takes_a_parameter_and_a_push(bars):
    tab(bars, "Simulate")
    bars.page.get_by_role("button", name="Live").click()
    bars.wait("studio.simulation.run?.t.at(-1) > 0.1")
    total = "studio.simulation.run.columns.get('total').values"
    assert bars.run(f"Math.abs({total}.at(-1) / {total}[0] - 1)") < 1e-6
    before = bars.run(f"{total}.at(-1)")
    tab(bars, "Move")
    bars.page.get_by_label("parameter rho").fill("4")
    bars.page.keyboard.press("Tab")
    bars.wait(f"Math.abs({total}.at(-1) / {before} - 2) < 1e-6")  # all masses are twice as large
    bars.page.evaluate("studio.simulation.push({ body: 'Rocker', local: [0.8, 0, 0], target: [3, 2, 0] })")
    bars.wait(f"Math.abs({total}.at(-1) / {before} - 2) > 0.05")
    tab(bars, "Simulate")
    bars.page.get_by_role("button", name="Stop").click()
    bars.wait("!studio.simulation.live")
    assert bars.run("studio.simulation.runs.length") == 1


def a_quantity_is_plotted(bars):
    bars.page.get_by_role("button", name="kinetic", exact=True).click()
    assert bars.run("studio.simulation.plots.panels.map(({ plot }) => plot.axes[1].label)") == ["rad", "J"]
    assert bars.page.locator("#simulate canvas").count() == 2


def equations_have_values(bars):
    tab(bars, "Equations")
    bars.wait("Boolean(studio.equations.found)")
    assert bars.page.locator("#equations math").count() > 10
    assert "proved equal" in bars.run("studio.equations.found.proof")
    first = bars.run("studio.equations.found.entries")[0]["value"]
    expected = kg.compile("four-bar", "H", parameters={"rho": 4})(list(bars.run("studio.viewer.values")))
    assert first == pytest.approx(expected[0, 0], rel=1e-4)
    marked = bars.page.locator("#equations .equation.picked").all_inner_texts()  # of the coupler, which was clicked
    assert 0 < len(marked) < bars.page.locator("#equations .equation").count()


def modes_move_the_mechanism(bars):
    tab(bars, "Tasks")
    bars.page.get_by_role("button", name="Modes").click()
    bars.wait("Boolean(studio.tasks.result?.modes)")
    result = bars.run("studio.tasks.result")
    expected = kg.modes("four-bar", result["state"], parameters={"rho": 4})
    assert result["modes"][0]["frequency"] == pytest.approx(expected.modes[0].frequency / (2 * np.pi))
    before = bars.run("studio.viewer.values")
    bars.wait(f"Math.abs(studio.viewer.values[0] - {before[0]}) > 0.02")
    bars.page.get_by_role("button", name="Stop the animation").click()


def exported_c_compiles(bars, folder):
    tab(bars, "Export")
    with bars.page.expect_download() as download:
        bars.page.locator("#export").get_by_role("button", name="Export", exact=True).click()
    assert download.value.suggested_filename == "four-bar.zip"
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(folder)
    assert {".c", ".h"} <= {path.suffix for path in folder.iterdir()}
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler:
        sources = [path for path in folder.iterdir() if path.suffix == ".c"]
        command = [compiler, "-c", "-I", folder, *sources]
        assert subprocess.run(command, cwd=folder, capture_output=True).returncode == 0


def test_sliders_keep_loops_closed(bars):
    before = bars.run("studio.viewer.values")
    bars.page.locator("#move input[type=range]").first.evaluate(
        "(slider) => { slider.value = 0.9; slider.dispatchEvent(new Event('input')); }"
    )
    after = bars.run("studio.viewer.values")
    assert after[0] == pytest.approx(0.9) and abs(after[2] - before[2]) > 0.05
    assert bars.run("studio.viewer.chain.closing.missed(studio.viewer.values)") < 1e-9


def test_a_key_is_followed_by_a_new_view(bars, record_property):
    """The time is recorded, not asserted: the machine may be busy."""
    bars.run("studio.latencies.length = 0")
    bars.run("studio.editor.focus()")
    bars.page.keyboard.press("Control+End")
    for count in range(1, 6):
        bars.page.keyboard.type(" ")
        bars.wait(f"studio.latencies.length >= {count}")
    record_property("milliseconds from key to view", float(np.median(bars.run("studio.latencies"))))


@pytest.mark.soak
def test_a_run_is_plotted_and_compared(bars):
    tab(bars, "Simulate")
    bars.page.get_by_role("button", name="Run", exact=True).click()
    bars.wait("studio.simulation.state === 'replay'")
    bars.page.get_by_role("button", name="tip.x", exact=True).click()
    units = "studio.simulation.plots.panels.map(({ plot }) => plot.axes[1].label)"
    assert bars.run(units) == ["rad", "J", "m"]  # kinetic energy was chosen before
    assert bars.run("studio.simulation.runs.length") == 2  # the live one is drawn dashed
    bars.wait("studio.simulation.time > 0.1")
    bars.page.get_by_role("button", name="❚❚").click()
    bars.run("studio.simulation.seek(1)")
    first = bars.run("studio.simulation.run.columns.entries().map(([name, { values }]) => [name, values[0]]).toArray()")
    mechanism = kg.load("four-bar")
    start = {name: value for name, value in first if name in mechanism.layout.initial}
    run = kg.simulate(mechanism, 1, state=start, parameters={"rho": 4}, progress=False)
    assert bars.run("studio.viewer.values") == pytest.approx([run[name][-1] for name in run.positions], abs=1e-3)


@pytest.mark.soak
def test_equations_are_searched_and_copied(bars):
    tab(bars, "Equations")
    entries = bars.run("studio.equations.found.entries")
    bars.page.get_by_label("find in the equations").fill("rocker")
    assert 0 < bars.page.locator("#equations .equation:visible").count() < len(entries)
    bars.page.get_by_label("find in the equations").fill("")
    for form, word in (("LaTeX", "\\\\"), ("SymPy", "from sympy"), ("C", "#include")):
        bars.run("studio.equations.copiedText = null")
        bars.page.locator("#equations").get_by_role("button", name=form, exact=True).click()
        bars.wait("Boolean(studio.equations.copiedText)")
        assert word.replace("\\\\", "\\") in bars.run("studio.equations.copiedText")


@pytest.mark.soak
def test_tasks_are_shown_on_the_mechanism(bars):
    tab(bars, "Tasks")
    bars.page.get_by_role("button", name="Branches").click()
    bars.wait("studio.tasks.result?.branches?.length === 2")
    bars.page.get_by_role("button", name="Reactions").click()
    bars.wait("Boolean(studio.tasks.result?.reactions)")
    assert bars.run("studio.viewer.stage.assembly.layers.forces.length") > 2


@pytest.mark.soak
def test_a_run_is_saved_as_an_animation(bars):
    image = pytest.importorskip("PIL.Image")
    tab(bars, "Simulate")
    bars.page.get_by_label("duration in seconds").fill("1")
    bars.run("studio.simulation.state = 'idle'")
    bars.page.get_by_role("button", name="Run", exact=True).click()
    bars.wait("studio.simulation.state === 'replay'")
    tab(bars, "Export")
    with bars.page.expect_download() as download:
        bars.page.get_by_role("button", name="Animation of the run").click()
    with image.open(download.value.path()) as found:
        assert found.n_frames == 20 and found.info["loop"] == 0
        frames = []
        for k in (0, 10):
            found.seek(k)
            frames.append(np.asarray(found.convert("RGB"), int))
    shown = bars.run("studio.viewer.stage.renderer.domElement.width")
    assert frames[0].shape[1] == min(shown, 640)
    assert 200 < np.count_nonzero(np.abs(frames[0] - frames[1]).max(axis=2) > 60) < frames[0].size / 30
    corner = [int(bars.run("getComputedStyle(document.documentElement).colorScheme") == "light") * 245] * 3
    assert np.abs(frames[1][5, 5] - corner).max() < 12 or corner[0] == 0


@pytest.mark.soak
def test_versions_are_kept_compared_and_restored(bars):
    text = bars.run("studio.editor.text")
    bars.page.get_by_role("button", name="Versions").click()
    bars.page.get_by_role("button", name="Keep this version").click()
    bars.wait("studio.versions.found?.length === 1")
    assert bars.page.get_by_role("button", name="Keep this version").is_disabled()
    typed(bars, text.replace("rho = 2", "rho = 3"))
    bars.page.get_by_role("button", name="@1", exact=True).click()
    bars.page.locator("#versions .added").wait_for()
    assert "rho = 3" in bars.page.locator("#versions .added").inner_text()
    assert "rho = 2" in bars.page.locator("#versions .removed").inner_text()
    bars.page.get_by_role("button", name="Restore @1").click()
    assert bars.run("studio.editor.text") == text
    bars.page.locator("#undo").click()
    assert "rho = 3" in bars.run("studio.editor.text")
    typed(bars, text)


def test_the_view_is_driven_by_keys(bars):
    bars.page.locator("#stage").focus()
    places = []
    for key in ("ArrowLeft", "ArrowUp", "+", "0"):
        bars.page.keyboard.press(key)
        places.append(bars.run("studio.viewer.stage.camera.position.toArray()"))
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert (steps > 0.01).all()
    distance = [
        np.linalg.norm(place - np.array(bars.run("studio.viewer.stage.controls.target.toArray()"))) for place in places
    ]
    assert distance[0] == pytest.approx(distance[1]) and distance[2] == pytest.approx(distance[1] / 1.1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_stand_out_and_everything_has_a_name(bars, theme):
    """The contrast of all words in the page, WCAG's 4.5 to 1, and names of all that keys reach."""
    if bars.run("document.documentElement.dataset.theme") != theme:
        bars.page.locator("#theme").click()
    for name in ("Move", "Simulate", "Equations", "Tasks", "Study", "Export"):
        tab(bars, name)
        assert bars.page.evaluate(FAINT) == [], name
    assert bars.page.evaluate(NAMELESS) == []


@pytest.mark.soak
def test_a_text_that_is_too_long_is_refused(bars):
    text = bars.run("studio.editor.text")
    typed(bars, "#" * 8_000_000)
    assert "too long for the studio" in bars.page.locator("#error").inner_text()
    typed(bars, text)
    assert bars.run("studio.error") is None


@pytest.mark.soak
def test_a_run_and_a_text_survive_a_browser_that_dies(browser, address, bars):
    dying = watched(browser, address, width=800, height=600)
    dying.wait("window.studio && studio.ready && studio.scene")
    typed(dying, bars.run("studio.editor.text") + "# not saved")
    dying.page.evaluate(
        "(studio.connection.ask('run', { ...studio.model(), state: studio.state(), duration: 300 }).catch(() => 0), 0)"
    )
    with contextlib.suppress(Exception):
        dying.page.goto("chrome://crash")
    dying.page.close()
    next_one = watched(browser, address, width=800, height=600)
    next_one.wait("window.studio && studio.ready && studio.simulation.run?.t.at(-1) === 300")
    assert next_one.run("studio.editor.text").endswith("# not saved")
    assert next_one.errors == []
    next_one.page.close()


def test_phone_and_dark(bars):
    bars.page.set_viewport_size({"width": 390, "height": 780})
    for place, shown in (("Text", "#editor"), ("View", "#stage"), ("Work", "#side")):
        bars.page.locator("#places").get_by_role("tab", name=place).click()
        assert bars.page.locator(shown).is_visible()
        assert bars.run("document.documentElement.scrollWidth") <= 390
    before = bars.run("document.documentElement.dataset.theme")
    bars.page.locator("#theme").click()
    assert {before, bars.run("document.documentElement.dataset.theme")} == {"light", "dark"}
    bars.page.set_viewport_size({"width": 1280, "height": 800})


def test_names_cannot_run_script(bars):
    text = bars.run("studio.editor.text")
    bars.run("(window.alert = () => { throw new Error('a name was executed'); }, 0)")
    urdf = f"""<robot name='{HOSTILE.replace("<", "&lt;")}'><link name='{HOSTILE.replace("<", "&lt;")}'/></robot>"""
    typed(bars, urdf)
    typed(bars, f"# {HOSTILE}\nmodel {HOSTILE};")
    assert bars.run("document.querySelectorAll('img:not(.cm-widgetBuffer)').length") == 0
    # Even markup that got into the page could do nothing: its policy allows no script but its own.
    bars.run(
        "(document.body.append(document.createElement('i')), document.body.lastChild.innerHTML = `" + HOSTILE + "`)"
    )
    bars.wait("document.body.lastChild.firstChild.complete")
    bars.run("document.body.lastChild.remove()")
    bars.errors[:] = [one for one in bars.errors if "Content Security Policy" not in one and "404" not in one]
    typed(bars, text)
