"""The sound texts that damage begins with."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from kinegraph import library
from tests.fuzz.damage import Vocabulary

_TESTS = Path(__file__).parents[1]

#: Longer models of the library take too long to be read a hundred thousand times.
_LONGEST_MODEL = 1000

EVERY_STATEMENT = """model all; parameters l = 0.4, k = -l^2/3, a, b = 2; coordinates q1 = 0.3, q2; gravity 0, 0, -9.81;
initial q1' = k; quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (1, 0, 0, 0); armature q1 = 0.1;
A | Ry(q1) | Sz(-l), m(1), Jx(l); B~A | Sz(-l), Ry(q2), Q(e0,e1,e2,e3) | m(1), Jx(1), Jy(1), Jz(1);
output p = B (0, 0, l); accept inertia B; inputs u, w = sin(t); define g = q1 + q2; quasivelocity n = q1' + 2*q2';
spring S | between(p, (0, 0, t)) stiffness(200) rest(l); damper D | on(q1' - wx) damping(u);
friction F | on(q2) coulomb(4) viscous(1) width(0.1); limit L | on(p.z) lower(-1) upper(1) stiffness(2);
moment M | at(B) body(0, u*q1', p.x'); force J | at(p) world(0, 1, q2); unknown Z;
force G | value(-Z*cos(q1)), on(q2); potential V | p.y^2;
shape B | Sz(-l/2) | capsule(0.02, l);"""

SMALL_MODELS = (
    "coordinates q; gravity 0,0,-9.81; A | Ry(q) | Sz(-1), m(1);",
    """parameters l = 1; coordinates q1 = 0.3, q2; gravity 0,0,-9.81; A | Ry(q1) | Sz(-l), m(1);
B~A | Sz(-l), Ry(q2) | Sz(-l), m(2);""",
    """coordinates x, c; A | Sx(x) | m(2); B~A | Ry(c) | Sz(-1), m(1); spring s | on(x) stiffness(3); inputs u;
force f | value(u - 2*x'), on(x);""",
    "coordinates c; A | Rz(c + 0.3*sin(2*t)) | Sx(1), m(1);",
    """coordinates h = 1, q, c; A | Sz(h) | m(1); B | Ry(q) | Sx(1), m(1); C~B | Sx(2), Ry(c) | Sx(1), m(1);
loop pin | revolute(y) | C: Sx(2) | Sx(1), Sz(1); constraint k | h = 0.1*q;
contact floor | A.z >= 0 | restitution(0.8);""",
    """coordinates q = 5 deg; table T | (0, 1 mm), (1.5, 2 [N/mm]), (2, 3) | spline, hold; force f | value(T(q)), on(q);
table U | x(0, 1), y(0, 2), values((1, 2), (3, 4)) | linear, refuse;
A | R(0, -1, 0, 1, 0, 0, 0, 0, 1), Rz(q) | m(2 kg), Jz(1);
damper d | on(A.wz), force(U(q, t)*rate);""",
    "quaternion (e0,e1,e2,e3) velocity (a,b,c) = (1,0,0,0); A | Q(e0,e1,e2,e3) | m(1), Jx(1), Jy(2), Jz(3);",
)


@cache
def models() -> tuple[str, ...]:
    """Models: every statement, those of the manual, short ones of the library."""
    manual = (_TESTS.parent / "docs" / "model-language.md").read_text("utf-8")
    shown = re.findall(r"^```kg\n(.*?)^```$", manual, re.DOTALL | re.MULTILINE)
    stored = sorted(library.text(name) for name in library.names())
    return EVERY_STATEMENT, *SMALL_MODELS, *shown, *(text for text in stored if len(text) < _LONGEST_MODEL)


@cache
def urdf_texts() -> tuple[str, ...]:
    """URDF robots: one with every joint, and small ones."""
    return (_TESTS / "io" / "data" / "every_joint.urdf").read_text("utf-8"), _SMALL_URDF, _SMALL_URDF


@cache
def mjcf_texts() -> tuple[str, ...]:
    """MJCF robots: with all primitives and joints, with springs and dampers, and small ones."""
    data = _TESTS / "io" / "data"
    return (data / "branched.xml").read_text("utf-8"), (data / "passive.xml").read_text("utf-8"), _SMALL_MJCF


@cache
def sdf_texts() -> tuple[str, ...]:
    """SDFormat robots: a tree of all joints and a closed loop."""
    data = _TESTS / "io" / "data" / "sdf"
    return (data / "tree.sdf").read_text("utf-8"), (data / "four_bar.sdf").read_text("utf-8")


@cache
def sdf_vocabulary() -> Vocabulary:
    """Words of SDFormat files, with some that only other tools know."""
    tags = ("frame", "include", "uri", "axis2", "dynamics", "placement_frame", "world", "static", "self_collide")
    return Vocabulary(sdf_texts(), tags, ("relative_to", "expressed_in", "attached_to", "canonical_link"))


@cache
def urdf_vocabulary() -> Vocabulary:
    """Words of URDF files, with some that only other tools know."""
    tags = ("transmission", "gazebo", "sensor", "mesh", "sphere", "material", "texture", "safety_controller")
    return Vocabulary(urdf_texts(), tags, ("scale", "filename", "package"))


@cache
def mjcf_vocabulary() -> Vocabulary:
    """Every element and attribute of MuJoCo's own schema."""
    schema = (_TESTS / "data" / "mjcf_schema.txt").read_text("utf-8").splitlines()[1:]
    heads = [re.match(r"\s*(\w+) \([!?*R]\)", line) for line in schema]
    keys = {word for line in schema for word in re.sub(r"^\s*\w+ \([!?*R]\)", "", line).split()}
    return Vocabulary(mjcf_texts(), [match[1] for match in heads if match], sorted(keys))


TABLES = (
    "alpha,a,d,theta\n0,1,0,0\npi/2,0.5,0.1,0\n",
    "theta;d;a;alpha;kind;name;m;x;Jx\n0;0;1;1.5708;r;c;1;0.5;0.1\n0;0;0;-pi/2;p;s;2;;0\n;;;;f;;1;;\n",
    "kind,name,d,alpha,m,Jz\nrevolute,,l1,90,m1,J\nprismatic,d2,d2*2,0,1,1\n",
)

VECTORS = (
    """name = "arm"
[[link]]
axis = [0, 0, 1]
r = { 1 = [0.5, 0, 0], 2 = [-0.5, 0, 0] }
mass = 2
moments = [0.1, 0.2, 0.3]
[[link]]
axis = [1, 2, 2]
r = { 2 = [0.3, 0, 0] }
mass = 1.5
""",
)

_SMALL_URDF = """<?xml version="1.0"?><robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 1"
rpy="0 0.1 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 1 0" rpy="1.5708 0 0"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.1" friction="0.2"/></joint>
</robot>"""

_SMALL_MJCF = """<mujoco model="m"><compiler angle="radian"/><option gravity="0 0 -9.81" timestep="0.01"/><worldbody>
<body name="a" pos="0 0 1"><joint name="j" type="hinge" axis="0 1 0" damping="0.1" stiffness="2" armature="0.01"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.5"/><inertial pos="0 0 -0.2" mass="1" diaginertia="1 1 1"/>
<body name="b" pos="0 0 -0.5" euler="0 1.5708 0"><joint name="k" type="slide" axis="1 0 0"/>
<geom type="sphere" size="0.1" density="500"/></body></body></worldbody>
<actuator><motor joint="j" gear="2"/></actuator><keyframe><key qpos="0.1 0.2"/></keyframe></mujoco>"""
