"""Versions: both are kept, differences are shown, and what nothing refers to can be removed."""

import pytest
from sqlalchemy import func, select

from kinegraph.errors import StoreError
from kinegraph.graph.count import Operations
from kinegraph.io import parse
from kinegraph.store import GraphRecord, ModelRecord, PassRecord, add, check, diff, load, prune, save, save_run
from kinegraph.store import save_source as keep_source
from kinegraph.store import tables as schema
from kinegraph.store.maintenance import CountChange, records
from kinegraph.store.queries import describe
from tests.store.graphs import put, random_graph

ARM = """
model arm;
parameters l = {length};
coordinates a, b;
gravity 0, 0, -9.81;
First | Ry(a), Sx(l) | m(2), Jy(0.1);
Second~First | Ry(b), Sx(l){more} | m(1), Jy(0.05);
"""


def arm(length="0.5", more=""):
    return parse(ARM.format(length=length, more=more))


def rows(store, table):
    with store.reading() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar()


def test_a_changed_mechanism_is_a_new_version(store):
    assert add(store, arm(), "tau").version == 1
    assert add(store, arm(), "tau").version == 1
    assert add(store, arm(more=", Rx(0.3)"), "tau").version == 2
    assert load(store, "arm@1:initial") != load(store, "arm@2:initial")
    found = diff(store, "arm")
    assert (found.old, found.new) == (1, 2)
    assert len(found.removed) == len(found.added) == 1
    assert "Second~First" in found.removed[0] and "Rx(0.3)" not in found.removed[0]
    assert "Rx(0.3)" in found.added[0]
    assert "initial" in {change.stage for change in found.counts}
    assert diff(store, "arm", 2, 1).added == found.removed


def test_a_diff_shows_the_parameter_that_changed():
    old, new = (
        records(f"parameters a = 1, b = atan2(1, max(2, 3)), c = {c}; coordinates q; A | Rz(q) | m(c), Jz(1);")
        for c in (3, 4)
    )
    assert [one for one in old if one not in new] == ["parameters c = 3;"]
    assert "parameters b = atan2(1, max(2, 3));" in new


def test_counts_that_changed(store):
    for text, mul in (("one", 5), ("two", 3)):
        passes = (PassRecord("any", Operations(mul=9)), PassRecord("last", Operations(mul=mul)))
        same = GraphRecord("initial", ("y",), random_graph(1), (PassRecord("p", Operations(add=1)),))
        save(store, ModelRecord("m", text, (same, GraphRecord("reduced", ("y",), random_graph(1), passes))))
    save(store, ModelRecord("m", "three"))
    assert diff(store, "m", 1, 2).counts == (CountChange("reduced", ("y",), Operations(mul=5), Operations(mul=3)),)
    assert [change.after for change in diff(store, "m").counts] == [None, None]


def test_one_version_has_nothing_to_compare(store):
    put(store, random_graph(1))
    with pytest.raises(StoreError, match="only one version"):
        diff(store, "model")
    with pytest.raises(StoreError, match="no version 7"):
        diff(store, "model", 7)


def test_prune_removes_what_nothing_refers_to(store, tmp_path):
    first = put(store, random_graph(1))
    second = put(store, random_graph(2))
    save(store, ModelRecord("model", "a text without graphs"))
    save(store, ModelRecord("model", "the newest text"))
    there, gone = tmp_path / "there.parquet", tmp_path / "gone.parquet"
    there.write_text("result")
    save_run(store, second.mechanism, {"for": 10, "set": {"q1": 1.5}}, there, second.graphs[0])
    save_run(store, second.mechanism, {}, gone)
    assert check(store).warnings == (f"the result of run 2 is missing: {gone}",)
    wanted = prune(store, dry=True)
    assert (wanted.runs, wanted.graphs, wanted.mechanisms) == ((2,), first.graphs, ("model@2",))
    assert rows(store, schema.graph) == 2
    assert prune(store) == wanted
    assert not prune(store)
    assert load(store, second.graphs[0]) == random_graph(2)
    assert rows(store, schema.graph) == rows(store, schema.run) == 1
    assert describe(store, second.graphs[0]).runs[0]["settings"] == {"for": 10, "set": {"q1": 1.5}}
    assert check(store)


def test_graphs_in_use_are_not_pruned(store):
    first, second, last = (put(store, random_graph(seed)) for seed in range(3))
    keep_source(store, first.graphs[0], "c", ("y",), "int x;")
    save_run(store, second.mechanism, {}, graph=second.graphs[0])
    assert not prune(store)
    assert rows(store, schema.graph) == 3
    assert last.graphs[0] == 3


def test_prune_to_the_newest_versions(store):
    for number in range(4):
        record = GraphRecord("initial", ("y",), random_graph(number))
        saved = save(store, ModelRecord("m", f"text {number}", (record,)))
        save_run(store, saved.mechanism, {}, graph=saved.graphs[0])
    put(store, random_graph(9), "other")
    assert prune(store, keep_versions=2).mechanisms == ("m@1", "m@2")
    for table in (schema.variable, schema.term, schema.factor, schema.entry, schema.pass_count):
        with store.reading() as connection:
            assert set(connection.execute(select(table.c.graph)).scalars()) == {3, 4, 5}
    assert load(store, "m@3") == random_graph(2)
    assert check(store)
    with pytest.raises(StoreError, match="at least one"):
        prune(store, keep_versions=0)


def test_sources_are_kept_once(store):
    graph = put(store, random_graph(1)).graphs[0]
    assert keep_source(store, graph, "c", ("y",), "int x;") == keep_source(store, graph, "c", ("y",), "int x;")
    assert keep_source(store, graph, "c", ("y",), "int z;") == 2
    assert [one["language"] for one in describe(store, graph).sources] == ["c", "c"]


def test_settings_must_be_plain(store):
    mechanism = put(store, random_graph(1)).mechanism
    with pytest.raises(StoreError, match="plain JSON"):
        save_run(store, mechanism, {"x": object()})
    with pytest.raises(StoreError, match="plain JSON"):
        save_run(store, mechanism, {"x": float("nan")})
