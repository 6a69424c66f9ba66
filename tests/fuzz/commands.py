"""Command lines: every command and option the program has, with values that fit and values that do not."""

from __future__ import annotations

import io
import json
import shlex
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from kinegraph.cli import main
from kinegraph.errors import KinegraphError
from tests.cli.run import all_loaded
from tests.fuzz import sources
from tests.fuzz.odd import number
from tests.fuzz.subject import Depth

#: Measurements and the tour take minutes by themselves; the studio serves until Ctrl-C (tests/studio).
_LONG_COMMANDS = {"demo", "reproduce", "studio"}

#: Compiling the integrators' loops takes longer than a case may; the run chooses by itself.
_LONG_OPTIONS = {"native"}

#: Only a URDF takes these.
_FOR_URDF = {"floating", "package_root"}

_MODELS = (
    "pendulum.kg",
    "two.kg",
    "cart.kg",
    "driven.kg",
    "loop.kg",
    "free.kg",
    "all.kg",
    "huge.kg",
    "robot.urdf",
    "robot.xml",
    "table.csv",
)
#: Its numbers are larger than floating point can hold.
_HUGE = "parameters l = 1e400, k = 1/l; coordinates q; gravity 0,0,-9.81; A | Ry(q) | Sz(-l), m(k);"
_NO_MODELS = ("nothing.kg", "broken.kg", "empty.kg", "folder", ".", "", "/dev/null", "\x00", "x" * 300, "a.sdf", "-")
_QUANTITIES = (
    "H", "tau", "qdd", "C,gravity", "pose:A", "jacobian:A", "d(tau)/d(q)", "energy,momentum", "regressor", "forces",
    "power", "base_parameters", "nope", "", ",", "d(tau)/dq", "pose:", "pose:Z", "H,H", "d(d(H)/d(q))/d(q)", "M",
)  # fmt: skip
_ASSIGNMENTS = (
    "q=0.1",
    "q=1,q'=2",
    "q1=pi/3",
    "l=2",
    "q=",
    "=1",
    "q",
    "nope=1",
    "q=1/0",
    "q=nan",
    "q=1e400",
    "q=x;y",
    "e0=0",
    "e0=1e160",
    "h=2",
)
#: Values that fit an option (by its name), tried beside odd numbers and words.
_VALUES: dict[str, tuple[str, ...]] = {
    "quantity": _QUANTITIES,
    "settings": _ASSIGNMENTS, "state": _ASSIGNMENTS, "lock": _ASSIGNMENTS,
    "duration": ("0.01", "0.1", "0", "-1", "nan", "inf", "1e300"),
    "step": ("0.01", "0.05", "0", "-1", "1e-300", "nan", "1e300"),
    "points": ("0", "1", "5", "-1", "1000000000"), "times": ("1", "5", "0", "-1", "1000000000"),
    "rtol": ("1e-6", "1e-3", "0", "-1", "nan", "1e300"), "atol": ("1e-6", "1e-3", "0", "-1", "nan", "1e300"),
    "method": ("dop853", "dopri5", "rk4", "gauss4", "bdf", "adams", "verlet", "nope"),
    "inputs": ("u=1", "u=sin(t)", "u=@samples.csv", "u=@nothing", "nope=1", "u=", "u=@folder", "tau:q=1"),
    "events": ("a=q", "a=x", "b=q'", "a=1", "a=nan", "a", "a=1/0"), "stop": ("a=q-0.2", "a=nope", "a=t-0.05"),
    "seconds": ("0.01", "0.05", "0", "-1", "nan"), "seed": ("0", "1", "-1", "99999999999999999999"),
    "effort": ("quick", "quick", "nope"), "passes": ("monomials", "products,monomials", "nope", "", "search(1)"),
    "output": ("out.csv", "out.parquet", "out.npz", "out.html", "folder/out.csv", "nowhere/x.csv", "folder", "\x00"),
    "plot": ("p.png", "p.svg", "p.nope", "nowhere/p.png", "folder"), "page": ("p.html", "p.txt", "folder"),
    "directory": ("code", "folder", "pendulum.kg", "/dev/null/x"), "store": ("s.sqlite", "pendulum.kg", "folder", "x://y"),
    "to": ("c", "cpp", "rust", "fortran", "python", "matlab", "julia", "urdf", "casadi", "sympy", "nope"),
    "name": ("f", "class", "1", "a b", "two", "θ", "math"), "chunk": ("1", "50", "0", "-1"), "fmi": ("2", "3", "4"),
    "stage": ("model", "tree", "derived", "reduced", "bound", "ir", "assembly", "c", "nope"),
    "body": ("A", "B", "Z"), "pose": ("0,0,1", "1,0,0,0,0,0", "x", "", "1,2,3,4,5,6,7", "nan,0,0"),
    "starts": ("1", "3", "0", "-1", "1000000000"), "bounds": ("q=-1:1", "q=1", "nope=0:1", "q=-inf:inf", "q=a:b"),
    "motion": ("q=0.1*t", "q1=t,q2=t^2", "q=", "nope=1", "q=1/t", "x=sin(t)"), "unknown": ("u", "nope", "S", ""),
    "joint": ("q", "A", "nope"), "axes": ("world", "body", "nope"), "equilibrium": ("1", "2", "0", "99"),
    "outputs": ("q", "A.x", "p.z", "nope", "q'"),
    "frequencies": ("0.1:10", "0.1:10:5", "0:0", "a:b", "1:10:1000000000"),
    "stored": ("pendulum", "two", "cart", "two@1", "two@1:reduced", "#1", "#2", "free", "nope", "two@99", "costliest"),
    "question": ("select 1", "bodies", "select * from model", "drop table model", "select printf('%.*c', 9, 'x')", ""),
    "words": ("A", "1"), "limit": ("1", "0", "-1", "1000000000"), "keep": ("1", "0", "-1"), "runtime": ("l", "nope"),
    "expressions": ("graph", "analytic", "nope"), "old": ("1", "0", "x"), "new": ("2", "1", "x"),
    "angle_tolerance": ("1e-3", "0", "-1", "nan", "9"), "parameters": ("values.json", "pendulum.kg", "nothing.json"),
    "package_root": (".", "folder", "nothing"),
}  # fmt: skip


