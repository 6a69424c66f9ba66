"""The records of one request, from Request to Kernel: frozen, short when shown, with names `inspect --stage` knows."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

import kinegraph as kg
from kinegraph.cli.inspect import Stage, stage_text
from kinegraph.compiler.bind import straight_kernel
from kinegraph.compiler.request import Request, request_of
from kinegraph.compiler.stored import chosen, derived, reduced
from kinegraph.graph import law, text

#: What each record says of itself.
SAID = {
    "Request": "puma560: gravity; parameters known: ",
    "Derived": "derived: ",
    "Reduced": "proved equal to the equations as first derived",
    "Chosen": "kernel: ",
    "Bound": "bound: (q[6]) -> 6 numbers; ",
    "Program": "instructions, 6 numbers -> 6",
    "StraightKernel": "(q[6]) -> gravity[6]: ",
}


@pytest.fixture(scope="module")
def request_() -> Request:
    return request_of(kg.load("puma560"), "gravity", numeric=True)


@pytest.fixture(scope="module")
def records(request_: Request) -> list[object]:
    kernel = straight_kernel(request_)
    stages = [derived(request_), reduced(request_), chosen(request_)]
    return [request_, *stages, kernel.binding, kernel.program, kernel]


def test_every_record_is_shown_on_one_line(records: list[object]) -> None:
    assert [type(one).__name__ for one in records] == list(SAID)
    for one, said in zip(records, SAID.values(), strict=True):
        shown = repr(one)
        assert said in shown and "\n" not in shown and len(shown) < 300
        assert shown.startswith("<") and shown.endswith(">")


def test_every_record_is_frozen(records: list[object]) -> None:
    for one in records[:-1]:  # a kernel loads its code when it is first called
        with pytest.raises(FrozenInstanceError):
            setattr(one, fields(one)[0].name, None)  # type: ignore[arg-type]


def test_graphs_of_records_obey_the_law(records: list[object]) -> None:
    graphs = [one.graph for one in records if hasattr(one, "graph")]
    assert len(graphs) == 5
    for graph in graphs:
        law.check(graph)


def test_inspect_prints_the_records(request_: Request) -> None:
    kernel = straight_kernel(request_)
    wanted = {
        Stage.REQUEST: f"{request_!r}\nkey {reduced(request_).key}\n",
        Stage.DERIVED: text.dump(derived(request_).graph),
        Stage.REDUCED: text.dump(reduced(request_).graph),
        Stage.CHOSEN: text.dump(kernel.graph),
        Stage.BOUND: f"{kernel.binding}\n",
        Stage.PROGRAM: f"{kernel.program}\n",
    }
    assert {stage: stage_text(request_, stage) for stage in wanted} == wanted


def test_what_is_bound_is_listed_completely() -> None:
    bound = straight_kernel(request_of(kg.load("puma560"), "gravity", numeric=True)).binding
    lines = str(bound).splitlines()
    assert len(lines) == len(bound.inputs) + len(bound.statics)
    assert any(line.endswith("] q2") for line in lines)
