"""`kinegraph check` says what ties the bodies of a mechanism."""

import json

from kinegraph.assembly.assemble import Assembler
from tests.cli.run import runner

MODEL = """
    parameters l = 1; coordinates q1 = 1, q2, q3;
    Crank | Rz(q1) | m(1), Jz(1); Coupler~Crank | Sx(l), Rz(q2) | m(1), Jz(1);
    Rocker~Coupler | Sx(2*l), Rz(q3) | m(1), Jz(1); output tip = Rocker (l, 0, 0); unknown S;
    loop pin | revolute | Rocker: Sx(l) | Sx(2*l); loop teeth | gear(2) | q1 | q3;
    constraint roll | q1' + q2' = 0; contact floor | tip.y >= -9; force P | value(S), on(q1);
"""


def test_loops_constraints_contacts_unknowns(tmp_path, capsys):
    file = tmp_path / "bar.kg"
    file.write_text(MODEL)
    run = runner(capsys)
    facts = json.loads(run("check", file, "--json").out)
    assert facts["dof"] == 0 and facts["constraint_rows"] == 7
    assert facts["redundant_rows"][:3] == ["pin.z", "pin.turn_x", "pin.turn_y"]
    pin, teeth = facts["loops"]
    assert pin == {
        "name": "pin", "joint": "revolute", "rows": 5, "cut": "pin", "bodies": [None, "Crank", "Coupler", "Rocker"],
    }  # fmt: skip
    assert teeth["joint"] == "gear" and teeth["cut"] is None
    assert facts["constraints"] == [{"name": "roll", "kind": "nonholonomic"}]
    assert facts["contacts"] == ["floor"] and facts["unknowns"] == ["S"]
    text = run("check", file).out
    assert "0 degrees of freedom" in text and "pin (revolute)" in text
    assert "3 velocities, 7 rows; nothing new say pin.z, pin.turn_x, pin.turn_y" in text


def test_mobility_of_known_linkages(tmp_path, capsys):
    run = runner(capsys)
    for name, redundant in {"bricard": 1, "four-bar": 3, "andrews": 9, "spatial-slider-crank": 0}.items():
        facts = json.loads(run("check", name, "--json").out)
        assert facts["dof"] == 1 and len(facts["redundant_rows"]) == redundant
    open_end = tmp_path / "open.kg"
    open_end.write_text("coordinates q; A | Rz(q) | m(1), Jz(1); loop pin | revolute | A: Sx(1) | Sx(5);")
    assert json.loads(run("check", open_end, "--json").out)["dof"] is None
    assert "unknown, for the start cannot be assembled" in " ".join(run("check", open_end).out.split())


def test_assemble_says_where_it_prints_samples_of_a_continuum(capsys, monkeypatch):
    """A four-bar with nothing held moves on: what is printed is no list of all ways to assemble it."""
    monkeypatch.setitem(Assembler.modes.__kwdefaults__, "starts", 20)
    run = runner(capsys)
    assert "samples of a continuum: with nothing held" in " ".join(run("assemble", "four-bar", "--all").out.split())
    held = run("assemble", "four-bar", "--all", "--state", "crank=1").out
    assert "continuum" not in held and len(held.splitlines()) > 3
    for at, free in ((), 1), (("--state", "crank=1"), 0):
        assert json.loads(run("assemble", "four-bar", "--all", *at, "--json").out)["free"] == free
