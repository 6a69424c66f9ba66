"""What can go wrong with a file or a server: a clear error each, and nothing lost."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import text

from kinegraph.errors import StoreError
from kinegraph.store import Form, check, evaluate, form_expressions, load, open_store, query
from tests.store.graphs import long_graph, put, random_graph

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def closed_store(tmp_path_factory):
    """A store of several pages."""
    path = tmp_path_factory.mktemp("store") / "store.sqlite"
    store = open_store(path)
    put(store, random_graph(1, nodes=2000))
    store.close()
    return path


@pytest.fixture
def file(closed_store, tmp_path):
    """The same, for one test."""
    return Path(shutil.copy(closed_store, tmp_path))


def unchanged(path, content):
    assert path.read_bytes() == content
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_newer_store_is_left_alone(target):
    store = open_store(target)
    put(store, random_graph(1))
    with store.writing() as connection:
        connection.execute(text("UPDATE kinegraph_store SET schema_version = 99"))
    store.close()
    with pytest.raises(StoreError, match=r"newer Kinegraph .table version 99.*update Kinegraph"):
        open_store(target)


@pytest.mark.parametrize("keep", [1, 50, 99, 100, 1024, 4096, 5000, 20_000])
def test_a_truncated_file(file, keep):
    os.truncate(file, keep)
    content = file.read_bytes()
    with pytest.raises(StoreError, match=r"truncated|not a database"):
        open_store(file)
    unchanged(file, content)


def test_damage_in_the_middle_is_found_when_it_is_read(file):
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 8192] = b"\xff" * 8192
    file.write_bytes(content)
    store = open_store(file)
    with pytest.raises(StoreError, match="damaged"):
        load(store, "model")
        check(store).require()
    store.close()
    assert file.read_bytes() == content


@pytest.mark.parametrize("content", [b"a text\n", b"%PDF-1.7 " * 1000, os.urandom(10_000)])
def test_a_file_that_is_no_database(tmp_path, content):
    path = tmp_path / "store.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="not a database"):
        open_store(path)
    unchanged(path, content)


def test_the_database_of_another_program(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE graph (x)")
    connection.close()
    with pytest.raises(StoreError, match="not a Kinegraph store"):
        open_store(path)


def test_a_directory_and_a_strange_url(tmp_path):
    with pytest.raises(StoreError, match="directory"):
        open_store(tmp_path)
    with pytest.raises(StoreError, match="must be an SQLite file or a postgresql"):
        open_store("mysql://host/database")
    with pytest.raises(StoreError, match="neither a path nor a URL"):
        open_store("a b://x")


def test_no_store_yet(tmp_path):
    with pytest.raises(StoreError, match="the store does not exist"):
        open_store(tmp_path / "none.sqlite", create=False)
    assert not (tmp_path / "none.sqlite").exists()
    (tmp_path / "empty.sqlite").touch()
    with pytest.raises(StoreError, match="it is empty"):
        open_store(tmp_path / "empty.sqlite", create=False)


def test_a_server_that_is_not_there(tmp_path):
    with pytest.raises(StoreError, match="server cannot be reached"):
        open_store(f"postgresql://nobody@/nothing?host={tmp_path}")


def test_no_such_database(postgres_url):
    with pytest.raises(StoreError, match=r"no such database|does not exist") as caught:
        open_store(postgres_url.replace("@/postgres", ":secret@/missing"))
    assert "secret" not in str(caught.value)


def run_apart(code: str, *arguments: object, before: Sequence[str] = ()) -> str:
    """Run Python in a process of its own and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*before, sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


WRITE = """
import sys
from kinegraph.errors import StoreError
from kinegraph.store import open_store
from kinegraph.store import load
from tests.store.graphs import long_graph, put
large = long_graph(4000)
for path in sys.argv[1].split(":"):
    try:
        store = open_store(path)
        print("nodes", len(load(store, "model")), end=" ")
        put(store, large, "new")
    except StoreError as problem:
        print(str(problem).replace("\\n", " "))
"""


def bound_by_permissions() -> list[str]:
    """What to put before a command so that permissions hold for it, even if root runs it."""
    if os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to give that up")
    return ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]


