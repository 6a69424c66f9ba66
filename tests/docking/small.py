"""Two small spacecraft with a ring on two massive legs, one pad and two latches: derived within seconds."""

from __future__ import annotations

import kinegraph as kg

TEXT = """
model small; parameters begin = 1e6, time = 1, draw = 0.1, hold = 0;
coordinates cx, cy, cz; quaternion (c0, c1, c2, c3) velocity (cwx, cwy, cwz);
coordinates rx, ry, rz = 0.6; quaternion (r0, r1, r2, r3) velocity (rwx, rwy, rwz);
coordinates bx = 0.001, by, bz = 0.65; quaternion (b0, b1, b2, b3) velocity (bwx, bwy, bwz);
initial cz' = 0.1, rz' = 0.1, cwx = 0.01, rwx = 0.01;
define part = min(1, max(0, (t - begin)/time)), drawn = draw*part^3*(10 - 15*part + 6*part^2);
Chaser | Sx(cx), Sy(cy), Sz(cz), Q(c0, c1, c2, c3) | m(50), Jx(4), Jy(5), Jz(6);
Ring | Sx(rx), Sy(ry), Sz(rz), Q(r0, r1, r2, r3) | m(2), Jx(0.1), Jy(0.1), Jz(0.2);
Target | Sx(bx), Sy(by), Sz(bz), Q(b0, b1, b2, b3) | Sz(0.2), m(90), Jx(8), Jy(9), Jz(10);
platform UPS | Ring | Sz(0.1), m(0.2), Jx(0.003), Jy(0.003) | Sz(-0.1), m(0.1), Jx(0.001), Jy(0.001)
  | stiffness(100), rest(0.62 - drawn), damping(60)
  | A~Chaser: Sx(0.4) > Sx(0.3), Sy(0.1)
  | B~Chaser: Sx(-0.3), Sy(0.4) > Sx(-0.2), Sy(0.3);
contact pad | sphere(Ring, 0.02), plane(Target, (0, 0, -1)) | stiffness(2000), exponent(1), damping(2);
moment steady | at(Target), body(-hold*bwx - hold*b0*b1, -hold*bwy, hold*(bz - cz)*bx');
output R1 = Ring (0.3, 0, 0.02); output T1 = Target (0.3, 0, 0);
output R2 = Ring (0, 0.3, 0.02); output T2 = Target (0, 0.3, 0);
"""


def mechanism() -> kg.Mechanism:
    return kg.parse(TEXT)
