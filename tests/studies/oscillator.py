"""A mass on a spring, whose every outcome is known: q = a cos(w t) + v/w sin(w t)."""

import numpy as np

import kinegraph as kg

MODEL = kg.parse("""
model oscillator;
parameters m = 1, k = 4;
coordinates q = 0.5;
Block | Sx(q) | m(m);
spring coil | on(q), stiffness(k);
output tip = Block (1, 0, 0);
""")

OPTIONS = {
    "vary": {"q": "uniform(0.2, 1)", "k": "uniform(1, 9)"},
    "cases": 12,
    "events": {"zero": "q"},
    "outcomes": {
        "high": "max(q)",
        "low": "min(q)",
        "when": "time_of_min(q)",
        "area": "integral(q)",
        "cross": "time(zero)",
        "speed": "at(zero, q')",
        "count": "count(zero)",
        "end": "final(tip.x)",
        "energy": "max(energy) - min(energy)",
    },
    "success": "low < -0.5",
    "native": False,
    "progress": False,
    "chunk": 4,
}


def same(left, right):
    """Whether two studies hold the same bits; what is not a number is equal to itself."""
    pairs = [(left[name], right[name]) for name in left.columns]
    return all(np.array_equal(one, other, equal_nan=one.dtype.kind == "f") for one, other in pairs)