#: Of a file and of its directory.
MODES = [(0o444, 0o555), (0o666, 0o555), (0o444, 0o777)]


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_a_place_that_cannot_be_written():
    """Reading works; writing says why not."""
    base = Path(f"/var/tmp/kinegraph-{os.getpid()}")
    paths = [base / str(number) / "store.sqlite" for number in range(3)]
    try:
        for path, (file_mode, directory_mode) in zip(paths, MODES, strict=True):
            path.parent.mkdir(parents=True)
            store = open_store(path)
            put(store, random_graph(1))
            store.close()
            path.chmod(file_mode)
            path.parent.chmod(directory_mode)
        contents = [path.read_bytes() for path in paths]
        said = run_apart(WRITE, ":".join(map(str, paths)), before=bound_by_permissions()).splitlines()
        assert len(said) == 3 and all(line.startswith("nodes 80 ") for line in said)
        assert all("cannot be written" in line or "cannot be opened or created" in line for line in said)
        assert [path.read_bytes() for path in paths] == contents
    finally:
        for path in paths:
            path.parent.chmod(0o755)
        shutil.rmtree(base)


LIMITED = WRITE.replace(
    "for path in",
    """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limits = iter(map(int, sys.argv[2:]))
for path in""",
).replace(
    "    try:",
    """    resource.setrlimit(resource.RLIMIT_FSIZE, (next(limits), resource.RLIM_INFINITY))
    try:""",
)


@pytest.mark.soak
def test_a_full_disk(file, tmp_path):
    """The file may not grow beyond a limit: the save fails at another point each time, and is taken back."""
    paths = [tmp_path / f"{number}.sqlite" for number in range(3)]
    for path in paths:
        shutil.copy(file, path)
    limits = [file.stat().st_size + more for more in (0, 60_000, 150_000)]
    said = run_apart(LIMITED, ":".join(map(str, paths)), *limits).splitlines()
    assert len(said) == 3 and all("nodes 2000 " in line and "disk" in line for line in said)
    for path in paths:
        store = open_store(path)
        check(store).require()
        assert load(store, "model") == random_graph(1, nodes=2000)
        with pytest.raises(StoreError, match="no mechanism 'new'"):
            load(store, "new")
        put(store, random_graph(2), "new")


def test_a_full_device():
    """The same on a file system that is really full."""
    mount = Path(f"/var/tmp/kinegraph-full-{os.getpid()}")
    mount.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", mount], check=False, capture_output=True)
    if done.returncode:
        mount.rmdir()
        pytest.skip("only root can mount a small file system here")
    try:
        store = open_store(mount / "store.sqlite")
        put(store, random_graph(1))
        with pytest.raises(StoreError, match="disk is full"):
            put(store, long_graph(10_000), "new")
        check(store).require()
        assert load(store, "model") == random_graph(1)
    finally:
        subprocess.run(["umount", mount], check=True)
        mount.rmdir()


def test_reading_never_writes(file):
    content = file.read_bytes()
    store = open_store(file)
    load(store, "model")
    evaluate(store, "model", ["y1"], {f"{letter}{i}": 0.5 for letter in "pq" for i in range(6)})
    form_expressions(store, "model", "%40", Form(sums=True))
    query(store, "SELECT COUNT(*) FROM term")
    check(store)
    store.close()
    unchanged(file, content)


def test_a_path_with_odd_characters(tmp_path):
    path = tmp_path / "a b?c#d%20é.sqlite"
    store = open_store(path)
    put(store, random_graph(1))
    assert query(store, "SELECT COUNT(*) FROM graph").rows == ((1,),)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_the_default_place(tmp_path, monkeypatch):
    monkeypatch.setenv("KINEGRAPH_STORE", str(tmp_path / "by-variable.sqlite"))
    assert open_store().where == str(tmp_path / "by-variable.sqlite")
    monkeypatch.delenv("KINEGRAPH_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    if sys.platform == "linux":
        assert open_store().where == str(tmp_path / "data" / "kinegraph" / "store.sqlite")
