"""Pages opened in Chromium: they move, follow the mouse, show names as they are, ask nobody for anything."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.cli import main
from kinegraph.model.expressions import Name, expression
from kinegraph.model.mechanism import Axis, Body, Coordinate, Inertia, Mechanism, Parameter, Point, Rotation, Shift
from kinegraph.view import model_page, page
from tests.effort import SOAK
from tests.interpreted import interpreted
from tests.view.browser import launched, opened

#: Large pages take a machine without graphics long.
HOSTILE = "</script><img src=x onerror=alert(1)>&amp;{{data}}"


@pytest.fixture(scope="module")
def browser():
    yield from launched()


@pytest.fixture(scope="module")
def pendulum():
    return kg.simulate(kg.load("double-pendulum"), 2, state={"q1": 1}, times=100, progress=False)


@pytest.fixture(scope="module")
def pendulum_file(pendulum, tmp_path_factory):
    return page(pendulum, tmp_path_factory.mktemp("pages") / "pendulum.html")


@pytest.fixture(scope="module")
def pendulum_page(browser, pendulum_file):
    return opened(browser, pendulum_file)


@pytest.fixture
def seen(pendulum_page):
    pendulum_page.run("(kinegraph.clock.play(false), kinegraph.clock.set(0))")
    yield pendulum_page
    assert pendulum_page.errors == []


@pytest.mark.parametrize("model", ["kidym-biped-new", "wing-nut"] if SOAK else ["wing-nut"])
def test_pages_of_the_command_run_without_errors_and_without_network(browser, model, tmp_path, capsys):
    file = tmp_path / f"{model}.html"
    with pytest.raises(SystemExit):
        main(["simulate", model, "--for", "1", "--times", "60", "--quiet", "--page", str(file)])
    assert f"{model}.html" in capsys.readouterr().out
    seen = opened(browser, file, motion="no-preference")
    seen.wait("kinegraph.clock.time > 0.05 && kinegraph.clock.playing")
    seen.run("kinegraph.clock.play(false)")
    assert seen.run("kinegraph.webgl")
    assert seen.run("document.querySelectorAll('math').length") > 5
    assert seen.errors == []
    assert seen.requests == [file.as_uri()]
    seen.page.close()


def test_a_moment_shows_the_poses_kinegraph_computes(seen, pendulum):
    """Scrubbed to saved rows, the bodies are where the equations put them, and so is what is drawn."""
    kernel = interpreted(kg.load("double-pendulum"), "pose:Lower")
    for row in (0, 37, 100):
        time = float(pendulum.t[row])
        seen.page.locator("#scrub").evaluate(
            "(slider, time) => { slider.value = time;"
            " slider.dispatchEvent(new Event('input')); }", time,
        )  # fmt: skip
        expected = kernel([pendulum["q1"][row], pendulum["q2"][row]])
        assert seen.run("kinegraph.clock.time") == pytest.approx(time, abs=1e-9)
        found = np.reshape(seen.run("kinegraph.pose('Lower').matrix"), (4, 4))
        assert found == pytest.approx(expected, abs=2e-6)
        assert seen.run("kinegraph.drawn(2)") == pytest.approx(expected[:3, 3], abs=2e-6)


def test_between_saved_moments_bodies_move_smoothly(seen, pendulum):
    middle = float(pendulum.t[10] + pendulum.t[11]) / 2
    seen.run(f"kinegraph.clock.set({middle})")
    q1, q2 = (float(pendulum[name][10:12].mean()) for name in ("q1", "q2"))
    expected = interpreted(kg.load("double-pendulum"), "pose:Lower")([q1, q2])
    assert np.reshape(seen.run("kinegraph.pose('Lower').matrix"), (4, 4)) == pytest.approx(expected, abs=2e-3)


def test_plots_and_time_are_linked_both_ways(seen):
    seen.run("kinegraph.clock.set(0.5)")
    early = seen.run("kinegraph.cursors()[0]")
    seen.run("kinegraph.clock.set(1.5)")
    late = seen.run("kinegraph.cursors()[0]")
    assert late > early + 50
    area = seen.page.locator(".plot .area").first
    area.scroll_into_view_if_needed()
    area.click(position={"x": (early + late) / 2, "y": 40})
    assert seen.run("kinegraph.clock.time") == pytest.approx(1.0, abs=0.02)
    assert float(seen.page.locator("#scrub").input_value()) == pytest.approx(1.0, abs=0.02)


def test_a_click_on_the_phase_plane_sets_the_time(seen):
    area = seen.page.locator(".plot:not(.none) .area").last
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    area.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    assert seen.run("kinegraph.clock.time") > 0


def test_keys_play_pause_and_step(seen):
    keyboard = seen.page.keyboard
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    assert seen.run("kinegraph.clock.time") == pytest.approx(0.04, abs=1e-6)
    keyboard.press("End")
    assert seen.run("kinegraph.clock.time") == pytest.approx(2.0)
    keyboard.press("Home")
    keyboard.press("Space")
    seen.wait("kinegraph.clock.playing && kinegraph.clock.time > 0.02")
    keyboard.press("Space")
    assert not seen.run("kinegraph.clock.playing")


@pytest.mark.soak
def test_reduced_motion_dark_and_narrow(browser, pendulum_file):
    seen = opened(browser, pendulum_file, color_scheme="dark")
    seen.page.set_viewport_size({"width": 380, "height": 700})
    assert not seen.run("kinegraph.clock.playing")
    assert seen.run("document.documentElement.dataset.theme") == "dark"
    assert seen.run("document.documentElement.scrollWidth") <= 380
    seen.page.locator("#theme").click()
    assert seen.run("document.documentElement.dataset.theme") == "light"
    assert seen.errors == []
    seen.page.close()


def test_without_webgl_the_page_says_so_and_shows_the_plots(browser, pendulum_file):
    no_webgl = """
        const original = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
          return kind.startsWith("webgl") ? null : original.call(this, kind, ...rest);
        };
    """
    seen = opened(browser, pendulum_file, before=no_webgl)
    assert not seen.run("kinegraph.webgl")
    assert seen.page.locator("#no-webgl").is_visible()
    before = seen.run("kinegraph.cursors()[0]")
    seen.run("kinegraph.clock.play()")
    seen.wait(f"kinegraph.cursors()[0] > {before}")
    seen.page.close()


MOVED = """
    model moved;
    parameters a = 0.3;
    coordinates q = 0.2, s = 0.1;
    quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (0.8, 0.6, 0, 0);
    Base     | Sz(1), Rx(a), Q(e0, e1, e2, e3) | m(1), Jx(1), Jy(1), Jz(1);
    Arm~Base | Ry(2*q - a), Sx(a + s)          | Sz(-0.5), m(1), Jy(0.1);
    Tip~Arm  | Sz(-1), Rz(q + 0.1)             | m(0.2), Jz(0.01);
