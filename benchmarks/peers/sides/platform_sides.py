"""A Gough-Stewart platform with legs UPS as Pinocchio and MuJoCo describe it, and its states in their order."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.peers.sides.build import cpp_compiler, pinocchio_options, shared_library
from benchmarks.peers.sides.mujoco import mujoco_library
from kinegraph.extras import Foreign
from kinegraph.solve.problem import Floats

#: Proximal terms: `constraintDynamics` needs none here, `lcaba` cannot do without.
_PROXIMAL = {"constraintDynamics": 0.0, "lcaba": 1e-8}


@dataclass(frozen=True)
class Hexapod:
    """The numbers of a platform: joints, and mass, height of the center of mass and moments of each part."""

    base: Floats
    platform: Floats
    lower: tuple[float, float, float, float, float]
    upper: tuple[float, float, float, float, float]
    own: tuple[float, float, float, float, float]
    gravity: float


@dataclass(frozen=True)
class PlatformState:
    """A state: the platform's pose and motion, the legs' alpha, beta and length, their rates, the drives' efforts."""

    position: Floats
    quaternion: Floats
    rotation: Floats
    velocity: Floats
    spin: Floats
    legs: Floats
    rates: Floats
    efforts: Floats


@dataclass(frozen=True)
class Side:
    """One program: nanoseconds of a call, and the platform's six accelerations for a state (by index)."""

    nanoseconds: Callable[[int], float]
    platform: Callable[[int], Floats]


def pinocchio_sides(hexapod: Hexapod, states: list[PlatformState]) -> dict[str, Side]:
    """Both algorithms, with the platform free and with the platform carried by its first leg."""
    options = ("-O3", "-march=native", *pinocchio_options())
    library = shared_library("pinocchio_platforms.cpp", cpp_compiler(), options)
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    library.platform_open.restype = pointer
    library.platform_open.argtypes = [pointer, integer, ctypes.c_double, integer]
    library.platform_result.argtypes = [pointer, integer, pointer, pointer]
    library.platform_seconds.restype = ctypes.c_double
    library.platform_seconds.argtypes = [pointer, integer, pointer, ctypes.c_long, ctypes.c_long]
    found = {}
    for algorithm, term in _PROXIMAL.items():
        for loaded in (False, True):
            name = f"Pinocchio {algorithm}, platform {'on a leg' if loaded else 'free'}"
            found[name] = _pinocchio(library, hexapod, states, algorithm == "lcaba", loaded, term)
    return found


def _pinocchio(
    library: ctypes.CDLL, hexapod: Hexapod, states: list[PlatformState], articulated: bool, loaded: bool, term: float
) -> Side:
    parts = (*hexapod.lower, *hexapod.upper, *hexapod.own, hexapod.gravity)
    numbers = np.concatenate([hexapod.base.ravel(), hexapod.platform.ravel(), parts])
    handle = library.platform_open(numbers.ctypes.data, int(loaded), term, 1)
    rows = np.ascontiguousarray([_row_with_load(one) if loaded else _free_row(one) for one in states])

    def nanoseconds(calls: int) -> float:
        took = library.platform_seconds(handle, int(articulated), rows.ctypes.data, len(rows) - 1, calls)
        return 1e9 * float(took) / calls

    def platform(index: int) -> Floats:
        result = np.zeros(24)
        library.platform_result(handle, int(articulated), rows[index].ctypes.data, result.ctypes.data)
        one = states[index]
        linear = result[:3] + np.cross(one.spin, one.rotation.T @ one.velocity)
        return np.concatenate([one.rotation @ linear, result[3:6]])

    return Side(nanoseconds, platform)


def _free_row(one: PlatformState) -> Floats:
    """The platform first: position and quaternion with its scalar last, velocities in its own axes."""
    e0, *e = one.quaternion
    v = [*(one.rotation.T @ one.velocity), *one.spin, *one.rates.ravel()]
    tau = np.concatenate([np.zeros(6), _drives(one.efforts).ravel()])
    return np.concatenate([one.position, e, [e0], one.legs.ravel(), v, tau])


