"""The modes of a docking: free, the rings joined, and all joined; each is a mechanism with exact constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np

from kinegraph.compiler.compile import derive
from kinegraph.derive.dynamics.state_rate import Forces
from kinegraph.docking.description import Docking
from kinegraph.graph.build import Builder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Output
from kinegraph.model.builder import Rx, Ry, Rz, Sx, Sy, Sz
from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.constraints.records import Frame, Joint, Loop
from kinegraph.model.expression import Name, Scalar
from kinegraph.model.mechanism import ZERO, Mechanism, Parameter, Transform
from kinegraph.simulate.equations import VelocityForm, row_values
from kinegraph.simulate.formula import formula
from kinegraph.simulate.state_names import StateNames
from kinegraph.solve.problem.problem import Floats

_TURNS: tuple[Callable[[Scalar], Transform], ...] = (Sx, Sy, Sz, Rz, Ry, Rx)


class Mode(Enum):
    """What is joined."""

    FREE = "free"
    CAPTURED = "captured"
    HARD = "hard"


@dataclass(frozen=True)
class ModeEquations:
    """One mode of a docking: its mechanism and equations.

    Where the bodies stood when they were joined are parameters given at run time, so that no docking needs code of its
    own; so is the time at which drawing in begins.
    """

    docking: Docking
    mode: Mode
    values: Mapping[str, Scalar]
    forces: Forces
    _graphs: dict[tuple[str, ...], Graph] = field(default_factory=dict, repr=False, compare=False)

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that are closed."""
        return {Mode.FREE: (), Mode.CAPTURED: ("captured",), Mode.HARD: ("captured", "hard")}[self.mode]

    @cached_property
    def mechanism(self) -> Mechanism:
        """Ring and target without guides where they are joined: these would press on nothing that can move."""
        docking = self.docking
        given = docking.mechanism
        if self.mode is Mode.FREE:
            return given
        sides = {"captured": docking.ring, "hard": docking.chaser}
        loops = tuple(self._loop(joint, sides[joint]) for joint in self.joints)
        parameters = tuple(Parameter(name, ZERO) for joint in self.joints for name in pose_names(joint))
        guides = {one.name for one in docking.guides}
        return replace(
            given,
            parameters=(*given.parameters, *parameters),
            loops=(*given.loops, *loops),
            elements=tuple(one for one in given.elements if one.name not in guides),
        )

    def _loop(self, joint: str, body: str) -> Loop:
        placed = tuple(made(Name(name)) for made, name in zip(_TURNS, pose_names(joint), strict=True))
        return Loop(joint, Joint(JointType.FIXED), Frame(body, placed), Frame(self.docking.target))

    @property
    def runtime(self) -> tuple[str, ...]:
        """Parameters that are given when the code runs."""
        begin = self.docking.schedule.begin
        own = (begin,) if any(one.name == begin for one in self.docking.mechanism.parameters) else ()
        return (*own, *(name for joint in self.joints for name in pose_names(joint)))

    @cached_property
    def equations(self) -> VelocityForm:
        """The equations of motion."""
        return VelocityForm(self.mechanism, self.values, self.forces, self.runtime)

    def parameters(self, known: Mapping[str, float]) -> Floats:
        """The values of `runtime`."""
        return np.array([known[name] for name in self.runtime])

    def columns(self, texts: tuple[str, ...], times: Floats, states: Floats, known: Mapping[str, float]) -> Floats:
        """Formulas of the state for rows of states: a column for each."""
        rows = np.hstack([states, times[:, None], np.tile(self.parameters(known), (len(times), 1))])
        if texts not in self._graphs:
            self._graphs[texts] = self._graph(texts)
        found = row_values(self._graphs[texts], self.equations.symbols, rows)["columns"]
        return np.array(np.broadcast_to(found, (len(times), len(texts))))

    def _graph(self, texts: tuple[str, ...]) -> Graph:
        builder = Builder()
        names = StateNames(builder, self.equations)
        nodes = tuple(one.index for one in names.read([formula(text) for text in texts]))
        return builder.graph([Output("columns", (len(nodes),), nodes)])

    def quantity(self, word: str, q: Floats, v: Floats, time: float, known: Mapping[str, float]) -> Floats:
        """A quantity at one state."""
        graph = derive(self.mechanism, word, parameters=self.equations.bound)
        layout = self.mechanism.layout
        symbols = (*layout.positions, *layout.velocities, "t", *self.runtime)
        values = dict(zip(symbols, [*q, *v, time, *self.parameters(known)], strict=True))
        return np.asarray(interpret(graph, values)[graph.outputs[0].name])


def pose_names(joint: str) -> tuple[str, ...]:
    """The parameters that say where a joint closed: a shift, then turns about z, y and x."""
    return tuple(f"{joint}${one}" for one in ("x", "y", "z", "turn_z", "turn_y", "turn_x"))


def relative_pose(first: Floats, second: Floats) -> tuple[float, ...]:
    """The pose of the second body in the axes of the first, from two homogeneous matrices, as `pose_names` has it."""
    turn = first[:3, :3].T @ second[:3, :3]
    shift = first[:3, :3].T @ (second[:3, 3] - first[:3, 3])
    about_y = np.arcsin(np.clip(-turn[2, 0], -1, 1))
    turns = np.arctan2(turn[1, 0], turn[0, 0]), about_y, np.arctan2(turn[2, 1], turn[2, 2])
    return (*map(float, shift), *map(float, turns))
