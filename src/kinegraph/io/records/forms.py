"""How each statement is written: a line to copy, by the word that begins it, for errors to show."""

from __future__ import annotations

FORMS = {
    "model": "`model name;`",
    "parameters": "`parameters m1 = 2, l1 = 0.5;`",
    "coordinates": "`coordinates q1 = 0.3, q2;`",
    "quaternion": "`quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (1, 0, 0, 0);`",
    "gravity": "`gravity 0, 0, -9.81;`",
    "initial": "`initial q1 = 0.3, q1' = 1;`",
    "armature": "`armature q1 = 0.02;`",
    "output": "`output tip = Body (x, y, z);` or `output p = (x, y, z);`",
    "accept": "`accept inertia Body;`",
    "inputs": "`inputs u1, u2 = sin(3*t);`",
    "define": "`define gamma = q1 + q2;`",
    "quasivelocity": "`quasivelocity w = q1' + cos(q1)*q2';`",
    "unknown": "`unknown S, R;`",
    "loop": "`loop Pin | revolute | Body: Sx(a) | Other: Sx(b);`",
    "constraint": "`constraint C | tip.x = 0.1*sin(t);`",
    "contact": "`contact Floor | Ball.z >= 0 | restitution(0.8);`",
    "impacts": "`impacts newton, simultaneous;`",
    "cut": "`cut Pin;`",
    "platform": "`platform UPS | Ring | first part | second part | drive | A: base point > ring point | ...;`",
    "shape": "`shape Body | transforms | box(x, y, z);`",
    "potential": "`potential V | 3*cos(q1);`",
    "spring": "`spring S | on(q) stiffness(k);` or `spring S | between(tip, (0, 0, 0)) stiffness(k) rest(l);`",
    "damper": "`damper D | on(q) damping(c);` or `damper D | between(tip, (0, 0, 0)) damping(c);`",
    "friction": "`friction F | on(q) coulomb(f) viscous(c) width(0.01);`",
    "force": "`force P | value(f) on(tip.x);` or `force P | at(tip) world(fx, fy, fz);`",
    "moment": "`moment M | at(Body) world(mx, my, mz);`",
    "limit": "`limit L | on(q) lower(a) upper(b) stiffness(k);`",
    "bumper": "`bumper B | sphere(Ball, r) plane((0, 0, 0), (0, 0, 1)) stiffness(k);`",
}

#: A statement that no word begins.
RECORD = "`Name~Base | transforms | inertia;`"
