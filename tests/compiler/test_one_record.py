"""Each request has one record a stage: all commands read the same one, and what they show is what is compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.bind import straight_kernel
from kinegraph.compiler.derive import Derivations
from kinegraph.compiler.plan_selection import PlanSelection
from kinegraph.compiler.request import Request, request_of
from kinegraph.compiler.stored import chosen, derived, reduced, resolve_closure
from kinegraph.derive.quantities.plan_search import Candidate, PlanSearch
from kinegraph.errors import DerivationError, ProofError
from kinegraph.graph import text
from kinegraph.graph.node import Graph
from kinegraph.interrupt import Interrupt
from kinegraph.jit import cache as disk
from kinegraph.jit.kernel import KernelOptions
from kinegraph.store import add
from tests.cli.run import data, runner

MODEL = "pendulum-3"  # no parameters: numbers and symbols are the same
COMMANDS = {
    "count": "count {} -q qdd --effort quick",
    "inspect": "inspect {} --stage reduced -q qdd",
    "derive": "derive {} -q qdd",
    "eval": "eval {} -q qdd",
    "export": "export {} -q qdd --to c -o {{}}",
    "simulate": "simulate {} --for 0.001",
    "view": "view {} -o {{}}/page.html",
    "store": "",
}


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, str]]:
    """Keys and quantities of the requests whose records are read."""
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path / "cache"))
    found: list[tuple[str, str]] = []
    stored_as = Request.stored_as

    def watched(request: Request, stage: str, *more: object) -> str:
        found.append((request.key, ",".join(map(str, request.quantities))))
        return stored_as(request, stage, *more)

    monkeypatch.setattr(Request, "stored_as", watched)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_the_record_of_its_request(
    command: str, used: list[tuple[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mechanism = kg.load(MODEL)
    expected = request_of(mechanism, "qdd", numeric=True).key
    if command == "store":
        add(kg.open_store(tmp_path / "store.sqlite"), mechanism, "qdd")
    else:
        line = COMMANDS[command].format(MODEL).format(tmp_path)
        assert runner(capsys)(line).code == 0
    assert {key for key, quantities in used if quantities == "qdd"} == {expected}


CUT = """model cut_four_bar;
coordinates q1 = 1.3939465633361556, q2 = -0.8683866399823039, q3 = -2.004651305620627;
gravity 0, -9.81, 0;
Crank          | Rz(q1)         | Sx(0.5), m(1), Jz(0.1);
Coupler~Crank  | Sx(1), Rz(q2)  | Sx(1.5), m(3), Jz(0.9);
Rocker~Coupler | Sx(3), Rz(q3)  | Sx(1.25), m(2), Jz(0.5);
loop pin | revolute | Rocker: Sx(2.5) | Sx(3);
cut Coupler;
"""


@pytest.mark.parametrize("command", [one for one in COMMANDS if one != "count"])
def test_commands_cut_loops_where_compile_does(
    command: str, used: list[tuple[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "cut.kg"
    model.write_text(CUT, "utf-8")
    mechanism = kg.load(model)
    expected = resolve_closure(request_of(mechanism, "qdd", numeric=True), ())
    assert expected.cut == ("Coupler",)
    if command == "store":
        add(kg.open_store(tmp_path / "store.sqlite"), mechanism, "qdd")
    else:
        assert runner(capsys)(COMMANDS[command].format(model).format(tmp_path)).code == 0
    assert {key for key, quantities in used if quantities == "qdd"} == {expected.key}


def test_inspect_prints_what_is_compiled_with_passes_of_ones_own(
    used: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, passes = runner(capsys), "products,  monomials( degree=4 )"
    kernel = kg.compile("double-pendulum", "tau", passes=passes)
    assert isinstance(kernel, Kernel) and kernel.proof is not None
    shown = run("inspect double-pendulum -q tau --stage reduced --passes", passes).out
    request = request_of(kg.load("double-pendulum"), "tau", numeric=True, passes=passes)
    assert request.passes == "products, monomials(degree=4)"
    usual = run("inspect double-pendulum -q tau --stage reduced").out
    assert shown == text.dump(reduced(request).graph) != usual
    found = data(run(f"export double-pendulum -q tau --to c --json -o {tmp_path} --passes", passes))
    assert found["functions"][0]["operations"] == str(kg.count(chosen(request).graph))
    with pytest.raises(DerivationError, match="passes is 3: write their names"):
        request_of(kg.load("double-pendulum"), "tau", passes=3)  # type: ignore[arg-type]
    wrong = run("inspect double-pendulum --passes monomial")
    assert wrong.code == 2 and "unknown pass 'monomial'" in wrong.err


def test_inspect_says_where_compile_would_take_loops(
    used: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runner(capsys)
    assert "by loops over bodies" not in run("inspect pendulum-3 --stage program").err
    monkeypatch.setattr("kinegraph.compiler.compile.LARGE", 2)
    assert "by loops over bodies" in run("inspect pendulum-3 --stage program").err


def test_inspect_prints_what_is_compiled(used: object, capsys: pytest.CaptureFixture[str]) -> None:
    run = runner(capsys)
    mechanism = kg.load("double-pendulum")
    kernel = kg.compile(mechanism, "tau")
    assert isinstance(kernel, Kernel)
    shown = {
        stage: run(f"inspect double-pendulum --stage {stage}").out for stage in ("reduced", "chosen", "ir", "program")
    }
    assert shown["chosen"] == text.dump(kernel.graph) and shown["ir"] == kernel.ir
    assert shown["program"] == f"{kernel.program}\n"
    assert shown["reduced"] == text.dump(reduced(request_of(mechanism, "tau", numeric=True)).graph)


def test_records_can_be_printed(used: object) -> None:
    request = request_of(kg.load("puma560"), "tau", numeric=True)
    assert str(request) == "puma560: tau"
    for record in (derived(request), reduced(request), chosen(request)):
        assert "nodes" in str(record) and len(str(record)) < 400
    assert "proved equal to the equations as first derived" in str(reduced(request))


@pytest.mark.parametrize(
    ("model", "quantities"),
    [
        ("puma560", "tau"), ("puma560", "H,gravity"), ("puma560", "d(qdd)/d(q),d(qdd)/d(v)"), ("free-body", "qdd"),
        ("kidym-biped-new", "qdd"), ("puma560", "regressor,base_parameters"), ("heavy-top", "energy,momentum"),
    ],
)  # fmt: skip
def test_kernels_are_proved_the_whole_way(model: str, quantities: str, used: object) -> None:
    """Also where limbs are computed side by side, and where the last linear system is solved in loops."""
    first, again = (kg.compile(model, quantities) for _ in range(2))
    for kernel in (first, again):
        assert isinstance(kernel, Kernel) and kernel.proof is not None and kernel.proof.first > 0
        assert "as first derived" in str(kernel.proof)


def test_what_is_not_equal_to_the_first_equations_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong plan would pass a proof of the reduction alone."""
    request = request_of(kg.load("double-pendulum"), "H", numeric=True)
    other = kg.derive("double-pendulum", "H", numeric=True, parameters={"m1": 7})
    monkeypatch.setattr(Derivations, "first", lambda *_: (other, 0.0))
    with pytest.raises(ProofError, match="differ in output 'H'"):
        straight_kernel(request, options=KernelOptions(cache=False))


