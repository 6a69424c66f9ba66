"""Widgets of notebooks: the page in a frame, its traits in step with Python, in Chromium with a model of our own."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.errors import KinegraphError
from kinegraph.view.page.solution_page import asset
from kinegraph.view.widget import hosted_page, widget
from tests.view.browser import HANGS, launched
from tests.view.test_looks import FLAT

#: What a notebook gives a widget: a model with traits, and an element.
HOST = """
async ([module, traits]) => {
  const listeners = {};
  window.model = {
    traits: { values: {}, time: null, playing: null, speed: null, mode: null, case: null, height: 400, ...traits },
    get: (name) => model.traits[name],
    set: (name, value) => { model.traits[name] = value; },
    save_changes: () => { window.saved = (window.saved ?? 0) + 1; },
    on: (event, listener) => { (listeners[event] ??= []).push(listener); },
    off: (event, listener) => { listeners[event] = listeners[event].filter((one) => one !== listener); },
    send: (name, value) => { model.traits[name] = value; for (const one of listeners[`change:${name}`] ?? []) one(); },
  };
  const { default: shown } = await import(`data:text/javascript;base64,${module}`);
  window.leave = shown.render({ model, el: document.body });
}
"""


@pytest.fixture(scope="module")
def browser():
    yield from launched()


class Notebook:
    """A page with one widget; `trait` waits until a trait fulfills a condition, and gives it."""

    def __init__(self, browser, item, before=FLAT, **settings):
        self.errors: list[str] = []
        self.page = browser.new_page(viewport={"width": 900, "height": 500})
        self.page.set_default_timeout(1000 * HANGS)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda one: self.errors.append(one.text) if one.type == "error" else None)
        self.page.add_init_script(before)
        module = base64.b64encode(asset("widget.js").encode()).decode()
        self.page.evaluate(HOST, [module, {"page": hosted_page(item, **settings)}])
        self.page.wait_for_function("() => window.saved")
        self.frame = self.page.frames[-1]

    def trait(self, name, condition="true"):
        self.page.wait_for_function(f"() => {{ const value = model.traits[{name!r}]; return {condition}; }}")
        return self.page.evaluate(f"() => model.traits[{name!r}]")

    def send(self, name, value):
        self.page.evaluate("([name, value]) => model.send(name, value)", [name, value])

    def close(self):
        assert [one for one in self.errors if "WebGL" not in one] == []
        self.page.evaluate("() => leave()")
        assert self.page.evaluate("() => document.querySelectorAll('iframe').length") == 0
        self.page.close()


def test_sliders_are_read_and_set_from_python(browser):
    """Loops stay closed, and the coordinates that follow come back."""
    four_bar = kg.load("four-bar")
    seen = Notebook(browser, four_bar)
    names = four_bar.layout.positions
    start = seen.trait("values")
    assert list(start) == list(names)
    first = names[0]
    seen.send("values", {first: start[first] + 0.4})
    found = seen.trait("values", f"Math.abs(value[{names[1]!r}] - {start[names[1]]}) > 0.01 && value[{names[2]!r}]")
    given = np.array([start[name] + 0.4 * (name == first) for name in names])
    assert list(found.values()) == pytest.approx(
        Assembler(four_bar).assembled(given, np.zeros(3), (first,)).q, abs=1e-8
    )
    slider = seen.frame.locator(f".sliders input[type=range][aria-label={first}]")
    slider.evaluate("(one, value) => { one.value = value; one.dispatchEvent(new Event('input')); }", start[first])
    assert seen.trait("values", f"value[{first!r}] < {start[first] + 0.01}")[names[2]] == pytest.approx(start[names[2]])
    seen.close()


def test_a_live_model_is_driven_from_python(browser):
    seen = Notebook(browser, "double-pendulum", live=True)
    assert seen.trait("playing") is False and seen.trait("values")["m2"] == 1
    seen.send("values", {"m2": 3})
    assert seen.frame.get_by_label("m2", exact=True).input_value() == "3"
    seen.send("playing", True)
    assert seen.trait("time", "value > 0.05") > 0
    seen.send("playing", False)
    state = seen.trait("state", "!model.traits.playing && value.t > 0")
    assert list(state) == ["t", "q1", "q2", "q1'", "q2'"] and state["q1'"] != 0
    seen.close()


def test_time_of_a_solution_and_choice_of_a_mode_and_a_case(browser):
    run = kg.simulate("double-pendulum", 1, times=20, progress=False, native=False)
    seen = Notebook(browser, run)
    seen.send("time", 0.5)
    assert seen.frame.evaluate("kinegraph.clock.time") == 0.5
    seen.frame.evaluate("kinegraph.clock.set(0.75)")
    assert seen.trait("time", "value > 0.7") == 0.75
    seen.close()
    seen = Notebook(browser, kg.modes("double-pendulum", {"q1": 0, "q2": 0}))
    seen.send("mode", 1)
    assert seen.frame.locator("tr[aria-selected=true]").first.inner_text().startswith("2")
    seen.frame.locator(".modes td button").first.click()
    assert seen.trait("mode", "value === 0") == 0
    seen.close()
    study = kg.study("double-pendulum", 0.1, cases=4, vary={"m1": "normal(1, 0.1)"}, outcomes={"end": "final(q1)"})
    seen = Notebook(browser, study)
    seen.send("case", 3)
    assert seen.frame.locator("#number").input_value() == "3"
    seen.close()


def test_what_python_sets_before_there_is_a_page_is_kept(browser):
    pytest.importorskip("anywidget")
    shown = widget("double-pendulum", height=300)
    assert shown.height == 300 and shown.time is None and shown.values == {}
    shown.values = {"q1": 0.5}
    assert json.loads(json.dumps(shown.get_state(["values"]))) == {"values": {"q1": 0.5}}
    assert shown._esm and "<script" in shown.page


def test_what_has_no_widget_is_named():
    with pytest.raises(KinegraphError, match="no widget for int"):
        widget(3)
    run = kg.simulate("double-pendulum", 0.1, progress=False, native=False)
    with pytest.raises(KinegraphError, match="give the model"):
        widget(run, live=True)
    with pytest.raises(KinegraphError, match="already have their parameters"):
        widget(run, parameters={"m1": 2})


def test_without_a_notebook_there_is_no_widget():
    assert kg.load("double-pendulum")._repr_mimebundle_() is None
