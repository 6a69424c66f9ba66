"""Equations of a mechanism with contacts: open and closed forms, mode flags, kernels, and contact columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.compiler.stored import stored_graph
from kinegraph.derive.constraints.projection import PROJECTED
from kinegraph.derive.contact_flags import FORCES, GAPS, flag_symbols
from kinegraph.derive.dynamics.state_rate import (
    Forces,
    has_prescribed_contacts,
    has_prescribed_motion,
    state_rate,
    with_forces,
)
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.graph.node import Graph, Symbol
from kinegraph.jit.cache import digest
from kinegraph.model.constraints import Contact
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import VelocityForm, reduced, row_values
from kinegraph.simulate.events import Endings, event_set, led_rates, new_states
from kinegraph.solve.contacts.memory import ContactObservation, mode_flags
from kinegraph.solve.contacts.mode import ContactMode, Mode, Phase, Watched
from kinegraph.solve.problem import Action, Event, EventSet, Function, RightHandSide, Signals
from kinegraph.solve.recording import Run

if TYPE_CHECKING:
    from kinegraph.derive.contacts import ContactGraphs

#: The numbers of the column `NAME.mode`.
MODE_OPEN, MODE_CLOSED, MODE_SLIPS, MODE_STICKS = range(4)

_LEFT = 10.0  # times its margin: a larger gap means that a contact held by others has left the surface


def phase_slices(phases: Sequence[Phase], rows: int) -> Iterator[tuple[Phase, slice]]:
    """Every phase with the rows saved in it."""
    ends = [*(phase.row for phase in phases[1:]), rows]
    for phase, end in zip(phases, ends, strict=False):  # a run that fails at its start has no phase
        if end > phase.row:
            yield phase, slice(phase.row, end)


def closed_states(projection: Graph, symbols: Sequence[Symbol], x: Floats, rows: Floats, size: int) -> Floats:
    """Rows of states, projected onto closed contacts. rows: those with a closed contact."""
    states = x[:, : x.shape[1]].copy()
    if np.any(rows):
        for _ in range(2):
            found = row_values(projection, symbols, states[rows])[PROJECTED]
            states[rows, :size] = found
    return states


def contact_columns(
    contacts: Sequence[Contact], forces: Graph, gaps: Graph, symbols: Sequence[Symbol], x: Floats
) -> dict[str, Floats]:
    """The gap and the force of every contact, along its normal and its slip directions."""
    columns: dict[str, Floats] = {}
    values = row_values(forces, symbols, x)[FORCES]
    distances = row_values(gaps, symbols, x)[GAPS]
    place = 0
    for number, contact in enumerate(contacts):
        columns[f"{contact.name}.gap"] = distances[:, number]
        for column in force_columns(contact):
            columns[column] = values[:, place]
            place += 1
    return columns


def force_columns(contact: Contact) -> tuple[str, ...]:
    """The names of the columns of a contact's forces."""
    sliding = ("friction",) if len(contact.slip) == 1 else tuple(f"friction_{k + 1}" for k in range(len(contact.slip)))
    return tuple(f"{contact.name}.{word}" for word in ("normal", *sliding))


def mode_columns(
    contacts: Sequence[Contact], phases: Sequence[Phase], gaps: Mapping[str, Floats], rows: int
) -> dict[str, Floats]:
    """The mode of every contact: 0 open, 1 closed without friction, 2 slipping, 3 sticking."""
    columns = {f"{contact.name}.mode": np.zeros(rows) for contact in contacts}
    for phase, where in phase_slices(phases, rows):
        for contact, mode in zip(contacts, phase.mode, strict=True):
            left = mode.held & (gaps[f"{contact.name}.gap"][where] > _LEFT * mode.margin)
            columns[f"{contact.name}.mode"][where] = np.where(left, MODE_OPEN, _mode_number(contact, mode))
    return columns


def _mode_number(contact: Contact, mode: ContactMode) -> int:
    if not (mode.closed or mode.held):
        return MODE_OPEN
    if not contact.slip or mode.held:
        return MODE_CLOSED
    return MODE_SLIPS if mode.watched is Watched.SLIP else MODE_STICKS


