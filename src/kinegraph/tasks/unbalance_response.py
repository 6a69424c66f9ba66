"""`unbalance_response`: the whirl of a rotor over its speed under a small unbalance, from exact derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.derive.constraints.redundancy import moved_positions
from kinegraph.derive.dynamics.state_rate import STATE_RATES
from kinegraph.errors import TaskError
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import component, did_you_mean
from kinegraph.tabular import Column, Tabular
from kinegraph.tasks.campbell import Rotor, check_speeds
from kinegraph.tasks.linearize import linearized_at
from kinegraph.tasks.operating_point import (
    VALUE,
    Floats,
    OperatingPoint,
    called,
    kernel_of,
    name_index,
    parameter_slope,
    refuse_quaternions,
    row_kernel,
)
from kinegraph.tasks.tangent_space import tangent

#: Angles of a turn at which the force of the unbalance is evaluated, and harmonics whose sizes must be negligible.
_ANGLES = 16
_NEGLIGIBLE = 1e-9
#: Of a peak's speed: its tolerance, and the distances of the points from which it is interpolated.
_NEAREST, _VERTEX = 1e-9, (1e-6, 1e-8)


@dataclass(frozen=True)
class UnbalanceResponse(Tabular):
    """The whirl at the frequency of rotation: `amplitudes[speed, output]`, complex, in the unit of the output.

    The phase is that before the angle of rotation: an output is the real part of amplitude * exp(i angle).
    unbalance: the small values that cause it. peaks: for each output the speeds of its largest amplitudes, searched
    between the rows, and these.
    """

    model: str
    over: str
    unbalance: Mapping[str, float]
    speeds: Floats
    outputs: tuple[str, ...]
    transfer: np.ndarray
    peaks: Mapping[str, tuple[tuple[float, float], ...]]

    def __getitem__(self, output: str) -> Floats:
        """The amplitude of one output over the speed."""
        return np.asarray(np.abs(self.transfer[:, name_index(output, self.outputs, "output")]))

    def __contains__(self, name: object) -> bool:
        return name in self.outputs

    @property
    def amplitude(self) -> Floats:
        """The amplitudes, a column for each output."""
        return np.asarray(np.abs(self.transfer))

    @property
    def phase(self) -> Floats:
        """The phases before the angle of rotation, in radians."""
        return np.asarray(np.angle(self.transfer))

    def __str__(self) -> str:
        small = ", ".join(f"{name} = {value:g}" for name, value in self.unbalance.items())
        lines = [f"{self.model}: response to {small}, {self.over} from {self.speeds[0]:g} to {self.speeds[-1]:g} rad/s"]
        for name, peaks in self.peaks.items():
            listed = "; ".join(
                f"{height:.6g} at {speed:.6g} rad/s"
                if np.isfinite(height)
                else f"without bound at {speed:.7g} rad/s: nothing damps it"
                for speed, height in peaks
            )
            lines.append(f"  {name}: peaks {listed}" if peaks else f"  {name}: no peak in this range")
        return "\n".join(lines)

    def _table(self) -> Mapping[str, Column]:
        """A row for each speed: amplitude and phase of every output."""
        columns: dict[str, Column] = {self.over: self.speeds}
        for k, name in enumerate(self.outputs):
            columns |= {name: self.amplitude[:, k], f"phase of {name}": self.phase[:, k]}
        return columns

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        return {
            "over": self.over, "unbalance": dict(self.unbalance), "speeds": self.speeds.tolist(),
            "outputs": list(self.outputs), "amplitude": self.amplitude.tolist(), "phase": self.phase.tolist(),
            "peaks": {name: [list(one) for one in peaks] for name, peaks in self.peaks.items()},
        }  # fmt: skip


def unbalance_response(
    model: MechanismSource,
    over: str,
    unbalance: Mapping[str, float],
    low: float,
    high: float,
    state: Mapping[str, Scalar] | None = None,
    *,
    outputs: Sequence[str] = (),
    times: int = 200,
    parameters: Mapping[str, Scalar] | None = None,
) -> UnbalanceResponse:
    """Compute the whirl of a rotor under small unbalances over its speed, to first order, from exact derivatives.

    over: the rate of a cyclic coordinate, in rad/s, from low to high.
    unbalance: parameters and their small values, such as {"ecc": 1e-5}; the rotor is balanced where they are zero.
    outputs: coordinates and points (`x`, `A.y`); by default the coordinates that may vibrate.
    times: number of equal intervals of speed. Peaks are searched for between them.
    """
    mechanism = mechanism_of(model)
    refuse_quaternions(mechanism, "unbalance_response supports")
    check_speeds(low, high, times)
    known = {one.name for one in mechanism.parameters}
    if not isinstance(unbalance, Mapping) or not unbalance:
        raise TaskError(f"unbalance is {unbalance!r:.60}: give small parameters by name, e.g. {{'ecc': 1e-5}}")
    for name, value in unbalance.items():
        if name not in known:
            raise TaskError(f"unbalance: {mechanism.name} has no parameter {name!r}\n  {did_you_mean(name, known)}")
        if not np.isfinite(value):
            raise TaskError(f"unbalance: {name} is {value!r}: give a small number")
    if over not in mechanism.layout.velocities:
        raise TaskError(
            f"over: {over!r} is not the rate of a coordinate: unbalance needs the angle of rotation as a coordinate\n"
            f"  {did_you_mean(over, mechanism.layout.velocities)}"
        )
    runtime = tuple((name, 0.0) for name in unbalance)
    balanced = {name: value for name, value in (parameters or {}).items() if name not in unbalance}
    rotor = Rotor(mechanism, over, state, balanced, None, low, runtime)
    rotor.require_constant([low + part * (high - low) for part in (0.0113, 0.5, 1.0)])
    response = _Response(
        rotor, {name: float(value) for name, value in unbalance.items()}, _outputs(mechanism, outputs, over)
    )
    speeds = np.linspace(low, high, times + 1)
    transfer = np.array([response.at(float(speed)) for speed in speeds])
    largest = float(np.max(np.abs(transfer), initial=0.0))
    peaks = {
        name: _peaks(speeds, np.abs(transfer[:, k]), response.height(k), largest)
        for k, name in enumerate(response.outputs)
    }
    return UnbalanceResponse(mechanism.name, over, response.unbalance, speeds, response.outputs, transfer, peaks)


def _outputs(mechanism: Mechanism, outputs: Sequence[str], spin: str) -> tuple[str, ...]:
    layout = mechanism.layout
    if not outputs:
        return tuple(name for name in layout.positions if name + "'" != spin)
    points = {*mechanism.body_by_name, *(point.name for point in mechanism.points)}
    for name in outputs:
        part = component(name)
        if name not in layout.positions and (part is None or not part.exists or part.rate or part.point not in points):
            known = (*layout.positions, *(f"{point}.x" for point in points))
            raise TaskError(f"outputs: unknown coordinate or point {name!r}\n  {did_you_mean(name, known)}")
    return tuple(outputs)


@dataclass(frozen=True)
class _Response:
    rotor: Rotor
    unbalance: Mapping[str, float]
    outputs: tuple[str, ...]

    def at(self, speed: float) -> np.ndarray:
        """The complex amplitudes of the outputs at a speed."""
        rotor = self.rotor
        point = rotor.at(speed)
        linear = linearized_at(rotor.mechanism, point, parameters=rotor.parameters)
        space = tangent(rotor.mechanism, point, rotor.parameters)
        force = self._force(point, speed)
        size = len(point.v)
        right = np.concatenate([np.zeros(len(space.displaced)), force[:size][list(space.moving)], force[size:]])
        matrix = 1j * abs(speed) * np.eye(len(linear.A)) - linear.A
        left, sizes, rows = np.linalg.svd(matrix)
        parts = left.conj().T @ right
        regular = sizes > len(sizes) * np.finfo(float).eps * sizes[0]
        found = rows[regular].conj().T @ (parts[regular] / sizes[regular])
        seen = self._seen(point)
        amplitudes = np.asarray(seen @ rotor.displacements(point, found))
        # At a critical speed without damping, nothing bounds the directions that the unbalance excites.
        for k in np.flatnonzero(~regular & (np.abs(parts) > _NEGLIGIBLE * np.linalg.norm(right))):
            shape = np.abs(seen @ rotor.displacements(point, rows[k].conj()))
            amplitudes[shape > _NEGLIGIBLE * np.max(shape, initial=0.0)] = np.inf
        return amplitudes

    def height(self, output: int) -> Callable[[float], float]:
        """The amplitude of one output as a function of the speed."""
        return lambda speed: float(abs(self.at(speed)[output]))

    def _force(self, point: OperatingPoint, speed: float) -> np.ndarray:
        """The accelerations, and the rates of first-order states, that the unbalance causes at the frequency of
        rotation."""
        rotor = self.rotor
        self._require_free_of_constraints(point)
        period = 2 * np.pi / abs(speed) if speed else 1.0
        words = {name: [parameter_slope("qdd", name)] for name in self.unbalance}
        if rotor.mechanism.states:
            words = {name: [*one, parameter_slope(STATE_RATES, name)] for name, one in words.items()}
        kernel = kernel_of(
            rotor.mechanism, [word for one in words.values() for word in one], rotor.parameters, point.runtime
        )
        parts = np.zeros((len(words), _ANGLES, len(point.v) + len(point.z)))
        for k in range(_ANGLES):
            turned = moved_positions(rotor.mechanism, point.q, point.v * (k * period / _ANGLES))
            found = called(kernel, point.at(turned).arguments())
            parts[:, k] = [
                value * np.concatenate([found[word] for word in words[name]]) for name, value in self.unbalance.items()
            ]
        for (name, value), part in zip(self.unbalance.items(), parts, strict=True):
            if speed and value and not np.any(part):
                raise TaskError(
                    f"{rotor.mechanism.name}: {name} causes no force on the rotating, balanced rotor, so it is not an "
                    "unbalance\n  name parameters such as an eccentricity; they are zero in the balanced rotor"
                )
        rows = parts.sum(axis=0)
        harmonics = np.fft.fft(rows, axis=0) / _ANGLES
        others = np.delete(np.abs(harmonics), [1, _ANGLES - 1], axis=0)
        if np.max(others, initial=0.0) > _NEGLIGIBLE * max(float(np.max(np.abs(rows), initial=0.0)), 1e-300):
            raise TaskError(
                f"{rotor.mechanism.name}: {', '.join(self.unbalance)} acts with other frequencies than that of rotation"
                " too, so it is not an unbalance\n  `periodic_motion` finds the whole response"
            )
        return np.asarray(2 * harmonics[1])

    def _require_free_of_constraints(self, point: OperatingPoint) -> None:
        if not is_constrained(self.rotor.mechanism):
            return
        found = called(row_kernel(self.rotor.mechanism, self.rotor.parameters, point.runtime), point.arguments())
        for name in self.unbalance:
            if np.any(np.abs(found[parameter_slope(VALUE, name)]) > 1e-12):
                raise TaskError(
                    f"{self.rotor.mechanism.name}: {name} changes the loops or constraints, so it is not an unbalance\n"
                    "  `periodic_motion` finds the whole response"
                )

    def _seen(self, point: OperatingPoint) -> Floats:
        """The outputs by all displacements."""
        mechanism = self.rotor.mechanism
        positions = mechanism.layout.positions
        parts = {name: component(name) for name in self.outputs if name not in positions}
        words = list(dict.fromkeys(f"jacobian:{part.point}" for part in parts.values() if part is not None))
        found = (
            called(kernel_of(mechanism, words, self.rotor.parameters, point.runtime), point.arguments())
            if words
            else {}
        )
        rows = []
        for name in self.outputs:
            part = parts.get(name)
            if part is None:
                rows.append(np.eye(len(positions))[positions.index(name)])
            else:
                rows.append(found[f"jacobian:{part.point}"]["xyz".index(part.axis)])
        return np.array(rows)


def _peaks(
    speeds: Floats, heights: Floats, height: Callable[[float], float], largest: float
) -> tuple[tuple[float, float], ...]:
    """Speeds and heights of the local maxima inside the range, refined; none of what is only rounding.

    Without damping a maximum is infinite: it falls to a half within rounding of its speed.
    """
    inner = np.flatnonzero((heights[1:-1] > heights[:-2]) & (heights[1:-1] >= heights[2:])) + 1
    found: list[tuple[float, float]] = []
    for k in inner:
        if heights[k] <= _NEGLIGIBLE * largest:
            continue
        best = minimize_scalar(
            lambda x: _flatness(height, float(x)), bounds=(speeds[k - 1], speeds[k + 1]), method="bounded",
            options={"xatol": _NEAREST * max(1.0, abs(float(speeds[k])))},
        )  # fmt: skip
        speed = float(best.x)
        for step in _VERTEX:
            speed = _vertex(height, speed, step * max(1.0, abs(speed)))
        beside = _NEAREST * max(1.0, abs(speed))
        top, sides = height(speed), max(height(speed - beside), height(speed + beside))
        found.append((speed, top if sides > 0.5 * top else np.inf))
    return tuple(found)


def _vertex(height: Callable[[float], float], speed: float, step: float) -> float:
    """A maximum near a speed: one over the square of the height is a parabola there, however sharp the peak is."""
    left, middle, right = (_flatness(height, speed + k * step) for k in (-1, 0, 1))
    bend = left - 2 * middle + right
    moved = 0.5 * step * (left - right) / bend if bend > 0 else 0.0
    return speed + moved if abs(moved) < 100 * step else speed


def _flatness(height: Callable[[float], float], speed: float) -> float:
    found = height(speed)
    return found**-2 if found > 0 else np.inf
