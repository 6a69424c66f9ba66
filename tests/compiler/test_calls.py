"""Calls that a user may well try: each works, or says what to write instead; none ends in a raw Python error."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler.base_parameters import base_parameters
from kinegraph.compiler.mechanism_source import in_principal_axes, with_contacts
from kinegraph.docking.target import with_target
from kinegraph.errors import ModelError, SolveError, TaskError
from kinegraph.jit.kernel import KernelOptions
from kinegraph.tasks.follow import follow_by_spring
from kinegraph.tasks.pose_solver import NoClosedForm, pose_solver

NAME = "double-pendulum"


def _refusal(call: Callable[[], object]) -> str:
    """What is said of an arm without closed form, as a pendulum is."""
    with pytest.raises(NoClosedForm) as refused:
        call()
    return str(refused.value)


def _no_ring(call: Callable[[], object]) -> str:
    """What is said of a mechanism that has no ring to dock with."""
    with pytest.raises(SolveError) as refused:
        call()
    return str(refused.value)


def _no_platform(call: Callable[[], object]) -> str:
    """The error for a mechanism that is not a platform."""
    with pytest.raises(TaskError, match="is not a platform") as refused:
        call()
    return str(refused.value)


def _answer(call: Callable[[], object]) -> str:
    """The result as text, or why a pendulum has none."""
    try:
        return str(call())
    except TaskError as refused:
        return str(refused)


def _no_plane(call: Callable[[], object]) -> str:
    """What is said of a mechanism that nothing can touch."""
    with pytest.raises(ModelError) as refused:
        call()
    if "has no plane" not in str(refused.value):
        raise refused.value
    return str(refused.value)


#: How every public function that takes a mechanism is called with one; what they give can be compared.
CALLS: dict[str, Callable[[Any, Path], Any]] = {
    "assemble": lambda one, folder: kg.assemble(one).q.tolist(),
    "base_parameters": lambda one, folder: base_parameters(one),
    "campbell": lambda one, folder: _answer(lambda: kg.campbell(one, "q1'", 1, 2, times=3)),
    "continuation": lambda one, folder: str(kg.continuation(one, "m1", 1, 2, starts=2, points=4)),
    "compile": lambda one, folder: kg.compile(one, "H")([0.1, 0.2]).tolist(),
    "dock": lambda one, folder: _no_ring(lambda: kg.dock(one)),
    "derive": lambda one, folder: kg.derive(one, "H"),
    "equilibria": lambda one, folder: [point.q.tolist() for point in kg.equilibria(one, starts=2)],
    "export": lambda one, folder: [path.name for path in kg.export(one, "H", "c", folder).files],
    "fit": lambda one, folder: kg.fit(
        one, {"t": [0.1, 0.2, 0.3], "q1": [0.09, 0.06, 0.02]}, "amplitude", native=False
    ).values.tolist(),
    "flywheel": lambda one, folder: _answer(lambda: kg.flywheel(one, "m1", "q1'", 0.1, 1.0, times=5)),
    "follow": lambda one, folder: str(kg.follow(one, {"q1": "t", "q2": "0"}, [0, 0.1])),
    "follow_by_spring": lambda one, folder: str(
        follow_by_spring(one, {"q1": "t", "q2": "0"}, [0, 0.01], stiffness=100, native=False)
    ),
    "gradient": lambda one, folder: str(kg.gradient(one, 0.01, "m1")),
    "in_principal_axes": lambda one, folder: kg.write(in_principal_axes(one)),
    "first_integrals": lambda one, folder: str(kg.first_integrals(one)),
    "unknown_forces": lambda one, folder: str(
        kg.unknown_forces(one, {"q1": "t", "q2": "t^2"}, [0.5], unknown=["tau:q1", "tau:q2"])
    ),
    "inverse_kinematics": lambda one, folder: str(kg.inverse_kinematics(one, "Lower", np.eye(4), starts=2)),
    "linearize": lambda one, folder: kg.linearize(one, {"q1": 0, "q2": 0}).A.tolist(),
    "lock": lambda one, folder: kg.write(kg.lock(one, q1=0)),
    "modes": lambda one, folder: str(kg.modes(one, {"q1": 0, "q2": 0})),
    "order": lambda one, folder: str(kg.order(one, "model")),
    "point_motion": lambda one, folder: str(kg.point_motion(one, "tip")),
    "periodic_motion": lambda one, folder: _answer(
        lambda: kg.periodic_motion(one, 1.0, state={"q1": 0, "q2": 0}, times=5, native=False).state
    ),
    "pose_solver": lambda one, folder: _refusal(lambda: pose_solver(one, "Lower")),
    "reactions": lambda one, folder: str(kg.reactions(one, "Lower")),
    "robot": lambda one, folder: kg.robot(one).mass_matrix([0.1, 0.2]).tolist(),
    "response": lambda one, folder: str(kg.response(one, {"q1": 0, "q2": 0}, frequencies=[1.0])),
    "platform_poses": lambda one, folder: _no_platform(lambda: kg.platform_poses(one, {"A_l": 1})),
    "sensitivities": lambda one, folder: kg.sensitivities(one, 0.01, "m1", progress=False).final.tolist(),
    "simulate_chains": lambda one, folder: _answer(
        lambda: kg.simulate_chains(one, 0.01, times=2, progress=False)["q1"].tolist()
    ),
    "simulator": lambda one, folder: kg.simulator(one, native=False).q.tolist(),
    "simulate": lambda one, folder: kg.simulate(one, 0.01, native=False, progress=False)["q1"].tolist(),
    "statics": lambda one, folder: str(kg.statics(one)),
    "study": lambda one, folder: kg.study(
        one, 0.01, vary={"m1": "uniform(1, 2)"}, cases=3, native=False, progress=False
    )["final(q1)"].tolist(),
    "sweep": lambda one, folder: kg.sweep(one, 0.01, over={"q1": [0.1]}, native=False, progress=False)["q1"].tolist(),
    "synthesize": lambda one, folder: kg.synthesize(
        one, 0.1, {"q1": 0.2}, {"amplitude": (0, 1)}, times=2, native=False
    ).values.tolist(),
    "synthesize_cycle": lambda one, folder: _answer(
        lambda: kg.synthesize_cycle(one, {"q1": "t", "q2": "0"}, {"stroke(tip.x)": 0.5}, {"l1": (0.5, 2)}, times=4)
    ),
    "synthesize_path": lambda one, folder: kg.synthesize_path(
        one, {"q1": "t", "q2": "0"}, {"tip.x": "0.1"}, {"l1": (0.5, 2)}, [0.1, 0.2]
    ).values.tolist(),
    "tolerances": lambda one, folder: _answer(
        lambda: kg.tolerances(one, ["tip.x"], {"l1": 0.01}, duration=0.1, times=2)
    ),
    "unbalance_response": lambda one, folder: _answer(
        lambda: kg.unbalance_response(one, "q1'", {"Lower": 1e-3}, 1, 2, times=3)
    ),
    "view": lambda one, folder: kg.view(one, folder / "page.html").name,
    "with_contacts": lambda one, folder: _no_plane(lambda: with_contacts(one)),
    "with_target": lambda one, folder: _no_ring(lambda: with_target(one)),
    "workspace": lambda one, folder: _no_platform(lambda: kg.workspace(one, {"x": (0, 1)})),
    "write": lambda one, folder: kg.write(one),
}


def takes_mechanism(name: str) -> bool:
    """By its annotations, which are texts."""
    function = getattr(kg, name)
    if inspect.isclass(function) or not callable(function):
        return False
    first = next(iter(inspect.signature(function).parameters.values()), None)
    return first is not None and any(word in str(first.annotation) for word in ("Mechanism", "MechanismSource"))


#: Functions of subpackages that are tried as well.
OF_SUBPACKAGES = {
    "base_parameters", "follow_by_spring", "in_principal_axes", "pose_solver", "with_contacts", "with_target",
}  # fmt: skip


def test_every_function_that_takes_a_mechanism_is_tried() -> None:
    assert {name for name in kg.__all__ if takes_mechanism(name)} == CALLS.keys() - OF_SUBPACKAGES


@pytest.mark.parametrize("name", sorted(CALLS.keys() - OF_SUBPACKAGES))
def test_the_first_argument_is_called_model(name: str) -> None:
    first = next(iter(inspect.signature(getattr(kg, name)).parameters.values()))
    assert first.name == "model" and first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD


@pytest.mark.parametrize("name", CALLS)
def test_a_name_or_a_path_serves_as_a_mechanism(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{NAME}.kg"
    file.write_text(kg.library.text(NAME), encoding="utf-8")
    found = [CALLS[name](one, tmp_path) for one in (kg.load(NAME), NAME, file, str(file))]
    assert all(one == found[0] for one in found[1:])


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wrong", ["panda-that-is-not-there", "missing.urdf", Path("missing.kg"), 5, None, ["puma560"]])
def test_what_is_no_mechanism_is_a_clear_error(name: str, wrong: object, tmp_path: Path) -> None:
    with pytest.raises((kg.KinegraphError, FileNotFoundError)):
        CALLS[name](wrong, tmp_path)


BAD_OPTIONS = [
    {"threads": "a"}, {"threads": 0}, {"threads": 1.5}, {"threads": True}, {"lanes": 3}, {"lanes": "4"}, {"lanes": 4.0},
    {"chunk": "x"}, {"chunk": 5}, {"chunk": 100.0}, {"cache": "no"}, {"cache": None}, {"side_by_side": 1},
]  # fmt: skip


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=str)
def test_options_of_the_wrong_kind_are_refused(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(kg.KinegraphError, match=f"{name} is .*: give"):
        KernelOptions(**options)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"options": {"threads": 2}}, "give KernelOptions"),
    ({"options": "fast"}, "give KernelOptions"),
    ({"effort": "fast"}, "choose one of quick, normal, search"),
    ({"effort": None}, "choose one of quick"),
    ({"parameters": ["m1"]}, "by name"),
    ({"parameters": {"mass": 1}}, "unknown parameter 'mass'"),
    ({"parameters": {"m1": float("nan")}}, "finite"),
    ({"parameters": {"m1": "nothing"}}, "nothing"),
    ({"parameters": {"m1": None}}, "not a finite number"),
    ({"parameters": {"m1": [1, 2]}}, "not a finite number"),
    ({"runtime": "mass"}, "'mass' does not exist"),
    ({"runtime": ["m1", "m1"]}, "twice"),
    ({"runtime": [5]}, "5 does not exist"),
    ({"runtime": 5}, "runtime is 5"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=str)
def test_arguments_of_the_wrong_kind_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(kg.KinegraphError, match=message):
        kg.compile(NAME, "gravity", **arguments)


def test_what_can_be_understood_is() -> None:
    expected = kg.compile(kg.load(NAME), "gravity")([0.1, 0.2])
    np.testing.assert_array_equal(kg.compile(NAME, "gravity", effort="quick")([0.1, 0.2]), expected)  # a word
    one = kg.compile(NAME, "gravity", runtime="m1")  # a single name
    assert [symbol.name for symbol in one.arguments[-1].symbols] == ["m1"]
    np.testing.assert_array_equal(kg.compile(NAME, ["gravity"])([0.1, 0.2]), expected)