def _row_with_load(one: PlatformState) -> Floats:
    """The first leg, the platform by its rotation on it, the other legs."""
    alpha, beta, _ = one.legs[0]
    leg = _turn(0, alpha) @ _turn(1, beta)
    leg_spin = np.array([one.rates[0, 0] * np.cos(beta), one.rates[0, 1], one.rates[0, 0] * np.sin(beta)])
    between = leg.T @ one.rotation
    e0, *e = _quaternion(between)
    spin = one.spin - between.T @ leg_spin
    drives = _drives(one.efforts)
    q = [*one.legs[0], *e, e0, *one.legs[1:].ravel()]
    v = [*one.rates[0], *spin, *one.rates[1:].ravel()]
    return np.array([*q, *v, *drives[0], 0, 0, 0, *drives[1:].ravel()])


def _drives(efforts: Floats) -> Floats:
    found = np.zeros((6, 3))
    found[:, 2] = efforts
    return found


def _turn(axis: int, angle: float) -> Floats:
    j, k = (axis + 1) % 3, (axis + 2) % 3
    turn = np.eye(3)
    turn[j, j] = turn[k, k] = np.cos(angle)
    turn[k, j], turn[j, k] = np.sin(angle), -np.sin(angle)
    return turn


def _quaternion(m: Floats) -> Floats:
    """Of a rotation by less than half a turn."""
    e0 = float(np.sqrt(1 + np.trace(m))) / 2
    v = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / (4 * e0)
    return np.array([e0, *v])


def mujoco_side(hexapod: Hexapod, states: list[PlatformState]) -> Side:
    """`mj_forward` with `connect` constraints, which give way."""
    import mujoco

    library = mujoco_library(mujoco, ("mujoco_forward",))
    model = mujoco.MjModel.from_xml_string(_mjcf(hexapod))
    data = mujoco.MjData(model)
    rows = np.ascontiguousarray([_mujoco_row(one) for one in states])

    def nanoseconds(calls: int) -> float:
        took = library.mujoco_forward(model._address, data._address, rows.ctypes.data, len(rows) - 1, calls, 1)
        return 1e9 * float(took) / calls

    return Side(nanoseconds, lambda index: _mujoco_platform(mujoco, model, data, rows[index]))


def _mujoco_platform(mujoco: Foreign, model: Foreign, data: Foreign, row: Floats) -> Floats:
    q, v, tau = np.split(row, [model.nq, model.nq + model.nv])
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(model, data)
    return np.array(data.qacc[:6])


def _mujoco_row(one: PlatformState) -> Floats:
    v = [*one.velocity, *one.spin, *one.rates.ravel()]
    tau = np.concatenate([np.zeros(6), _drives(one.efforts).ravel()])
    return np.concatenate([one.position, one.quaternion, one.legs.ravel(), v, tau])


def _mjcf(hexapod: Hexapod) -> str:
    def inertial(part: tuple[float, ...]) -> str:
        mass, height, *moments = part
        return f'<inertial mass="{mass}" pos="0 0 {height}" diaginertia="{" ".join(map(str, moments))}"/>'

    def place(point: Floats) -> str:
        return " ".join(map(str, point))

    legs, ties = "", ""
    for k, base in enumerate(hexapod.base):
        legs += (
            f'<body pos="{place(base)}"><joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 1 0"/>'
            f"{inertial(hexapod.lower)}"
            f'<body name="upper{k}"><joint type="slide" axis="0 0 1"/>{inertial(hexapod.upper)}'
            f'<site name="tip{k}"/></body></body>'
        )
        ties += f'<connect site1="tip{k}" site2="platform{k}" solimp="0.9999 0.9999 0.001" solref="0.004 1"/>'
    sites = "".join(f'<site name="platform{k}" pos="{place(point)}"/>' for k, point in enumerate(hexapod.platform))
    return (
        f'<mujoco><option gravity="0 0 {-hexapod.gravity}"/><compiler angle="radian" boundinertia="1e-9"/><worldbody>'
        f'<body name="platform"><freejoint/>{inertial(hexapod.own)}{sites}</body>{legs}</worldbody>'
        f"<equality>{ties}</equality></mujoco>"
    )
