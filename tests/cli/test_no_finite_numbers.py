"""Numbers beyond the range of floating point, and functions without a value.

Every command has an answer or one message, never a traceback.
"""

from __future__ import annotations

import pytest

from tests.cli.run import runner

MODELS = {
    "parameter": "parameters l = 1e400, k = 1/l; coordinates q; gravity 0,0,-9.81; A | Ry(q) | Sz(-l), m(k);",
    "number": "parameters l = 1; coordinates q; gravity 0,0,-9.81; A | Ry(q) | Sz(-l*1e400), m(1e-300*l);",
    "root": "coordinates q, c; gravity 0,0,-9.81; A | Ry(q) | Sz(-1), m(1); B~A | Sx(sqrt(c - 5)) | m(1);",
    "loop": """parameters l = 1e400; coordinates q, c; B | Ry(q) | Sx(1), m(1); C~B | Sx(2), Ry(c) | Sx(1), m(1);
loop pin | revolute(y) | C: Sx(l) | Sx(1);""",
}
COMMANDS = (
    "check {}", "check {} --json", "eval {} -q tau,H", "eval {} -q qdd", "derive {}", "inspect {} --stage program",
    "simulate {} --for 0.01", "view {}", "first-integrals {}", "linearize {} --no-steady", "modes {}", "reactions {}",
    "assemble {}", "equilibria {}", "inverse-kinematics {} --body A --pose 0,0,-1 --starts 5",
    "response {} --frequencies 1:2:3",
    "unknown-forces {} --motion q=t --unknown tau:q --for 1", "sensitivities {} --by q(0) --for 0.01",
    "export {} --to c -o out", "store add {}",
)  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_answers(name: str, command: str, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KINEGRAPH_STORE", str(tmp_path / "store.sqlite"))
    (tmp_path / "huge.kg").write_text(MODELS[name], "utf-8")
    result = runner(capsys)(command.format("huge.kg"))
    assert result.code in (0, 1, 2) and "Traceback" not in result.err
    assert result.out.strip() or result.err.strip()
