"""Figures and the page of a study."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import StudyError
from kinegraph.studies.sampling import Design, Samples, read_distributions
from kinegraph.view.study import KINDS, draw, figure_of, influences, two_that_matter
from kinegraph.view.study_page import study_page
from tests.effort import SOAK
from tests.studies.oscillator import MODEL, OPTIONS


@pytest.fixture(scope="module")
def study():
    classes = {"<deep>": "low < -0.5", "flat": "true"}
    outcomes = {name: OPTIONS["outcomes"][name] for name in ("low", "area", "cross")}  # each is many panels
    return kg.study(MODEL, 1, **{**OPTIONS, "cases": 30, "classes": classes, "outcomes": outcomes})


#: The page draws all of them; files are written of one or, by `make soak`, of all.
DRAWN = KINDS if SOAK else ("histograms",)


@pytest.mark.parametrize("kind", DRAWN)
def test_every_figure_is_drawn(study, kind, tmp_path):
    path = draw(study, kind, tmp_path / f"{kind}.png")
    assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000


def test_figures_show_what_they_say(study):
    panels = [panel for panel in figure_of(study, "histograms").axes if panel.get_visible()]
    assert [panel.get_title(loc="left") for panel in panels] == list(study.numbers)
    assert sum(bar.get_height() for bar in panels[0].patches) == 30
    chosen = figure_of(study, "success", ["k", "q"]).axes[0]
    assert (chosen.get_xlabel(), chosen.get_ylabel()) == ("k", "q")


def test_mistakes(study, tmp_path):
    with pytest.raises(StudyError, match="choose from histograms"):
        draw(study, "pie", tmp_path / "a.png")
    with pytest.raises(StudyError, match="must end in"):
        draw(study, "corner", tmp_path / "a.txt")
    with pytest.raises(StudyError, match="two names"):
        draw(study, "success", tmp_path / "a.png", ["k"])
    with pytest.raises(StudyError, match=r"must end in \.html"):
        study_page(study, tmp_path / "a.png")


def test_the_page_says_all_and_escapes_names(study, tmp_path):
    text = kg.view(study, tmp_path / "page.html").read_text()
    assert "&lt;deep&gt;" in text and "<deep>" not in text
    for word in ("Settings", "Probabilities", "Outcomes", "Distributions", "Rank correlations", "Sensitivity"):
        assert word in text
    data = json.loads(re.search(r"application/json\">(.*?)</script>", text)[1])
    units = {one["name"]: one["unit"] for one in data["columns"]}
    assert units == {"q": "m", "k": "", "low": "m", "area": "m s", "cross": "s"}
    low = next(one for one in data["outcomes"] if one["name"] == "low")
    assert [name for name, _ in low["influences"]] == ["k", "q"] and set(low["best"]) == {"k", "q"}
    values = np.frombuffer(base64.b64decode(data["columns"][0]["values"]), "<f8")
    assert np.array_equal(values, study["q"])


#: Designs for Sobol's indices bring half of SciPy with them.
DESIGNS = [Design.RANDOM, Design.SALTELLI] if SOAK else [Design.RANDOM]


@pytest.mark.parametrize("design", DESIGNS)
def test_the_names_shown_are_those_that_matter(study, design):
    """What depends on `a` as on a bowl, and on h weakly but monotonely, is drawn over `a`, not over h."""
    samples = Samples(
        read_distributions(dict.fromkeys("habc", "uniform(-1, 1)")), dict.fromkeys("habc", 0.0), 600, design
    )
    h, a, b, c = samples.rows(0, samples.total).T
    columns = {"h": h, "a": a, "b": b, "c": c, "case": np.arange(601), "status": np.full(601, "FINISHED")}
    columns |= {"low": a**2 + 0.3 * b**2 + 0.02 * h, "class": np.full(601, "flat")}
    columns["success"] = columns["low"] < 0.4
    planned = replace(study, plan=replace(study.plan, samples=samples), columns=columns)
    panel = figure_of(planned, "success").axes[0]
    assert {panel.get_xlabel(), panel.get_ylabel()} == set(two_that_matter(planned, "success")) == {"a", "b"}
    assert np.argmax(influences(planned, "low")) == 1
    together = replace(planned, columns={**columns, "success": b * c > 0})
    assert set(two_that_matter(together, "success")) == {"b", "c"}
