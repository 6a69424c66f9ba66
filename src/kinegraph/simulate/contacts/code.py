"""The kernels of a mechanism with contacts: made once, used by every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kinegraph.graph.node import Graph
from kinegraph.simulate.contacts.forms import OpenForm
from kinegraph.simulate.event_kernels import event_set, new_states
from kinegraph.solve.contacts.loop_memory import LookedAt
from kinegraph.solve.problem.events import Action, Event, EventSet
from kinegraph.solve.problem.problem import Function, RightHandSide


@dataclass(frozen=True)
class ContactCode:
    """Equations and events of all modes. native: whether kernels are compiled; jacobian: whether a method needs it."""

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
        """The user's events, and what ends a mode with closed contacts; gaps are enclosed by the same kernel."""
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
        """The user's events; what resets ends a phase, for the mode is to be decided anew."""
        return [replace(one, action=Action.STOP, reset={}) if one.reset else one for one in self.user_events]

    @cached_property
    def looked_at(self) -> LookedAt:
        """What a state says of its contacts."""
        graph = self.open.driven(self.open.graphs.impact(self.open.supplied_by_impacts))
        return LookedAt(self.open.function(graph, self.native), _parts(graph))


def _parts(graph: Graph) -> list[tuple[str, slice, tuple[int, ...]]]:
    """The outputs of a graph: names, where they are among all values, shapes."""
    ends = np.cumsum([len(one.nodes) for one in graph.outputs]).tolist()
    starts = [0, *ends[:-1]]
    return [(one.name, slice(a, b), one.shape) for one, a, b in zip(graph.outputs, starts, ends, strict=True)]
