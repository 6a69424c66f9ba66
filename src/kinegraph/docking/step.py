"""One step of a docking in the order of the source document, quantity by quantity.

Relative pose and velocity of the rings, contact forces, leg coordinates, their rates, bias terms, internal forces, ring
accelerations, leg accelerations, base reactions, accelerations of both spacecraft.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.compiler.compile import derive
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.docking.description import Docking
from kinegraph.docking.events import guide_places, is_ring_first
from kinegraph.docking.first_contacts import FreeBody
from kinegraph.docking.modes import Mode, ModeEquations
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Kind, Output
from kinegraph.model.expressions import Scalar
from kinegraph.simulate.formulas import StateNames, formula
from kinegraph.solve.problem import Floats, Signals


@dataclass(frozen=True)
class StepQuantity:
    """One quantity of a step: its name, its meaning, its unit and its values."""

    name: str
    meaning: str
    unit: str
    values: Floats


def docking_step(
    docking: Docking, q: ArrayLike, v: ArrayLike, time: float = 0.0, parameters: Mapping[str, Scalar] | None = None
) -> tuple[StepQuantity, ...]:
    """All quantities of one step at a state of the free bodies, in the order of the document."""
    return tuple(_Step(docking, np.asarray(q, float), np.asarray(v, float), time, parameters or {}).quantities())


class _Step:
    """A step at one state."""

    def __init__(self, docking: Docking, q: Floats, v: Floats, time: float, values: Mapping[str, Scalar]) -> None:
        self.docking = docking
        self.mode = ModeEquations(docking, Mode.FREE, values, NO_FORCES, Signals.none())
        self.equations = self.mode.equations
        layout = docking.mechanism.layout
        self.state = dict(zip((*layout.positions, *layout.velocities), [*q, *v], strict=True)) | {"t": time}
        self.state |= dict.fromkeys((*layout.forces, *self.equations.balances), 0.0)
        if docking.schedule.begin in self.mode.runtime:
            self.state[docking.schedule.begin] = 1e9

    def quantities(self) -> list[StepQuantity]:
        """The quantities in their order."""
        d, one = self.docking, StepQuantity
        legs, body = ", ".join(leg.name for leg in d.legs), "m/s^2, rad/s^2"
        on_base = f"of all legs on {d.chaser}: force, and moment about its origin, fixed axes"
        accelerations = self._word("qdd")
        apart = self._word(f"velocity:{d.target}") - self._word(f"velocity:{d.ring}")
        return [
            one("relative pose", f"{d.target} seen from {d.ring}", "1, m", self._word(f"pose:{d.target}@{d.ring}")),
            one("relative velocity", f"{d.target} against {d.ring}, fixed axes", "m/s, rad/s", apart),
            one("contact forces", "of each pair of guides on the ring, fixed axes", "N", self._contacts()),
            one("leg lengths", legs, self._unit(""), self._formulas([leg.length for leg in d.legs])),
            one("leg rates", legs, self._unit("/s"), self._formulas([leg.rate for leg in d.legs])),
            one("bias", "generalized forces at zero acceleration", "N, N m", self._word("bias")),
            one("internal forces", f"along {legs}", "N", self._formulas([leg.load for leg in d.legs])),
            one("ring acceleration", d.ring, body, self._of_body(d.ring, accelerations)),
            one("leg accelerations", legs, self._unit("/s^2"), self._second([leg.rate for leg in d.legs])),
            one("base reaction", on_base, "N, N m", self._on_chaser()),
            one("chaser acceleration", d.chaser, body, self._of_body(d.chaser, accelerations)),
            one("target acceleration", d.target, body, self._of_body(d.target, accelerations)),
        ]

    def _word(self, word: str) -> Floats:
        graph = derive(self.docking.mechanism, word, parameters=self.equations.bound)
        return np.asarray(interpret(graph, self.state)[graph.outputs[0].name])

    def _formulas(self, texts: Sequence[str]) -> Floats:
        return self._read(texts, lambda builder, node: node)

    def _second(self, texts: Sequence[str]) -> Floats:
        """Rates of formulas along the motion."""

        def along(builder: GraphBuilder, node: int) -> int:
            seeds = {builder.symbol(Kind.TIME, "t"): builder.one}
            for symbol in self.equations.state_symbols:
                seeds[builder.symbol(symbol.kind, symbol.name)] = builder.symbol(Kind.INPUT, f"rate:{symbol.name}")
            return ForwardDerivative(builder, seeds)(node)

        graph = self.equations.rate
        motion = interpret(graph, self.state)[graph.outputs[0].name]
        self.state |= zip((f"rate:{one.name}" for one in self.equations.state_symbols), motion, strict=True)
        return self._read(texts, along)

    def _read(self, texts: Sequence[str], change: Callable[[GraphBuilder, int], int]) -> Floats:
        builder = GraphBuilder()
        names = StateNames(builder, self.equations)
        nodes = tuple(change(builder, one.index) for one in names.read([formula(text) for text in texts]))
        graph = builder.graph([Output("values", (len(nodes),), nodes)])
        return np.asarray(interpret(graph, self.state)["values"])

    def _contacts(self) -> Floats:
        signs = [1 if is_ring_first(self.docking, one) else -1 for one, _ in guide_places(self.docking)]
        texts = [
            f"contact:{one.name}[{place},{axis}]" for one, place in guide_places(self.docking) for axis in (1, 2, 3)
        ]
        return np.asarray(self._formulas(texts).reshape(-1, 3) * np.array(signs)[:, None])

    def _unit(self, per: str) -> str:
        """The unit of drives: lengths of struts, angles of cranks; in turn if there are both."""
        units = [("rad" if leg.turns else "m") + per for leg in self.docking.legs]
        return units[0] if len(set(units)) == 1 else ", ".join(units)

    def _on_chaser(self) -> Floats:
        """Force, and moment about the chaser's origin, of all legs, including their inertia if they have any."""
        light = [leg for leg in self.docking.legs if leg.foot]
        found = np.zeros(6) if len(light) == len(self.docking.legs) else self._word("base_reaction")
        if light:
            origin = self._word(f"pose:{self.docking.chaser}")[:3, 3]
            feet = self._formulas([f"{leg.foot}.{axis}" for leg in light for axis in "xyz"]).reshape(-1, 3) - origin
            along = self._formulas([part for leg in light for part in leg.along]).reshape(-1, 3)
            forces = -self._formulas([leg.load for leg in light])[:, None] * along
            found = found + np.concatenate([forces.sum(axis=0), np.cross(feet, forces).sum(axis=0)])
        return np.asarray(found)

    def _of_body(self, name: str, accelerations: Floats) -> Floats:
        body = FreeBody.of(self.docking.mechanism, name)
        velocities = self.docking.mechanism.layout.velocities
        wanted = (*(f"{one}'" for one in body.shifts), *body.angular_velocity)
        return np.array([accelerations[velocities.index(one)] for one in wanted])
