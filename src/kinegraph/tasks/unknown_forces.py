"""`unknown_forces`: find the forces marked unknown from a given motion."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import arguments_of, request_of
from kinegraph.compiler.stored import derived
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.errors import TaskError, one_of
from kinegraph.graph.build import bind
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.proof import prove
from kinegraph.jit.kernel import compile_graph
from kinegraph.model.changes.coordinates import with_known
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import TIME, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import reduce
from kinegraph.simulate.formulas import formula
from kinegraph.solve.solution import save_columns
from kinegraph.tabular import Tabular
from kinegraph.tasks.force_equations import (
    FORCES,
    KNOWN,
    MATRIX,
    ForceEquations,
    Formation,
    Solved,
    force_matrices,
    independent_coordinates,
    inputs_among,
    solved,
    with_unknowns,
)
from kinegraph.tasks.operating_point import JACOBIAN, Floats, called_rows, kernel_of, name_index
from kinegraph.tasks.prescribed_motion import (
    Measured,
    PrescribedMotion,
    SampledMotion,
    completed,
    prescribed_functions,
    require_all_prescribed,
)
from kinegraph.tasks.states_in_motion import given_states, states_along, with_unknown_states

# `unknown_forces`: A X = B, one equation for every coordinate.


@dataclass(frozen=True)
class ForceProblem:
    """A mechanism and its unknown forces; z: the first-order states at the first time."""

    mechanism: Mechanism
    names: tuple[str, ...]
    parameters: Mapping[str, Scalar] | None
    way: Formation = Formation.NEW
    z: Floats = field(default_factory=lambda: np.zeros(0))

    def whole(self, driven: tuple[str, ...], given: SampledMotion, near: SampledMotion | None = None) -> SampledMotion:
        """The motion of all coordinates, from that of the prescribed ones; near: the motion at other times."""
        if not is_constrained(self.mechanism):
            return given
        return completed(self._constraints, driven, given, self.parameters, near)

    def prescribed(
        self, laws: Mapping[str, PrescribedMotion], times: Floats, near: SampledMotion | None = None
    ) -> tuple[SampledMotion, SampledMotion]:
        """The motion of the prescribed coordinates and that of all, without first-order states."""
        given = prescribed_functions(self.mechanism, laws, times, self.parameters)
        return given, self.whole(tuple(laws), given, near)

    def with_states(self, motion: SampledMotion, laws: Mapping[str, PrescribedMotion], start: float) -> SampledMotion:
        """The motion with its first-order states, integrated from the start of the whole motion on."""
        if not self.mechanism.states:
            return motion
        times, places = np.unique(motion.times, return_inverse=True)
        if times[0] < start:
            raise TaskError(f"{self.mechanism.name}: its first-order states are known from t = {start:.6g} on")
        begun = times if times[0] == start else np.array([start, *times])
        near = motion if len(times) > 1 and np.array_equal(times, motion.times) else None

        def exact(at: Floats) -> SampledMotion:
            return self.prescribed(laws, at, near)[1]

        sampled = not laws or any(isinstance(law, Measured) for law in laws.values())
        if sampled and near is None and len(times) > 1:
            raise TaskError(f"{self.mechanism.name} has first-order states: give increasing times")
        z = states_along(self.mechanism, self.parameters, self.z, begun, motion if sampled else exact)
        return replace(motion, z=z[len(begun) - len(times) :][places])

    def equations(self, motion: SampledMotion, driven: tuple[str, ...] = ()) -> ForceEquations:
        """A and B at every time; with loops along the motions they allow, in which their forces do no work.

        driven: coordinates whose equations are preferred with loops, as far as they are independent; then those of
        others.
        """
        values = motion.arguments
        a, b = force_matrices(self.mechanism, self.names, self.way, self.parameters, values)
        _require_finite(motion.times, a, b)
        if not is_constrained(self.mechanism):
            return ForceEquations(motion.times, a, b, None, tuple(range(a.shape[1])))
        jacobians = called_rows(kernel_of(self._constraints, JACOBIAN, self.parameters), values)[JACOBIAN]
        assembler = Assembler(self._constraints, self.parameters)
        if assembler.is_rounded:  # redundant rows that contradict each other would allow no motion
            jacobians = np.array([one[list(assembler.carrying_rows(one))] for one in jacobians])
        first = [self.mechanism.layout.positions.index(name) for name in driven]
        return ForceEquations(motion.times, a, b, jacobians, independent_coordinates(jacobians[0], first))

    @property
    def _constraints(self) -> Mechanism:
        """The constraints of the motion, without the forces."""
        return replace(self.mechanism, unknowns=(), elements=(), contacts=(), states=())


@dataclass(frozen=True)
class UnknownForces(Tabular):
    """X at every time, NaN where the motion does not determine it.

    determinate: by unknown, true if it is determined at all times. residual: the largest residual of all equations,
    which the unknowns cannot provide. near_singular: times at or next to which A is singular or nearly so.
    crossings: pairs of times between which it becomes singular, where forces grow without bound. A, B: the
    equations, one per coordinate in `equations`: of a tree all, with loops independent ones, prescribed ones
    first. errors: standard errors of the values; acceleration_errors: those of the accelerations of measured
    coordinates by name; None and empty if the motion is known exactly. problem: the mechanism with its unknowns and
    prescribed motions.
    """

    times: Floats
    unknowns: tuple[str, ...]
    values: Floats
    determinate: tuple[bool, ...]
    residual: float
    near_singular: Floats
    crossings: tuple[tuple[float, float], ...]
    equations: tuple[str, ...]
    A: Floats
    B: Floats
    problem: ForceProblem
    motion: SampledMotion
    errors: Floats | None
    acceleration_errors: Mapping[str, Floats]
    prescribed: Mapping[str, PrescribedMotion]

    def __getitem__(self, name: str) -> Floats:
        """One unknown over time."""
        return np.asarray(self.values[:, name_index(name, self.unknowns, "force")])

    def __contains__(self, name: object) -> bool:
        return name in self.unknowns

    def between(self, times: Floats) -> UnknownForces:
        """The same at other times within the range, without errors. The motion must be given by formulas."""
        _, whole = self.problem.prescribed(self.prescribed, times, self.motion)
        whole = self.problem.with_states(whole, self.prescribed, float(self.times[0]))
        found = solved(self.problem.equations(whole, tuple(self.prescribed)), False)
        return replace(self, times=times, values=found.values, motion=whole, errors=None)

    def error(self, name: str) -> Floats:
        """The standard error of one unknown over time; zero if the motion is known exactly."""
        place = name_index(name, self.unknowns, "force")
        return np.zeros(len(self.times)) if self.errors is None else np.asarray(self.errors[:, place])

    def __str__(self) -> str:
        lines = [f"unknown forces at {len(self.times)} times, {self.times[0]:.6g} to {self.times[-1]:.6g} s"]
        for name, known in zip(self.unknowns, self.determinate, strict=True):
            if not known:
                lines.append(f"  {name}: the motion does not determine it")
            if np.isfinite(self[name]).any():
                low, high = (int(find(self[name])) for find in (np.nanargmin, np.nanargmax))
                extremes = f"from {self[name][low]:.6g} at t = {self.times[low]:.6g} to {self[name][high]:.6g}"
                band = "" if self.errors is None else f", known to {np.nanmax(self.error(name)):.2g} (one sigma)"
                lines.append(f"  {name}: {extremes} at t = {self.times[high]:.6g}{band}")
        if self.near_singular.size:
            lines += [f"  {line}" for line in singular_lines(self)]
        return "\n".join(lines)

    def _table(self) -> Mapping[str, Floats]:
        errors = {} if self.errors is None else {f"error of {name}": self.error(name) for name in self.unknowns}
        return {"t": self.times, **{name: self[name] for name in self.unknowns}, **errors}

    def save(self, path: str | Path) -> Path:
        """Write times, the motion and the forces to a .csv, .npz or .parquet file."""
        layout, motion = self.problem.mechanism.layout, self.motion
        parts = [(layout.positions, motion.q), (layout.velocities, motion.v), (layout.accelerations, motion.a)]
        parts += [] if motion.z is None else [(layout.states, motion.z)]
        columns = {name: rows[:, k] for names, rows in parts for k, name in enumerate(names)}
        return save_columns(path, {TIME: self.times, **columns, **self._table()})

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        data: dict[str, object] = {"t": self.times.tolist()}
        data |= {name: self[name].tolist() for name in self.unknowns}
        data |= {"determinate": list(self.determinate), "near_singular": self.near_singular.tolist()}
        data |= {"crossings": self.crossings, "residual": self.residual, "equations": list(self.equations)}
        if self.errors is not None:
            data["errors"] = {name: self.error(name).tolist() for name in self.unknowns}
            data["acceleration_errors"] = {name: column.tolist() for name, column in self.acceleration_errors.items()}
        return data


def singular_lines(found: UnknownForces) -> list[str]:
    """Remarks on the times at which A is singular or nearly so."""
    lines = [f"singular between t = {a:.6g} and {b:.6g}: forces grow without bound" for a, b in found.crossings[:5]]
    beside = [time for time in found.near_singular.tolist() if not any(time in pair for pair in found.crossings)]
    if beside:
        lines.append(f"nearly singular at t = {', '.join(f'{t:.6g}' for t in beside[:5])}")
    return lines


def unknown_forces(
    model: MechanismSource,
    motion: Mapping[str, PrescribedMotion] | SampledMotion,
    times: Sequence[float] | Floats | None = None,
    *,
    unknown: Sequence[str] = (),
    inputs: Mapping[str, Scalar] | None = None,
    state: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    method: Formation | str = Formation.NEW,
    least_norm: bool = False,
    least_squares: bool = False,
) -> UnknownForces:
    """Find unknown forces from a given motion.

    motion: a formula of time or `Measured` samples for every coordinate (with loops, for the independent ones); or the
        motion from `follow`. Formulas are differentiated exactly, samples are smoothed.
    times: an array of times; by default those of the samples or of the motion.
    unknown: names of `unknown` statements, free inputs, forces on coordinates (`tau:q1`), or first-order states that
        act as forces, such as pressures; by default all unknowns of the model. Unknowns of the model that are not
        named are zero.
    inputs: values of the other inputs, as formulas of time.
    state: first-order states at the first time, by default their initial values; they are integrated along the motion.
    method: how the equations are formed: new or old; both are proved equal.
    least_norm: if the motion does not determine the values, choose those with the smallest sum of squares (N and N m
        count alike) instead of NaN.
    least_squares: if the unknowns cannot cause the motion, minimize the missing forces on the coordinates in
        `equations` instead of raising an error.
    """
    mechanism = with_unknown_states(with_values(mechanism_of(model), inputs or {}), unknown)
    names = unknown_names(mechanism, unknown)
    require_values(mechanism, names)
    way = one_of(Formation, method, "method", TaskError)
    problem = ForceProblem(mechanism, names, parameters, way, given_states(mechanism, state, parameters))
    if isinstance(motion, SampledMotion):
        whole = problem.with_states(motion, {}, float(motion.times[0]))
        return _forces(problem, whole, motion, {}, least_norm, least_squares)
    at = _times(motion, times)
    if not is_constrained(mechanism):
        require_all_prescribed(mechanism, motion)
        motion = {name: motion[name] for name in (*mechanism.layout.positions, *motion)}
    given, whole = problem.prescribed(motion, at)
    whole = problem.with_states(whole, motion, float(at[0]))
    return _forces(problem, whole, given, motion, least_norm, least_squares)


def _forces(
    problem: ForceProblem,
    whole: SampledMotion,
    given: SampledMotion,
    laws: Mapping[str, PrescribedMotion],
    least_norm: bool,
    least_squares: bool,
) -> UnknownForces:
    equations = problem.equations(whole, tuple(laws))
    found = solved(equations, least_norm)
    found.require_possible(least_squares)
    measured = {name: law.smoothed(name) for name, law in laws.items() if isinstance(law, Measured)}
    errors = None
    if measured:
        covariances = {list(laws).index(name): one.covariances(whole.times) for name, one in measured.items()}
        errors = _errors(problem, tuple(laws), given, covariances, found, whole.z)
    bands = {name: one.standard_errors(whole.times)[:, 2] for name, one in measured.items()}
    return UnknownForces(
        whole.times, problem.names, found.values, found.determinate, found.residual, found.near_singular,
        found.crossings, tuple(problem.mechanism.layout.velocities[k] for k in equations.measured), *equations.pair,
        problem, whole, errors, bands, laws,
    )  # fmt: skip


def unknown_names(mechanism: Mechanism, wanted: Sequence[str]) -> tuple[str, ...]:
    """The requested unknowns (a single name is allowed), or all that the model declares."""
    wanted = (wanted,) if isinstance(wanted, str) else wanted
    declared = [one.name for one in mechanism.unknowns]
    known = [*mechanism.layout.inputs, *mechanism.layout.forces]
    for name in wanted:
        if name not in known:
            raise TaskError(f"unknown force {name!r}: it is not in the equations\n  {did_you_mean(name, known)}")
    if len(set(wanted)) < len(wanted):
        raise TaskError(f"an unknown is given twice in {', '.join(wanted)}")
    names = tuple(wanted) or tuple(declared)
    if not names:
        raise TaskError("no force is marked unknown: write `unknown S;` in the model, or name forces such as tau:q1")
    return names


def with_values(mechanism: Mechanism, inputs: Mapping[str, Scalar]) -> Mechanism:
    """The mechanism with formulas of time for some of its inputs and unknowns."""
    for name in inputs:
        if name not in mechanism.input_names:
            raise TaskError(f"unknown input {name!r}\n  {did_you_mean(name, mechanism.input_names)}")
    found = {one.name: formula(inputs[one.name]) for one in mechanism.unknowns if one.name in inputs}
    mechanism = with_known(mechanism, found)
    given = tuple(
        replace(one, value=formula(inputs[one.name])) if one.name in inputs else one for one in mechanism.inputs
    )
    return replace(mechanism, inputs=given)


def require_values(mechanism: Mechanism, names: Sequence[str]) -> None:
    """TaskError for an input that is neither unknown nor has a value."""
    for one in mechanism.inputs:
        if one.value is None and (name := one.name) not in names:
            raise TaskError(f"input {name!r} has no value: name it as unknown, or give inputs={{'{name}': '...'}}")


def _times(laws: Mapping[str, PrescribedMotion], times: Sequence[float] | Floats | None) -> Floats:
    if times is None:
        measured = [np.asarray(law.times, dtype=float) for law in laws.values() if isinstance(law, Measured)]
        if not measured:
            raise TaskError("give times: a motion given by formulas has no times of its own")
        times = measured[0]
    at = np.atleast_1d(np.asarray(times, dtype=float))
    if at.ndim != 1 or not len(at) or not np.isfinite(at).all():
        raise TaskError("times must be finite numbers, at least one")
    return at


def _require_finite(times: Floats, a: Floats, b: Floats) -> None:
    wrong = ~(np.isfinite(a).all(axis=(1, 2)) & np.isfinite(b).all(axis=1))
    if wrong.any():
        raise TaskError(
            f"the equations have no finite value at t = {times[wrong][0]:.6g}: the motion is outside the "
            "range of the geometry\n"
            "  (a triangle that does not close, a negative length): check the prescribed motion"
        )


def _errors(
    problem: ForceProblem,
    driven: tuple[str, ...],
    given: SampledMotion,
    covariances: Mapping[int, Floats],
    found: Solved,
    z: Floats | None,
) -> Floats:
    """Standard errors of the unknowns: the covariance of each coordinate's motion, propagated through the equations.

    First-order states z count as known: they follow from the whole motion, whose errors average out.
    """
    variance = np.zeros_like(found.values)
    for place, covariance in covariances.items():
        directions = _square_roots(covariance)
        for k in range(3):
            ends = [_nudged(problem, driven, given, place, sign * directions[:, :, k], z) for sign in (1, -1)]
            variance += ((ends[0] - ends[1]) / 2) ** 2
    return np.sqrt(variance)


def _nudged(
    problem: ForceProblem, driven: tuple[str, ...], given: SampledMotion, place: int, by: Floats, z: Floats | None
) -> Floats:
    """The unknowns for a motion perturbed in one coordinate."""
    q, v, a = (part.copy() for part in (given.q, given.v, given.a))
    for part, change in zip((q, v, a), by.T, strict=True):
        part[:, place] += change
    whole = replace(problem.whole(driven, SampledMotion(given.times, q, v, a)), z=z)
    return solved(problem.equations(whole, driven), False).values


def _square_roots(covariances: Floats) -> Floats:
    """Square roots of the covariances; scaled, because accelerations are much less certain than positions."""
    scale = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 1e-300))
    sizes, vectors = np.linalg.eigh(covariances / (scale[:, :, None] * scale[:, None, :]))
    root = vectors * np.sqrt(np.maximum(sizes, 0.0))[:, None, :]
    return np.asarray(scale[:, :, None] * root)


# Comparison of the two methods of forming A X = B: operations, times, and the proof that they are equal.


@dataclass(frozen=True)
class Formed:
    """A and B formed by one method: seconds to form them, operations as formed and after a quick reduction."""

    way: Formation
    seconds: float
    formed: Operations
    reduced: Operations
    kernel: Kernel


@dataclass(frozen=True)
class FormationsCompared:
    """Both methods; proved: their A and B are the same functions."""

    model: str
    old: Formed
    new: Formed
    proved: bool


def compare_formations(
    model: MechanismSource,
    unknown: Sequence[str] = (),
    *,
    parameters: Mapping[str, Scalar] | None = None,
    repeats: int = 20,
) -> FormationsCompared:
    """Form A X = B by both methods, each by its cheapest plan; each time is the shortest of several.

    Forces on coordinates (`tau:q1`) are left out: their columns of A are constant.
    """
    mechanism = with_unknown_states(mechanism_of(model), unknown)
    names = inputs_among(mechanism, unknown_names(mechanism, unknown))
    if not names:
        raise TaskError("compare_formations: name unknowns of the model or inputs, whose equations are to be formed")
    tree = replace(with_unknowns(mechanism, names), loops=(), constraints=())
    requests = {way: request_of(tree, way.quantities, numeric=True, parameters=parameters) for way in Formation}
    plans = {way: derived(one).plan for way, one in requests.items()}
    shortest, graphs = dict.fromkeys(Formation, float("inf")), dict[Formation, Graph]()
    for _ in range(repeats):
        for way, request in requests.items():
            begun = time.perf_counter()
            graphs[way] = _formed(Derivation(tree, request.parameters, plans[way]), way)
            shortest[way] = min(shortest[way], time.perf_counter() - begun)
    formed = []
    for way, graph in graphs.items():
        reduced = reduce(graph, Effort.QUICK).graph
        kernel = compile_graph(reduced, arguments_of(tree, FORCES))
        formed.append(Formed(way, shortest[way], count(graph), count(reduced), kernel))
    same = prove(bind(graphs[Formation.OLD], dict.fromkeys(names, 0)), graphs[Formation.NEW])
    return FormationsCompared(mechanism.name, formed[0], formed[1], bool(same))


def _formed(derivation: Derivation, way: Formation) -> Graph:
    """A and B as one graph; of the old method A = -dU/dX, and B = U, of which the unknowns are arguments."""
    first, second = (derivation.output(Quantity.parse(word)) for word in way.quantities)
    nodes = first.nodes if way is Formation.NEW else (derivation.builder.scale(-1, node) for node in first.nodes)
    return derivation.builder.graph([Output(MATRIX, first.shape, tuple(nodes)), second._replace(name=KNOWN)])
