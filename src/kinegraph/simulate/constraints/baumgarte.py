"""Baumgarte's stabilisation: constraints are pulled back by their own dynamics instead of being projected onto.

The rows obey value'' + 2 alpha value' + beta^2 value = 0, so that what integration leaves decays. It is cheaper than a
projection and less exact: loops stay open by what the method's error and the decay balance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kinegraph.derive.dynamics.state_rate import Forces, state_rate
from kinegraph.derive.quantities.definitions import accelerations, laws_of_time
from kinegraph.errors import SolveError
from kinegraph.graph.node import Graph
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import VelocityForm, reduced
from kinegraph.solve.methods.step_control import Control, FixedStep

_PER_STEP = 0.2


@dataclass(frozen=True)
class Baumgarte:
    """Gains in 1/s. Not given, both are 0.2/h of a fixed step h: critically damped, gone after some steps."""

    alpha: float | None = None
    beta: float | None = None

    @classmethod
    def of(cls, given: Baumgarte | float | Sequence[float]) -> Baumgarte:
        """From what a user gives: gains as they are, one number for both, or alpha and beta."""
        if isinstance(given, Baumgarte):
            return given
        try:
            numbers = [float(one) for one in given] if isinstance(given, Sequence) else [float(given)]
        except (TypeError, ValueError):
            numbers = []
        if isinstance(given, bool | str) or not 1 <= len(numbers) <= 2:
            raise SolveError(f"baumgarte is {given!r}: give a number in 1/s, two of them, or Baumgarte()")
        return cls(*numbers)

    def gains(self, control: Control) -> tuple[float, float]:
        """alpha and beta for a run with this controller."""
        default = _PER_STEP / control.step if isinstance(control, FixedStep) else None
        alpha = default if self.alpha is None else self.alpha
        beta = alpha if self.beta is None else self.beta
        if alpha is None or beta is None:
            raise SolveError("Baumgarte's gains follow from a fixed step: give step (--step), or alpha and beta in 1/s")
        for name, value in (("alpha", alpha), ("beta", beta)):
            if not 0 <= value < float("inf"):
                raise SolveError(f"Baumgarte's {name} is {value}: give a positive number in 1/s")
        return alpha, beta


class BaumgarteForm(VelocityForm):
    """y = [q, v] with rows that decay; nothing is projected."""

    def __init__(
        self,
        mechanism: Mechanism,
        values: Mapping[str, Scalar],
        forces: Forces,
        runtime: Sequence[str] = (),
        *,
        gains: tuple[float, float],
    ) -> None:
        if not is_constrained(mechanism):
            raise SolveError(f"{mechanism.name} has no loops or constraints that could be stabilised")
        super().__init__(mechanism, values, forces, runtime)
        self._gains = gains

    @property
    def keeps_closed(self) -> bool:
        return False

    @cached_property
    def rate(self) -> Graph:
        derivation = self._derivation
        constrained = derivation.constrained
        found, multipliers = constrained.stabilised(accelerations.driving_forces(derivation), *self._gains)
        motion = reduced(
            laws_of_time.motion_graph(derivation, found, list(zip(constrained.taken, multipliers, strict=True)))
        )
        return state_rate(self.mechanism, motion, self.bound, self.forces)

    @property
    def returned(self) -> Graph | None:
        return None
