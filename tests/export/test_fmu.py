"""FMUs as a host sees them: fmpy validates and simulates them, and the numbers are those of `simulate`."""

from __future__ import annotations

import ctypes
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinegraph as kg
from kinegraph.errors import KernelError, ModelError
from kinegraph.export import ExportOptions, Fmi, Precision, export
from kinegraph.export.fmu.variables import safe_name
from tests.export.test_names import HOSTILE
from tests.programs import fault, needs, require, shell

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi2 import FMU2Model, FMU2Slave  # noqa: E402
from fmpy.fmi3 import FMU3Model, FMU3Slave  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

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


@pytest.fixture(scope="module")
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


def panda() -> kg.Mechanism:
    return kg.load(Path(__file__).parents[1] / "data" / "panda.urdf")


def run(path: str, kind: str, duration: float, **more: object) -> np.ndarray:
    return fmpy.simulate_fmu(
        path, fmi_type=kind, stop_time=duration, output_interval=duration / 20, relative_tolerance=1e-9,
        record_events=False, **more,
    )  # fmt: skip


def assert_same_motion(found: np.ndarray, expected: kg.Solution, names: tuple[str, ...], tolerance: float) -> None:
    for name in names:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=tolerance, err_msg=name)


# the motion


@needs_compiler
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("model", "fmi", "duration"),
    [
        ("double-pendulum", Fmi.TWO, 2.0),
        ("double-pendulum", Fmi.THREE, 2.0),
        ("kidym-biped-new", Fmi.THREE, 0.4),
        *([("panda", Fmi.TWO, 0.3)] if os.environ.get("KINEGRAPH_SOAK") else []),
        ("free-body", Fmi.TWO, 1.0),
        ("free-body", Fmi.THREE, 1.0),
    ],
)
def test_the_motion_of_simulate(fmu: Maker, model: str, fmi: Fmi, duration: float, kind: str) -> None:
    mechanism = panda() if model == "panda" else kg.load(model)
    path = fmu(mechanism, fmi, symbolic_parameters=False if len(mechanism.parameters) > 50 else None)
    assert validate_fmu(path) == []
    found = run(path, kind, duration)
    expected = kg.simulate(mechanism, duration, grid=20, rtol=1e-11, progress=False)
    points = tuple(f"{point.name}.{axis}" for point in mechanism.points for axis in "xyz")
    names = (*mechanism.layout.positions, *mechanism.layout.velocities, "kinetic", "energy", *points)
    # fmpy gives its CVODE an absolute tolerance of its own
    assert_same_motion(found, expected, names, 2e-4 if kind == "ModelExchange" else 2e-6)


@needs_compiler
@VERSIONS
@pytest.mark.parametrize("kind", KINDS)
def test_inputs_parameters_and_elements(fmu: Maker, fmi: Fmi, kind: str) -> None:
    mechanism = kg.parse(LOADED)
    path = fmu(mechanism, fmi)
    assert validate_fmu(path) == []
    described = fmpy.read_model_description(path)
    assert [v.name for v in described.modelVariables if v.causality == "parameter"] == ["m", "l", "k"]
    assert [v.name for v in described.modelVariables if v.causality == "input"] == ["tau:q1", "tau:s", "u"]
    changed = {"m": 3.0, "l": 0.7, "k": 35.0}
    start = {"q1": -0.2, "s'": 0.1}
    held = {"tau:q1": 1.5, "tau:s": -0.4, "u": 0.25}
    found = run(path, kind, 1.0, start_values={**changed, **start, **held})
    fixed = kg.parse(LOADED.replace("inputs u;", "inputs u = 0.25;"))
    expected = kg.simulate(
        fixed, 1.0, parameters=changed, initial=start, inputs={"q1": 1.5, "s": -0.4}, grid=20, rtol=1e-11,
        progress=False,
    )  # fmt: skip
    assert_same_motion(found, expected, ("q1", "s", "q1'", "s'", "energy", "hand.x"), 2e-5)


@needs_compiler
def test_numeric_parameters(fmu: Maker) -> None:
    mechanism = kg.load("double-pendulum")
    path = fmu(mechanism, Fmi.THREE, symbolic_parameters=False, parameters={"m1": 4})
    described = fmpy.read_model_description(path)
    assert not [v for v in described.modelVariables if v.causality == "parameter"]
    expected = kg.simulate(mechanism, 1.0, parameters={"m1": 4}, grid=20, rtol=1e-11, progress=False)
    assert_same_motion(run(path, "CoSimulation", 1.0), expected, ("q1", "q2'"), 1e-6)
    other = fmpy.read_model_description(fmu(mechanism, Fmi.THREE)).instantiationToken
    assert described.instantiationToken != other


# one instance at a time


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


@pytest.fixture
def host(fmu: Maker, tmp_path: Path) -> Iterator[Callable[..., Host]]:
    hosts: list[Host] = []

    def make(mechanism: kg.Mechanism, fmi: Fmi, kind: str = "CoSimulation") -> Host:
        path = fmu(mechanism, fmi)
        hosts.append(Host(path, kind, fmpy.extract(path, unzipdir=tmp_path / f"unzipped{len(hosts)}")))
        return hosts[-1]

    yield make
    for one in hosts:
        one.fmu.freeInstance()


