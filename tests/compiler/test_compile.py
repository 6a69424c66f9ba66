"""The driver: which kernel comes out, what it takes, and that a second run finds everything on disk."""

from __future__ import annotations

import random
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler import stored
from kinegraph.compiler.compile import LARGE
from kinegraph.compiler.request import Quantities, arguments_of, quantities_of, request_of
from kinegraph.compiler.stage_records import Derived, Reduced
from kinegraph.derive.plan import ForwardMethod, InertiaMethod, Plan
from kinegraph.derive.quantities.plan_search import Candidate, PlanSearch
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.errors import GraphError, KernelError, ModelError
from kinegraph.graph.count import Operations
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Output, Polynomial
from kinegraph.jit import cache
from kinegraph.model.evaluate import parameter_values
from kinegraph.passes.pipeline import Reduction
from kinegraph.recursive.kernel import RecursiveKernel
from tests.effort import SOAK


@pytest.mark.parametrize("large", [LARGE if SOAK else 30])
def test_large_mechanisms_are_looped_and_agree_with_straight_code(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinegraph.compiler.compile.LARGE", large)
    chain = kg.load(f"pendulum-{large + 1}")
    looped = kg.compile(chain, "tau,energy")
    assert isinstance(looped, RecursiveKernel)
    straight = kg.compile(chain, "tau,energy", loops=False)
    q, v, a = np.random.default_rng(1).uniform(-1, 1, (3, large + 1))
    first, second = looped(q, v, a), straight(q, v, a)
    scale = np.abs(second["tau"]).max()
    np.testing.assert_allclose(first["tau"] / scale, second["tau"] / scale, atol=1e-12)
    np.testing.assert_allclose(first["energy"], second["energy"], rtol=1e-12)


def test_looped_kernel_takes_batches_names_and_complains_clearly() -> None:
    kernel = kg.compile(kg.load("pendulum-3"), "tau", loops=True)
    q, v, a = np.random.default_rng(2).uniform(-1, 1, (3, 4, 3))
    batch = kernel.batch(q, v, a)
    assert batch.shape == (4, 3)
    np.testing.assert_allclose(batch[2], kernel(q=q[2], v=v[2], a=a[2]))
    with pytest.raises(KernelError, match="takes q, v, a"):
        kernel(q[0], v[0])
    with pytest.raises(KernelError, match="loops=False"):
        _ = kernel.address
    with pytest.raises(KernelError, match="loops=False"):
        kernel.batch(q, v, a, out=batch)
    with pytest.raises(KernelError, match="loops compute tau, qdd, energy only"):
        kg.compile(kg.load("pendulum-3"), "H", loops=True)


def test_arguments_are_what_the_quantities_depend_on() -> None:
    mechanism = kg.load("double-pendulum")
    assert [argument.name for argument in arguments_of(mechanism, "H,gravity")] == ["q"]
    assert [argument.name for argument in arguments_of(mechanism, "qdd,energy")] == ["q", "v", "tau"]
    driven = kg.parse("coordinates q; Arm | Rz(3*t), Sx(q) | m(1);")
    assert [argument.name for argument in arguments_of(driven, "tau")] == ["q", "v", "a", "t"]


def test_runtime_parameters_are_the_last_argument() -> None:
    mechanism = kg.load("double-pendulum")
    names = [parameter.name for parameter in mechanism.parameters]
    fixed = kg.compile(mechanism, "gravity")
    free = kg.compile(mechanism, "gravity", runtime=names)
    values = [float(parameter_values(mechanism)[name]) for name in names]
    q = [0.3, -0.4]
    np.testing.assert_allclose(free(q, values), fixed(q), rtol=1e-14)
    heavier = dict(zip(names, values, strict=True)) | {"m1": 3.0}
    np.testing.assert_allclose(
        free(q, list(heavier.values())), kg.compile(mechanism, "gravity", parameters={"m1": 3})(q), rtol=1e-14
    )


def test_unknown_names_are_refused() -> None:
    mechanism = kg.load("double-pendulum")
    with pytest.raises(KernelError, match="runtime parameter 'mass'"):
        kg.compile(mechanism, "tau", runtime=["mass"])
    with pytest.raises(ModelError, match="unknown parameter 'mass'"):
        kg.derive(mechanism, "tau", parameters={"mass": 1})


@pytest.mark.parametrize(("stage", "record"), [("derived", Derived), ("reduced", Reduced)])
def test_graphs_are_kept_and_survive_damage(
    stage: str, record: type[Derived] | type[Reduced], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path / "cache"))
    request = request_of(kg.load("double-pendulum"), "tau", numeric=True)
    first = getattr(stored, stage)(request)
    (file,) = cache.directory().glob(f"{stage}-*")
    assert request.key in file.name
    assert getattr(stored, stage)(request) == first == record.read(first.dump())
    file.write_bytes(b"rubbish")
    assert getattr(stored, stage)(request).graph == first.graph