@cache
def _commands() -> tuple[tuple[tuple[str, ...], tuple[Any, ...]], ...]:
    """Every command with its parameters, as the program itself knows them."""
    found: list[tuple[tuple[str, ...], tuple[Any, ...]]] = []

    def walk(command: Any, path: tuple[str, ...]) -> None:
        if path and path[0] in _LONG_COMMANDS:
            return
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, (*path, name))
        if not getattr(command, "commands", None):
            found.append((path, tuple(p for p in command.params if p.name not in _LONG_OPTIONS)))

    walk(all_loaded(), ())
    return tuple(found)


def make_command(chance: Random) -> str:
    """A command with its arguments and up to four options; one in fifty is not a command."""
    path, parameters = chance.choice(_commands())
    words = list(path)
    arguments = [p for p in parameters if p.param_type_name == "argument"]
    options = [p for p in parameters if p.param_type_name == "option" and p.opts]
    if chance.random() < 0.8:
        options = [p for p in options if p.name not in _FOR_URDF]
    needed = [p for p in options if p.required and chance.random() < 0.9]
    stored = path[0] == "store" and path[-1] != "add"
    words += [_value("stored" if stored else p.name, chance) for p in arguments[:1] if chance.random() < 0.98]
    words += [_value(p.name, chance) for p in arguments[1:] if chance.random() < 0.98]
    if "seconds" in {p.name for p in options} and path[0] == "count":
        words += ["--seconds", "0.05"]
    if path == ("simulate",) and chance.random() < 0.9:
        words += ["--for", chance.choice(("0.01", "0.05"))]
    for option in [*needed, *chance.sample(options, min(len(options), chance.choice((0, 1, 1, 2, 3, 4))))]:
        words.append(chance.choice([*option.opts, *option.secondary_opts]))
        if not option.is_flag:
            words.append(_value(option.name, chance))
    if chance.random() < 0.02:
        words[chance.randrange(len(words))] = chance.choice(("--nope", "-", "--", "nope", "--json", "-h"))
    return shlex.join(words)


def _value(name: str, chance: Random) -> str:
    if name == "model":
        return chance.choice(_MODELS if chance.random() < 0.85 else _NO_MODELS)
    if chance.random() < 0.05 or name not in _VALUES:
        return number(chance) if name not in ("duration", "points", "steps", "starts", "seconds", "limit") else "x"
    return chance.choice(_VALUES[name])


def run_command(line: str, depth: Depth) -> None:
    """The line as a user types it, in a folder with models of all kinds: a result or one message, never a traceback."""
    out, err = io.StringIO(), io.StringIO()
    with TemporaryDirectory() as folder, chdir(folder):
        _furnish(Path(folder))
        with redirect_stdout(out), redirect_stderr(err):
            code = _exit_code(shlex.split(line))
    assert code in (0, 1, 2), f"exit code {code}"
    assert "Traceback" not in err.getvalue() + out.getvalue(), err.getvalue()
    words = shlex.split(line)
    if code == 0 and "--json" in words and not {"-h", "--help"} & set(words):  # help is for people
        json.loads(out.getvalue(), parse_constant=_no_number)
    if code:
        assert err.getvalue().strip() or out.getvalue().strip(), f"exit code {code} without a word"
        raise KinegraphError(err.getvalue())


def _exit_code(arguments: list[str]) -> object:
    try:
        main(arguments)
    except SystemExit as stop:
        return stop.code or 0
    return "none"


def _no_number(word: str) -> float:
    raise AssertionError(f"JSON has no {word}")


def _furnish(folder: Path) -> None:
    """The files the command lines speak of."""
    for name, text in zip(_MODELS, (*sources.SMALL_MODELS, sources.EVERY_STATEMENT, _HUGE), strict=False):
        (folder / name).write_text(text, "utf-8")
    (folder / "robot.urdf").write_text(sources.urdf_texts()[1], "utf-8")
    (folder / "robot.xml").write_text(sources.mjcf_texts()[2], "utf-8")
    (folder / "table.csv").write_text(sources.TABLES[0], "utf-8")
    (folder / "broken.kg").write_text("coordinates q; A | Rq(", "utf-8")
    (folder / "empty.kg").write_text("", "utf-8")
    (folder / "samples.csv").write_text("0,1\n1,2\n2,3\n", "utf-8")
    (folder / "values.json").write_text('{"l": 2}', "utf-8")
    (folder / "folder").mkdir()
