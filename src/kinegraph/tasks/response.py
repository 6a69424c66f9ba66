"""`response`: the steady vibration under a harmonic force, over frequency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import Quantities
from kinegraph.errors import TaskError
from kinegraph.model.expressions import Scalar
from kinegraph.tabular import Tabular
from kinegraph.tasks.linearize import Linearization, indices, linearize
from kinegraph.tasks.operating_point import Floats


@dataclass(frozen=True)
class Response(Tabular):
    """Y/W over angular frequency (rad/s): `transfer[frequency, output, input]`, complex."""

    frequencies: Floats
    transfer: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    linearization: Linearization

    @property
    def amplitude(self) -> Floats:
        """The amplitude of each output for a unit input."""
        return np.asarray(np.abs(self.transfer))

    @property
    def phase(self) -> Floats:
        """The phase in radians; positive: the output leads the input."""
        return np.asarray(np.angle(self.transfer))

    def _table(self) -> Mapping[str, np.ndarray]:
        """A row for each frequency, output and input."""
        count, outputs, inputs = self.transfer.shape
        return {
            "frequency": np.repeat(self.frequencies, outputs * inputs),
            "output": np.tile(np.repeat(np.array(self.outputs), inputs), count),
            "input": np.tile(np.array(self.inputs), count * outputs),
            "amplitude": self.amplitude.ravel(),
            "phase": self.phase.ravel(),
        }

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        names = {"frequencies": self.frequencies.tolist(), "inputs": self.inputs, "outputs": self.outputs}
        return {**names, "amplitude": self.amplitude.tolist(), "phase": self.phase.tolist()}


def response(
    model: MechanismSource,
    state: Mapping[str, Scalar] | None = None,
    *,
    frequencies: Sequence[float] | Floats | None = None,
    inputs: Sequence[str] = (),
    outputs: Quantities = (),
    parameters: Mapping[str, Scalar] | None = None,
) -> Response:
    """Compute the response to harmonic inputs about an equilibrium.

    frequencies: in rad/s; by default 400 around the eigenvalues. inputs: names of forces or inputs; by default all.
    """
    mechanism = mechanism_of(model)
    linear = linearize(mechanism, state, outputs=outputs, parameters=parameters)
    columns = indices(linear.inputs, inputs) if inputs else list(range(len(linear.inputs)))
    if not columns:
        raise TaskError(f"{mechanism.name} has no coordinates, so nothing can drive it")
    grid = np.asarray(frequencies if frequencies is not None else _grid(linear), dtype=float)
    transfer = transfer_function(linear, grid)[:, :, columns]
    return Response(grid, transfer, tuple(linear.inputs[k] for k in columns), linear.outputs, linear)


def transfer_function(linear: Linearization, frequencies: Floats) -> np.ndarray:
    """C (i w - A)^-1 B + D at every frequency."""
    unit = np.eye(len(linear.A))
    found = []
    for frequency in frequencies:
        try:
            found.append(linear.C @ np.linalg.solve(1j * frequency * unit - linear.A, linear.B) + linear.D)
        except np.linalg.LinAlgError:
            found.append(np.full(linear.D.shape, np.inf, dtype=complex))
    return np.array(found)


def _grid(linear: Linearization) -> Floats:
    sizes = np.abs(linear.eigenvalues)
    sizes = sizes[sizes > 1e-6]
    low, high = (float(sizes.min()) / 10, float(sizes.max()) * 10) if sizes.size else (0.1, 10.0)
    return np.geomspace(low, high, 400)
