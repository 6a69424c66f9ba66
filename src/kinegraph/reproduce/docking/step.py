"""Section 7: one step of docking, quantity by quantity in the document's order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.compiler.request import arguments_of, bound_parameters
from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.platforms.ring import free_motion
from kinegraph.derive.quantities.variables import Variables
from kinegraph.derive.tree.convert import Names
from kinegraph.derive.tree.links import build_tree
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.scalar import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognise import platform_of
from kinegraph.model.state_layout import force_on
from kinegraph.reproduce.docking.arrays import Array, array, cross, zeros
from kinegraph.reproduce.docking.chain import Chain, Ring, chain_of
from kinegraph.reproduce.docking.inertia import bias_loads, generalized_forces, inertia_matrix, on_base
from kinegraph.reproduce.docking.loops import LegMotion, LoopEquations, loop_equations, moved
from kinegraph.reproduce.docking.model import Floats, State


@dataclass(frozen=True)
class Leg:
    """Everything of leg k that does not depend on accelerations."""

    chain: Chain
    motion: LegMotion
    loop: LoopEquations
    inertia: Array
    loads: list[tuple[Array, Array]]
    forces: Array


class Step:
    """The document's algorithm for a platform, in one builder; forces are the symbols `tau` of all coordinates."""

    def __init__(self, mechanism: Mechanism, complete: bool = True) -> None:
        platform = platform_of(mechanism)
        assert platform is not None and platform.ring.quaternion is not None
        self.mechanism, self.platform = mechanism, platform
        self.builder = GraphBuilder()
        self.names = Names(self.builder, mechanism, bound_parameters(mechanism, True, {}))
        self._give_forces(mechanism)
        self.tree = build_tree(mechanism, self.names)
        self.complete = complete

    def _give_forces(self, mechanism: Mechanism) -> None:
        symbols = Variables.FORCES.symbols(mechanism)
        scalars = [Scalar(self.builder, self.builder.symbol(one.kind, one.name)) for one in symbols]
        self.names.replace(dict(zip(mechanism.layout.forces, scalars, strict=True)))

    @cached_property
    def ring(self) -> Ring:
        """The ring, with contact forces on it."""
        motion = free_motion(self.platform.ring, self.names)
        moments = self.tree.links[self.tree.bodies[self.platform.ring.body.name].link].moments
        assert all(item.is_zero for item in moments.first), "the document takes the ring's centre of mass as its origin"
        second = moments.second
        trace = second.xx + second.yy + second.zz
        inertia = array([[trace * int(i == j) - second.entry(i, j) for j in range(3)] for i in range(3)])
        assert self.platform.ring.quaternion is not None
        force = array([self.names[force_on(name)] for name in self.platform.ring.position])
        moment = array([self.names[force_on(name)] for name in self.platform.ring.quaternion.velocities])
        return Ring(motion, array(motion.rotation), array(motion.spin), moments.mass, inertia, force, moment)

    @cached_property
    def legs(self) -> list[Leg]:
        """All legs."""
        return [self.leg(k) for k in range(len(self.platform.legs))]

    def leg(self, k: int) -> Leg:
        """Leg k alone."""
        chain = chain_of(self.platform.legs[k], self.tree, self.names)
        motion = moved(chain, self.complete)
        loads = bias_loads(chain)
        loop = loop_equations(chain, self.ring, motion)
        return Leg(chain, motion, loop, inertia_matrix(chain), loads, generalized_forces(chain, loads))

    @cached_property
    def velocities(self) -> Array:
        """u."""
        return np.concatenate([array(self.ring.motion.velocity), self.ring.spin])

    def rates(self, leg: Leg) -> Array:
        """p' = H u."""
        return array(leg.loop.H @ self.velocities)

    @cached_property
    def matrix(self) -> Array:
        """A* (5.4)."""
        ring = self.ring
        own = zeros(ring.mass, 6, 6)
        own[:3, :3] = array([[ring.mass * int(i == j) for j in range(3)] for i in range(3)])
        own[3:, 3:] = ring.inertia
        return array(sum((self.reduced(leg)[0] for leg in self.legs), own))

    @cached_property
    def right(self) -> Array:
        """b* (5.4)."""
        ring = self.ring
        own = np.concatenate([ring.force, ring.moment - cross(ring.spin, ring.inertia @ ring.spin)])
        return array(sum((self.reduced(leg)[1] for leg in self.legs), own))

    @cached_property
    def ring_accelerations(self) -> Array:
        """u' (5.3)."""
        solved = Factorised([list(row) for row in self.matrix], range(6), [f"u{i}" for i in range(6)])
        return array(solved.solve(list(self.right)))

    def leg_accelerations(self, leg: Leg) -> Array:
        """p'' = H u' + h."""
        return array(leg.loop.H @ self.ring_accelerations + leg.loop.h)

    def multipliers(self, leg: Leg) -> Array:
        """lambda (6.1): what the ring does to the leg at the cut joint."""
        return array(leg.loop.dependent_inverse.T @ (leg.inertia @ self.leg_accelerations(leg) - leg.forces))

    def reaction(self, leg: Leg, printed: bool = False) -> Array:
        """Force and moment of a leg on the base; `printed` leaves out the ring's force on the leg, as (6.3) does."""
        none = zeros(leg.chain.end[0], 3)
        at_end = none, none
        if not printed:
            multipliers = self.multipliers(leg)
            force = leg.motion.axes.T @ multipliers[:3]
            moment = cross(leg.chain.end, force)
            if leg.loop.reaction_axis is not None:
                moment = moment + leg.motion.axes.T @ (leg.loop.reaction_axis * multipliers[3])
            at_end = force, moment
        return np.concatenate(on_base(leg.chain, leg.loads, self.leg_accelerations(leg), at_end))

    def reduced(self, leg: Leg) -> tuple[Array, Array]:
        """What a leg adds to A* and b* (5.4)."""
        H = leg.loop.H
        return array(H.T @ leg.inertia @ H), array(H.T @ (leg.forces - leg.inertia @ leg.loop.h))

    def graph(self, **outputs: Array) -> Graph:
        """These arrays as outputs of a graph."""
        found = [Output(name, one.shape, tuple(item.index for item in one.ravel())) for name, one in outputs.items()]
        return self.builder.graph(found)

    def numbers(self, state: State, **outputs: Array) -> dict[str, Floats]:
        """These arrays at a state, without machine code."""
        arguments = arguments_of(self.mechanism, "qdd")
        found = InterpretedKernel(self.graph(**outputs), arguments).flat(
            np.concatenate([state.q, state.v, state.forces])
        )
        ends = np.cumsum([one.size for one in outputs.values()])
        parts = np.split(np.asarray(found), ends[:-1])
        return {name: part.reshape(one.shape) for (name, one), part in zip(outputs.items(), parts, strict=True)}
