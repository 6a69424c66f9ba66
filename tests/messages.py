"""The errors that newcomers meet most often, provoked through the public functions and the command line.

`python -m tests.messages` writes `tests/data/messages.txt` (all messages, to be read at one glance) and
`docs/messages.md` (the same beside the messages of an older version, from `tests/data/messages_before.txt`).
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

import kinegraph as kg

TESTS = Path(__file__).parent
MESSAGES = TESTS / "data" / "messages.txt"
BEFORE = TESTS / "data" / "messages_before.txt"
PAGE = TESTS.parent / "docs" / "messages.md"

_ARM = "coordinates q; Arm | Ry(q) | Sz(-0.5), m(1);"

#: Model texts with one fault each, by what is wrong.
MODELS = {
    "misspelled keyword": "coordinats q; Arm | Ry(q) | m(1);",
    "missing semicolon": "coordinates q; Arm | Ry(q) | m(1)",
    "missing section of a body": "coordinates q; Arm;",
    "missing multiplication sign": "parameters l = 1; Arm | Sz(2 l) | m(1);",
    "unit that is also a parameter": "parameters m = 2; Arm | Sz(3 m) | m(m);",
    "unit in other words": "Arm | Ry(30 degrees) | m(1);",
    "unit of another quantity": "Arm | Sz(30 deg) | m(1);",
    "unit that could be a division": f"{_ARM} spring S | on(q), stiffness(2 kN/m);",
    "table without the value outside": f"{_ARM} table T | (0, 1), (1, 2) | linear; force f | value(T(q)), on(q);",
    "table that does not increase": f"{_ARM} table T | (0, 1), (0, 2) | linear, hold; force f | value(T(q)), on(q);",
    "table without its argument": f"{_ARM} table T | (0, 1), (1, 2) | linear, hold; force f | value(T*q), on(q);",
    "table with parameters": f"{_ARM} parameters a = 1; table T | (0, a), (1, 2) | linear, hold;",
    "minus sign of a word processor": "Arm | Sz(\N{EN DASH}1) | m(1);",
    "comparison in an expression": "coordinates q; Arm | Ry(q < 1) | m(1);",
    "comment that is not closed": "/* an arm\nArm | Sz(1) | m(1);",
    "unknown name": "parameters length = 1; Arm | Sz(lenght) | m(1);",
    "unknown name without a similar one": "Arm | Ry(q) | m(1);",
    "velocity as qdot": f"{_ARM} damper D | on(q) force(2*qdot);",
    "unknown function": "Arm | Ry(sinus(1)) | m(1);",
    "function with too few arguments": "Arm | Ry(atan2(1)) | m(1);",
    "unknown base": "coordinates q; Base | Sz(1) | m(1); Arm~Bse | Ry(q) | m(1);",
    "bases in a cycle": "A~B | Sz(1) | m(1); B~A | Sz(1) | m(1);",
    "two bodies with one name": "Arm | Sz(1) | m(1); Arm | Sz(2) | m(1);",
    "keyword as the name of a body": "spring | Sz(1) | m(1);",
    "reserved name": "coordinates t; Arm | Ry(t) | m(1);",
    "name declared twice": "parameters q = 1; coordinates q; Arm | Ry(q) | m(1);",
    "unused coordinate": "coordinates q; Arm | Sz(1) | m(1);",
    "model without bodies": "coordinates q;",
    "negative mass": "Arm | Sz(1) | m(-1);",
    "impossible inertia": "Arm | Sz(1) | m(1), Jx(1), Jy(1), Jz(3);",
    "inertia among the transforms": "Arm | Sz(1), m(1);",
    "unknown transform": "Arm | Tz(1) | m(1);",
    "unknown word for the mass": "Arm | Sz(1) | mass(1);",
    "gravity with two components": "gravity 0, -9.81; Arm | Sz(1) | m(1);",
    "parameters in a cycle": "parameters a = 2*b, b = a; Arm | Sz(a) | m(1);",
    "division by zero": "parameters a = 0, b = 1/a; Arm | Sz(b) | m(1);",
    "initial value of an unknown coordinate": f"{_ARM} initial q1 = 0.3;",
    "output of an unknown body": f"{_ARM} output tip = Arn (0, 0, -1);",
    "mass that depends on a coordinate": "coordinates q; Arm | Ry(q) | m(q);",
    "quaternion that no body uses": "quaternion (a, b, c, d) velocity (x, y, z); Arm | Sz(1) | m(1);",
    "spring without stiffness": f"{_ARM} spring S | on(q);",
    "misspelled clause": f"{_ARM} spring S | on(q) stifness(3);",
    "spring at an unknown point": f"{_ARM} spring S | between(tip, (0, 0, 1)) stiffness(3);",
    "spring on a constant": f"{_ARM} spring S | on(2) stiffness(3);",
    "contact with an equals sign": f"{_ARM} contact C | Arm.z = 0;",
    "contact friction without slip": f"{_ARM} contact C | Arm.z >= 0 | friction(0.3);",
    "bumper of an older version": f"{_ARM} bumper B | sphere(Arm, 0.1) plane((0, 0, -1), (0, 0, 1)) stifness(3);",
    "joint type of another program": f"{_ARM} loop L | hinge | Arm: Sz(-1) | Sz(-1);",
    "loop to the ground by name": f"{_ARM} loop L | revolute | Arm: Sz(-1) | ground: Sz(-1);",
    "loop from a body to itself": f"{_ARM} loop L | revolute | Arm: Sz(-1) | Arm;",
    "gear of an unknown coordinate": f"{_ARM} loop G | gear(2) | q | q2;",
    "constraint with squared velocities": f"{_ARM} constraint C | q'^2 = 1;",
}

_URDF = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="{type}"><parent link="{parent}"/><child link="b"/></joint></robot>"""

