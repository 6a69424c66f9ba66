"""The motion of a mechanism with loops whose independent coordinates follow laws of time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.errors import AssemblyError, TaskError
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.forces.motion_law import SampledMotion, quintic
from kinegraph.tasks.kernels import called_rows, kernel_of
from kinegraph.tasks.operating_point import Floats

JACOBIAN = "constraint_jacobian"
_RATES = "constraint_rates"
_BY_POSITION, _BY_TIME = f"d({_RATES})/d(all:dq)", f"d({_RATES})/d(t)"
_SMALL = 1e-9


def completed(
    mechanism: Mechanism,
    names: tuple[str, ...],
    given: SampledMotion,
    parameters: Mapping[str, Scalar] | None = None,
    near: SampledMotion | None = None,
) -> SampledMotion:
    """The motion of all coordinates, from that of those that are named.

    Between one time and the next the mechanism stays on its branch, so times should not lie far apart. near: the same
    motion at other times, in between which the given ones may lie anywhere.
    """
    driven = [mechanism.layout.positions.index(name) for name in names]
    begun = None if near is None else quintic(near.times, given.times, near.q, near.v, near.a)[0]
    q, v = _followed(mechanism, names, driven, given, parameters, begun)
    a = _accelerations(mechanism, driven, SampledMotion(given.times, q, v, given.a), parameters)
    return SampledMotion(given.times, q, v, a)


def _followed(
    mechanism: Mechanism,
    names: tuple[str, ...],
    driven: list[int],
    given: SampledMotion,
    parameters: Mapping[str, Scalar] | None,
    begun: Floats | None,
) -> tuple[Floats, Floats]:
    """Positions and velocities, each time from those of the time before, or from where it is begun."""
    assembler = Assembler(mechanism, parameters)
    q, v = assembler.start({})
    held = (*names, *(mechanism.layout.velocities[k] for k in driven))
    positions: list[Floats] = []
    velocities: list[Floats] = []
    before = given.times[0]
    for k, (time, place, rate) in enumerate(zip(given.times, given.q, given.v, strict=True)):
        q = q + v * (time - before) if positions else q
        q = q if begun is None else begun[k].copy()
        q[driven], v[driven] = place, rate
        found = _assembled(assembler, q, v, held, float(time))
        q, v, before = found[0].copy(), found[1].copy(), time
        positions.append(q.copy())
        velocities.append(v.copy())
    return np.array(positions), np.array(velocities)


def _assembled(assembler: Assembler, q: Floats, v: Floats, held: tuple[str, ...], t: float) -> tuple[Floats, Floats]:
    try:
        found = assembler.assembled(q, v, held, t)
    except AssemblyError as error:
        raise TaskError(f"at t = {t:.6g} the loops cannot follow this motion: {error}") from error
    moved = [name for name, change in found.changed.items() if abs(change) > _SMALL]
    if moved:
        raise TaskError(f"at t = {t:.6g} the loops cannot follow this motion: {', '.join(moved)} had to give way")
    return found.q, found.v


def _accelerations(
    mechanism: Mechanism, driven: list[int], motion: SampledMotion, parameters: Mapping[str, Scalar] | None
) -> Floats:
    """The rows differentiated twice, solved for the accelerations that no law gives."""
    wanted = [JACOBIAN, _BY_POSITION, *([_BY_TIME] if depends_on_time(mechanism) else [])]
    layout = mechanism.layout
    values: dict[str, Floats | float] = {
        "q": motion.q, "v": motion.v, "t": motion.times, "u": np.zeros(len(layout.inputs)),
    }  # fmt: skip
    found = called_rows(kernel_of(mechanism, wanted, parameters), values)
    bias = np.einsum("kri,ki->kr", found[_BY_POSITION], motion.v)
    if _BY_TIME in found:
        bias = bias + found[_BY_TIME]
    others = [k for k in range(len(layout.velocities)) if k not in driven]
    a = np.zeros_like(motion.v)
    a[:, driven] = motion.a
    for row, jacobian, gamma, time in zip(a, found[JACOBIAN], bias, motion.times, strict=True):
        solution, _, rank, _ = np.linalg.lstsq(jacobian[:, others], -gamma - jacobian @ row, rcond=_SMALL)
        if rank < len(others):
            raise TaskError(
                f"at t = {time:.6g} these laws leave {len(others) - rank} of "
                f"{', '.join(layout.positions[k] for k in others)} free: give laws for more coordinates"
            )
        row[others] = solution
    return a