def test_what_is_kept_is_not_derived_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path / "cache"))
    request = request_of(kg.load("double-pendulum"), "tau")
    first = stored.derived(request)
    other = stored.derived(request_of(kg.load("double-pendulum"), "tau", parameters={"m1": 7}))
    assert other.graph != first.graph and stored.derived(request, cache=False) == first

    def again(search: PlanSearch, budget: int = 0) -> None:
        raise AssertionError("derived again")

    monkeypatch.setattr(PlanSearch, "best", again)
    assert stored.derived(request) == first
    with pytest.raises(AssertionError, match="derived again"):
        _ = stored.derived(request, cache=False)


def test_plans_of_all_kinds_are_read_as_they_were_written() -> None:
    search, chance = PlanSearch(kg.load("puma560"), quantities_of("tau"), {}), random.Random(0)
    plan = Plan(euler=frozenset(), inertia=InertiaMethod.WRENCHES, forward=ForwardMethod.ARTICULATED, segment=3)
    graph = kg.derive("double-pendulum", "H")
    changed = set()
    for _ in range(60):
        assert Derived.read(Derived("key", plan, graph).dump()) == Derived("key", plan, graph)
        plan = search.neighbor(plan, chance)
        changed |= {one.name for one in fields(plan) if getattr(plan, one.name)}
    assert changed >= {"in_parent_frame", "origin_shifts", "euler", "propagated", "axial_moments"}


def test_numeric_and_symbolic_parameters_give_the_same_numbers() -> None:
    mechanism = kg.load("puma560")
    symbolic, numeric = kg.derive(mechanism, "H"), kg.derive(mechanism, "H", numeric=True)
    state = dict(zip(mechanism.layout.positions, np.linspace(-1, 1, 6), strict=True))
    values = {name: float(value) for name, value in parameter_values(mechanism).items()}
    np.testing.assert_allclose(interpret(symbolic, state | values)["H"], interpret(numeric, state)["H"], atol=1e-13)


@pytest.mark.parametrize("word", ["l1", "p"])
def test_derivatives_by_parameters_are_taken_before_they_get_their_values(word: str) -> None:
    mechanism = kg.load("double-pendulum")
    names = [parameter.name for parameter in mechanism.parameters]
    q, v, a = np.array([0.3, -0.7]), np.array([0.2, 0.5]), np.array([1.0, -2.0])
    found = kg.compile(mechanism, f"d(tau)/d({word})")(q, v, a)
    values = {name: float(value) for name, value in parameter_values(mechanism).items()}
    tau = kg.compile(mechanism, "tau", runtime=names)
    step = 1e-6
    for column, name in enumerate(names if word == "p" else [word]):
        more, less = (list((values | {name: values[name] + sign * step}).values()) for sign in (1, -1))
        expected = (tau(q, v, a, more) - tau(q, v, a, less)) / (2 * step)
        np.testing.assert_allclose(found[:, column] if word == "p" else found, expected, atol=1e-7)


