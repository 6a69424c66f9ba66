"""How Numba's code is written to disk: whoever is interrupted or killed leaves nothing that is wrong."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

from kinegraph.ahead import folder as folders
from kinegraph.ahead import numba_cache
from kinegraph.ahead.compilation import Compilation
from kinegraph.ahead.folder import CHOSEN, folder
from kinegraph.ahead.numba_cache import CacheFile, cached_in


@pytest.mark.parametrize("stopped_at", ["_save_data", "_save_index"])
def test_old_code_is_never_found_under_a_new_key(tmp_path: Path, stopped_at: str) -> None:
    """Numba forgets its index when the source changes, and counts from one again: the old code is still there."""
    old = CacheFile(str(tmp_path), "f", "old source")
    old.save("key", "old code")
    assert old.load("key") == "old code"
    new = CacheFile(str(tmp_path), "f", "new source")

    def stop(*arguments: Any) -> None:
        raise KeyboardInterrupt

    setattr(new, stopped_at, stop)
    with pytest.raises(KeyboardInterrupt):
        new.save("key", "new code")
    assert CacheFile(str(tmp_path), "f", "new source").load("key") is None


@pytest.mark.parametrize("full_at", ["_save_data", "_save_index"])
def test_code_runs_where_the_disk_is_full(tmp_path: Path, full_at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(CacheFile, full_at, full)
    code = cached_in(tmp_path / "code", lambda: numba.njit("int64(int64)", cache=True)(successor))
    try:
        assert code(1) == 2 and numba_cache.unkept
        made = Compilation("code", "the code", tmp_path / "made", int)
        made.compile_here()
        assert not made.ready
    finally:
        numba_cache.unkept.clear()


def test_two_that_write_at_once_do_not_mix(tmp_path: Path) -> None:
    one, two = (CacheFile(str(tmp_path), "f", "source") for _ in range(2))
    one._load_index = dict  # type: ignore[method-assign]  # it has read the index before the other wrote it
    two.save("two", "code of two")
    one.save("one", "code of one")
    late = CacheFile(str(tmp_path), "f", "source")
    assert late.load("one") == "code of one"
    assert late.load("two") in (None, "code of two")


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: data[:-1] + b"?"]
)
def test_damaged_files_are_compiled_anew(tmp_path: Path, ending: str, damage: Callable[[bytes], bytes]) -> None:
    """Numba read what was left of a file: every run after that broke, or ran it."""

    def compiled() -> int:
        return cached_in(tmp_path, lambda: numba.njit("int64(int64)", cache=True)(successor))(1)

    assert compiled() == 2
    for file in tmp_path.rglob(f"*.{ending}"):
        file.write_bytes(damage(file.read_bytes()))
    before = set(tmp_path.rglob("*.nbc"))
    assert compiled() == 2
    whole = set(tmp_path.rglob("*.nbc"))
    assert len(whole) == len(before) + 1
    assert compiled() == 2
    assert set(tmp_path.rglob("*.nbc")) == whole


def test_functions_are_kept_in_their_folder(tmp_path: Path) -> None:
    before = numba.config.CACHE_DIR
    code = cached_in(tmp_path, lambda: numba.njit("int64(int64)", cache=True)(successor))
    assert code(1) == 2
    assert list(tmp_path.rglob("*.nbi")) and list(tmp_path.rglob("*.nbc"))
    assert before == numba.config.CACHE_DIR


def successor(n: int) -> int:
    return n + 1


def test_the_folder_depends_on_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CHOSEN, str(tmp_path / "chosen"))
    folders._base.cache_clear()
    sources = tmp_path / "a.py", tmp_path / "b.py"
    for source in sources:
        source.write_text("1")
    before = folder("code", sources)
    assert before.parent == tmp_path / "chosen" and before == folder("code", reversed(sources))
    sources[1].write_text("2")
    assert folder("code", sources) != before
    folders._base.cache_clear()


def test_a_folder_is_found_wherever_one_can_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the files, else in the user's cache, else for this process alone."""
    monkeypatch.delenv(CHOSEN, raising=False)
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path / "user"))
    readable: list[Path] = []
    monkeypatch.setattr(folders, "_writable", lambda place: place not in readable)
    places = []
    for _ in range(3):
        folders._base.cache_clear()
        places.append(folders._base(tmp_path / "beside"))
        readable.append(places[-1])
    assert places[:2] == [tmp_path / "beside", tmp_path / "user" / "loops"]
    assert places[2].is_dir() and tmp_path not in places[2].parents
    folders._base.cache_clear()
