"""Generated code, compiled and run, gives the kernel's numbers."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.codegen.kernel import Kernel
from kinegraph.export import ExportOptions, FunctionLayout, Language, Precision, Sines
from kinegraph.export.prepare import prepare
from kinegraph.export.unit import Routine, Unit
from tests.effort import SOAK
from tests.export.languages import build, shell

COMPILED = (Language.C, Language.CPP, Language.RUST, Language.FORTRAN)
LANGUAGES = (*COMPILED, Language.PYTHON, Language.MATLAB, Language.JULIA, Language.JAVASCRIPT)
MODELS = {
    "double-pendulum": "tau,qdd,pose:tip,d(tau)/d(m1),d(tau)/d(dq)",
    "puma560": "tau,H,C",
    "free-body": "qdd,tau,energy,jacobian:corner",
    "kidym-biped-new": "qdd",
}


@cache
def mechanism(model: str) -> kg.Mechanism:
    return kg.load(model)


@cache
def unit_of(model: str, quantities: str, options: ExportOptions | None = None) -> Unit:
    return prepare(mechanism(model), quantities, options or ExportOptions())


@cache
def kernel(model: str, quantity: str) -> Kernel:
    found = kg.compile(mechanism(model), quantity)
    assert isinstance(found, Kernel)
    return found


def states(routine: Routine, count: int, seed: int = 7) -> list[list[np.ndarray]]:
    random = np.random.default_rng(seed)
    return [[random.uniform(-1, 1, field.size) for field in routine.inputs] for _ in range(count)]


def assert_close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    scale = np.max(np.abs(expected), initial=0.0) or 1.0
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


#: The long code of the walker is compiled as C; `make soak` compiles it in every language.
PAIRS = [
    (language, model)
    for language in LANGUAGES
    for model in MODELS
    if language is Language.C or model != "kidym-biped-new" or SOAK
]


@pytest.mark.parametrize(("language", "model"), PAIRS, ids=lambda one: getattr(one, "value", one))
def test_the_kernels_numbers(language: Language, model: str, tmp_path: Path) -> None:
    unit = unit_of(model, MODELS[model])
    code = build(unit, language, tmp_path)
    assert code.selftest() == 0
    for routine in unit.routines:
        for state in states(routine, 5 if language in COMPILED else 1):
            (found,) = code.call(routine, state)
            assert_close(found, kernel(model, routine.title)(*state), 1e-12)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.value)
def test_long_code_is_split_and_gives_the_same(language: Language, tmp_path: Path) -> None:
    unit = unit_of("puma560", "qdd", ExportOptions(chunk=60, name="Split"))
    (routine,) = unit.routines
    assert len(routine.chunks.ranges) > 5 and routine.chunks.scratch_size > 5
    code = build(unit, language, tmp_path)
    assert code.selftest() == 0
    (state,) = states(routine, 1)
    assert_close(code.call(routine, state)[0], kernel("puma560", "qdd")(*state), 1e-12)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.value)
def test_one_function_for_all_quantities(language: Language, tmp_path: Path) -> None:
    unit = unit_of("puma560", "tau,qdd,H", ExportOptions(layout=FunctionLayout.COMBINED))
    (routine,) = unit.routines
    assert [field.name for field in routine.inputs] == ["q", "v", "a", "tau"]
    assert [field.name for field in routine.outputs] == ["tau_out", "qdd", "H"]
    code = build(unit, language, tmp_path)
    assert code.selftest() == 0
    (state,) = states(routine, 1)
    q, v, a, tau = state
    found = code.call(routine, state)
    assert_close(found[0], kernel("puma560", "tau")(q, v, a), 1e-12)
    assert_close(found[1], kernel("puma560", "qdd")(q, v, tau), 1e-12)
    assert_close(found[2], kernel("puma560", "H")(q), 1e-12)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.value)
def test_parameters_at_run_time(language: Language, tmp_path: Path) -> None:
    unit = unit_of("double-pendulum", "tau", ExportOptions(symbolic_parameters=True))
    (routine,) = unit.routines
    names = [parameter.name for parameter in mechanism("double-pendulum").parameters]
    assert unit.parameter_values == (1.0, 1.0, 1.0, 1.0, 0.1)
    assert routine.inputs[-1].entries == tuple(names)
    code = build(unit, language, tmp_path)
    assert code.selftest() == 0
    values = dict(zip(names, (1.5, 0.75, 1.25, 0.5, 0.1), strict=True))
    (state,) = states(routine, 1)
    state[-1] = np.array(list(values.values()))
    expected = kg.compile(mechanism("double-pendulum"), "tau", parameters=values)(*state[:-1])
    assert_close(code.call(routine, state)[0], expected, 1e-12)


@pytest.mark.parametrize("sines", Sines)
@pytest.mark.parametrize("language", [Language.C, Language.RUST], ids=lambda one: one.value)
def test_single_precision(language: Language, sines: Sines, tmp_path: Path) -> None:
    unit = unit_of("puma560", "tau,H", ExportOptions(precision=Precision.FLOAT, sines=sines))
    assert all(routine.test and routine.test.relative == 1e-5 for routine in unit.routines)
    code = build(unit, language, tmp_path)
    assert code.selftest() == 0
    for routine in unit.routines:
        (state,) = states(routine, 1)
        rounded = [one.astype(np.float32).astype(float) for one in state]
        assert_close(code.call(routine, state)[0], kernel("puma560", routine.title)(*rounded), 1e-5)


@pytest.mark.parametrize("language", [Language.C, Language.RUST], ids=lambda one: one.value)
def test_sines_of_the_library(language: Language, tmp_path: Path) -> None:
    unit = unit_of("puma560", "tau", ExportOptions(sines=Sines.LIBRARY))
    code = build(unit, language, tmp_path)
    assert code.selftest() == 0
    (state,) = states(unit.routines[0], 1)
    assert_close(code.call(unit.routines[0], state)[0], kernel("puma560", "tau")(*state), 1e-12)


@pytest.mark.parametrize("language", [Language.C, Language.PYTHON], ids=lambda one: one.value)
def test_the_self_test_finds_a_wrong_number(language: Language, tmp_path: Path) -> None:
    unit = unit_of("double-pendulum", "tau,qdd")
    build(unit, language, tmp_path)
    path = tmp_path / f"{unit.name}.{'c' if language is Language.C else 'py'}"
    # Only the second function is made wrong, by a part in ten millions.
    head, found, rest = path.read_text().rpartition("qdd[1] = " if language is Language.C else "qdd[..., 1] = ")
    assert found
    changed = tmp_path / "changed"
    changed.mkdir()
    for name in tmp_path.glob(f"{unit.name}.*"):
        (changed / name.name).write_text(name.read_text())
    (changed / path.name).write_text(f"{head}{found}1.0000001*{rest}")
    from tests.export.languages import _CODES

    assert _CODES[language](unit, changed).selftest() == 2


def test_numpy_takes_leading_dimensions(tmp_path: Path) -> None:
    unit = unit_of("puma560", "tau,H")
    code = build(unit, Language.PYTHON, tmp_path)
    random = np.random.default_rng(3)
    q, v, a = (random.uniform(-1, 1, (3, 4, 6)) for _ in range(3))
    (tau,) = code.call(unit.routines[0], [q, v, a[0, 0]])
    (inertia,) = code.call(unit.routines[1], [q])
    assert tau.shape == (3, 4, 6) and inertia.shape == (3, 4, 6, 6)
    assert_close(tau[2, 1], kernel("puma560", "tau")(q[2, 1], v[2, 1], a[0, 0]), 1e-12)
    assert_close(inertia[1, 3], kernel("puma560", "H")(q[1, 3]), 1e-12)
    with pytest.raises(ValueError, match=r"q has shape .* its last dimension must be 6"):
        code.call(unit.routines[1], [q[..., :5]])


DUAL = """
#include <cmath>
#include "puma560.hpp"
struct Dual {
    double value, slope;
    Dual() : value(0), slope(0) {}
    explicit Dual(double v, double s = 0) : value(v), slope(s) {}
};
Dual operator+(Dual a, Dual b) { return Dual(a.value + b.value, a.slope + b.slope); }
Dual operator-(Dual a, Dual b) { return Dual(a.value - b.value, a.slope - b.slope); }
Dual operator*(Dual a, Dual b) { return Dual(a.value*b.value, a.slope*b.value + a.value*b.slope); }
Dual operator-(Dual a) { return Dual(-a.value, -a.slope); }
Dual sin(Dual a) { return Dual(std::sin(a.value), a.slope*std::cos(a.value)); }
Dual cos(Dual a) { return Dual(std::cos(a.value), -a.slope*std::sin(a.value)); }
extern "C" void slopes(const double *x, double *y) {
    for (int k = 0; k < 6; k++) {
        Dual q[6], v[6], a[6], tau[6];
        for (int i = 0; i < 6; i++) {
            q[i] = Dual(x[i], i == k);
            v[i] = Dual(x[6 + i]);
            a[i] = Dual(x[12 + i]);
        }
        kinegraph::puma560::tau(q, v, a, tau);
        for (int i = 0; i < 6; i++) y[6*i + k] = tau[i].slope;
    }
}
"""


def test_cpp_takes_scalars_that_differentiate(tmp_path: Path) -> None:
    unit = unit_of("puma560", "tau")
    build(unit, Language.CPP, tmp_path)
    (tmp_path / "dual.cpp").write_text(DUAL)
    flags = ("-std=c++11", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared")
    shell("g++", *flags, "dual.cpp", "-o", "dual.so", folder=tmp_path)
    (state,) = states(unit.routines[0], 1)
    x, y = np.concatenate(state), np.zeros((6, 6))
    ctypes.CDLL(str(tmp_path / "dual.so")).slopes(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))
    assert_close(y, kernel("puma560", "d(tau)/d(q)")(*state), 1e-12)


NAMED = """
    model named;
    parameters k = 20;
    coordinates q1 = 0.3, q2;
    define gamma = q1 + q2, load = k*(gamma - 0.1);
    quasivelocity w = q1' + cos(gamma)*q2';
    Arm1      | Ry(q1)         | Sz(-0.5), m(2), Jy(0.2);
    Arm2~Arm1 | Sz(-1), Ry(q2) | Sz(-0.4), m(1), Jy(0.1);
    spring coil | on(gamma), stiffness(k);
    damper slow | on(w), damping(0.3);
    force  push | value(-load), on(q1);
"""


@pytest.mark.parametrize("language", LANGUAGES if SOAK else (Language.FORTRAN,), ids=lambda one: one.value)
def test_code_that_uses_names_of_the_model_compiles(language: Language, tmp_path: Path) -> None:
    """Fortran must declare `gamma` and `w` as it declares x1 and t1."""
    named = prepare(kg.parse(NAMED), "tau", ExportOptions())
    assert {"gamma", "w"} <= set(named.routines[0].shared.values())
    assert build(named, language, tmp_path).selftest() == 0
