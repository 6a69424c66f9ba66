"""Principal axes of inertia, in the order and with the signs that MuJoCo gives them: greatest moment first.

By Jacobi's rotations about one axis at a time, each the smaller of the two that would do; then quarter turns that put
the moments in order. Free joints that are aligned with their body's inertia are told by these very axes.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kinegraph.io.mjcf.numeric import Floats, cleaned, placed
from kinegraph.model.evaluate import number
from kinegraph.model.mechanism import ZERO, Inertia

#: Entries off the diagonal smaller than this beside the largest are taken for zero: rounding in a stated inertia, and
#: for a mesh, whose corners are of single precision, as much as MuJoCo leaves.
_ROUNDING = 1e-15
MESH_ROUNDING = 1e-7
_MOST_TURNS = 100


def principal_axes(tensor: Floats, rounding: float = _ROUNDING) -> tuple[Floats, Floats]:
    """The principal moments of a symmetric tensor, greatest first, and their axes as a quaternion."""
    quaternion = np.array([1.0, 0.0, 0.0, 0.0])
    least = rounding * float(np.abs(tensor).max(initial=0.0))
    turned = tensor
    for _ in range(_MOST_TURNS):
        axis = int(np.argmax(np.abs([turned[1, 2], turned[0, 2], turned[0, 1]])))
        row, column = [other for other in range(3) if other != axis]
        if abs(turned[row, column]) <= least:
            break
        angle = _jacobi_angle(turned[row, row], turned[column, column], turned[row, column])
        quaternion = _product(quaternion, _about(axis, angle if axis == 1 else -angle))
        turned = _seen_along(quaternion, tensor)
    return _in_order(np.diag(turned).copy(), quaternion, least)


def _jacobi_angle(first: float, second: float, off: float) -> float:
    """The smaller angle by which two axes are turned so that the entry off the diagonal vanishes."""
    ratio = (second - first) / (2 * off)
    return math.atan(math.copysign(1.0, ratio) / (abs(ratio) + math.hypot(1.0, ratio)))


def _in_order(moments: Floats, quaternion: Floats, least: float) -> tuple[Floats, Floats]:
    for first in (0, 1, 0):
        if moments[first] + least < moments[first + 1]:
            moments[[first, first + 1]] = moments[[first + 1, first]]
            quaternion = _product(quaternion, _about((first + 2) % 3, math.pi / 2))
    return moments, quaternion


def _about(axis: int, angle: float) -> Floats:
    turn = np.zeros(4)
    turn[0], turn[axis + 1] = math.cos(angle / 2), math.sin(angle / 2)
    return turn


def _product(a: Floats, b: Floats) -> Floats:
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    found = np.array([a[0] * b[0] - a[1:] @ b[1:], *vector])
    return found / math.sqrt(found @ found)


def _seen_along(quaternion: Floats, tensor: Floats) -> Floats:
    axes = _matrix(quaternion)
    return np.asarray(axes.T @ tensor @ axes)


def _matrix(quaternion: Floats) -> Floats:
    w, v = quaternion[0], quaternion[1:]
    crossed = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.asarray((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * crossed)


def along_principal_axes(inertia: Inertia) -> Inertia:
    """The same inertia (of numbers) without products: its central frame is turned to the principal axes."""
    products = (inertia.Jxy, inertia.Jyz, inertia.Jxz)
    if products == (ZERO, ZERO, ZERO):
        return inertia
    x, y, z = (number(item, {}) for item in (inertia.Jx, inertia.Jy, inertia.Jz))
    xy, yz, xz = (number(item, {}) for item in products)
    moments, quaternion = principal_axes(np.array([[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]]))
    central = (*inertia.central, *placed((0.0, 0.0, 0.0), quaternion))
    a, b, c = cleaned(moments)
    return replace(inertia, Jx=a, Jy=b, Jz=c, Jxy=ZERO, Jyz=ZERO, Jxz=ZERO, central=central)