def closing(contact: str) -> str:
    """The name of the condition that a contact closes or opens."""
    return f"contact {contact}"


class OpenForm(VelocityForm):
    """The motion with all contacts open; x ends with the flags of the mode, which have no effect on it."""

    def __init__(
        self, mechanism: Mechanism, values: Mapping[str, Scalar], forces: Forces, runtime: Sequence[str] = ()
    ) -> None:
        super().__init__(replace(mechanism, contacts=()), values, forces, runtime)
        self.contacts = mechanism.contacts
        self.impacts = mechanism.impacts

    @property
    def flags(self) -> tuple[Symbol, ...]:
        return flag_symbols(self.contacts)

    def mode_flags(self, mode: Mode) -> Floats:
        """The values of the flags in a mode."""
        return mode_flags(mode, [len(contact.slip) for contact in self.contacts])

    @cached_property
    def described(self) -> Mechanism:
        return replace(self.mechanism, contacts=self.contacts)

    @cached_property
    def _graphs(self) -> ContactGraphs:
        """The derived graphs of the contacts. Imported only if one of them is not on disk."""
        from kinegraph.derive.contacts import ContactGraphs

        return ContactGraphs(self.described, self.bound)

    @cached_property
    def _key(self) -> str:
        return digest(self.described, self.bound, self.forces, self.runtime, self.passes)

    def stored(self, kind: str, made_of: object, make: Callable[[], Graph]) -> Graph:
        return stored_graph(f"contacts-{kind}", (type(self).__name__, self._key, made_of), make)

    def contact_graph(self, kind: str, derived: Callable[[ContactGraphs], Graph]) -> Graph:
        """One of the graphs of the contacts, with the forces of this run."""
        return self.stored(
            kind, (), lambda: with_forces(self.mechanism, derived(self._graphs), self.bound, self.forces)
        )

    @cached_property
    def gaps(self) -> Graph:
        """The gaps of all contacts."""
        return self.contact_graph("gaps", lambda graphs: graphs.gaps())

    @cached_property
    def impact(self) -> Graph:
        """The quantities that decide modes and impacts."""
        return self.contact_graph("impact", lambda graphs: graphs.impact(self.supplied_by_impacts))

    @cached_property
    def supplied_by_impacts(self) -> int:
        """The number of entries after the velocities that an impact changes: energy from prescribed motions."""
        whole, layout = self.described, self.mechanism.layout
        prescribed = has_prescribed_motion(whole) or has_prescribed_contacts(whole)
        return prescribed * (len(self.names) - len(layout.positions) - len(layout.velocities))

    @cached_property
    def led_gaps(self) -> Graph | None:
        """The rates of gaps by prescribed motions; None without any."""
        return led_rates(self.gaps) if depends_on_time(self.described) else None

    @cached_property
    def closed(self) -> ClosedForm:
        """The equations with some contacts closed."""
        mechanism = replace(self.mechanism, contacts=self.contacts, impacts=self.impacts)
        return ClosedForm(mechanism, self.values, self.forces, self.runtime).with_passes(self.passes)

    def saved(self, run: Run, inputs: Signals) -> tuple[Floats, dict[str, Floats]]:
        closed = np.zeros(len(run.times), dtype=bool)
        flags = np.zeros((len(run.times), len(self.flags)))
        for phase, where in phase_slices(run.phases, len(run.times)):
            flags[where] = self.mode_flags(phase.mode)
            closed[where] = any(one.closed for one in phase.mode)
        x = np.hstack([run.states, run.times[:, None], inputs.values(run.times), flags])
        layout = self.mechanism.layout
        if np.any(closed):
            assert self.closed.projection is not None
            size = len(layout.positions) + len(layout.velocities)
            x = closed_states(self.closed.projection, self.symbols, x, closed, size)
        forces = self.contact_graph("forces", lambda graphs: graphs.forces())
        columns = contact_columns(self.contacts, forces, self.gaps, self.symbols, x)
        return x[:, : len(self.names)], columns | mode_columns(self.contacts, run.phases, columns, len(run.times))

    def integrated_gaps(self, run: Run, inputs: Signals) -> Floats:
        """The gaps of all contacts at the saved states as integrated, before projection onto closed contacts."""
        flags = np.zeros((len(run.times), len(self.flags)))
        x = np.hstack([run.states, run.times[:, None], inputs.values(run.times), flags])
        found = row_values(self.gaps, self.symbols, x)[GAPS]
        return np.broadcast_to(found, (len(x), len(self.contacts)))

    @cached_property
    def endings(self) -> Endings:
        """The conditions that end the mode: gaps."""
        return self._endings(self.contact_graph("conditions", lambda graphs: graphs.open_conditions()))

    def _endings(self, conditions: Graph) -> Endings:
        names: list[str] = []
        boundaries: list[bool] = []
        places: list[int] = []
        for contact in self.contacts:
            places.append(len(names))
            names += [closing(contact.name), *([f"friction of {contact.name}"] if contact.slip else [])]
            boundaries += [True, *([False] if contact.slip else [])]
        gaps = self.contact_graph("clearances", lambda graphs: graphs.clearances())
        return Endings(tuple(names), conditions, tuple(boundaries), gaps, tuple(places))