#: Files of the provocations, by their names in the working directory.
FILES = {
    "broken.urdf": "<robot name='r'><link name='a'></robot>",
    "joint.urdf": _URDF.format(type="hinge", parent="a"),
    "parent.urdf": _URDF.format(type="fixed", parent="c"),
    "hinge.xml": '<mujoco><worldbody><body><joint type="hindge"/></body></worldbody></mujoco>',
    "notes.txt": "coordinates q;",
    "free.kg": "parameters m1; coordinates q; Arm | Ry(q) | Sz(-1), m(m1);",
    "light.kg": "coordinates q; Arm | Ry(q) |;",
    "short.kg": (
        "coordinates a, b; A | Rz(a) | Sx(0.5), m(1), Jz(1); B~A | Sx(1), Rz(b) | Sx(0.5), m(1), Jz(1);"
        "loop pin | revolute | B: Sx(1) | Sx(5);"
    ),
    "flat.kg": (
        "coordinates a = pi/2, b = 0, c = pi/2; gravity 0, -9.81, 0; A | Rz(a - pi/2) | Sx(0.5), m(1), Jz(1);"
        "B~A | Sx(1), Rz(b) | Sx(0.5), m(1), Jz(1); C | Sx(1), Rz(c - pi/2) | Sx(0.5), m(1), Jz(1);"
        "loop pin | revolute | B: Sx(1) | C: Sx(1);"
    ),
}

#: Calls of functions, by what is wrong.
CALLS: dict[str, Callable[[], object]] = {
    "file name given to parse": lambda: kg.parse("arm.kg"),
    "missing file": lambda: kg.load("arm.kg"),
    "misspelled library model": lambda: kg.load("puma650"),
    "broken XML": lambda: kg.load("broken.urdf"),
    "unknown joint type in URDF": lambda: kg.load("joint.urdf"),
    "unknown parent link in URDF": lambda: kg.load("parent.urdf"),
    "unknown joint type in MJCF": lambda: kg.load("hinge.xml"),
    "unknown quantity": lambda: kg.compile("double-pendulum", "mass_matrx"),
    "unknown effort": lambda: kg.compile("double-pendulum", "H", effort="hard"),
    "unknown parameter": lambda: kg.compile("double-pendulum", "H", parameters={"mass": 1}),
    "parameter without a value": lambda: kg.compile("free.kg", "H"),
    "body without mass": lambda: kg.compile("light.kg", "qdd"),
    "array of the wrong size": lambda: kg.compile("double-pendulum", "H")(np.zeros(3)),
    "formula as a string": lambda: kg.Builder("m").parameter("a", "2*b"),
}

