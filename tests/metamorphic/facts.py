"""What is true of a mechanism whatever it is described by, in the names, units and axes of the first description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from scipy.linalg import null_space

from kinegraph.assembly import Assembler
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.model.constraints import Loop, is_constrained
from kinegraph.model.evaluate import initial_positions, initial_velocities, parameter_values
from kinegraph.model.mechanism import Mechanism
from tests.interpreted import interpreted
from tests.metamorphic.descriptions import Description, Floats, State

Facts = dict[str, Floats]


@lru_cache(maxsize=64)
def kernel(mechanism: Mechanism, quantities: tuple[str, ...]) -> InterpretedKernel:
    return interpreted(mechanism, quantities)


def evaluated(mechanism: Mechanism, quantities: Sequence[str], state: State, qdd: Floats | None = None) -> Facts:
    """Quantities at a state of names; what it does not name is zero."""
    code = kernel(mechanism, tuple(quantities))
    arguments = []
    for argument in code.arguments:
        if argument.name == "a":
            assert qdd is not None
            arguments.append(qdd)
        else:
            arguments.append(np.array([state.get(symbol.name, 0.0) for symbol in argument.symbols]))
    return {name: np.asarray(found) for name, found in code.by_name(code(*arguments)).items()}


def initial_state(mechanism: Mechanism) -> dict[str, float]:
    values = parameter_values(mechanism)
    layout = mechanism.layout
    state = dict(zip(layout.positions, initial_positions(mechanism, values), strict=True))
    return state | dict(zip(layout.velocities, initial_velocities(mechanism, values), strict=True))


def placed(mechanism: Mechanism, state: State) -> dict[str | None, tuple[Floats, Floats]]:
    """Pose and velocity of every body, and of the fixed frame."""
    words = [f"{word}:{body.name}" for word in ("pose", "velocity") for body in mechanism.bodies]
    found = evaluated(mechanism, words, state)
    where: dict[str | None, tuple[Floats, Floats]] = {None: (np.eye(4), np.zeros(6))}
    for body in mechanism.bodies:
        where[body.name] = (found[f"pose:{body.name}"], found[f"velocity:{body.name}"])
    return where


def moving_state(mechanism: Mechanism, seed: int, t: float | None = None) -> dict[str, float]:
    """The initial position with random velocities that fit the constraints, random forces, inputs and time."""
    random = np.random.default_rng(seed)
    layout = mechanism.layout
    state = initial_state(mechanism)
    state["t"] = (0.0 if is_constrained(mechanism) else random.uniform(0.1, 1.5)) if t is None else t
    v = random.uniform(-1.5, 1.5, len(layout.velocities))
    if is_constrained(mechanism):
        still = state | dict.fromkeys(layout.velocities, 0.0)
        found = evaluated(mechanism, ["constraint_jacobian", "constraint_rates"], still)
        rows = found["constraint_jacobian"]
        v -= np.linalg.lstsq(rows, rows @ v + found["constraint_rates"], rcond=1e-10)[0]
    state |= dict(zip(layout.velocities, v, strict=True))
    state |= {name: random.uniform(-1, 1) for name in (*layout.forces, *layout.inputs, *layout.states)}
    return state


#: Mechanisms of more bodies are asked for the first few: each is an expression of its own.
_MANY = 8


def instant(first: Mechanism, other: Description, state: State) -> Facts:
    """Accelerations, motion of bodies, energies, momenta and reactions at a state of the first description."""
    mechanism, units = other.mechanism, other.units
    length, time, energy = float(units.length), float(units.time), float(units.energy)
    here = other.state(state)
    qdd = evaluated(mechanism, ["qdd"], here)["qdd"]
    names = {other.renamed(name): name for name in first.layout.velocities}
    found = {
        f"{names[name]}'": np.asarray(value / other.scale(f"{names[name]}'"))
        for name, value in zip(mechanism.layout.velocities, qdd, strict=True)
        if name in names
    }
    large = len(first.bodies) > _MANY
    bodies = [body.name for body in first.bodies[: 3 if large else None]]
    named = {} if large else _joints(first, other)
    words = [f"{word}:{other.name(body)}" for word in ("pose", "velocity", "acceleration") for body in bodies]
    words += ["energy", "momentum", *(f"reaction:{joint}" for joint, _ in named.values())]
    if is_constrained(mechanism):
        words += ["constraint_jacobian", *(f"transmission:{joint}" for joint, _ in named.values())]
    values = evaluated(mechanism, list(dict.fromkeys(words)), here, qdd)
    for body in bodies:
        own = other.name(body)
        pose = values[f"pose:{own}"]
        found[f"place of {body}"] = other.world.T @ pose[:3, 3] / length
        found[f"axes of {body}"] = other.world.T @ pose[:3, :3] @ other.body
        found[f"velocity of {body}"] = _six(other, values[f"velocity:{own}"], length / time, 1 / time)
        found[f"acceleration of {body}"] = _six(other, values[f"acceleration:{own}"], length / time**2, 1 / time**2)
    found["energy"] = values["energy"] / energy
    found["momentum"] = _six(other, values["momentum"], energy * time / length, energy * time)
    for name, (joint, sign) in named.items():
        six = sign * _six(other, _determinate(joint, values), energy / length, energy)
        # A joint that is walked the other way may have its moment about another point.
        found[f"reaction of {name}"] = six if other.joints is None else six[:3]
    return found


def _determinate(joint: str, values: Facts) -> Floats:
    """A reaction without what self-stress of loops may add: of planar linkages, what points out of the plane."""
    six = values[f"reaction:{joint}"].copy()
    if "constraint_jacobian" not in values:
        return six
    stress = values[f"transmission:{joint}"] @ null_space(values["constraint_jacobian"].T, rcond=1e-8)
    for part in (slice(0, 3), slice(3, 6)):
        basis, sizes, _ = np.linalg.svd(stress[part], full_matrices=False)
        basis = basis[:, sizes > 1e-8]
        six[part] -= basis @ (basis.T @ six[part])
    return six


def _joints(first: Mechanism, other: Description) -> Mapping[str, tuple[str, int]]:
    if other.joints is not None:
        return other.joints
    known = [*(body.name for body in first.bodies), *(one.name for one in first.loops if isinstance(one, Loop))]
    return {name: (other.name(name), 1) for name in known}


def _six(other: Description, six: Floats, polar: float, axial: float) -> Floats:
    """A pair of vectors in fixed axes back in those of the first description."""
    sign = np.linalg.det(other.world)
    back: Floats = np.concatenate([other.world.T @ six[:3] / polar, sign * other.world.T @ six[3:] / axial])
    return back


def singular_start(mechanism: Mechanism) -> bool:
    """Whether loops say less where it starts than elsewhere: accelerations have no values there."""
    return is_constrained(mechanism) and bool(Assembler(mechanism).singular_rows(Assembler(mechanism).start({})[0]))


def differences(found: Facts, wanted: Facts, tolerance: float, singular: bool = False) -> list[str]:
    """What differs by more than a part of the largest number of its kind, in words.

    singular: the position is, so what has no value in one description has none in the other.
    """
    sizes: dict[str, float] = {}
    for name, value in wanted.items():
        largest = float(np.max(np.abs(value[np.isfinite(value)]), initial=0.0))
        sizes[_kind(name)] = max(sizes.get(_kind(name), 1.0), largest)
    said = []
    for name in found.keys() & wanted.keys():
        value, expected = found[name], wanted[name]
        if _kind(name) == "reaction":  # of a joint that is walked the other way the force alone
            expected = expected[: len(value)]
        allowed = tolerance * sizes[_kind(name)]
        if singular and np.isnan(value).any() and np.isnan(expected).any():
            continue
        if not (value.shape == expected.shape and np.allclose(value, expected, 0, allowed)):
            said.append(f"{name}: {value.round(9).tolist()} for {expected.round(9).tolist()}")
    return sorted(said)


def _kind(name: str) -> str:
    """`reaction` of `reaction of B1`; coordinates are compared with each other."""
    return name.partition(" of ")[0] if " of " in name else name.lstrip("abcdefghijklmnopqrstuvwxyz_0123456789") or name