class ClosedForm(OpenForm):
    """The motion with closed contacts, by the flags of the mode."""

    @cached_property
    def rate(self) -> Graph:
        return self.stored(
            "rate", (), lambda: state_rate(self.described, self._graphs.motion(), self.bound, self.forces)
        )

    @cached_property
    def projection(self) -> Graph | None:
        return self.stored("projection", (), lambda: reduced(self._graphs.projection()))

    @cached_property
    def endings(self) -> Endings:
        """The conditions that end the mode: gaps, contact forces, friction cones, slip velocities."""
        return self._endings(self.contact_graph("conditions", lambda graphs: graphs.conditions()))


@dataclass(frozen=True)
class ContactCode:
    """The kernels of all modes, shared by all runs. native: kernels are compiled. jacobian: the method needs it."""

    open: OpenForm
    user_events: Sequence[Event]
    native: bool
    jacobian: bool

    @cached_property
    def open_rhs(self) -> RightHandSide:
        """The equations with all contacts open."""
        return self.open.right_hand_side(self.jacobian, native=self.native)

    @cached_property
    def closed_rhs(self) -> RightHandSide:
        """The equations with some contacts closed."""
        return self.open.closed.right_hand_side(self.jacobian, native=self.native)

    @cached_property
    def open_events(self) -> EventSet:
        """The user's events, and gaps."""
        return event_set(self.open, self._ending_events, self.native, self.open.endings)

    @cached_property
    def closed_events(self) -> EventSet:
        """The user's events, and the conditions that end a mode with closed contacts."""
        endings, first = replace(self.open.closed.endings, gaps=None), self.open_events
        found = event_set(self.open.closed, self._ending_events, self.native, endings)
        return replace(found, enclosure=first.enclosure, enclosed=first.enclosed, needed=first.needed)

    @cached_property
    def resets(self) -> dict[str, Function]:
        """The new states of the user's events, by name."""
        graphs = {one.name: new_states(self.open, [one]) for one in self.user_events if one.reset}
        return {name: self.open.function(graph, self.native) for name, graph in graphs.items()}

    @property
    def _ending_events(self) -> list[Event]:
        """The user's events. An event that resets ends a phase, because the mode may change."""
        return [replace(one, action=Action.STOP, reset={}) if one.reset else one for one in self.user_events]

    @cached_property
    def observation(self) -> ContactObservation:
        """The contact quantities of a state."""
        graph = self.open.impact
        return ContactObservation(self.open.function(graph, self.native), _parts(graph))


def _parts(graph: Graph) -> list[tuple[str, slice, tuple[int, ...]]]:
    """The outputs of a graph: names, positions among all values, shapes."""
    ends = np.cumsum([len(one.nodes) for one in graph.outputs]).tolist()
    starts = [0, *ends[:-1]]
    return [(one.name, slice(a, b), one.shape) for one, a, b in zip(graph.outputs, starts, ends, strict=True)]