def test_a_reduction_that_makes_the_kernel_slower_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_of(kg.load("double-pendulum"), "tau", numeric=True)
    taken, derived = stored.chosen(request, cache=False).graph, stored.derived(request, cache=False).graph
    assert kg.count(taken).total < kg.count(derived).total
    longer = iter((10, 11))  # cycles before and after
    monkeypatch.setattr("kinegraph.codegen.estimate.estimated_cycles", lambda binding, fused: next(longer))
    assert stored.chosen(request, cache=False).graph == derived


TWICE = ["H,H", " H ,H,H", ["H", "H"], [Quantity("H"), "H"], "gravity,H,gravity", "d(H)/d(q),d( H )/d( q )"]


@pytest.mark.parametrize("wanted", TWICE)
def test_a_quantity_named_twice_is_one_the_first_time_and_later(
    wanted: Quantities, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph of two outputs of one name was compiled, kept, and refused when it was read again."""
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path / "cache"))
    mechanism, q = kg.load("double-pendulum"), [0.1, 0.2]
    names = dict.fromkeys(str(quantity) for quantity in quantities_of(wanted))
    expected = kg.compile(mechanism, list(names))(q)
    for _ in range(3):
        np.testing.assert_equal(kg.compile(mechanism, wanted)(q), expected)
    assert [output.name for output in kg.derive(mechanism, wanted).outputs] == list(names)


def test_nothing_that_breaks_the_law_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path / "cache"))
    unlawful = Graph((Polynomial(((1, ()),)), Polynomial(((1, ()),))), (Output("H", (2,), (0, 1)),))
    monkeypatch.setattr("kinegraph.compiler.reduce.reduce", lambda graph, *_, **__: Reduction(unlawful, (), True))
    with pytest.raises(GraphError, match="repeats"):
        kg.compile(kg.load("double-pendulum"), "H")
    assert {path.name.split("-")[0] for path in cache.directory().glob("*")} == {"derived"}  # which keeps the law
    monkeypatch.setattr(PlanSearch, "best", lambda *_: Candidate(Plan(), unlawful, Operations()))
    with pytest.raises(GraphError, match="repeats"):
        kg.compile(kg.load("double-pendulum"), "tau")
    assert len(list(cache.directory().glob("*"))) == 1


@pytest.mark.parametrize("text", ["", "{}", "[]", "rubbish", '{"graph": "%0 = 1\\n%1 = 1\\n"}', "\ud800"])
def test_what_is_kept_is_read_with_the_same_care(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole files with rubbish in them are made anew, as damaged ones are."""
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path / "cache"))
    mechanism, q = kg.load("double-pendulum"), [0.1, 0.2]
    expected = kg.compile(mechanism, "H")(q)
    for path in cache.directory().glob("*"):
        if not path.name.startswith("kinegraph_"):  # machine code is checked by its digest alone
            cache.save(path.stem, text.encode("utf-8", "surrogatepass"))
    np.testing.assert_array_equal(kg.compile(mechanism, "H")(q), expected)


@pytest.mark.parametrize("wanted", ["", " , ", [], None, 5, [5], {"H": 1}.values()])
def test_what_names_no_quantity_is_refused(wanted: object) -> None:
    with pytest.raises(kg.KinegraphError, match=r"name one or more|is not a name of quantities"):
        kg.compile(kg.load("double-pendulum"), wanted)  # type: ignore[arg-type]


def test_parameters_of_run_time_need_no_value_before() -> None:
    """As in code from the store: a value that arrives later, and one that is a formula of it."""
    late = kg.parse("parameters m, J = m/10; coordinates q; gravity 0, -9.81, 0; Bob | Rz(q) | Sx(1), m(m), Jz(J);")
    kernel = kg.compile(late, "H", runtime=["m"])
    assert kernel([0.3], [2.0]) == pytest.approx(2.2)
    with pytest.raises(ModelError, match="the parameter m has no value"):
        kg.compile(late, "H")
