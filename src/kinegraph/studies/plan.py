"""The plan of a study: everything that determines its results, made from the user's settings and sent to workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.derive.dynamics.state_rate import Forces
from kinegraph.errors import KinegraphError, StudyError
from kinegraph.jit.cache import digest
from kinegraph.model.evaluate import (
    Value,
    initial_positions,
    initial_states,
    initial_velocities,
    number,
    parameter_values,
)
from kinegraph.model.expressions import TIME, Expression, Name, Scalar, expression, names
from kinegraph.model.mechanism import Mechanism, Parameter
from kinegraph.model.names import did_you_mean, name_fault
from kinegraph.model.states import is_force
from kinegraph.simulate.control import NOTHING_HELD, HeldInputs, held_inputs
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.formulas import formula
from kinegraph.simulate.inputs import (
    Input,
    check_inputs,
    check_length,
    check_method,
    read_inputs,
    seconds,
    with_given_inputs,
)
from kinegraph.simulate.run import Events, form_for, read_events, save_at
from kinegraph.solve.execution import Native, forced
from kinegraph.solve.methods.method import Method, Solver, solver_of
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.problem import Event, Floats, Signals
from kinegraph.solve.recording import Grid
from kinegraph.studies.functions import identity
from kinegraph.studies.outcomes import OutcomeTable, default_outcomes, output_graph
from kinegraph.studies.sampling import Design, Distribution, DistributionLike, Samples, read_distributions

if TYPE_CHECKING:
    from kinegraph.arrays import Integers
    from kinegraph.solve.solution import Solution
    from kinegraph.studies.cases import CaseTable

# The plan determines the results, but not where they are computed.


class Runner(Protocol):
    """Runs cases of one plan."""

    def run(self, first: int, last: int, stop: Integers | None = None) -> CaseTable:
        """The cases first <= index < last."""
        ...

    def solution(self, index: int) -> Solution:
        """The motion of one case."""
        ...


@dataclass(frozen=True)
class Plan:
    """A study. Varied names are parameters or initial values of the mechanism.

    mechanism: with a parameter for every name that only the study uses.
    sources: the parameters that vary between cases, each with the varied name of its value.
    initial, parameters: formulas that differ from the model, without the varied ones.
    grid: times at which states are stored; empty if none are. chunk: the number of cases in one piece of work.
    held: inputs that Python functions give, as further parameters of the equations.
    """

    mechanism: Mechanism
    span: tuple[float, float]
    samples: Samples
    sources: Mapping[str, str]
    initial: Mapping[str, Expression]
    parameters: Mapping[str, Expression]
    forces: Forces
    signals: Signals
    events: tuple[Event, ...]
    outcome_table: OutcomeTable
    solver: Solver
    control: Control
    grid: tuple[float, ...] = ()
    native: bool = True
    chunk: int = 100
    held: HeldInputs = NOTHING_HELD

    @property
    def runtime(self) -> tuple[str, ...]:
        """Parameters that vary between cases: they are arguments of kernels."""
        return tuple(self.sources)

    def runtime_values(self, varied: Mapping[str, Floats]) -> dict[str, Floats]:
        """Their values, from those of the varied names."""
        return {name: varied[source] for name, source in self.sources.items()}

    def own_runner(self) -> Runner | None:
        """What runs the cases, where a case is more than one run of the mechanism; None for all others."""
        return None

    def equations(self) -> Equations:
        """The equations that all cases share."""
        form = form_for(self.mechanism, self.solver)
        return form(self.mechanism, self.parameters, self.forces, (*self.runtime, *self.held.parameters))

    @cached_property
    def facts(self) -> dict[str, object]:
        """The data that must agree for cases to belong to one study, as text for messages."""
        samples = self.samples
        controllers = {name: [one.period, identity(one.function)] for name, one in self.held.given.items()}
        return {
            **({"controllers": controllers} if controllers else {}),
            "model": digest(self.mechanism),
            "span": list(self.span),
            "vary": {
                ", ".join(names): repr(distribution)[:500] for names, distribution in samples.distributions.items()
            },
            "laws": digest(tuple(samples.distributions.values())),
            "nominal": dict(samples.nominal),
            "design": samples.design.value,
            "seed": samples.seed,
            "cases": None if samples.design.extensible else samples.cases,
            "settings": digest(self.initial, self.parameters, self.forces),
            "signals": digest(self.signals.knots, self.signals.coefficients),
            "events": digest(self.events),
            "outcomes": dict(self.outcome_table.outcomes),
            "classes": dict(self.outcome_table.classes),
            "success": self.outcome_table.success,
            "method": self.solver.name,
            "control": repr(self.control),
            "grid": digest(self.grid),
            "native": self.native,
            "chunk": self.chunk,
        }

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-self.samples.total // self.chunk)

    def cases_of(self, chunk: int) -> tuple[int, int]:
        """The cases first <= index < last of a chunk."""
        return chunk * self.chunk, min((chunk + 1) * self.chunk, self.samples.total)

    def grid_times(self) -> Floats:
        """The times at which states are stored."""
        return np.array(self.grid, dtype=float)


# From the user's settings to a plan: which names are parameters, initial values or inputs, and the nominal values.

Vary: TypeAlias = "Mapping[str, DistributionLike] | Mapping[tuple[str, ...], DistributionLike]"

_FEW = 16  # cases that finish before a compiler would have started
_CHUNKS, _LARGEST_CHUNK = 100, 1000


@dataclass(frozen=True)
class StudySettings:
    """The user's settings as given; see `study`."""

    mechanism: Mechanism
    duration: float
    vary: Vary
    cases: int = 100
    outcomes: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)
    success: str | None = None
    events: Events = ()
    state: Mapping[str, Scalar] = field(default_factory=dict)
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    inputs: Mapping[str, Input] = field(default_factory=dict)
    method: str | Method | Solver = Method.DOP853
    control: Control = field(default_factory=Adaptive)
    t0: float = 0.0
    times: int | ArrayLike | None = None
    design: str | Design = Design.RANDOM
    seed: int = 0
    chunk: int | None = None
    native: Native = "auto"
    folder: Path | None = None

    def plan(self) -> Plan:
        """The plan, with everything checked that can be checked before the first case."""
        return _Planning(self).plan()


