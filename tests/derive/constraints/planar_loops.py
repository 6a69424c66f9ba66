"""Planar loops of unequal bars."""

from __future__ import annotations

import numpy as np

import kinegraph as kg
from kinegraph.model.mechanism import Mechanism


def ring(left: int, right: int, axis: str = "z", seed: int = 1) -> Mechanism:
    """A planar loop of unequal bars, with centers of mass off the bars and one joint of opposite sense."""
    random = np.random.default_rng(seed)
    along, across = {"x": "yz", "y": "zx", "z": "xy"}[axis]

    def bar(name: str, base: str, shift: str, angle: str, length: float) -> str:
        mass, inertia = random.uniform(0.5, 2, 2).round(2)
        center = f"S{along}({length / 2:.3f}), S{across}({random.uniform(-0.1, 0.1):.3f})"
        return f"{name}{base} | {shift}R{axis}({angle}) | {center}, m({mass}), J{axis}({inertia / 10:.3f});"

    lines, names, total = [], [], 0.0
    ends: list[str] = []
    for chain, count, first in (("A", left, ""), ("B", right, f"S{along}(1), ")):
        base, shift = "", first
        for i in range(1, count + 1):
            length = round(float(random.uniform(0.8, 1.2)), 2)
            name = f"{chain.lower()}{i}"
            names.append(f"{name} = {0.4 if i == 1 else -0.1 if chain == 'A' else 0.2}")
            lines.append(bar(f"{chain}{i}", base, shift, f"-{name}" if i == 2 and chain == "A" else name, length))
            base, shift = f"~{chain}{i}", f"S{along}({length}), "
            total += length
        ends.append(f"{chain}{count}: S{along}(0.7)" if count else f"S{along}(1.3)")
    gravity = ", ".join("-9.81" if letter == across else "0" for letter in "xyz")
    closing = f"loop pin | spherical | {ends[0]} | {ends[1]};"
    return kg.parse("\n".join([f"gravity {gravity};", f"coordinates {', '.join(names)};", *lines, closing]))
