"""Linear systems as `control.StateSpace` of python-control, with named states, inputs and outputs."""

from __future__ import annotations

from kinegraph.extras import Foreign, extra
from kinegraph.tasks.linearize import Linearization


def to_control(linear: Linearization) -> Foreign:
    """The `control.StateSpace` of a linearization, for Bode plots, regulators and observers.

    States, inputs and outputs are deviations from the point of linearization, with the names of the model.
    """
    control = extra("control", "an object of python-control")
    return control.ss(
        linear.A, linear.B, linear.C, linear.D, states=_labels(linear.states), inputs=_labels(linear.inputs),
        outputs=_labels(linear.outputs), name="linear",
    )  # fmt: skip


def _labels(names: tuple[str, ...]) -> list[str]:
    """Names without dots, which python-control reserves in signal names."""
    return [name.replace(".", "_") for name in names]
