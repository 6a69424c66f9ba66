"""The studio in Chromium, from an open page to an exported one."""

from __future__ import annotations

import pytest

from tests.studio.served import studio
from tests.view.browser import launched, watched

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def browser():
    yield from launched()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with studio(tmp_path_factory.mktemp("studio"), "four-bar") as found:
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


def test_an_error_is_marked_with_its_remedy_and_corrected(bars):
    text = bars.run("studio.editor.text")
    typed(bars, text.replace("Coupler~Crank", "Coupler~Crnk"))
    assert bars.page.locator(".cm-lintRange-error").count() == 1
    assert bars.page.locator(".cm-lintRange-error").inner_text() == "Crnk"
    assert "did you mean" in bars.page.locator("#error").inner_text()
    bars.run("studio.ready = false")
    bars.page.locator(".cm-lintRange-error").hover()
    bars.page.get_by_role("button", name="replace with Crank").click()
    bars.wait("studio.ready")
    assert bars.run("studio.editor.text") == text
    assert bars.page.locator(".cm-lintRange-error").count() == 0 and not bars.page.locator("#error").is_visible()


def test_sliders_keep_loops_closed(bars):
    before = bars.run("studio.viewer.values")
    bars.page.locator("#move input[type=range]").first.evaluate(
        "(slider) => { slider.value = 0.9; slider.dispatchEvent(new Event('input')); }"
    )
    after = bars.run("studio.viewer.values")
    assert after[0] == pytest.approx(0.9) and abs(after[2] - before[2]) > 0.05
    assert bars.run("studio.viewer.chain.closing.missed(studio.viewer.values)") < 1e-9


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