def test_an_interrupted_reduction_is_not_kept(monkeypatch: pytest.MonkeyPatch, used: object, tmp_path: Path) -> None:
    from kinegraph.compiler import reduce as module

    reduce = module.reduce

    def interrupted(graph: Graph, *arguments: Any, **options: Any) -> Any:
        from dataclasses import replace

        return replace(reduce(graph, *arguments, **options), interrupted=True)

    monkeypatch.setattr(module, "reduce", interrupted)
    found = reduced(request_of(kg.load("double-pendulum"), "H"))
    assert np.all([one.nodes for one in found.graph.outputs])
    assert not list((tmp_path / "cache").glob("reduced-*"))


def test_a_plan_whose_search_was_interrupted_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, used: object, tmp_path: Path
) -> None:
    def interrupted(
        contest: PlanSelection, plans: PlanSearch, start: Candidate, seed: int, interrupt: Interrupt
    ) -> Candidate:
        interrupt.request()
        return start

    request = request_of(kg.load("double-pendulum"), "tau", effort="normal")
    with monkeypatch.context() as patch:
        patch.setattr(PlanSelection, "winner", interrupted)
        assert len(derived(request).graph) > 0 and len(chosen(request).graph) > 0
        assert not list((tmp_path / "cache").glob("derived-*")) and not list((tmp_path / "cache").glob("chosen-*"))
    assert len(derived(request).graph) > 0
    assert list((tmp_path / "cache").glob("derived-*"))


def test_a_record_that_cannot_be_read_is_made_anew(used: object) -> None:
    request = request_of(kg.load("double-pendulum"), "tau", numeric=True)
    first = reduced(request)
    for wrong in ("", "{}", '{"key": 1, "graph": "no graph"}', "[]", "null"):
        disk.save(request.stored_as("reduced"), wrong.encode())
        assert reduced(request).graph == first.graph
