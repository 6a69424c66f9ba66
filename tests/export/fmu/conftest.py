"""FMUs made once, and instances that are given back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import kinegraph as kg
from kinegraph.export import ExportOptions, Fmi, export

if TYPE_CHECKING:
    from tests.export.fmu.hosting import Host, Maker


@pytest.fixture(scope="session")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    """Exports a mechanism, each FMU once."""
    made: dict[tuple[str, ExportOptions], str] = {}

    def make(mechanism: kg.Mechanism, fmi: Fmi, **options: object) -> str:
        chosen = ExportOptions(fmi=fmi, self_test=False, **options)  # type: ignore[arg-type]
        key = (kg.write(mechanism), chosen)
        if key not in made:
            folder = tmp_path_factory.mktemp("fmu")
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("CFLAGS", "-O0")  # what is run once need not be compiled well
                made[key] = str(export(mechanism, "", "fmu", folder, chosen).files[0])
        return made[key]

    return make


@pytest.fixture
def host(fmu: Maker, tmp_path: Path) -> Iterator[Callable[..., Host]]:
    from tests.export.fmu.hosting import Host, fmpy  # where it is missing, no test asks for this

    hosts: list[Host] = []

    def make(mechanism: kg.Mechanism, fmi: Fmi, kind: str = "CoSimulation") -> Host:
        path = fmu(mechanism, fmi)
        hosts.append(Host(path, kind, fmpy.extract(path, unzipdir=tmp_path / f"unzipped{len(hosts)}")))
        return hosts[-1]

    yield make
    for one in hosts:
        one.fmu.freeInstance()
