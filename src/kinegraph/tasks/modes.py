"""`modes`: free vibrations about an equilibrium or a steady motion, damped or undamped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.model.constraints import is_constrained, tell_of_unknowns
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tabular import Tabular, by_name
from kinegraph.tasks.linearize import (
    Floquet,
    Linearization,
    exponents_of,
    floquet,
    linearized_at,
    period_of,
    real_and_imaginary,
)
from kinegraph.tasks.operating_point import (
    FORCE,
    INERTIA,
    Floats,
    OperatingPoint,
    called,
    force_kernel,
    operating_point,
    slope,
)
from kinegraph.tasks.tangent_space import tangent

#: Entries below this fraction of the largest are rounding errors.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Mode:
    """One mode: every displacement as shape * exp(eigenvalue t).

    frequency: of the undamped motion, |eigenvalue| in rad/s. damping: the ratio to critical damping. The largest
    entry of the shape is one. multiplier: if the linear system is periodic, the growth of the mode over one period;
    the eigenvalue is then the Floquet exponent, and the shape that at the initial time.
    """

    eigenvalue: complex
    shape: np.ndarray
    multiplier: complex | None = None

    @property
    def frequency(self) -> float:
        """Undamped frequency in radians per second."""
        return abs(self.eigenvalue)

    @property
    def damping(self) -> float:
        """Damping ratio: 1 is critical, negative grows."""
        return -self.eigenvalue.real / self.frequency + 0.0 if self.frequency else 0.0

    @property
    def oscillates(self) -> bool:
        """Whether the eigenvalue has an imaginary part."""
        return self.eigenvalue.imag != 0.0

    def to_dict(self, displacements: Sequence[str]) -> dict[str, object]:
        """The numbers as JSON can hold them; the shape by displacement."""
        shape = {name: real_and_imaginary(entry) for name, entry in zip(displacements, self.shape, strict=True)}
        multiplier = {} if self.multiplier is None else {"multiplier": real_and_imaginary(self.multiplier)}
        return {
            "eigenvalue": real_and_imaginary(self.eigenvalue), "frequency": self.frequency, "damping": self.damping,
            "shape": shape, **multiplier,
        }  # fmt: skip


@dataclass(frozen=True)
class Modes(Tabular):
    """All modes, slowest first; a conjugate pair is represented by the one with positive frequency.

    floquet: if the linear system is periodic, its monodromy matrix; `linearization` is then that at the initial
    time. mechanism, parameters: the model and the values given for it, with which notebooks draw the shapes.
    """

    modes: tuple[Mode, ...]
    displacements: tuple[str, ...]
    linearization: Linearization
    floquet: Floquet | None = None
    mechanism: Mechanism | None = field(default=None, repr=False, compare=False)
    parameters: Mapping[str, Scalar] | None = field(default=None, repr=False, compare=False)

    @property
    def frequencies(self) -> Floats:
        """The frequencies of oscillating modes, rad/s."""
        return np.array([mode.frequency for mode in self.modes if mode.oscillates])

    @property
    def stable(self) -> bool | None:
        """Whether no mode grows; None if zero eigenvalues leave it undecided."""
        return self.linearization.stable if self.floquet is None else self.floquet.unstable == 0

    def _table(self) -> Mapping[str, np.ndarray]:
        multipliers = {} if self.floquet is None else {"multiplier": np.array([one.multiplier for one in self.modes])}
        return {
            "eigenvalue": np.array([one.eigenvalue for one in self.modes]),
            "frequency": np.array([one.frequency for one in self.modes]),
            "damping": np.array([one.damping for one in self.modes]),
            **multipliers,
            **by_name([f"shape:{name}" for name in self.displacements], [one.shape for one in self.modes]),
        }

    def to_dict(self) -> dict[str, object]:
        """The result as data for JSON."""
        period = {} if self.floquet is None else {"period": self.floquet.period}
        modes = [mode.to_dict(self.displacements) for mode in self.modes]
        return {"modes": modes, "stable": self.stable, **period}


def modes(
    model: MechanismSource,
    state: Mapping[str, Scalar] | None = None,
    *,
    parameters: Mapping[str, Scalar] | None = None,
) -> Modes:
    """Compute frequencies, damping ratios and shapes about an equilibrium or steady motion.

    state: values that differ from the model's initial ones.
    If the linear system is periodic in time or along a steady spin: Floquet multipliers and exponents.
    """
    mechanism = mechanism_of(model)
    tell_of_unknowns(mechanism, state or ())
    return modes_at(mechanism, operating_point(mechanism, state, parameters), parameters=parameters)


def modes_at(mechanism: Mechanism, point: OperatingPoint, *, parameters: Mapping[str, Scalar] | None = None) -> Modes:
    """Like modes, at a known point."""
    linear = linearized_at(mechanism, point, parameters=parameters)
    size = len(tangent(mechanism, point, parameters).displaced)
    period = period_of(mechanism, point, parameters)
    if period is not None:
        repeating = floquet(mechanism, point, period, parameters)
        return Modes(
            tuple(_floquet_modes(repeating, size)), linear.states[:size], linear, repeating, mechanism, parameters
        )
    found = _undamped(mechanism, point, linear, parameters) or _general(linear, size)
    return Modes(tuple(found), linear.states[:size], linear, None, mechanism, parameters)


def _undamped(
    mechanism: Mechanism, point: OperatingPoint, linear: Linearization, parameters: Mapping[str, Scalar] | None
) -> list[Mode] | None:
    """The modes of a symmetric problem; None if it is not symmetric."""
    if np.any(point.v) or mechanism.states:
        return None
    if is_constrained(mechanism):
        return _undamped_on_constraints(mechanism, point, linear, parameters)
    found = called(force_kernel(mechanism, parameters), point.arguments())
    mass, stiffness, damping = found[INERTIA], found[slope(FORCE, "dq")], found[slope(FORCE, "v")]
    scale = np.max(np.abs(stiffness), initial=0.0)
    if not all(np.isfinite(matrix).all() for matrix in (mass, damping)):
        return None
    if np.any(np.abs(damping) > ROUNDING * np.max(np.abs(mass))) or not np.isfinite(scale):
        return None
    return _symmetric_modes(mass, stiffness, 1e-10 * scale)


def _undamped_on_constraints(
    mechanism: Mechanism, point: OperatingPoint, linear: Linearization, parameters: Mapping[str, Scalar] | None
) -> list[Mode] | None:
    """The same in independent displacements, with the stiffness and damping of the linear system."""
    space = tangent(mechanism, point, parameters)
    if space.displaced != space.moving:
        return None
    inertia = called(force_kernel(mechanism, parameters), point.arguments())[INERTIA]
    mass = space.velocities.T @ inertia @ space.velocities
    lower = -mass @ linear.A[len(mass) :]
    stiffness, damping = lower[:, : len(mass)], lower[:, len(mass) :]
    if np.any(np.abs(damping) > 1e-10 * np.max(np.abs(mass))):
        return None
    return _symmetric_modes(mass, stiffness, 1e-8 * np.max(np.abs(stiffness), initial=0.0))


def _symmetric_modes(mass: Floats, stiffness: Floats, rounding: float) -> list[Mode] | None:
    """The modes of K x = w^2 M x; None if K is not symmetric up to rounding."""
    if np.any(np.abs(stiffness - stiffness.T) > rounding):
        return None
    squares, shapes = scipy.linalg.eigh((stiffness + stiffness.T) / 2, mass)
    largest = max(float(np.max(np.abs(squares))), 1e-300)
    values = [0.0 if abs(square) < ROUNDING * largest else square for square in squares]
    found_modes: list[Mode] = []
    for square, shape in zip(values, shapes.T, strict=True):
        root = complex(0.0, np.sqrt(square)) if square > 0 else complex(np.sqrt(-square), 0.0)
        found_modes.append(Mode(root, _scaled(shape)))
        if square <= 0:
            found_modes.append(Mode(-root if square else root, _scaled(shape)))
    return sorted(found_modes, key=_order)


def _general(linear: Linearization, size: int) -> list[Mode]:
    values, vectors = np.linalg.eig(linear.A)
    largest = float(np.max(np.abs(values), initial=0.0))
    found = []
    for value, vector in zip(values, vectors.T, strict=True):
        tidy = complex(*(0.0 if abs(part) < 1e-13 * largest else part for part in (value.real, value.imag)))
        if tidy.imag >= 0:
            found.append(Mode(tidy, _scaled(vector[:size])))
    return sorted(found, key=_order)


def _floquet_modes(repeating: Floquet, size: int) -> list[Mode]:
    """One mode per multiplier; a conjugate pair is represented by the one with positive imaginary part."""
    values, vectors = np.linalg.eig(repeating.monodromy)
    exponents = exponents_of(values, repeating.period)
    found = [
        Mode(complex(exponent), _scaled(vector[:size]), complex(value))
        for value, exponent, vector in zip(values, exponents, vectors.T, strict=True)
        if complex(value).imag >= 0
    ]
    return sorted(found, key=_order)


def _scaled(shape: np.ndarray) -> np.ndarray:
    largest = shape[int(np.argmax(np.abs(shape)))] if shape.size else 1.0
    return shape / largest if largest else shape


def _order(mode: Mode) -> tuple[float, float]:
    return mode.frequency, mode.eigenvalue.real
