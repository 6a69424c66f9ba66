"""`linearise`: x' = A x + B w, y = C x + D w about an equilibrium or a steady motion, from exact derivatives.

x holds one displacement for every velocity (for a quaternion the rotation about its turned axes), then the velocities;
with loops and constraints the independent ones of both. w holds the forces on the coordinates and the declared inputs;
y is what the user asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.compiler.request import Quantities, quantities_of
from kinegraph.derive.quantities.quantity import Quantity, dependencies
from kinegraph.derive.quantities.variables import ALL, DISPLACEMENTS, Variables
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.kernels import called, kernel_of
from kinegraph.tasks.linear.acceleration_slopes import acceleration_slopes
from kinegraph.tasks.linear.tangent import Tangent, tangent
from kinegraph.tasks.operating_point import Floats, OperatingPoint, operating_point
from kinegraph.tasks.singular import refuse_singular, refuse_singular_coordinates

#: Accelerations larger than this part of the largest one that a single force makes are no steady motion.
STEADY = 1e-7
#: Singular values of A below this part of the largest are zero.
_ZERO = 1e-14


@dataclass(frozen=True)
class Linearisation(RichDisplay):
    """The matrices, what their rows and columns are, and the point they belong to."""

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    point: OperatingPoint

    @property
    def eigenvalues(self) -> np.ndarray:
        """Of A, slowest first."""
        values = np.linalg.eigvals(self.A)
        return np.asarray(values[np.lexsort((values.imag, values.real, np.abs(values)))])

    @property
    def stable(self) -> bool | None:
        """True if no eigenvalue has a positive real part beyond rounding; None if some are zero and decide nothing.

        Eigenvalues are zero where a coordinate may drift, and where forces are of higher order than linear.
        """
        values = self.eigenvalues
        if np.any(values.real > 1e-9 * max(1.0, float(np.max(np.abs(values), initial=0.0)))):
            return False
        sizes = np.linalg.svd(self.A, compute_uv=False)
        return None if len(sizes) and sizes[-1] <= _ZERO * sizes[0] else True


def linearise(
    mechanism: MechanismSource,
    at: Mapping[str, Scalar] | None = None,
    *,
    outputs: Quantities = (),
    parameters: Mapping[str, Scalar] | None = None,
    steady: bool = True,
) -> Linearisation:
    """The linear system about a state.

    at: the state (`q1`, `q1'`, `tau:q1`, inputs, `t`); what is not named has the model's initial value. outputs:
    quantities such as `pose:tip`; the state itself if none. steady=False also takes states that accelerate, and the
    matrices of one moment where they change with time or along a steady spin.
    """
    mechanism = mechanism_of(mechanism)
    point = operating_point(mechanism, at, parameters)
    found = linearised_at(mechanism, point, outputs=outputs, parameters=parameters, steady=steady)
    if steady:
        from kinegraph.tasks.linear.periodic import require_constant  # which is made of this

        require_constant(mechanism, point, parameters)
    return found


def linearised_at(
    mechanism: Mechanism,
    point: OperatingPoint,
    *,
    outputs: Quantities = (),
    parameters: Mapping[str, Scalar] | None = None,
    steady: bool = True,
) -> Linearisation:
    """Like linearise, at a point that is known already."""
    layout = mechanism.layout
    refuse_singular(mechanism, point, parameters, "the linear system")
    motion = acceleration_slopes(mechanism, point, parameters)
    refuse_singular_coordinates(mechanism, point, parameters, motion.by_force, "the linear system")
    if steady:
        _require_rest(mechanism, motion.accelerations, motion.by_force)
    space = tangent(mechanism, point, parameters)
    state = _state_derivative(space)
    gains = np.hstack([motion.by_force, motion.by_input])
    accelerations = np.hstack([motion.by_displacement, motion.by_velocity]) @ state
    size = len(layout.velocities)
    rates = np.hstack([_rotating(mechanism, point), np.eye(size)]) @ state
    displaced, moving = list(space.displaced), list(space.moving)
    a = np.vstack([rates[displaced], accelerations[moving]])
    if not np.isfinite(a).all():
        raise TaskError(f"{mechanism.name}: derivatives here are not finite numbers: try a state beside this one")
    b = np.vstack([np.zeros((len(displaced), gains.shape[1])), gains[moving]])
    names = state_names(mechanism, space)
    observed = _observed(mechanism, point, outputs, parameters, np.hstack([accelerations, gains]), state)
    c, d, seen = observed or (np.eye(len(a)), np.zeros((len(a), b.shape[1])), names)
    return Linearisation(a, b, c, d, names, (*layout.forces, *layout.inputs), seen, point)


def _state_derivative(space: Tangent) -> Floats:
    """All displacements and velocities by x."""
    none = np.zeros((len(space.positions), len(space.moving)))
    return np.block([[space.positions, none], [space.rotating, space.velocities]])


def state_names(mechanism: Mechanism, space: Tangent) -> tuple[str, ...]:
    """The entries of x: a displacement has its coordinate's name, a rotation that of its angular velocity in d()."""
    layout = mechanism.layout
    own = set(layout.positions)
    displacements = [
        name.removesuffix("'") if name.removesuffix("'") in own else f"d({name})" for name in layout.velocities
    ]
    return (*(displacements[k] for k in space.displaced), *(layout.velocities[k] for k in space.moving))


