"""Live pages in Chromium: the equations in the page are those of the kernel, and the motion is that of `simulate`."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.cli import main
from kinegraph.derive.dynamics.state_rate import initial_symbols
from kinegraph.errors import KinegraphError
from kinegraph.model.expressions import Name, expression
from kinegraph.model.mechanism import Axis, Body, Coordinate, Inertia, Mechanism, Parameter, Point, Rotation, Shift
from kinegraph.view import live_page
from kinegraph.view.page.live_picture import LivePicture
from tests.effort import SOAK
from tests.interpreted import interpreted
from tests.view.browser import launched, opened
from tests.view.test_browser import HOSTILE
from tests.view.test_looks import FLAT

#: A tree with parameters, a loop, a quaternion, a platform in closed form, first-order states and prescribed motion.
MOTOR = (
    "parameters k = 0.3, L = 0.02; coordinates q = 0.2; gravity 0, 0, -9.81; inputs U = 2*cos(t); "
    "state i' = (U - i - k*q')/L; Arm | Ry(q + 0.1*sin(3*t)), Sz(-0.4) | m(1), Jy(0.1); "
    "force drive | value(k*i), on(q);"
)
MODELS = ("double-pendulum", "four-bar", "wing-nut", "stewart", MOTOR)


def model(name: str) -> Mechanism:
    return kg.parse(name) if ";" in name else kg.load(name)


@pytest.fixture(scope="module")
def browser():
    yield from launched()


def errors_of(seen) -> list[str]:
    """What went wrong, apart from the missing picture."""
    return [one for one in seen.errors if "WebGL" not in one]


def live(browser, mechanism, folder, before=FLAT, **settings):
    return opened(browser, live_page(mechanism, folder / "live.html", **settings), before=before)


@pytest.mark.parametrize("name", MODELS if SOAK else MODELS[-1:])
def test_a_page_runs_the_equations_of_the_kernel(browser, name, tmp_path):
    mechanism = model(name)
    seen = live(browser, mechanism, tmp_path)
    seen.run("kinegraph.live.advance(0.4)")
    known = seen.run("Array.from(kinegraph.live.known)")
    found = seen.run("Array.from(kinegraph.live.equations.derivatives(kinegraph.live.known))")
    layout = mechanism.layout
    n, m = len(layout.positions), len(layout.velocities)
    q, v, z = known[1 : 1 + n], known[1 + n : 1 + n + m], known[1 + n + m : 1 + n + m + len(layout.states)]
    given = {"q": q, "v": v, "z": z, "tau": np.zeros(m), "t": known[0], "u": [0.0] * len(layout.inputs)}
    kernel = interpreted(mechanism, "qdd")
    expected = kernel(*(given[argument.name] for argument in kernel.arguments))
    assert np.allclose(found[n : n + m], expected, rtol=1e-12, atol=1e-12 * max(1, np.abs(expected).max()))
    run = kg.simulate(mechanism, 0.4, rtol=1e-10, progress=False, native=False)
    motion = dict(zip([one.name for one in initial_symbols(mechanism)], known[1:], strict=False))
    assert [motion[key] for key in motion] == pytest.approx([run.final[key] for key in motion], abs=2e-7)
    assert seen.run("kinegraph.live.failure") == "" and errors_of(seen) == [] and len(seen.requests) == 1
    seen.page.close()


@pytest.mark.soak
def test_loops_stay_closed_and_bodies_are_where_they_belong(browser, tmp_path):
    mechanism = kg.load("four-bar")
    seen = live(browser, mechanism, tmp_path)
    seen.run("kinegraph.live.advance(30)")
    q = seen.run("Array.from(kinegraph.live.state).slice(0, 3)")
    assert np.abs(interpreted(mechanism, "constraints")(q)).max() < 1e-11
    pose = np.reshape(seen.run("kinegraph.pose('Coupler').matrix"), (4, 4))
    assert np.allclose(pose, interpreted(mechanism, "pose:Coupler")(q), atol=1e-12)
    energies = seen.run("Array.from(kinegraph.live.outputValues())")
    start = kg.simulate(mechanism, 0.1, progress=False)["energy"][0]
    assert energies[2] == pytest.approx(start, rel=1e-6)
    seen.page.close()


@pytest.fixture(scope="module")
def four_bar_page(tmp_path_factory):
    """Written by the command."""
    file = tmp_path_factory.mktemp("live") / "four-bar.html"
    with pytest.raises(SystemExit):
        main(["view", "four-bar", "--live", "-o", str(file)])
    return file


def test_the_command_writes_a_live_page(four_bar_page):
    assert four_bar_page.stat().st_size < 2e6 and "kinegraphEquations" in four_bar_page.read_text()


def test_lengths_can_be_changed_and_joint_forces_are_those_of_the_kernel(browser, four_bar_page):
    """Loops are closed with the new length, bodies are drawn with it, and what cannot close is said."""
    mechanism = kg.load("four-bar")
    seen = opened(browser, four_bar_page, before=FLAT)
    field = seen.page.get_by_label("b", exact=True)
    field.fill("1.3")
    q, v = np.reshape(seen.run("Array.from(kinegraph.live.state)"), (2, 3))
    longer = replace(mechanism, parameters=tuple(
        replace(one, value=expression(1.3)) if one.name == "b" else one for one in mechanism.parameters
    ))  # fmt: skip
    assert np.abs(interpreted(longer, "constraints")(q)).max() < 1e-11
    pose = np.reshape(seen.run("kinegraph.pose('Coupler').matrix"), (4, 4))
    assert np.allclose(pose, interpreted(longer, "pose:Coupler")(q), atol=1e-12)
    found = seen.run("Array.from(kinegraph.live.equations.derivatives(kinegraph.live.known))")[3:]
    assert found == pytest.approx(interpreted(longer, "qdd")(q, v, np.zeros(3)), rel=1e-12)
    bar = seen.run("kinegraph.live.data.parts.find((one) => one.kind === 'bar' && one.body === 1)")
    assert np.linalg.norm(np.subtract(bar["to"], bar["from"])) == pytest.approx(1.3, abs=1e-12)
    forces = np.reshape(seen.run("Array.from(kinegraph.live.equations.reactions(kinegraph.live.known))"), (3, 3))
    for force, body in zip(forces, ("Crank", "Coupler", "Rocker"), strict=True):
        expected = interpreted(longer, f"reaction:{body}")(q, v, np.zeros(3))[:3]
        assert np.allclose(force, expected, rtol=0, atol=1e-12 * np.abs(forces).max())
    field.fill("9")
    assert "cannot close with these values" in seen.page.locator(".card.live .note").first.inner_text()
    field.fill("1.2")
    assert seen.run("kinegraph.live.failure") == "" and errors_of(seen) == []
    seen.page.close()


def test_sizes_are_fixed_and_what_places_bodies_is_free():
    ball = kg.parse(
        "parameters l = 1, r = 0.1, m = 2, c = 0.2, twice = 2*l; coordinates q; gravity 0, 0, -9.81;"
        "Bob | Ry(q), Sz(-l) | m(m); output tip = Bob (0, 0, c); shape Bob | Sz(-twice) | sphere(r);"
    )
    numbers = {one.name: one.value for one in ball.parameters}
    picture = LivePicture.of(ball, numbers)
    assert picture.fixed == {"r", "twice"}  # a formula follows from others
    sphere = next(one for one in picture.parts if one["kind"] == "sphere")
    assert "place_at" in sphere and picture.scene.frames.numbers()[sphere["place_at"]].numbers == sphere["place"]


@pytest.mark.soak
def test_an_hour_leaves_loops_closed_energy_kept_and_memory_as_it_was(browser, tmp_path):
    mechanism = kg.load("four-bar")
    seen = live(browser, mechanism, tmp_path)
    start = seen.run("kinegraph.live.outputValues()[2]")
    hour = (
        "(() => { kinegraph.clock.playing = true; while (kinegraph.live.t < 3600 && !kinegraph.live.failure) {"
        " kinegraph.live.advance(kinegraph.live.t + 0.1); kinegraph.clock.tell(); } kinegraph.clock.playing = false;"
        " return [kinegraph.live.t, kinegraph.live.failure, kinegraph.live.outputValues()[2]]; })()"
    )
    time, failure, energy = seen.run(hour)
    assert (time >= 3600, failure) == (True, "") and energy == pytest.approx(start, rel=1e-4)
    q = seen.run("Array.from(kinegraph.live.state).slice(0, 3)")
    assert np.abs(interpreted(mechanism, "constraints")(q)).max() < 1e-10
    assert seen.run("kinegraph.recorded()") <= 2500
    seen.page.close()


@pytest.mark.soak
def test_parameters_and_pushes_act_at_once(browser, tmp_path):
    mechanism = kg.load("double-pendulum")
    seen = live(browser, mechanism, tmp_path)
    field = seen.page.get_by_label("m2", exact=True)
    field.fill("3")
    q, v = seen.run("Array.from(kinegraph.live.state)")[:2], [0, 0]
    found = seen.run("Array.from(kinegraph.live.equations.derivatives(kinegraph.live.known))")[2:]
    assert found == pytest.approx(kg.compile(mechanism, "qdd", parameters={"m2": 3})(q, v, v), rel=1e-12)
    body = seen.run("kinegraph.live.bodies.indexOf('Lower')")
    # plain objects stand for three.js vectors: place of the body's frame and a force on it
    seen.run(
        f"(() => {{ const p = kinegraph.live.point(0, [0, 0, 0]); const at = kinegraph.pose('Lower').position;"
        f" kinegraph.live.push({body}, p.clone().set(...at), p.clone().set(1, 2, 3)); }})()"
    )
    jacobian = interpreted(mechanism, "jacobian:Lower")(q)
    forces = seen.run("Array.from(kinegraph.live.known).slice(5, 7)")
    assert forces == pytest.approx(jacobian[:3].T @ [1, 2, 3], abs=1e-12)
    seen.run("kinegraph.live.push(0, null, null)")
    assert seen.run("Array.from(kinegraph.live.known).slice(5, 7)") == [0, 0]
    seen.page.close()


@pytest.mark.soak
def test_a_body_follows_the_mouse(browser, tmp_path):
    """Pulled to the right for a while, a hanging bob is on the right, and lets go."""
    hanging = kg.parse("coordinates q; gravity 0, 0, -9.81; Bob | Ry(q), Sz(-1) | m(1);")
    seen = live(browser, hanging, tmp_path, before="")
    x, y = seen.run(
        "(() => { const canvas = document.querySelector('#stage canvas').getBoundingClientRect();"
        " const at = kinegraph.screen('Bob'); return [canvas.left + at[0], canvas.top + at[1]]; })()"
    )
    before = seen.run("kinegraph.pose('Bob').position")
    seen.page.mouse.move(x, y)
    seen.page.mouse.down()
    seen.page.mouse.move(x + 120, y, steps=4)
    seen.wait("kinegraph.live.t > 0.4 && kinegraph.live.pushed")
    pulled = np.array(seen.run("kinegraph.pose('Bob').position")) - before
    seen.page.mouse.up()
    assert seen.run("kinegraph.live.pushed") is None and np.linalg.norm(pulled) > 0.02
    assert seen.errors == []
    seen.page.close()


@pytest.mark.soak
def test_a_run_that_cannot_go_on_says_why(browser, tmp_path):
    text = (
        "coordinates a = 0.4, b = 1; gravity 0, -9.81, 0; Crank | Rz(a), Sx(0.5) | m(1), Jz(0.1);"
        "Rod~Crank | Rz(b - a), Sx(0.6) | m(1), Jz(0.1); constraint lead | Rod.x = 0.9 + 0.2*t;"
    )
    seen = live(browser, kg.parse(text), tmp_path)
    assert seen.run("kinegraph.live.advance(5)") is False
    assert seen.run("kinegraph.live.t") < 1.1
    assert "loops" in seen.run("kinegraph.live.failure")
    seen.run("kinegraph.clock.tell()")
    assert "stopped at t" in seen.page.locator(".card.live .note").first.inner_text()
    seen.page.get_by_text("Back to the start").click()
    assert seen.run("[kinegraph.live.t, kinegraph.live.failure]") == [0, ""]
    seen.page.close()


@pytest.mark.soak
def test_names_of_a_model_cannot_run_script(browser, tmp_path):
    q, length = Name(HOSTILE + "q"), Name(HOSTILE + "l")
    body = Body(HOSTILE, None, (Rotation(Axis.Y, q),), Inertia(expression(1), central=(Shift(Axis.Z, -length),)))
    hostile = Mechanism(
        HOSTILE, (body,), (Coordinate(q.text, expression(1)),), (Parameter(length.text, expression(1)),),
        (expression(0), expression(0), expression(-9.81)), (Point(HOSTILE, HOSTILE),),
    )  # fmt: skip
    seen = live(browser, hostile, tmp_path)
    seen.run("kinegraph.live.advance(0.1)")
    assert errors_of(seen) == [] and len(seen.requests) == 1
    assert json.loads(seen.run("JSON.stringify(kinegraph.live.bodies)")) == [HOSTILE]
    seen.page.close()


def test_what_cannot_run_live_is_refused(tmp_path):
    with pytest.raises(KinegraphError, match="rigid contacts"):
        kg.view("bouncing-ball", tmp_path / "ball.html", live=True)
    run = kg.simulate("double-pendulum", 0.1, progress=False)
    with pytest.raises(KinegraphError, match="give the model"):
        kg.view(run, tmp_path / "run.html", live=True)
    still = replace(kg.load("double-pendulum"), coordinates=(), bodies=(), points=(), elements=())
    with pytest.raises(KinegraphError, match="no coordinates"):
        kg.view(still, tmp_path / "still.html", live=True)
