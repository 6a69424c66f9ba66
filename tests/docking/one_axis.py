"""Two spacecraft on one line: everything about their docking is known in closed form."""

from __future__ import annotations

import kinegraph as kg

TEXT = """
model one-axis; parameters begin = 1e6, time = 5, draw = 0.1, closing = 0.1;
coordinates zc, zr = 0.5, zt = 0.6; initial zc' = closing, zr' = closing;
define part = min(1, max(0, (t - begin)/time)), drawn = draw*part^3*(10 - 15*part + 6*part^2);
Chaser | Sz(zc) | m(800); Ring | Sz(zr) | m(10); Target | Sz(zt) | m(2500);
output A = Chaser (0, 0, 0); output a = Ring (0, 0, 0); output R1 = Ring (0, 0, 0.02); output T1 = Target (0, 0, 0);
spring leg | between(A, a), stiffness(900), rest(0.5 - drawn); damper shock | between(A, a), damping(1500);
contact pad | sphere(Ring, 0.02), plane(Target, (0, 0, -1)) | stiffness(1e4), exponent(1), damping(1);
"""


def mechanism() -> kg.Mechanism:
    return kg.parse(TEXT)
