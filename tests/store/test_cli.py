"""`kinegraph store` as a user types it."""

import json

import pytest

from kinegraph.cli import main
from kinegraph.store import open_store
from kinegraph.store.schema import tables as schema

ARM = """
model arm;
coordinates p, q;
gravity 0, 0, -9.81;
A | Ry(p), Sx(1) | m(3);
B~A | Ry(q), Sx(1) | m({mass});
"""


@pytest.fixture(scope="module")
def place(shared_target):
    return shared_target


@pytest.fixture
def run(capsys, place):
    """Run a command; returns its exit code and what it prints."""

    def command(*words):
        with pytest.raises(SystemExit) as stopped:
            main(["store", *words, "--store", place])
        said = capsys.readouterr()
        return stopped.value.code or 0, said.out, said.err

    return command


@pytest.fixture
def ask(run):
    """Run a command with --json; returns the data."""

    def command(*words):
        code, out, error = run(*words, "--json")
        assert code == 0, error
        return json.loads(out)

    return command


def test_a_whole_session(run, ask, place, tmp_path):
    assert run("list")[0] == 2
    saved = ask("add", "double-pendulum", "-q", "H,gravity", "--expressions", "H", "--sums")
    assert (saved["name"], saved["version"], saved["graphs"]) == ("double-pendulum", 1, [1, 2])
    assert [graph["stage"] for graph in ask("list")["graphs"]] == ["initial", "reduced"]
    assert "double-pendulum@1" in run("list")[1]
    shown = ask("show", "double-pendulum")
    assert shown["passes"][0]["name"] == "initial"
    assert {(name, form) for name, form, _ in shown["expressions"]} >= {("H[1,1]", "symbolic+sums")}
    assert "fast_extract" in run("show", "double-pendulum")[1]
    assert "model double-pendulum" in run("show", "double-pendulum", "--text")[1]
    assert "model double-pendulum" in ask("show", "double-pendulum", "--text")["text"]
    assert ask("eval", "double-pendulum", "-q", "H,H[1,2]", "--at", "q2=0")["H"] == [[5.0, 2.0], [2.0, 1.0]]
    assert ask("eval", "double-pendulum", "-q", "H11", "--at", "q2=0,l1=2,m2=3")["H11"] == pytest.approx(31)
    found = ask("expression", "double-pendulum", "H12", "--numeric", "--keep")
    assert found["expressions"][0]["terms"][0] == {"coefficient": "1", "factors": []}
    assert run("expression", "double-pendulum", "H22")[1] == "H[2,2] = m2*l2^2\n"
    assert ask("query", "depends", "double-pendulum", "H22")["rows"][0]["name"] == "m2"
    assert "m2" in run("query", "depends", "double-pendulum", "H22")[1]
    assert ask("query", "sql", "SELECT COUNT(*) AS n FROM graph")["rows"] == [{"n": 2}]
    assert "#include <math.h>" in run("code", "double-pendulum", "-q", "H")[1]
    assert ask("code", "double-pendulum", "-q", "H", "--keep")["arguments"] == [["q", ["q2"]]]
    assert len(ask("eliminate", "double-pendulum:initial", "--numeric")["passes"]) == 3
    assert ask("check")["whole"] is True
    assert "1 mechanism, 3 graphs: whole" in run("check")[1]


def test_versions(run, ask, tmp_path):
    model = tmp_path / "arm.kg"
    for mass in ("1", "2"):
        model.write_text(ARM.format(mass=mass))
        run("add", str(model), "-q", "tau")
    found = ask("diff", "arm")
    assert (found["old"], found["new"], found["removed"]) == (1, 2, ["B~A | Ry(q), Sx(1) | m(1);"])
    out = run("diff", "arm")[1]
    assert "- B~A | Ry(q), Sx(1) | m(1);" in out and "+ B~A | Ry(q), Sx(1) | m(2);" in out
    assert ask("query", "changed", "arm")["rows"][0]["what"] == "removed"
    assert ask("prune", "--dry-run", "--keep", "1")["mechanisms"] == ["arm@1"]
    assert ask("prune", "--keep", "1")["mechanisms"] == ["arm@1"]
    assert run("prune")[1] == "removed 0 runs, 0 graphs, 0 versions\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("query", "sql", "DELETE FROM graph"), "only statements that read"),
        (("query", "nothing"), "there is no question"),
        (("expression", "double-pendulum", "H33"), "no output 'H33'"),
        (("eval", "nobody"), "no mechanism 'nobody'"),
        (("eval", "double-pendulum", "--at", "q2"), "write --at name=value"),
        (("code", "double-pendulum", "--to", "cobol"), "choose one of c"),
        (("diff", "double-pendulum"), "only one version"),
    ],
)
def test_errors_are_one_message(run, words, message):
    code, out, error = run(*words)
    assert (code, out) == (2, "")
    assert message in error.replace("\n", " ")


def test_a_damaged_store_is_said(run, place):
    store = open_store(place)
    with store.writing() as connection:
        connection.execute(schema.mechanism.update().values(text="something else"))
    store.close()
    code, out, _ = run("check")
    assert code == 1
    assert "is not the one that was saved" in out
