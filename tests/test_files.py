"""Files from strangers: pipes, devices, endless and damaged files end in a clear error, everywhere and at once."""

from __future__ import annotations

import errno
import os
import tracemalloc
from pathlib import Path

import pytest

import kinegraph as kg
from kinegraph.cli.simulate import _samples
from kinegraph.errors import KinegraphError, ModelError, StoreError
from kinegraph.files import open_regular, read_input_text, read_regular, written_to
from kinegraph.io.mjcf import load_mjcf
from kinegraph.jit import cache
from kinegraph.store import open_store
from kinegraph.view.page.meshes import read_mesh

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")

ROBOT = b'<robot name="r"><link name="a"/></robot>'


@pytest.fixture(params=["pipe", "device", "directory"])
def odd(request, tmp_path: Path):
    """Makes something that is no regular file at a path below tmp_path."""

    def make(name: str) -> Path:
        path = tmp_path / name
        if request.param == "pipe":
            os.mkfifo(path)
        elif request.param == "device":
            path.symlink_to("/dev/zero")
        else:
            path.mkdir()
        return path

    return make


@pytest.mark.parametrize("name", ["m.kg", "m.urdf", "m.xml", "m.mjcf", "m.csv", "m"])
def test_models_are_regular_files(odd, name: str) -> None:
    with pytest.raises(ModelError, match=r"cannot read .*not a regular file"):
        kg.load(odd(name))


def test_includes_are_regular_files(odd, tmp_path: Path) -> None:
    odd("part.xml")
    (tmp_path / "whole.xml").write_text('<mujoco><include file="part.xml"/></mujoco>')
    with pytest.raises(ModelError):
        load_mjcf(tmp_path / "whole.xml")


def test_meshes_are_regular_files(odd) -> None:
    assert read_mesh(odd("m.stl")) is None


def test_the_cache_reads_regular_files(odd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path))
    odd("name.o")
    assert cache.load("name") is None


def test_a_store_is_a_regular_file(odd) -> None:
    with pytest.raises(StoreError, match=r"regular file|directory"):
        open_store(odd("m.sqlite"))


def test_samples_come_from_regular_files(odd) -> None:
    with pytest.raises(ModelError, match="not a regular file"):
        _samples(odd("samples.csv"))


def test_no_more_than_the_limit_and_one_byte_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_bytes(b"x" * 11)
    assert read_regular(path, 11) == b"x" * 11
    with pytest.raises(OSError, match="more than 10 bytes"):
        read_regular(path, 10)
    endless = tmp_path / "sparse.urdf"
    with endless.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ModelError, match="more than 20000000 bytes"):
        kg.load(endless)


def test_a_link_to_a_regular_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.urdf").write_bytes(ROBOT)
    (tmp_path / "link.urdf").symlink_to("real.urdf")
    assert kg.load(tmp_path / "link.urdf").name == "r"


def test_what_is_missing_or_no_name_is_named(tmp_path: Path) -> None:
    for name in ("missing.kg", "missing.urdf", "missing.csv", "zero\0byte.kg", "long" * 100 + ".kg"):
        with pytest.raises(KinegraphError):
            kg.load(tmp_path / name)
    with pytest.raises(OSError):
        open_regular(tmp_path / "missing")


def test_text_is_utf8(tmp_path: Path) -> None:
    path = tmp_path / "m.kg"
    path.write_bytes(b"\xef\xbb\xbfA | ;")
    assert read_input_text(path, 100) == "A | ;"
    path.write_bytes(b"A | \xff ;")
    with pytest.raises(ModelError, match="byte 4 cannot be read"):
        read_input_text(path, 100)


def test_a_generous_limit_reserves_no_memory(tmp_path: Path) -> None:
    """Asked for a billion bytes at once, Python would reserve them before it looks at the file."""
    path = tmp_path / "small"
    path.write_bytes(b"few")
    tracemalloc.start()
    try:
        assert read_regular(path, 1_000_000_000) == b"few"
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    """What the system says of a file that is open has no name: `No space left on device` alone."""
    file = tmp_path / "run.csv"
    file.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        kg.simulate("double-pendulum", 0.1, native=False).save(file)
    assert caught.value.filename == str(file)


@pytest.mark.parametrize(("number", "stays"), [(errno.ENOSPC, False), (errno.EFBIG, False), (errno.EACCES, True)])
def test_a_file_that_a_full_disk_cut_short_is_removed(tmp_path: Path, number: int, stays: bool) -> None:
    file = tmp_path / "run.csv"
    with pytest.raises(OSError) as caught, written_to(file):
        file.write_text("t,q1\n0,0.")
        raise OSError(number, os.strerror(number))
    assert caught.value.filename == str(file) and file.exists() is stays
