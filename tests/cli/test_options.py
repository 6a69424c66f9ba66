"""Commands, options and help: each command has the name of its function, each option that of its argument."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest
import typer

import kinegraph as kg
from kinegraph import cli
from kinegraph.cli.commands import COMMANDS, ELSEWHERE, RENAMED_OPTIONS, Entry
from kinegraph.cli.options import _PARAMETERS as READING
from tests.cli.run import data, runner

#: Commands of a function of the same name. `kg.count` takes a graph, so the command has options of its own.
OF_FUNCTIONS = sorted(
    name for name in COMMANDS if name.replace("-", "_") in kg.__all__ and name not in ("count", "load")
)
#: Options that are not arguments: output, the model and its parameters, and conveniences that the shell needs.
OF_ALL = {"json", "output", "plot", "page", "set", "quiet", "equilibrium", "help", "duration"} | {
    name.replace("_", "-") for name in READING
}
OF_ONE = {
    "assemble": {"all"},
    "derive": {"quantity", "latex", "raw", "passes"},
    "dock": {
        "distance", "speed", "angle", "port", "springs", "at-once", "cases", "seed", "limits", "schedule", "whole",
        "contact", "vary",
    },
    "export": {
        "to", "quantity", "name", "float", "libm", "symbolic-parameters", "combined", "chunk", "effort", "passes",
        "no-self-test", "fmi", "no-binary",
    },
    "fit": {"columns"},
    "inverse-kinematics": {"path", "times", "spring", "state", "points"},
    "point-motion": {"place"},
    "sensitivities": {"backward"},
    "simulate-chains": {"mpi"},
    "simulate": {"stop", "stop-if", "estimate-error", "show", "wrap"},
    "study": {"stop", "stop-if", "case", "mpi"},
    "synthesize": {"motion", "at-ends", "at-end"},
    "unknown-forces": {"data", "noise", "path"},
    "workspace": {"drives"},
}  # fmt: skip


def options(name: str) -> dict[str, typer.core.TyperOption]:
    """The options of a command by their full names, without the dashes."""
    found = {}
    for one in cli.loaded(name).params:
        if one.param_type_name == "option":
            found[next(word for word in one.opts if word.startswith("--"))[2:]] = one
    return found


def arguments(name: str) -> set[str]:
    """The arguments of a command's function, as options."""
    return {word.replace("_", "-") for word in inspect.signature(getattr(kg, name.replace("-", "_"))).parameters}


def strangers(name: str) -> set[str]:
    """Options that are not arguments. An option given repeatedly is the singular of its argument: --event, `events`."""
    known = arguments(name)
    return {
        word
        for word, one in options(name).items()
        if word not in known and not (one.multiple and ({f"{word}s", f"{word}es"} & known))
    }


@pytest.mark.parametrize("name", OF_FUNCTIONS)
def test_options_are_arguments_of_the_function(name: str) -> None:
    assert strangers(name) - OF_ALL == OF_ONE.get(name, set())


@pytest.mark.parametrize("name", [name for name, entry in COMMANDS.items() if isinstance(entry, Entry)])
def test_every_option_has_one_sentence_of_help(name: str) -> None:
    for word, one in options(name).items():
        assert one.help, word
        assert one.help[0].isupper() and one.help.rstrip("]`")[-1] not in ",;:", word


def test_for_is_short_for_duration(capsys: pytest.CaptureFixture[str]) -> None:
    run = runner(capsys)
    lines = [
        run(f"simulate double-pendulum {word} 0.1 --times 2 --interpret --json") for word in ("--for", "--duration")
    ]
    assert lines[0].code == 0 and lines[0].out.partition("statistics")[0] == lines[1].out.partition("statistics")[0]


@pytest.mark.parametrize("old", ELSEWHERE)
def test_an_old_command_names_the_new_one(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = runner(capsys)(f"{old} double-pendulum")
    assert result.code == 2 and f"kinegraph {ELSEWHERE[old]}" in result.err
    assert ELSEWHERE[old].split()[0] in COMMANDS and old not in COMMANDS


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("eval double-pendulum --at q1=1", "--state"),
        ("eval double-pendulum --at=q1=1", "--state"),
        ("equilibria double-pendulum --within q1=0:1", "--bounds"),
        ("equilibria double-pendulum --over m1=0:1", "kinegraph continuation"),
        ("simulate double-pendulum --points 10", "--times"),
        ("response double-pendulum --over 1:2", "--frequencies"),
        ("store eval double-pendulum --at q1=1", "--state"),
        ("simulate double-pendulum --set q1=1", "--state q1=1"),
        ("eval double-pendulum --set q1=1", "--state q1=1"),
    ],
)
def test_an_old_option_names_the_new_one(line: str, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = runner(capsys)(line)
    assert result.code == 2 and f"write {new}" in result.err.replace("`", "")


def test_no_command_has_an_option_of_the_old_name() -> None:
    for old in RENAMED_OPTIONS:
        if " " in old:
            name, word = old.split(" --")
            assert word not in options(name)
    for name, entry in COMMANDS.items():
        if isinstance(entry, Entry):
            assert not options(name).keys() & {"at", "within", "steps", "start", "trajectories", "results", "want"}


RESULTS: dict[str, Callable[[], Any]] = {
    "linearize double-pendulum --state q1=0,q2=0": lambda: kg.linearize("double-pendulum", {"q1": 0, "q2": 0}),
    "modes double-pendulum --state q1=0,q2=0": lambda: kg.modes("double-pendulum", {"q1": 0, "q2": 0}),
    "equilibria double-pendulum --starts 20": lambda: kg.equilibria("double-pendulum", starts=20),
    "continuation bead-on-hoop --over omega=3:6 --starts 2": lambda: kg.continuation(
        "bead-on-hoop", "omega", 3, 6, starts=2
    ),
    "statics double-pendulum --state q1=0.5": lambda: kg.statics("double-pendulum", {"q1": 0.5}),
    "point-motion double-pendulum --point tip": lambda: kg.point_motion("double-pendulum", "tip"),
    "inverse-kinematics puma560 --body L6 --pose 0.4,0.1,0.3": lambda: kg.inverse_kinematics(
        "puma560", "L6", [0.4, 0.1, 0.3]
    ),
    "sensitivities double-pendulum --by m1 --for 0.1 --times 2": lambda: kg.sensitivities(
        "double-pendulum", 0.1, "m1", times=2, progress=False
    ),
    "sensitivities double-pendulum --by m1 --for 0.1 --backward": lambda: kg.gradient(
        "double-pendulum", 0.1, "m1", progress=False
    ),
    "workspace stewart --over x=-1.6:-1.4 --points 3": lambda: kg.workspace("stewart", {"x": (-1.6, -1.4)}, points=3),
}


@pytest.mark.parametrize("line", RESULTS)
def test_json_is_what_to_dict_returns(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    printed = data(runner(capsys)(f"{line} --json"))
    returned = json.loads(json.dumps(RESULTS[line]().to_dict()))
    assert returned.items() <= printed.items() or returned == pytest.approx(printed, nan_ok=True)
