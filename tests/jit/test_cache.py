from __future__ import annotations

import os
import stat
import subprocess
import sys
import warnings
from itertools import pairwise
from pathlib import Path

import pytest

from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.program.binding import Argument
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.jit import cache
from kinegraph.jit.kernel import KernelOptions, compile_graph
from tests.effort import SOAK
from tests.programs import HANGS

ARGUMENT = Argument("q", (Symbol(Kind.COORDINATE, "q"),))
SOURCE = Path(__file__).resolve().parents[2] / "src"


def square(power: int = 2) -> Graph:
    builder = GraphBuilder()
    q, m = builder.symbol(Kind.COORDINATE, "q"), builder.symbol(Kind.PARAMETER, "m")
    return builder.graph([Output("y", (), (builder.multiply(m, builder.power(q, power)),))])


def compiled(power: int = 2, mass: float = 3, **options: int) -> Kernel:
    return compile_graph(square(power), [ARGUMENT], {"m": mass}, KernelOptions(**options))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("KINEGRAPH_CACHE", str(path))
    return path


def files(folder: Path) -> list[Path]:
    """Files of kernels; the folder also holds digests of the package's sources and code that all kernels share."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith(("sources-", "builtin-")))


def test_the_second_time_code_comes_from_disk(folder: Path) -> None:
    assert not compiled().report.cached
    assert len(files(folder)) == 1
    again = compiled()
    assert again.report.cached and again(2.0) == 12
    assert again.batch([[1.0], [2.0]]).tolist() == [3, 12]
    assert len(files(folder)) == 2
    fresh = compiled()
    assert fresh.batch([[2.0]]).tolist() == [12] and len(files(folder)) == 2


def test_the_folder_is_the_users_alone(folder: Path) -> None:
    compiled()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(files(folder)[0].stat().st_mode) == 0o600


def test_whatever_changes_the_code_changes_the_name(folder: Path) -> None:
    variants = [compiled(), compiled(power=3), compiled(mass=4), compiled(chunk=700), compiled(lanes=2)]
    assert not any(kernel.report.cached for kernel in variants)
    assert len(files(folder)) == len(variants)


def test_no_cache_if_asked(folder: Path) -> None:
    compile_graph(square(), [ARGUMENT], {"m": 3}, KernelOptions(cache=False))
    assert not folder.exists()


@pytest.mark.parametrize("damage", ["empty", "short", "flipped", "rubbish", "other"])
def test_a_damaged_file_is_made_anew(folder: Path, damage: str) -> None:
    compiled()
    path = files(folder)[0]
    data = path.read_bytes()
    if damage == "other":  # the intact code of another kernel under this one's name
        compiled(power=3)
        data = next(one for one in files(folder) if one != path).read_bytes()
    middle = len(data) // 2
    flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    damaged = {"empty": b"", "short": data[:-1], "flipped": flipped, "rubbish": os.urandom(3000), "other": data}
    path.write_bytes(damaged[damage])
    again = compiled()
    assert not again.report.cached and again(2.0) == 12
    assert compiled().report.cached


def test_a_folder_in_the_way_of_the_file(folder: Path) -> None:
    compiled()
    path = files(folder)[0]
    path.unlink()
    path.mkdir()
    assert compiled()(2.0) == 12


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path / "file" / "cache"))
    assert compiled()(2.0) == 12


def test_a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.tempfile, "mkstemp", no_room)
    assert compiled()(2.0) == 12
    assert not files(folder)


def test_a_disk_that_fills_while_writing_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", no_room)
    assert compiled()(2.0) == 12
    assert not files(folder)


def test_no_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("KINEGRAPH_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert compiled()(2.0) == 12


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs Unix permissions")
@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_others_can_write_to_is_not_used(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    cache._warn.cache_clear()
    with pytest.warns(RuntimeWarning, match="others could write"):
        assert compiled()(2.0) == 12
    assert not files(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled()  # said once, not for every kernel


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs Unix permissions")
def test_a_file_others_can_write_to_is_not_loaded(folder: Path) -> None:
    compiled()
    files(folder)[0].chmod(0o666)
    again = compiled()
    assert not again.report.cached and again(2.0) == 12


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs Unix permissions")
def test_a_folder_of_somebody_else_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o700)
    owner = folder.stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    cache._warn.cache_clear()
    with pytest.warns(RuntimeWarning, match="belongs to another user, who could change the cached code. Set KINE"):
        assert compiled()(2.0) == 12
    assert not files(folder)


def test_old_files_make_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_FILES", 5)
    monkeypatch.setattr(cache, "TIDIED", 1)
    for power in range(2, 7):
        compiled(power)
    assert len(files(folder)) == 5
    oldest = files(folder)[0]
    os.utime(oldest, (1, 1))
    compiled(7)
    assert len(files(folder)) == 4 and not oldest.exists()


def test_there_are_never_many_more_files_than_may_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only some of the new files trigger a count of the others."""
    monkeypatch.setattr(cache, "MOST_FILES", 20)
    counts = []
    for number in range(400):
        cache.save(f"code-{number}", b"code")
        counts.append(len(files(folder)))
    assert 20 < max(counts) < 20 + 8 * cache.TIDIED
    assert sum(later < earlier for earlier, later in pairwise(counts)) > 5


SCRIPT = """
import sys
from tests.jit.test_cache import compiled
kernel = compiled(power=5)
assert kernel(2.0) == 96 and kernel.batch([[2.0]]).tolist() == [96]
print(kernel.report.cached)
"""


def start(folder: Path, **environment: str) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(SOURCE), str(SOURCE.parent)])
    variables = {"PYTHONPATH": paths, "KINEGRAPH_CACHE": str(folder), **environment}
    command = [sys.executable, "-c", SCRIPT]
    return subprocess.Popen(command, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_many_processes_compile_the_same_kernel_at_once(folder: Path) -> None:
    processes = [start(folder) for _ in range(6 if SOAK else 3)]
    for process in processes:
        _, errors = process.communicate(timeout=HANGS)
        assert process.returncode == 0, errors
    assert len(files(folder)) == 2  # no half-written files are left


def test_no_compiler_and_nothing_else_in_the_path(folder: Path) -> None:
    process = start(folder, PATH="")
    output, errors = process.communicate(timeout=HANGS)
    assert process.returncode == 0, errors
    assert output.strip() == "False"


def test_digests_of_sources_are_those_of_their_contents(folder: Path, tmp_path: Path) -> None:
    """Digests are cached under sizes and times of the files, but depend on contents and names only."""
    sources = tmp_path / "package"
    (sources / "part").mkdir(parents=True)
    module = sources / "part" / "module.py"
    module.write_text("a = 1\n")
    digest = cache.sources_digest.__wrapped__
    first = digest(sources)
    assert digest(sources) == first
    module.write_text("a = 2\n")
    assert digest(sources) != first
    module.write_text("a = 1\n")
    assert digest(sources) == first
    module.rename(sources / "part" / "other.py")
    assert digest(sources) != first
    for path in folder.iterdir():
        path.write_bytes(b"damaged")
    (sources / "part" / "other.py").rename(module)
    assert digest(sources) == first
    assert digest(sources.rename(tmp_path / "moved")) == first
    if sys.platform == "linux":  # where names of folders need not be text
        assert digest((tmp_path / "moved").rename(tmp_path / os.fsdecode(b"odd\xff"))) == first
