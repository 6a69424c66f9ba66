"""python-control: a linear system as `control.StateSpace`, with the names of states, inputs and outputs."""

from __future__ import annotations

from kinegraph.extras import Foreign, extra
from kinegraph.tasks.linearize import Linearization


def to_control(linear: Linearization) -> Foreign:
    """The `control.StateSpace` of a linearization: for Bode plots, regulators, observers and the rest of that package.

    States, inputs and outputs are deviations from the point of the linearization and bear their names.
    """
    control = extra("control", "an object of python-control")
    return control.ss(
        linear.A, linear.B, linear.C, linear.D, states=_labels(linear.states), inputs=_labels(linear.inputs),
        outputs=_labels(linear.outputs), name="linear",
    )  # fmt: skip


def _labels(names: tuple[str, ...]) -> list[str]:
    """python-control keeps the dot for its own use in the names of signals."""
    return [name.replace(".", "_") for name in names]
