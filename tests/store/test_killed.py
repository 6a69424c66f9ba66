"""Processes killed while they save, and several that save at once. Real processes, real signals, the real disk."""

import os
import random
import signal
import struct
import sys
import time
import traceback

import pytest

from kinegraph.store import check, load, open_store
from kinegraph.store.catalog import graph_rows
from tests.effort import SOAK
from tests.store.graphs import put, random_graph

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

GRAPHS = [random_graph(seed, nodes=150) for seed in range(4)]
KILLS = 100 if SOAK else 3


@pytest.fixture
def disk_target(backend, request, tmp_path):
    return str(tmp_path / "store.sqlite") if backend == "sqlite" else request.getfixturevalue("target")


def in_child(run) -> int:
    """Run in a forked process that never returns to the tests."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        run()
        code = 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(code)


def save_without_end(target: str, pipe: int, round_number: int) -> None:
    """Save graph after graph; every number in the pipe is that of a graph whose save has returned."""
    store = open_store(target)
    number = 0
    while True:
        saved = put(store, GRAPHS[number % len(GRAPHS)], f"round{round_number}")
        os.write(pipe, struct.pack("<qq", saved.graphs[0], number % len(GRAPHS)))
        number += 1


def reported(pipe: int) -> dict[int, int]:
    with os.fdopen(pipe, "rb") as stream:
        content = stream.read()
    whole = content[: len(content) // 16 * 16]
    return dict(struct.iter_unpack("<qq", whole))


def awaited(pipe: int, count: int) -> dict[int, int]:
    """The first saves that are reported, however long they take."""
    return dict(struct.unpack("<qq", os.read(pipe, 16)) for _ in range(count))


def time_of_a_save(target: str) -> float:
    reading, writing = os.pipe()
    child = in_child(lambda: save_without_end(target, writing, -1))
    started = time.monotonic()
    awaited(reading, 2)
    duration = (time.monotonic() - started) / 2
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    return duration


def test_killed_at_many_random_moments(disk_target):
    """After none, one or two saves that are known to be done, and somewhere in the next."""
    generator = random.Random(0)
    store = open_store(disk_target)
    longest = time_of_a_save(disk_target)
    committed = {}
    for round_number in range(KILLS):
        reading, writing = os.pipe()
        child = in_child(lambda: save_without_end(disk_target, writing, round_number))  # noqa: B023
        os.close(writing)
        committed |= awaited(reading, round_number % 3)
        time.sleep(generator.uniform(0.0, longest))
        os.kill(child, signal.SIGKILL)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        committed |= reported(reading)
        with store.reading() as connection:
            there = {row.id for row in graph_rows(connection)}
        assert committed.keys() <= there
        if round_number % 50 == 49:
            check(store).require()
    assert len(committed) >= KILLS - 1
    for graph, which in list(committed.items())[-10:]:
        assert load(store, graph) == GRAPHS[which]
    put(store, GRAPHS[0], "after")
    check(store).require()


def test_two_processes_write_at_once(disk_target):
    def write(name):
        store = open_store(disk_target)
        for number in range(6):
            put(store, GRAPHS[number % len(GRAPHS)], name)

    children = [in_child(lambda name=name: write(name)) for name in ("same", "same", "other")]
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store = open_store(disk_target)
    with store.reading() as connection:
        rows = graph_rows(connection)
    assert sorted(row.name for row in rows) == ["other"] * 6 + ["same"] * 12
    assert {row.version for row in rows} == {1}
    check(store).require()


def test_a_reader_sees_one_state_while_another_writes(store, target):
    put(store, GRAPHS[0])
    reading, writing = os.pipe()

    def write_when_told():
        os.read(reading, 1)
        put(open_store(target), GRAPHS[1])

    child = in_child(write_when_told)  # forked before a connection is open: SQLite's do not survive a fork
    with store.reading() as connection:
        before = len(graph_rows(connection))
        os.write(writing, b"!")
        assert {len(graph_rows(connection)) for _ in range(100)} == {before}
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with store.reading() as connection:
        assert len(graph_rows(connection)) == before + 1