#: Command lines, by what is wrong.
COMMANDS = {
    "unknown command": "simulat double-pendulum",
    "unknown option": "simulate double-pendulum --durration 1",
    "missing argument": "simulate",
    "check of a missing file": "check arm.kg",
    "unknown quantity on the command line": "eval double-pendulum -q tua",
    "unknown parameter on the command line": "eval double-pendulum -q H --set mass=1",
    "negative duration": "simulate double-pendulum --for -1",
    "unknown integration method": "simulate double-pendulum --for 1 --method euler",
    "loop that cannot be closed": "simulate short.kg --for 1",
    "singular position": "eval flat.kg -q qdd",
}


def provoked() -> Iterator[tuple[str, str, str]]:
    """What is wrong, what was typed, and the message, for each provocation."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, text in FILES.items():
                Path(name).write_text(text, encoding="utf-8")
            for what, text in MODELS.items():
                yield what, text, _message(lambda text=text: kg.parse(text))
            for what, call in CALLS.items():
                yield what, _source(what), _message(call)
            for what, line in COMMANDS.items():
                yield what, f"kinegraph {line}", _printed(line)
        finally:
            os.chdir(before)


def _message(call: Callable[[], object]) -> str:
    try:
        call()
    except Exception as error:  # whatever a newcomer meets
        name = "" if isinstance(error, kg.KinegraphError) else f"{type(error).__name__}: "
        return f"{name}{error}"
    return "(no error)"


def _printed(line: str) -> str:
    from kinegraph.cli import main

    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(shlex.split(line))
        except SystemExit as stop:
            code = stop.code
    assert code, line
    return err.getvalue().strip()


def _source(what: str) -> str:
    """The call as it is written above."""
    found = re.search(rf'"{what}": lambda: (.*),\n', Path(__file__).read_text(encoding="utf-8"))
    assert found
    return found[1]


def golden_text() -> str:
    """All messages, each below what provokes it."""
    return "\n".join(f"# {what}\n{_indented('> ', typed)}\n{message}\n" for what, typed, message in provoked())


def _indented(mark: str, text: str) -> str:
    return "\n".join(mark + line for line in text.splitlines())


def _read(text: str) -> dict[str, tuple[str, str]]:
    """What was typed and the message, by what is wrong."""
    found = {}
    for part in re.split(r"^# ", text, flags=re.MULTILINE)[1:]:
        what, _, rest = part.partition("\n")
        lines = rest.rstrip("\n").split("\n")
        typed = [line[2:] for line in lines if line.startswith("> ")]
        found[what] = "\n".join(typed), "\n".join(line for line in lines if not line.startswith("> "))
    return found


_HEAD = """# Error messages

The errors that newcomers meet most often, with the former messages and those of this version. An
error says what is wrong, where, and what to write instead. `python -m tests.messages` writes this
page; a test compares it with what the program says.

| what is wrong | before | now |
|---|---|---|
"""


def page(golden: str, before: str) -> str:
    """The page with the messages of two versions beside each other."""
    old, rows = _read(before), []
    for what, (typed, message) in _read(golden).items():
        cells = f"{what}: {_code(typed)}", _cell(old[what][1] if what in old else ""), _cell(message)
        rows.append(f"| {' | '.join(cells)} |")
    return _HEAD + "\n".join(rows) + "\n"


def _code(text: str) -> str:
    return f"``{_escaped(' '.join(text.split()))}``"


def _cell(text: str) -> str:
    return "<br>".join(_escaped(line.strip()) for line in text.splitlines() if line.strip())


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    if sys.argv[1:]:  # of another version: `PYTHONPATH=other/src:. python -m tests.messages FILE`
        Path(sys.argv[1]).write_text(golden_text(), encoding="utf-8")
    else:
        MESSAGES.write_text(golden_text(), encoding="utf-8")
        PAGE.write_text(page(MESSAGES.read_text("utf-8"), BEFORE.read_text("utf-8")), encoding="utf-8")