class _Planning:
    """A plan under construction."""

    def __init__(self, settings: StudySettings) -> None:
        self.settings = settings
        self.distributions = read_distributions(settings.vary, settings.folder)
        self.names = tuple(name for group in self.distributions for name in group)
        if not self.names:
            raise StudyError("vary: give at least one name and its distribution, e.g. {'q1': 'uniform(-0.1, 0.1)'}")
        check_inputs(settings.inputs, feedback=True)
        self.initial = {name: formula(value, name) for name, value in settings.state.items()}
        self.parameters = {name: formula(value, name) for name, value in settings.parameters.items()}
        self.events = read_events(settings.events)

    def plan(self) -> Plan:
        settings = self.settings
        begin = seconds("t0", settings.t0)
        span = begin, begin + seconds("duration", settings.duration)
        check_length(span, settings.control)
        sources, inputs, mechanism = self._sorted()
        mechanism, inputs, held = held_inputs(mechanism, inputs)
        forces, signals = read_inputs(mechanism, inputs)
        mechanism = with_given_inputs(mechanism, forces)
        design = settings.design if isinstance(settings.design, Design) else Design.named(settings.design)
        nominal = self._nominal(mechanism, sources)
        samples = Samples(self.distributions, nominal, settings.cases, design, settings.seed)
        wanted, solver = forced(settings.native), solver_of(settings.method)
        check_method(solver, mechanism, self.events)
        made = Plan(
            mechanism, span, samples, sources, self.initial, self.parameters, forces, signals, tuple(self.events),
            self._outcome_table(mechanism), solver, solver.accept(settings.control), _grid(settings.times, span),
            settings.cases > _FEW if wanted is None else bool(settings.native), self._chunk(), held,
        )  # fmt: skip
        self._check(made)
        return made

    def _chunk(self) -> int:
        given = self.settings.chunk
        if given is not None and given < 1:
            raise StudyError(f"chunk is {given}: give at least 1 case")
        return given or min(max(self.settings.cases // _CHUNKS, 1), _LARGEST_CHUNK)

    def _outcome_table(self, mechanism: Mechanism) -> OutcomeTable:
        settings = self.settings
        layout = mechanism.layout
        outcomes = dict(settings.outcomes) or default_outcomes(layout.initial)
        events = tuple(event.name for event in self.events)
        return OutcomeTable(outcomes, dict(settings.classes), settings.success, self.names, events)

    def _sorted(self) -> tuple[dict[str, str], dict[str, Input], Mechanism]:
        """Varied parameters with the names of their values, inputs, and the mechanism with all parameters."""
        mechanism, inputs = self.settings.mechanism, dict(self.settings.inputs)
        sources: dict[str, str] = {}
        added: list[Parameter] = []
        layout = mechanism.layout
        state = {*layout.initial}
        own = {parameter.name for parameter in mechanism.parameters}
        acting = {*mechanism.input_names, *layout.forces}
        for name in self.names:
            if name in state:
                continue
            parameter = name
            if name in acting:
                parameter = "varied$" + name.replace(":", "$").replace("'", "$")
                inputs[name] = Name(parameter)
            elif name not in own:
                self._require_used(name, (*state, *own, *acting))
            if parameter not in own:
                added.append(Parameter(parameter, expression(0)))
            sources[parameter] = name
        return sources, inputs, replace(mechanism, parameters=(*mechanism.parameters, *added))

    def _require_used(self, name: str, known: Sequence[str]) -> None:
        """StudyError for a name that is neither in the model nor in a formula of the study."""
        inputs = [formula(one) for one in self.settings.inputs.values() if isinstance(one, str | Expression)]
        conditions = [formula(event.condition) for event in self.events]
        resets = [formula(value) for event in self.events for value in event.reset.values()]
        used = (*self.initial.values(), *self.parameters.values(), *inputs, *conditions, *resets)
        if name == TIME or name_fault(name) or not any(name in names(one) for one in used):
            where = f"{self.settings.mechanism.name} has no variable {name!r}, and no formula of the study uses it"
            raise StudyError(f"vary: {where}\n  {did_you_mean(name, known)}")

    def _nominal(self, mechanism: Mechanism, sources: Mapping[str, str]) -> dict[str, float]:
        """The values of the nominal case: those of the model and the settings, otherwise the center of the
        distribution."""
        found = _centers(self.distributions)
        own = {parameter.name for parameter in self.settings.mechanism.parameters}
        new: dict[str, Scalar] = {name: found[source] for name, source in sources.items() if name not in own}
        valueless = {p.name for p in mechanism.parameters if p.value is None} - {*self.parameters}
        new |= {name: found[source] for name, source in sources.items() if name in valueless}
        values = parameter_values(mechanism, {**self.parameters, **new})
        found |= {source: float(values[name]) for name, source in sources.items() if name in own}
        found |= self._nominal_inputs(values)
        return found | self._nominal_state(mechanism, values)

    def _nominal_inputs(self, values: Mapping[str, Value]) -> dict[str, float]:
        found = {name: 0.0 for name in self.names if is_force(name)}
        declared = {given.name: given.value for given in self.settings.mechanism.inputs if given.value is not None}
        for name in self.names:
            given = self.settings.inputs.get(name, declared.get(name))
            if isinstance(given, str | int | float | Expression):
                try:
                    found[name] = number(formula(given), values)
                except KinegraphError:
                    raise StudyError(
                        f"{name} is varied, so its nominal value must be a number, not {given!r}"
                    ) from None
        return found

    def _nominal_state(self, mechanism: Mechanism, values: Mapping[str, Value]) -> dict[str, float]:
        layout = mechanism.layout
        state = dict(zip(layout.positions, initial_positions(mechanism, values), strict=True))
        state |= zip(layout.velocities, initial_velocities(mechanism, values), strict=True)
        state |= zip(layout.states, initial_states(mechanism, values), strict=True)
        for name in self.initial:
            if name not in state:
                raise StudyError(f"state: {mechanism.name} has no variable {name!r}\n  {did_you_mean(name, state)}")
        state |= {name: number(given, values) for name, given in self.initial.items()}
        return {name: value for name, value in state.items() if name in self.names}

    def _check(self, plan: Plan) -> None:
        """Outcomes and outputs that cannot be parsed are errors before anything runs."""
        _ = plan.outcome_table.read
        if plan.outcome_table.outputs:
            output_graph(plan.equations(), plan.outcome_table.outputs)


def _centers(distributions: Mapping[tuple[str, ...], Distribution]) -> dict[str, float]:
    found: dict[str, float] = {}
    for group, distribution in distributions.items():
        found |= zip(group, distribution.center(len(group)).tolist(), strict=True)
    return found


def _grid(given: int | ArrayLike | None, span: tuple[float, float]) -> tuple[float, ...]:
    if given is None:
        return ()
    save = save_at(given, span)
    assert isinstance(save, Grid)
    return tuple(save.times.tolist())
