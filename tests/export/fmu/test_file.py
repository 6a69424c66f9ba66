"""The file of an FMU: its sources, its names, its bytes, and what cannot be one."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinegraph as kg
from kinegraph.errors import KernelError, ModelError
from kinegraph.export import ExportOptions, Fmi, Precision, export
from kinegraph.export.fmu.description import safe_name
from tests.export.fmu.hosting import (
    VERSIONS,
    Maker,
    assert_same_motion,
    fmpy,
    needs_compiler,
    run,
    validate_fmu,
)
from tests.export.test_names import HOSTILE
from tests.programs import fault, require, shell


@VERSIONS
@pytest.mark.parametrize(("model", "prefix"), [("double-pendulum", False), ("free-body", True)])
def test_sources_compile_without_a_warning(fmu: Maker, fmi: Fmi, model: str, prefix: bool, tmp_path: Path) -> None:
    require("gcc")
    with zipfile.ZipFile(fmu(kg.load(model), fmi, binary=False)) as file:
        assert not [name for name in file.namelist() if name.startswith("binaries")]
        file.extractall(tmp_path)
    flags = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wstrict-prototypes", "-Wshadow", "-fPIC")
    defined = [f"-DFMI{fmi.value}_FUNCTION_PREFIX=model_"] if prefix else []
    sources = sorted(path.name for path in (tmp_path / "sources").glob("*.c"))
    shell("gcc", *flags, *defined, "-shared", *sources, "-o", "code.so", "-lm", folder=tmp_path / "sources")
    if fault("nm") is None:
        exported = shell("nm", "-D", "--defined-only", "code.so", folder=tmp_path / "sources")
        assert f"T {'model_' if prefix else ''}fmi{fmi.value}GetVersion" in exported


def test_two_models_in_one_program(fmu: Maker, tmp_path: Path) -> None:
    """Statically linked, with sanitizers that find leaks, undefined behavior and writing out of bounds."""
    require("gcc")
    checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    (tmp_path / "nothing.c").write_text("int main(void) { return 0; }")
    if subprocess.run(["gcc", *checks, "nothing.c"], cwd=tmp_path, capture_output=True).returncode != 0:
        checks = []  # no sanitizers on this machine
    mechanisms = {"one": kg.load("double-pendulum"), "two": kg.load("free-body")}
    tokens, objects = [], []
    for prefix, mechanism in mechanisms.items():
        path = fmu(mechanism, Fmi.THREE, binary=False)
        tokens.append(f'-D{prefix.upper()}_TOKEN="{fmpy.read_model_description(path).instantiationToken}"')
        with zipfile.ZipFile(path) as file:
            file.extractall(tmp_path / prefix)
        flags = ("-std=c99", "-O1", f"-DFMI3_FUNCTION_PREFIX={prefix}_", "-c")
        sources = sorted(one.name for one in (tmp_path / prefix / "sources").glob("*.c"))
        shell("gcc", *flags, *checks, *sources, folder=tmp_path / prefix / "sources")
        objects += [f"{prefix}/sources/{name[:-2]}.o" for name in sources]
    host = str(Path(__file__).parent / "host.c")
    shell("gcc", "-std=c99", *checks, *tokens, host, *objects, "-o", "host", "-lm", folder=tmp_path)
    printed = [float(line) for line in shell("./host", folder=tmp_path).split()]
    expected = []
    for mechanism in mechanisms.values():
        name = mechanism.layout.positions[0]
        start = kg.simulate(mechanism, 1e-9, times=1, progress=False)[name][0]
        for change in (0.0, 0.3):
            motion = kg.simulate(mechanism, 1.0, state={name: start + change}, times=1, rtol=1e-11, progress=False)
            expected.append(motion[name][-1])
    np.testing.assert_allclose(printed, expected, atol=1e-7)


def test_a_build_description_lists_the_sources(fmu: Maker) -> None:
    with zipfile.ZipFile(fmu(kg.load("double-pendulum"), Fmi.THREE, binary=False)) as file:
        text = file.read("sources/buildDescription.xml").decode()
        assert all(f'name="{name[8:]}"' in text for name in file.namelist() if name.endswith(".c"))


@needs_compiler
def test_only_the_interface_is_visible(fmu: Maker, tmp_path: Path) -> None:
    require("nm")
    folder = Path(fmpy.extract(fmu(kg.load("double-pendulum"), Fmi.THREE), unzipdir=tmp_path))
    (library,) = folder.glob("binaries/*/*")
    listed = shell("nm", "-D", "--defined-only", str(library), folder=tmp_path)
    assert {line.split()[-1][:4] for line in listed.splitlines()} == {"fmi3"}


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    options = ExportOptions(binary=False)
    first, second = (
        export(kg.load("double-pendulum"), "", "fmu", tmp_path / name, options).files[0].read_bytes() for name in "ab"
    )
    assert first == second


def test_without_a_compiler_there_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    report = export(kg.load("double-pendulum"), "", "fmu", tmp_path / "arm.fmu")
    assert report.files == (tmp_path / "arm.fmu",)
    assert "no C compiler" in report.notes[0] and "only sources" in report.notes[0]


def test_only_our_own_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "arm.fmu"
    options = ExportOptions(binary=False)
    export(kg.load("double-pendulum"), "", "fmu", path, options)
    export(kg.load("double-pendulum"), "", "fmu", path, options)
    path.write_bytes(b"something else")
    with pytest.raises(KernelError, match="was not written by an export"):
        export(kg.load("double-pendulum"), "", "fmu", path, options)


@needs_compiler
@VERSIONS
def test_hostile_names(fmu: Maker, fmi: Fmi) -> None:
    mechanism = kg.parse("""
        model fmu_instance_.-$1;
        parameters int = 2, время$ = 3, energy = 1;
        coordinates time = 0.1, kinetic, d = 0.2;
        gravity 0, 0, -9.81;
        A | Ry(time)    | Sz(-int), m(время$);
        B~A | Sx(kinetic) | m(energy);
        C~B | Sx(d)     | m(1);
    """)
    path = fmu(mechanism, fmi)
    assert validate_fmu(path) == []
    found = run(path, "CoSimulation", 0.2)
    expected = kg.simulate(mechanism, 0.2, times=20, rtol=1e-11, progress=False)
    assert_same_motion(found, expected, ("d", "d'"), 1e-7)  # the other columns of `simulate` clash


@given(st.lists(st.text(max_size=8) | st.sampled_from(HOSTILE), min_size=2, max_size=6, unique=True))
def test_safe_names_are_injective_and_fit_xml(names: list[str]) -> None:
    found = [safe_name(name) for name in names]
    assert len(set(found)) == len(names)
    assert all(name.isprintable() and name == name.strip() and name for name in found)


def test_what_cannot_be_an_fmu_is_named(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="no coordinates"):
        export(kg.parse("Still | Sx(1) | m(1);"), "", "fmu", tmp_path)
    with pytest.raises(ModelError, match="the parameter l has no value"):
        export(kg.parse("parameters l; coordinates q; A | Ry(q) | Sz(-l), m(1);"), "", "fmu", tmp_path)
    with pytest.raises(KernelError, match="float"):
        export(kg.load("double-pendulum"), "", "fmu", tmp_path, ExportOptions(precision=Precision.FLOAT))
    with pytest.raises(KernelError, match="export its mechanism"):
        export(kg.derive(kg.load("double-pendulum"), "tau"), "", "fmu", tmp_path)
    assert not any(tmp_path.iterdir())
