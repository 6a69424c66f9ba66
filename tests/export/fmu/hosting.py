"""A host of FMUs: fmpy, with the calls both versions share, and models to export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.export import Fmi
from tests.programs import needs

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi2 import FMU2Model, FMU2Slave  # noqa: E402
from fmpy.fmi3 import FMU3Model, FMU3Slave  # noqa: E402
from fmpy.validation import validate_fmu as validate_fmu  # noqa: E402

needs_compiler = needs("cc")
VERSIONS = pytest.mark.parametrize("fmi", Fmi, ids=lambda one: f"fmi{one.value}")
KINDS = ("ModelExchange", "CoSimulation")

#: An arm with everything that acts: a spring, friction, a motor, a moving rest value, a parameter that follows another.
LOADED = """
    model loaded;
    parameters m = 2, l = 0.5, half = l/2, k = 20, unused = 3;
    coordinates q1 = 0.4, s;
    inputs u;
    gravity 0, 0, -9.81;
    Arm      | Ry(q1)         | Sz(-half), m(m), Jy(m*l^2/12);
    Slide~Arm | Sz(-l), Sx(s) | m(0.3);
    output hand = Slide (0, 0, 0);
    spring coil | on(s), stiffness(k), rest(0.05*sin(3*t));
    friction dry | on(q1), coulomb(0.2), viscous(0.05), width(0.1);
    force motor | value(u), on(q1);
"""

Maker = Callable[..., str]


def panda() -> kg.Mechanism:
    return kg.load(Path(__file__).parents[2] / "data" / "panda.urdf")


def run(path: str, kind: str, duration: float, **more: object) -> np.ndarray:
    return fmpy.simulate_fmu(
        path, fmi_type=kind, stop_time=duration, output_interval=duration / 20, relative_tolerance=1e-9,
        record_events=False, **more,
    )  # fmt: skip


def assert_same_motion(found: np.ndarray, expected: kg.Solution, names: tuple[str, ...], tolerance: float) -> None:
    for name in names:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=tolerance, err_msg=name)


class Host:
    """The calls both versions share, on one instance."""

    def __init__(self, path: str, kind: str, folder: Path) -> None:
        self.description = fmpy.read_model_description(path)
        self.two = self.description.fmiVersion == "2.0"
        classes = {
            (True, "ModelExchange"): FMU2Model, (True, "CoSimulation"): FMU2Slave,
            (False, "ModelExchange"): FMU3Model, (False, "CoSimulation"): FMU3Slave,
        }  # fmt: skip
        token = self.description.guid if self.two else self.description.instantiationToken
        identifier = self.description.coSimulation.modelIdentifier
        self.fmu = classes[self.two, kind](
            guid=token, unzipDirectory=str(folder), modelIdentifier=identifier, instanceName="one"
        )
        self.fmu.instantiate()
        self.references = {v.name: v.valueReference for v in self.description.modelVariables}

    def start(self, tolerance: float = 1e-9, **values: float) -> Host:
        if self.two:
            self.fmu.setupExperiment(tolerance=tolerance, startTime=0.0)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(tolerance=tolerance, startTime=0.0)
        self.set(values)
        self.fmu.exitInitializationMode()
        return self

    def set(self, values: dict[str, float]) -> None:
        setter = self.fmu.setReal if self.two else self.fmu.setFloat64
        setter([self.references[name] for name in values], list(values.values()))

    def get(self, *names: str) -> np.ndarray:
        getter = self.fmu.getReal if self.two else self.fmu.getFloat64
        return np.array(getter([self.references[name] for name in names]))

    def slope(self, unknowns: list[str], known: str) -> np.ndarray:
        references = [self.references[name] for name in unknowns]
        return np.array(self.fmu.getDirectionalDerivative(references, [self.references[known]], [1.0]))

    def step(self, start: float, length: float) -> None:
        self.fmu.doStep(currentCommunicationPoint=start, communicationStepSize=length)

    def snapshot(self) -> object:
        return self.fmu.getFMUstate() if self.two else self.fmu.getFMUState()

    def restore(self, state: object) -> None:
        (self.fmu.setFMUstate if self.two else self.fmu.setFMUState)(state)

    def frozen(self, state: object) -> bytes:
        return bytes((self.fmu.serializeFMUstate if self.two else self.fmu.serializeFMUState)(state))

    def thawed(self, data: bytes) -> object:
        return (self.fmu.deSerializeFMUstate if self.two else self.fmu.deserializeFMUState)(data)
