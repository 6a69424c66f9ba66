"""Studies of first contacts: laws within the published limits, where cases start; the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.docking.description import docking_of
from kinegraph.docking.events import contact_events
from kinegraph.docking.first_contacts import ContactLimits, beginning
from kinegraph.studies.sampling import Design, Samples, read_distributions
from tests.cli.run import runner
from tests.docking.one_axis import TEXT


def test_first_contacts_lie_within_the_limits() -> None:
    limits = ContactLimits()
    laws = read_distributions(limits.distributions(), None)
    names = [name for group in laws for name in group]
    samples = Samples(laws, dict.fromkeys(names, 0.0), 2000, Design.RANDOM, 1)
    drawn = dict(zip(samples.names, samples.rows(1, 2001).T, strict=True))
    for name, most in (("offset", 0.1), ("drift", 0.04), ("tilt", np.radians(4)), ("tilting", np.radians(0.2))):
        sums = np.hypot(drawn[f"{name}_x"], drawn[f"{name}_y"])
        assert 0.95 * most < sums.max() <= most
        assert np.mean(sums < most / 2) == pytest.approx(0.25, abs=0.04)  # as many as the area says
    assert drawn["closing"].min() >= 0.05 and drawn["closing"].max() <= 0.1
    assert np.abs(drawn["roll"]).max() <= np.radians(4)


def test_every_case_starts_as_its_numbers_say() -> None:
    docking = docking_of(kg.load("docking-light-legs"))
    start = beginning(docking)
    assert start["bx"] == "offset_x" and start["bz'"] == "-closing" and start["b3"] == "roll/2"
    assert start["cz'"] == start["rz'"] == "0"
    named = [event.name for event in contact_events(docking)]
    assert named == ["touch", "capture", "stroke", "overload", "away"]
    assert len(docking.legs) == 6 and len(docking.latches) == 3 and len(docking.guides) == 9


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = tmp_path / "one.kg"
    model.write_text(TEXT)
    run = runner(capsys)
    code, out, _ = run(f"dock {model} --for 2 --stop-at-capture --json")
    found = json.loads(out)
    assert code == 0 and found["outcome"] == "captured" and found["captured"] == pytest.approx(0.8926, abs=1e-3)
    code, out, _ = run(f"dock {model} --for 2 --stop-at-capture --set closing=0.2")
    assert code == 0 and "peaks" in out and "touches: 1" in out
    code, out, _ = run(f"dock {model} --for 0.1 --stop-at-capture --state zt=0.45")
    assert code == 0 and "touches: 1" in out and "guides overlap at the start: pad 70 mm deep" in out
    assert "Target and Ring apart, by --state of zt" in out.replace("\n", " ")
    code, _, err = run(f"dock {model} --cases 10 --plot x.png")
    assert code == 2 and "--plot" in err
    code, _, err = run(f"dock {model} --cases 10 --set closing=1")
    assert code == 2 and "--set" in err
