"""The equations of motion in numbers: forces of the tree and rows of the constraints, with exact slopes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from kinegraph.jit.kernel import Kernel
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.kernels import kernel_of

FORCE, INERTIA = "tau", "H"
VALUE, JACOBIAN, RATE, ACCELERATION = (
    "constraints", "constraint_jacobian", "constraint_rates", "constraint_accelerations",
)  # fmt: skip


def slope(quantity: str, by: str) -> str:
    """The derivative of a quantity by a group of variables: dq, v, tau, u."""
    return f"d({quantity})/d(all:{by})"


def parameter_slope(quantity: str, name: str) -> str:
    """The derivative of a quantity by one parameter."""
    return f"d({quantity})/d({name})"


def force_kernel(
    mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, runtime: tuple[str, ...] = ()
) -> Kernel:
    """The forces of the tree that is left when all loops and constraints are taken away, and their slopes."""
    by = ["dq", "v", *(["u"] if mechanism.layout.inputs else [])]
    wanted = [FORCE, INERTIA, *(slope(FORCE, item) for item in by)]
    wanted += [parameter_slope(FORCE, name) for name in runtime]
    return kernel_of(_tree(mechanism), wanted, parameters, runtime)


@lru_cache(maxsize=32)
def _tree(mechanism: Mechanism) -> Mechanism:
    """The mechanism without loops and constraints; one object, which is found again sooner than an equal one."""
    return replace(mechanism, loops=(), constraints=())


def row_kernel(mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, runtime: tuple[str, ...] = ()) -> Kernel:
    """What loops and constraints miss by position, velocity and acceleration, and the slopes of all of it."""
    wanted = [VALUE, JACOBIAN, RATE, ACCELERATION, slope(JACOBIAN, "dq"), slope(RATE, "dq")]
    wanted += [slope(ACCELERATION, "dq"), slope(ACCELERATION, "v")]
    wanted += [parameter_slope(quantity, name) for name in runtime for quantity in (VALUE, JACOBIAN, RATE)]
    return kernel_of(mechanism, wanted, parameters, runtime)