"""


@pytest.mark.soak
def test_a_mechanism_is_moved_by_hand(browser, tmp_path):
    """Sliders put the bodies where the equations put them."""
    mechanism = kg.parse(MOVED)
    file = model_page(mechanism, tmp_path / "moved.html")
    seen = opened(browser, file)
    kernel = interpreted(mechanism, "pose:Tip")
    assert seen.page.locator(".sliders input[type=range]").count() == 2
    for q, s in ((0.2, 0.1), (1.1, 0.1), (1.1, -0.4)):
        for name, value in (("q", q), ("s", s)):
            seen.page.locator(f".sliders input[type=range][aria-label={name}]").evaluate(
                "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", value
            )
        found = np.reshape(seen.run("kinegraph.pose('Tip').matrix"), (4, 4))
        assert found == pytest.approx(kernel([q, s, 0.8, 0.6, 0, 0]), abs=1e-9)
    assert not seen.page.locator("#transport").is_visible()
    assert seen.errors == [] and seen.requests == [file.as_uri()]
    seen.page.close()


def slide(seen, name, value):
    seen.page.locator(f".sliders input[type=range][aria-label={name}]").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", value
    )


@pytest.mark.soak
def test_loops_stay_closed_while_a_coordinate_is_moved(browser, tmp_path):
    """The others follow on the same branch, the pin stays where both bars have it, and what cannot close says so."""
    mechanism = kg.load("four-bar")
    seen = opened(browser, model_page(mechanism, tmp_path / "bars.html"))
    names = mechanism.layout.positions
    start = dict(zip(names, Assembler(mechanism).assemble().q, strict=True))
    first = names[0]
    slide(seen, first, start[first] + 0.6)
    given = np.array([start[name] + 0.6 * (name == first) for name in names])
    wanted = Assembler(mechanism).assembled(given, np.zeros(3), (first,))
    shown = [seen.page.locator(f".sliders .typed[aria-label={name}]").input_value() for name in names]
    assert [float(one) for one in shown] == pytest.approx(wanted.q, abs=6e-5)
    for body in mechanism.bodies:
        found = np.reshape(seen.run(f"kinegraph.pose({body.name!r}).matrix"), (4, 4))
        assert found == pytest.approx(interpreted(mechanism, f"pose:{body.name}")(wanted.q), abs=1e-8)
    slide(seen, names[-1], 40.0)
    assert "cannot close beyond" in seen.page.locator(".sliders .warning:visible").first.inner_text()
    seen.page.locator(".sliders button").click()
    assert float(seen.page.locator(f".sliders .typed[aria-label={first}]").input_value()) == pytest.approx(
        start[first], abs=6e-5
    )
    assert seen.errors == []
    seen.page.close()


def hostile_solution():
    """A pendulum all of whose names try to leave the text they stand in."""
    q = Name(HOSTILE + "q")
    length = Name(HOSTILE + "l")
    body = Body(HOSTILE, None, (Rotation(Axis.Y, q),), Inertia(expression(1), central=(Shift(Axis.Z, -length),)))
    mechanism = Mechanism(
        HOSTILE, (body,), (Coordinate(q.text, expression(1)),), (Parameter(length.text, expression(1)),),
        (expression(0), expression(0), expression(-9.81)), (Point(HOSTILE, HOSTILE),),
    )  # fmt: skip
    found = kg.simulate(mechanism, 1, times=20, progress=False)
    return replace(found, method=HOSTILE)


def test_hostile_names_are_shown_literally(browser, tmp_path):
    file = page(hostile_solution(), tmp_path / "hostile.html")
    seen = opened(browser, file, before="window.alert = () => { throw new Error('a name was executed'); };")
    assert seen.run("document.title") == f"{HOSTILE} · Kinegraph"
    assert seen.page.locator("h1").inner_text() == HOSTILE
    assert seen.page.locator("#chosen option").first.inner_text() == HOSTILE
    assert seen.page.locator("#labels span").first.text_content() == HOSTILE
    assert HOSTILE + "q" in seen.page.locator(".legend").first.inner_text()
    assert seen.page.locator("#equations").inner_text().count("onerror")
    assert seen.run("document.querySelectorAll('img').length") == 0
    assert seen.run("document.scripts.length") == 2
    assert seen.errors == []
    assert seen.requests == [file.as_uri()]
    json.dumps(seen.run(f"kinegraph.pose({json.dumps(HOSTILE)})"))
    seen.page.close()
