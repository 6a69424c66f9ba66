"""The equations of a mechanism with contacts: while all are open, and while some are closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from kinegraph.derive.contacts.flags import flag_symbols
from kinegraph.derive.contacts.graphs import GAPS, ContactGraphs
from kinegraph.derive.dynamics.laws_of_time import contacts_moved_by_laws, moved_by_laws
from kinegraph.derive.dynamics.state_rate import Forces, state_rate, with_forces
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.graph.node import Graph, Symbol
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.contacts.columns import closed_states, contact_columns, mode_columns, phase_slices
from kinegraph.simulate.contacts.mode_flags import mode_flags
from kinegraph.simulate.equations import VelocityForm, reduced, row_values
from kinegraph.simulate.event_kernels import Endings
from kinegraph.simulate.pace import led_rates
from kinegraph.solve.problem.problem import Floats, Signals
from kinegraph.solve.results.recording import Run


def closing(contact: str) -> str:
    """The name of the condition that a contact closes or opens."""
    return f"contact {contact}"


class OpenForm(VelocityForm):
    """The motion with all contacts open; x ends with the flags of the mode, which play no part in it."""

    def __init__(
        self, mechanism: Mechanism, values: Mapping[str, Scalar], forces: Forces, runtime: Sequence[str] = ()
    ) -> None:
        super().__init__(replace(mechanism, contacts=()), values, forces, runtime)
        self.contacts = mechanism.contacts
        self.impacts = mechanism.impacts

    @property
    def flags(self) -> tuple[Symbol, ...]:
        return flag_symbols(self.contacts)

    @cached_property
    def described(self) -> Mechanism:
        return replace(self.mechanism, contacts=self.contacts)

    @cached_property
    def graphs(self) -> ContactGraphs:
        """What is derived for contacts."""
        return ContactGraphs(self.described, self.bound)

    @property
    def supplied_by_impacts(self) -> int:
        """How many entries of the state follow the velocities, if an impact changes the last of them: what laws of time
        supply."""
        whole, layout = self.described, self.mechanism.layout
        led = moved_by_laws(whole) or contacts_moved_by_laws(whole)
        return led * (len(self.names) - len(layout.positions) - len(layout.velocities))

    @cached_property
    def led_gaps(self) -> Graph | None:
        """How fast laws of time change gaps; None where none does."""
        return led_rates(self.driven(self.graphs.gaps())) if depends_on_time(self.described) else None

    def driven(self, graph: Graph) -> Graph:
        """A graph with the forces of this run."""
        return with_forces(self.mechanism, graph, self.bound, self.forces)

    @cached_property
    def closed(self) -> ClosedForm:
        """The equations with some contacts closed."""
        mechanism = replace(self.mechanism, contacts=self.contacts, impacts=self.impacts)
        return ClosedForm(mechanism, self.values, self.forces, self.runtime).with_passes(self.passes)

    def saved(self, run: Run, inputs: Signals) -> tuple[Floats, dict[str, Floats]]:
        closed = np.zeros(len(run.times), dtype=bool)
        flags = np.zeros((len(run.times), len(self.flags)))
        for phase, where in phase_slices(run.phases, len(run.times)):
            flags[where] = mode_flags(self.contacts, phase.mode)
            closed[where] = any(one.closed for one in phase.mode)
        x = np.hstack([run.states, run.times[:, None], inputs.values(run.times), flags])
        layout = self.mechanism.layout
        if np.any(closed):
            assert self.closed.projection is not None
            size = len(layout.positions) + len(layout.velocities)
            x = closed_states(self.closed.projection, self.symbols, x, closed, size)
        graphs = (self.driven(self.graphs.forces()), self.driven(self.graphs.gaps()))
        columns = contact_columns(self.contacts, *graphs, self.symbols, x)
        return x[:, : len(self.names)], columns | mode_columns(self.contacts, run.phases, columns, len(run.times))

    def integrated_gaps(self, run: Run, inputs: Signals) -> Floats:
        """The gaps of all contacts at the saved states as they were integrated: not projected onto closed contacts."""
        flags = np.zeros((len(run.times), len(self.flags)))
        x = np.hstack([run.states, run.times[:, None], inputs.values(run.times), flags])
        found = row_values(self.driven(self.graphs.gaps()), self.symbols, x)[GAPS]
        return np.broadcast_to(found, (len(x), len(self.contacts)))

    @cached_property
    def endings(self) -> Endings:
        """What ends the mode: gaps."""
        return self._endings(self.graphs.open_conditions(), True)

    def _endings(self, graph: Graph, boundary: bool) -> Endings:
        names: list[str] = []
        boundaries: list[bool] = []
        places: list[int] = []
        for contact in self.contacts:
            places.append(len(names))
            names += [closing(contact.name), *([f"friction of {contact.name}"] if contact.slip else [])]
            boundaries += [boundary, *([False] if contact.slip else [])]
        gaps = self.driven(self.graphs.clearances())
        return Endings(tuple(names), self.driven(graph), tuple(boundaries), gaps, tuple(places))


class ClosedForm(OpenForm):
    """The motion with some contacts closed, as the flags say."""

    @cached_property
    def rate(self) -> Graph:
        return state_rate(self.described, self.graphs.motion(), self.bound, self.forces)

    @cached_property
    def projection(self) -> Graph | None:
        return reduced(self.graphs.projection())

    @cached_property
    def endings(self) -> Endings:
        """What ends the mode: gaps, contact forces, cones of friction, slip velocities."""
        return self._endings(self.graphs.conditions(), True)
