"""Tasks that take coordinates alone say what to do with quaternions."""

from __future__ import annotations

from kinegraph.errors import TaskError
from kinegraph.model.mechanism import Mechanism


def refuse_quaternions(mechanism: Mechanism, task: str) -> None:
    """TaskError with the two ways on: hold the body that turns freely, or turn it by three angles."""
    layout = mechanism.layout
    if not layout.quaternions:
        return
    start = layout.quaternions[0]
    names = layout.positions[start : start + 4]
    held = ", ".join(f"'{name}'" for name in names)
    raise TaskError(
        f"{mechanism.name} has the quaternion ({', '.join(names)}), and {task} only coordinates\n"
        f"  hold the body it turns where it stands, kg.lock(model, {held}) or --lock {','.join(names)}, "
        f"or turn it by three angles, Rz(a) Ry(b) Rx(c) in place of Q({','.join(names)})"
    )
