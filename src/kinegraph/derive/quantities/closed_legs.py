"""A platform within a derivation: the closed forms of its legs, with the forces that act in the model."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kinegraph.derive.dynamics.inertia_factorization import Factorized, base_to_tip, massless_remedy
from kinegraph.derive.platforms.leg_parameters import LegsSideBySide, legs_side_by_side
from kinegraph.derive.platforms.moving_base import MovingPlatform, MovingRailPlatform, RailPlatform
from kinegraph.derive.platforms.platform_dynamics import PlatformDynamics, without_leg_coordinates
from kinegraph.derive.platforms.platform_state import PlatformAccelerations, numbers_of
from kinegraph.derive.quantities.dynamics import tree_forces
from kinegraph.derive.quantities.variables import Variables
from kinegraph.errors import DerivationError, MasslessError
from kinegraph.graph.build import Scalar
from kinegraph.model.platforms.initial_pose import never_holds
from kinegraph.model.platforms.recognition import Platform

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation

#: As many as a platform has degrees of freedom.
_DRIVES = 6


class ClosedLegs:
    """A platform within a derivation: its dynamics with the forces that act in the model."""

    def __init__(self, derivation: Derivation, platform: Platform) -> None:
        self.derivation = derivation
        self.platform = platform

    @cached_property
    def side_by_side(self) -> LegsSideBySide:
        """The legs with symbols for the numbers in which they differ, to be computed side by side."""
        tree, names = self.derivation.described_tree, self.derivation.names
        return legs_side_by_side(self.platform, numbers_of(self.platform, tree, names))

    @cached_property
    def dynamics(self) -> PlatformDynamics:
        """The closed forms."""
        tree, names = self.derivation.described_tree, self.derivation.names
        numbers = self.side_by_side.legs if self.derivation.side_by_side else numbers_of(self.platform, tree, names)
        made = PlatformDynamics if self.platform.base is None else MovingPlatform
        if self.platform.carriages:
            made = RailPlatform if self.platform.base is None else MovingRailPlatform
        return made(self.derivation.mechanism, self.platform, tree, names, numbers)

    @cached_property
    def elements(self) -> list[Scalar]:
        """The forces of elements on all coordinates, in the platform's coordinates alone."""
        if not self.derivation.mechanism.elements:
            return [self.derivation.zero] * self.derivation.size
        return without_leg_coordinates(self.derivation.element_forces, self.dynamics)

    @cached_property
    def forces(self) -> list[Scalar]:
        """What acts on all coordinates beside inertia and gravity."""
        builder = self.derivation.builder
        given = [Scalar(builder, builder.symbol(*one)) for one in Variables.FORCES.symbols(self.derivation.mechanism)]
        return [a + b for a, b in zip(given, self.elements, strict=True)]

    @cached_property
    def motion(self) -> PlatformAccelerations:
        """The accelerations of platform and base under these forces."""
        return self.dynamics.motion(self.forces)

    @property
    def is_driven(self) -> bool:
        """Whether the drives determine the platform's motion: one drive for each of its degrees of freedom."""
        return len(self.platform.legs) == _DRIVES

    def accelerations(self) -> list[Scalar]:
        """Of all coordinates."""
        found = self.dynamics.accelerations(self.forces) | self._of_others()
        return [found[name] for name in self.derivation.mechanism.layout.velocities]

    def _of_others(self) -> dict[str, Scalar]:
        """The accelerations of what moves beside platform, base and legs: trees of their own."""
        derivation, names = self.derivation, self.derivation.mechanism.layout.velocities
        if not self.platform.others:
            return {}
        motion = derivation.motion(velocities=True)
        own = {names.index(name) for name in self.platform.others}
        order = [index for index in base_to_tip(motion) if index in own]
        needed, inertia = tree_forces(derivation, motion), derivation.inertia
        right = [self.forces[index] - needed[index] for index in order]
        matrix = [[inertia[i][j] for j in order] for i in order]
        try:
            x = Factorized(matrix, range(len(order)), [names[index] for index in order]).solve(right)
        except MasslessError as error:
            raise DerivationError(f"{error}{massless_remedy(derivation.mechanism, error.velocity)}") from None
        return {names[index]: item for index, item in zip(order, x, strict=True)}

    def efforts(self) -> list[Scalar]:
        """The forces of the drives, on a base that moves and on what moves beside, for accelerations that are given."""
        builder, mechanism = self.derivation.builder, self.derivation.mechanism
        if never_holds(mechanism, self.platform):
            raise DerivationError(
                f"tau: the drives of {', '.join(leg.name for leg in self.platform.legs)} hold the platform in no pose: "
                "the lines of these legs depend on each other everywhere, as between two like hexagons\n"
                "  move some of the joints on base or platform; qdd and all else are computed for such platforms, too"
            )
        given = [Scalar(builder, builder.symbol(*one)) for one in Variables.ACCELERATIONS.symbols(mechanism)]
        found = self.dynamics.efforts(given, self.elements) | self._on_others()
        return [found.get(name, self.derivation.zero) for name in mechanism.layout.velocities]

    def _on_others(self) -> dict[str, Scalar]:
        """The forces that what moves beside platform, base and legs takes."""
        if not self.platform.others:
            return {}
        derivation, names = self.derivation, self.derivation.mechanism.layout.velocities
        needed = tree_forces(derivation, derivation.motion(velocities=True, accelerations=True))
        places = [names.index(name) for name in self.platform.others]
        return {names[k]: needed[k] - self.elements[k] for k in places}