@needs_compiler
@VERSIONS
def test_directional_derivatives(host: Callable[..., Host], fmi: Fmi) -> None:
    mechanism = kg.parse(LOADED)
    point = {"q1": 0.3, "s": -0.1, "q1'": 0.7, "s'": -0.4, "tau:q1": 0.2, "tau:s": 0.1, "u": 0.5, "m": 2.5, "k": 30.0}
    one = host(mechanism, fmi).start(**point)
    unknowns = ["der(q1)", "der(s)", "q1''", "s''", "kinetic", "potential", "energy", "hand.x", "q1"]
    for known, value in point.items():
        found = one.slope(unknowns, known)
        sides = []
        for change in (1e-6, -1e-6):
            shifted = host(mechanism, fmi).start(**{**point, known: value + change})
            sides.append(shifted.get(*unknowns))
        np.testing.assert_allclose(found, (sides[0] - sides[1]) / 2e-6, rtol=1e-6, atol=1e-7, err_msg=known)


@needs_compiler
def test_the_jacobian_of_the_kernels(host: Callable[..., Host]) -> None:
    """The matrix d(qdd)/d(q, tau) of a robot, column by column, against another derivation of it."""
    mechanism = panda()
    random = np.random.default_rng(3)
    q, v, tau = random.uniform(-1, 1, (3, len(mechanism.layout.positions)))
    inputs = tuple(f"tau:{name}" for name in mechanism.layout.positions)
    names = (*mechanism.layout.positions, *inputs, *mechanism.layout.velocities)
    one = host(mechanism, Fmi.TWO).start(**dict(zip(names, np.concatenate([q, tau, v]).tolist(), strict=True)))
    expected = kg.compile(mechanism, "d(qdd)/d(q),d(qdd)/d(tau)")(q, v, tau)
    accelerations = list(mechanism.layout.accelerations)
    found = np.array([one.slope(accelerations, name) for name in names[: -len(v)]]).T
    for block, wanted in zip(np.split(found, 2, axis=1), expected.values(), strict=True):
        np.testing.assert_allclose(block, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


@needs_compiler
def test_the_length_of_a_quaternion_has_no_influence(host: Callable[..., Host]) -> None:
    mechanism = kg.load("free-body")
    one = host(mechanism, Fmi.TWO, "ModelExchange").start()
    one.fmu.newDiscreteStates()
    one.fmu.enterContinuousTimeMode()
    size = len(mechanism.layout.positions) + len(mechanism.layout.velocities)
    (start,) = mechanism.layout.quaternions
    random = np.random.default_rng(2)
    names = list(mechanism.layout.positions) + list(mechanism.layout.velocities)

    def slopes(states: np.ndarray) -> np.ndarray:
        found = np.zeros(size)
        pointers = [values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for values in (states, found)]
        one.fmu.setContinuousStates(pointers[0], size)
        one.fmu.getDerivatives(pointers[1], size)
        return found

    states = random.uniform(-1, 1, size)
    states[start : start + 4] /= np.linalg.norm(states[start : start + 4])
    longer = states.copy()
    longer[start : start + 4] *= 1.7
    scale = np.ones(size)
    scale[start : start + 4] = 1.7
    at_unit_length = slopes(states)
    np.testing.assert_allclose(slopes(longer), at_unit_length * scale, rtol=1e-14, atol=1e-14)
    unknowns = [f"der({name})" for name in mechanism.layout.positions] + list(mechanism.layout.accelerations)
    for index in range(start, start + 4):
        shift = np.eye(size)[index] * 1e-6
        expected = (slopes(longer + shift) - slopes(longer - shift)) / 2e-6
        slopes(longer)
        np.testing.assert_allclose(one.slope(unknowns, names[index]), expected, rtol=1e-7, atol=1e-8)


@needs_compiler
@VERSIONS
def test_state_kept_and_restored(host: Callable[..., Host], fmi: Fmi) -> None:
    one = host(kg.load("double-pendulum"), fmi).start()
    one.step(0.0, 0.5)
    state = one.snapshot()
    before = one.get("q1", "q2", "time")
    one.step(0.5, 0.5)
    after = one.get("q1", "q2'", "energy")
    one.restore(state)
    np.testing.assert_array_equal(one.get("q1", "q2", "time"), before)
    one.step(0.5, 0.5)
    np.testing.assert_array_equal(one.get("q1", "q2'", "energy"), after)  # to the last bit
    other = host(kg.load("double-pendulum"), fmi)
    other.restore(other.thawed(one.frozen(state)))
    other.step(0.5, 0.5)
    np.testing.assert_array_equal(other.get("q1", "q2'", "energy"), after)
    with pytest.raises(Exception, match=r"(?i)error|failed"):
        other.thawed(b"x" * len(one.frozen(state)))


@needs_compiler
@VERSIONS
def test_instances_do_not_interfere(host: Callable[..., Host], fmu: Maker, fmi: Fmi, tmp_path: Path) -> None:
    mechanism = kg.load("double-pendulum")
    alone = host(mechanism, fmi).start(q1=0.2)
    path = fmu(mechanism, fmi)
    folder = Path(fmpy.extract(path, unzipdir=tmp_path / "shared"))  # two instances of one library
    first, second = Host(path, "CoSimulation", folder).start(q1=0.2), Host(path, "CoSimulation", folder)
    second.start(q1=-1.0, m1=7.0)
    for number in range(5):
        for one in (alone, first, second):
            one.step(number * 0.1, 0.1)
    np.testing.assert_array_equal(alone.get("q1", "q2", "q1''"), first.get("q1", "q2", "q1''"))
    assert abs(first.get("q1")[0] - second.get("q1")[0]) > 0.05
    first.fmu.reset()
    np.testing.assert_array_equal(first.get("q1", "m1"), [0.1, 1.0])
    assert second.get("m1")[0] == 7.0
    second.fmu.freeInstance()


@needs_compiler
def test_the_tolerance_is_honoured(host: Callable[..., Host]) -> None:
    mechanism = kg.load("double-pendulum")
    expected = kg.simulate(mechanism, 2.0, grid=1, rtol=1e-12, progress=False)
    errors = []
    for tolerance in (1e-4, 1e-7, 1e-10):
        one = host(mechanism, Fmi.THREE).start(tolerance)
        one.step(0.0, 2.0)
        errors.append(np.abs(one.get("q1", "q2", "q1'") - [expected[name][-1] for name in ("q1", "q2", "q1'")]).max())
    assert errors[0] > 30 * errors[1] > 900 * errors[2] and errors[2] < 1e-8


@needs_compiler
@VERSIONS
@pytest.mark.parametrize("kind", KINDS)
def test_quaternions_keep_their_length(fmu: Maker, fmi: Fmi, kind: str) -> None:
    mechanism = kg.load("free-body")
    names = next(one.names for one in mechanism.coordinates if hasattr(one, "names"))
    found = run(fmu(mechanism, fmi), kind, 2.0, start_values={names[0]: 3.0, names[1]: 4.0})
    lengths = np.sqrt(sum(found[name] ** 2 for name in names))
    np.testing.assert_allclose(found[names[1]][0], 0.8, rtol=1e-12)  # 3, 4 became unit length
    np.testing.assert_allclose(lengths, 1.0, atol=2e-3 if kind == "ModelExchange" else 1e-13)


@needs_compiler
@VERSIONS
def test_misuse_is_an_error_and_no_crash(host: Callable[..., Host], fmi: Fmi) -> None:
    mechanism = kg.load("double-pendulum")
    one = host(mechanism, fmi)
    with pytest.raises(Exception, match=r"(?i)error|failed"):
        one.step(0.0, 0.1)  # not initialized yet
    one.start()
    for wrong in ({"q1": 1.0}, {"energy": 1.0}, {"time": 1.0}):
        with pytest.raises(Exception, match=r"(?i)error|failed"):
            one.set(wrong)
    with pytest.raises(Exception, match=r"(?i)error|failed"):
        one.step(0.3, 0.1)  # begins elsewhere
    with pytest.raises(Exception, match=r"(?i)error|failed"):
        one.step(0.0, -0.1)
    one.references["nothing"] = 10_000
    with pytest.raises(Exception, match=r"(?i)error|failed"):
        one.get("nothing")
    one.set({"m1": 0.0, "m2": 0.0})  # no mass: no acceleration
    with pytest.raises(Exception, match=r"(?i)discard|error|failed"):
        one.step(0.0, 0.1)
    assert one.get("time")[0] == 0.0


# the file


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
    """Statically linked, with sanitizers that find leaks, undefined behaviour and writing out of bounds."""
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
    host = str(Path(__file__).parent / "fmu_host.c")
    shell("gcc", "-std=c99", *checks, *tokens, host, *objects, "-o", "host", "-lm", folder=tmp_path)
    printed = [float(line) for line in shell("./host", folder=tmp_path).split()]
    expected = []
    for mechanism in mechanisms.values():
        name = mechanism.layout.positions[0]
        start = kg.simulate(mechanism, 1e-9, grid=1, progress=False)[name][0]
        for change in (0.0, 0.3):
            motion = kg.simulate(mechanism, 1.0, initial={name: start + change}, grid=1, rtol=1e-11, progress=False)
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
    assert "no C compiler" in report.notes[0] and "sources only" in report.notes[0]


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
    expected = kg.simulate(mechanism, 0.2, grid=20, rtol=1e-11, progress=False)
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
    with pytest.raises(KernelError, match="mechanism it came from"):
        export(kg.derive(kg.load("double-pendulum"), "tau"), "", "fmu", tmp_path)
    assert not any(tmp_path.iterdir())
