"""One docking as files, plots and pages: nothing is lost, and what is drawn moves as the bodies do."""

from __future__ import annotations

import csv
import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.docking.description import Limits, Schedule, docking_of
from kinegraph.docking.dock import dock
from kinegraph.docking.result import DockingRun
from kinegraph.errors import SolveError
from kinegraph.model.evaluate import number
from kinegraph.solve.solution import Solution
from kinegraph.view import page, plot
from kinegraph.view.plot import figure
from tests.cli.run import runner
from tests.docking.one_axis import TEXT
from tests.view.test_page import drawing_of

MOVED = TEXT.replace("sphere(Ring, 0.02)", "sphere(Ring(0, 0, 0.01), 0.01)")


@cache
def whole() -> DockingRun:
    allowed = Limits(shortest=0.2, longest=0.9)
    given = docking_of(kg.parse(MOVED), limits=allowed, schedule=Schedule(settle=8, draw=20, even=1, after=0.5))
    return dock(given, 5, native=False, interval=0.05)


@pytest.mark.parametrize("kind", ["npz", "csv"])
def test_every_column_is_written_with_the_phase_of_every_row(tmp_path: Path, kind: str) -> None:
    run, path = whole(), tmp_path / f"run.{kind}"
    run.save(path)
    if kind == "npz":
        found = dict(Solution.load(path).columns)
    else:
        head, *rows = csv.reader(path.open())
        found = {name: np.array(column) for name, column in zip(head, zip(*rows, strict=True), strict=True)}
    phases = found.pop("phase")
    assert set(found) == {"t", *run.names}
    for name, column in found.items():
        np.testing.assert_array_equal(column.astype(float), run[name] if name != "t" else run.times)
    assert list(dict.fromkeys(phases.tolist())) == [phase.name for phase in run.phases]
    assert np.sum(phases == "contact") == len(run.phases[0].times)


def test_a_force_that_a_phase_does_not_have_is_not_a_number_there_and_an_unknown_name_is_refused() -> None:
    run = whole()
    assert np.isfinite(run["interface"]).all()
    with pytest.raises(SolveError, match=r"no column 'interfac'\s+.*interface"):
        run["interfac"]


def test_the_solution_of_a_docking_knows_its_retraction_and_its_events() -> None:
    """The start of retraction that capture decided is the value of the parameter."""
    run = whole()
    found = run.solution()
    assert found.simulated is not None
    begin = float(number(found.simulated.parameters["begin"], {}))
    assert begin == pytest.approx(run.phases[2].times[0], abs=1e-12)
    named = {event.name: event.time for event in found.events}
    assert named["captured"] == run.captured and named["hard"] == run.joinings[-1].time
    assert named["touch"] == run.touches[0] and named["drawing in"] == begin
    assert [event.time for event in found.events] == sorted(event.time for event in found.events)
    assert "hard joint closed" in str(found)


@pytest.mark.soak
def test_the_picture_has_the_loads_and_the_strokes(tmp_path: Path) -> None:
    drawn = figure(whole().solution())
    titles = [panel.get_title(loc="left") for panel in drawn.axes if panel.axison]
    assert titles == [
        "Leg lengths", "Forces along legs", "Forces between the rings", "Bending moment", "Energies",
    ]  # fmt: skip
    forces = next(panel for panel in drawn.axes if panel.get_title(loc="left") == "Forces along legs")
    np.testing.assert_array_equal(forces.lines[0].get_ydata(), whole()["load:leg"])
    assert plot(whole(), tmp_path / "run.svg").stat().st_size > 10_000


@pytest.mark.soak
def test_the_page_draws_the_guides_on_their_bodies(tmp_path: Path) -> None:
    text = page(whole(), tmp_path / "run.html").read_text()
    data = json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', text, re.S)[1])
    assert [chart["title"] for chart in data["charts"]][:2] == ["Leg lengths", "Forces along legs"]
    names = [body["name"] for body in data["bodies"]]
    guides = {names[part["body"]]: part for part in data["parts"] if "sizes" in part}
    assert guides["Ring"]["kind"] == "sphere" and guides["Ring"]["sizes"] == [0.01]
    assert guides["Ring"]["place"][:3] == [0, 0, 0.01]
    assert guides["Target"]["kind"] == "cylinder" and guides["Target"]["place"][2] > 0  # behind the face


def test_every_shape_of_a_contact_is_drawn_where_it_is() -> None:
    """A ring is drawn as rods whose ends are on its circle; an arc ends where the model ends it."""
    model = kg.parse("""
        model shapes; coordinates x;
        Body | Sx(x) | m(1);
        contact a | sphere(Body(0, 0, 1), 0.1), torus((0, 0, 2), (0, 1, 0), 0.5, 0.02) | stiffness(1);
        contact b | sphere(Body(0, 0, 1), 0.1), arc((0, 0, 0), (0, 0, 1), (0, 1, 0), 2, pi/6, 0.03) | stiffness(1);
        contact c | sphere(Body(0, 0, 1), 0.1), cylinder((0, 0, 0), (0, 3, 4), 0.2) | stiffness(1);
        contact d | sphere(Body(0, 0, 1), 0.1), plane((0, 0, -1), (0, 0, 1)) | stiffness(1);
    """)
    parts = [part for part in drawing_of(model, np.array([[0.0]])).parts if "sizes" in part or part["kind"] == "plane"]
    kinds = [part["kind"] for part in parts]
    assert kinds.count("sphere") == 1 and kinds.count("cylinder") == 1 and kinds.count("plane") == 1
    rods = [part for part in parts if part["kind"] == "capsule"]
    ring = [np.array(part["place"][:3]) for part in rods if part["sizes"][0] == 0.02]
    arc = [np.array(part["place"][:3]) for part in rods if part["sizes"][0] == 0.03]
    for middle in ring:
        assert middle[1] == pytest.approx(0) and 0.49 < np.hypot(middle[0], middle[2] - 2) < 0.5
    np.testing.assert_allclose(np.mean(ring, axis=0), [0, 0, 2], atol=1e-12)
    assert all(one[1] > 2 * np.cos(np.pi / 6) for one in arc) and len(arc) >= 6
    rod = next(part for part in parts if part["kind"] == "cylinder")
    assert rod["sizes"] == [0.2, 5] and rod["place"][:3] == [0, 1.5, 2]


@pytest.mark.soak
def test_the_command_writes_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = tmp_path / "one.kg"
    model.write_text(TEXT)
    files = [tmp_path / name for name in ("run.csv", "run.png", "run.html")]
    run = runner(capsys)
    command = f"dock {model} --for 2 --stop-at-capture -o {files[0]} --plot {files[1]} --page {files[2]}"
    code, out, _ = run(command)
    assert code == 0 and all(file.exists() for file in files) and str(files[2]) in out.replace("\n", "")
    code, _, err = run(f"dock {model} -o {tmp_path / 'run.xls'}")
    assert code == 2 and ".parquet, .csv or .npz" in err