def require_steady(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None = None) -> None:
    """TaskError if something accelerates at a state."""
    motion = acceleration_slopes(mechanism, point, parameters)
    _require_rest(mechanism, motion.accelerations, motion.by_force)


def _require_rest(mechanism: Mechanism, qdd: Floats, compliance: Floats) -> None:
    if not np.all(np.isfinite(qdd)):
        raise TaskError(f"{mechanism.name}: the accelerations here are not finite: the configuration is singular")
    scale = float(np.max(np.abs(compliance), initial=0.0))
    worst = int(np.argmax(np.abs(qdd))) if qdd.size else 0
    if qdd.size and abs(qdd[worst]) > STEADY * max(1.0, scale):
        name = mechanism.layout.accelerations[worst]
        raise TaskError(
            f"{mechanism.name}: this state is neither an equilibrium nor a steady motion: {name} = {qdd[worst]:.3g}\n"
            "  find one with `equilibria` and take it by --equilibrium N (in Python: its q as `at`), or give the "
            "forces that hold it (tau:NAME=...)"
        )


def _rotating(mechanism: Mechanism, point: OperatingPoint) -> Floats:
    """What displacements do to each other: rotations seen in axes that turn themselves, d' = w - w0 x d."""
    layout = mechanism.layout
    matrix = np.zeros((len(layout.velocities),) * 2)
    for start in angular_velocities(mechanism):
        x, y, z = point.v[start : start + 3]
        matrix[start : start + 3, start : start + 3] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    return matrix


def angular_velocities(mechanism: Mechanism) -> list[int]:
    """Where in v the angular velocity of each quaternion begins."""
    layout = mechanism.layout
    return [start - number for number, start in enumerate(layout.quaternions)]


def _observed(
    mechanism: Mechanism,
    point: OperatingPoint,
    outputs: Quantities,
    parameters: Mapping[str, Scalar] | None,
    accelerations: Floats,
    state: Floats,
) -> tuple[Floats, Floats, tuple[str, ...]] | None:
    """C, D and the names of y; None if y is the state itself.

    accelerations: those of all coordinates by x and w. state: all displacements and velocities by x.
    """
    if not outputs:
        return None
    layout = mechanism.layout
    size, width = len(layout.velocities), state.shape[1]
    wanted = quantities_of(outputs)
    widths = {"dq": size, "v": size, "tau": len(layout.forces), "u": len(layout.inputs)}
    slopes = [_slope(name, by) for name in wanted for by in (*widths, "a") if _depends(name, by, mechanism)]
    found = called(kernel_of(mechanism, [*wanted, *slopes], parameters, point.runtime), point.arguments())
    rows, names = [], []
    for name in wanted:
        entries = np.size(found[str(name)])
        parts = [
            found.get(_slope(name, by), np.zeros(entries * count)).reshape(entries, count)
            for by, count in widths.items()
        ]
        row = np.hstack([np.hstack(parts[:2]) @ state, *parts[2:]])
        if _slope(name, "a") in slopes:
            row = row + found[_slope(name, "a")].reshape(entries, size) @ accelerations
        rows.append(row)
        names += [f"{name}[{index}]" for index in range(entries)] if entries > 1 else [str(name)]
    both = np.vstack(rows)
    return both[:, :width], both[:, width:], tuple(names)


def _slope(quantity: Quantity, by: str) -> str:
    return f"d({quantity})/d({ALL}{by})"


def _depends(quantity: Quantity, by: str, mechanism: Mechanism) -> bool:
    group = Variables.POSITIONS if by == DISPLACEMENTS else Variables(by)
    return group in dependencies(quantity, mechanism) and bool(group.names(mechanism))


def indices(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """The places of names in a list, or an error that says which there are."""
    for name in wanted:
        if name not in names:
            raise TaskError(f"there is no {name!r}; there are {', '.join(names)}")
    return [names.index(name) for name in wanted]
