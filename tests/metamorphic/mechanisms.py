"""Random mechanisms of many kinds, small, started somewhere in general position; the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
from scipy.spatial.transform import Rotation as Turn

import kinegraph as kg
from kinegraph.model.elements import Anchor, Damper, Element, Linear, Span, Spring
from kinegraph.model.expressions import Defined, Expression, Name, expression, rewritten
from kinegraph.model.mechanism import ONE, ZERO, Coordinate, Mechanism, QuaternionCoordinates
from tests.derive.random_elements import random_loaded_tree
from tests.mechanisms import Floats, Joint, random_state, random_tree
from tests.metamorphic.facts import evaluated, initial_state
from tests.simulate.contacts.test_random import random_chain

AnyCoordinate = Coordinate | QuaternionCoordinates


def tree(seed: int) -> Mechanism:
    """Joints and elements of every kind."""
    return _started(random_loaded_tree(seed, 3 + seed % 2, 4), seed)


def quaternions(seed: int) -> Mechanism:
    """A floating chain with spherical joints."""
    joints = (Joint.SPHERICAL, Joint.REVOLUTE, Joint.PRISMATIC)
    chain = random_tree(seed, 3, joints, branching=0.3)
    free = rewritten(random_tree(seed + 1, 1, (Joint.FREE,), parameters=False), _marked)
    root = replace(free.bodies[0], name="Base")
    bodies = tuple(replace(body, base=body.base or root.name) for body in chain.bodies)
    rope = Span(Anchor(root.name, (ONE, ZERO, ZERO)), Anchor("B2", (ZERO, ONE, ZERO)))
    spring = Spring("rope", rope, Linear(expression(7)), expression(1) / 2)
    floating = tuple(map(_called, free.coordinates))
    whole = replace(chain, bodies=(root, *bodies), coordinates=(*floating, *chain.coordinates), elements=(spring,))
    return _started(whole, seed)


def _marked(name: Name | Defined) -> Expression:
    return Name(f"f{name.text}") if isinstance(name, Name) and name.text != "pi" else name


def _called(one: AnyCoordinate) -> AnyCoordinate:
    if isinstance(one, Coordinate):
        return replace(one, name=f"f{one.name}", armature=ZERO)
    e0, e1, e2, e3 = (f"f{name}" for name in one.names)
    wx, wy, wz = (f"f{name}" for name in one.velocities)
    return replace(one, names=(e0, e1, e2, e3), velocities=(wx, wy, wz), armature=ZERO)


def drifting(seed: int) -> Mechanism:
    """The same in free space."""
    return replace(quaternions(seed), gravity=(ZERO, ZERO, ZERO))


def springs(seed: int) -> Mechanism:
    """A tree with a spring on every coordinate; some have a damper."""
    joints = (Joint.REVOLUTE, Joint.PRISMATIC, Joint.UNIVERSAL, Joint.CYLINDRICAL)
    bare = random_tree(seed, 2, joints)
    random = Random(seed)
    elements: list[Element] = [
        Spring(f"S{k}", Name(name), Linear(expression(random.randint(20, 60))), expression(random.randint(-5, 5)) / 10)
        for k, name in enumerate(bare.layout.positions)
    ]
    if seed % 2:
        elements.append(Damper("D", Name(random.choice(bare.layout.positions)), Linear(expression(1) / 2)))
    return _started(replace(bare, elements=tuple(elements)), seed)


def machines(seed: int) -> Mechanism:
    """Springs with a motor of first order, a filter, and tables of one and two arguments."""
    bare = springs(seed)
    random = Random(f"machines {seed}")
    first, last = bare.layout.positions[0], bare.layout.positions[-1]
    curve, outside = random.choice([("linear", "periodic"), ("spline", "periodic"), ("spline", "hold"),
                                    ("linear", "extrapolate"), ("monotone", "hold")])  # fmt: skip
    return kg.parse(
        kg.write(bare)
        + f"""
        table rising | (0, 0), (0.7, {random.randint(1, 4)}), (1.5, -1), (2.2, 0) | {curve}, {outside};
        table map | x(-1, 0, 2), y(-1, 1), values((0, 1), (2, {random.randint(-3, 3)}), (1, 1))
            | {random.choice(["linear", "spline"])}, {random.choice(["hold", "extrapolate"])};
        state i' = (3 - 2*i - 0.8*{first}')/{random.choice(["0.5", "0.01"])}, z' = map({last}, {first}') - z*i;
        force motor | on({first}), value(0.8*i*cos(z) + rising({last} + t));
    """
    )


def prescribed(seed: int) -> Mechanism:
    """Joints that are led in time."""
    joints = (Joint.PRESCRIBED, Joint.DRIVEN, Joint.REVOLUTE, Joint.PRISMATIC)
    return _started(random_tree(seed, 3, joints), seed)


def _started(mechanism: Mechanism, seed: int) -> Mechanism:
    q, v, _, _ = random_state(mechanism, seed)
    return started(mechanism, q.round(6), v.round(6))


def started(mechanism: Mechanism, q: Floats, v: Floats) -> Mechanism:
    """The mechanism with other initial values."""
    where = dict(zip(mechanism.layout.positions, q, strict=True))
    rates = dict(zip(mechanism.layout.velocities, v, strict=True))

    def begun(one: AnyCoordinate) -> AnyCoordinate:
        if isinstance(one, Coordinate):
            return replace(one, position=expression(where[one.name]), velocity=expression(rates[f"{one.name}'"]))
        e0, e1, e2, e3 = (expression(where[name]) for name in one.names)
        wx, wy, wz = (expression(rates[name]) for name in one.velocities)
        return replace(one, position=(e0, e1, e2, e3), velocity=(wx, wy, wz))

    return replace(mechanism, coordinates=tuple(map(begun, mechanism.coordinates)))


def loops(seed: int) -> Mechanism:
    """A linkage of one degree of freedom or two, planar where the seed is even; its loop closes where it starts."""
    random = np.random.default_rng(seed)
    planar = seed % 2 == 0
    count = int(random.integers(3, 5)) if planar else 5
    lines, starts = [], []
    for k in range(count):
        axis = "z" if planar else "xyz"[int(random.integers(3))]
        slides = k and random.random() < 0.25
        place = f"Sx({_digits(random.uniform(0.3, 1))}), Sy({_digits(random.uniform(-0.3, 0.3))})"
        place += "" if planar else f", Sz({_digits(random.uniform(-0.3, 0.3))}), Rx({_digits(random.uniform(-1, 1))})"
        mass = random.uniform(0.5, 2)
        moments = ", ".join(f"J{letter}({_digits(mass * random.uniform(0.1, 0.15))})" for letter in "xyz")
        joint = f"S{'x' if planar else axis}" if slides else f"R{axis}"
        lines.append(f"B{k}{f'~B{k - 1}' if k else ''} | {place}, {joint}(q{k}) "
                     f"| Sx(0.2), Sy(0.05), m({_digits(mass)}), {moments};")  # fmt: skip
        starts.append(f"q{k} = {_digits(random.uniform(-1.2, 1.2))}")
    head = f"model linkage-{seed}; coordinates {', '.join(starts)}; gravity 0.3, -9.81, {0 if planar else 2};"
    bare = kg.parse("\n".join([head, *lines]))
    last = f"B{count - 1}"
    pose = evaluated(bare, [f"pose:{last}"], initial_state(bare))[f"pose:{last}"]
    tip = pose @ np.array([0.6, 0.1, 0 if planar else 0.2, 1])
    where = f"Sx({_digits(tip[0])}), Sy({_digits(tip[1])})" + ("" if planar else f", Sz({_digits(tip[2])})")
    own = "Sx(0.6), Sy(0.1)" + ("" if planar else ", Sz(0.2)")
    kind = "revolute" if planar else "spherical"
    extra = [
        "spring coil | on(q0), stiffness(3), rest(0.2);",
        f"damper shock | between({last}, (2, 1, 0)), damping(0.4);",
    ]
    return kg.parse("\n".join([head, *lines, f"loop pin | {kind} | {where} | {last}: {own};", *extra]))


#: Joints that close loops, beside the usual ones of linkages.
_CLOSINGS = ("revolute", "spherical", "universal", "cylindrical", "prismatic", "planar", "point_on_line", "fixed",
             "point_on_plane")  # fmt: skip


def closures(seed: int) -> Mechanism:
    """A tree with right angles and equal axes now and then, and one or two loops of any joint that closes them."""
    random = Random(f"closures {seed}")
    count = random.randint(3, 5)
    lines, starts = [], []
    for k in range(count):
        base = f"~B{random.randrange(k)}" if k and random.random() < 0.8 else ""
        lengths = random.choices(["0.5", "0.1", "-0.2", "1/3"], k=random.randint(1, 2))
        place = ", ".join(f"S{random.choice('xyz')}({length})" for length in lengths)
        place += random.choice(["", "", ", Rx(pi/2)", ", Ry(0.3)", ", Rz(-pi/2)"])
        joint = random.choice(["Rx", "Ry", "Rz", "Rz", "Sx", "Sy", "Sz"])
        lines.append(f"B{k}{base} | {place}, {joint}(q{k}) | Sx(0.2), Sy(0.05), m({random.randint(1, 4)}/2), "
                     "Jx(0.1), Jy(0.12), Jz(0.15);")  # fmt: skip
        starts.append(f"q{k} = {random.choice(['pi/2', '0.5', '0', '0.7', '-0.3', '0.2'])}")
    head = f"model closed-{seed}; coordinates {', '.join(starts)}; gravity 0, -9.81, 1;"
    bare = kg.parse("\n".join([head, *lines]))
    names = [f"B{k}" for k in range(count)]
    found = evaluated(bare, [f"pose:{name}" for name in names], initial_state(bare))
    loops = []
    for k in range(random.randint(1, 2)):
        first, second = random.sample([None, *names], 2)
        place = np.eye(4)
        place[:3, 3] = [random.choice([0, 0.1, -0.2, 0.4]) for _ in range(3)]
        place[:3, :3] = Turn.from_rotvec(random.choice([[0, 0, 0], [np.pi / 2, 0, 0], [0, 0, 0.4]])).as_matrix()
        frames = []
        for one in (first, second):
            own = np.linalg.inv(found[f"pose:{one}"]) @ place if one else place
            frames.append(f"{one + ': ' if one else ''}{_written(own)}")
        loops.append(f"loop L{k} | {random.choice(_CLOSINGS)} | {frames[0]} | {frames[1]};")
    return kg.parse("\n".join([head, *lines, *loops]))


def bridges(seed: int) -> Mechanism:
    """Parallel joints on one arm that a loop ties to each other: most rows of the loop say nothing new."""
    random = Random(f"bridges {seed}")
    arm, along, across = random.sample("xyz", 3)
    joint = random.choice([f"S{along}", f"R{along}", f"R{arm}"])
    # Sliders side by side, or bars that turn about parallel axes.
    closing = random.choice(["fixed", "planar", "cylindrical", "prismatic"]) if joint[0] == "S" else "planar"
    closing += "" if closing == "fixed" else f"({joint[1]})"
    first, second = random.choice([1, -1, 2, 3]), random.choice([-2, -3, 4, 5])
    moments = "Jx(0.1), Jy(0.12), Jz(0.14)"
    start, same = random.choice(["pi/2", "-pi/2", "pi", "0", "0.4"]), random.choice(["0.5", "0.2", "0"])
    return kg.parse(f"""
        model bridge-{seed}; coordinates s = {start}, u = {same}, w = {same}, p = 0.2; gravity 1, -9.81, 2;
        Arm       | R{arm}(s)                          | S{along}(0.5), m(2), {moments};
        Left~Arm  | S{across}({first}/10), {joint}(u)  | S{across}(0.1), m(1), {moments};
        Right~Arm | S{across}({second}/10), {joint}(w) | S{along}(0.1), m(1.5), {moments};
        Tool~{random.choice(["Arm", "Left", "Right"])} | S{along}(1), R{random.choice("xyz")}(p)
                  | S{arm}(0.1), m(1), {moments};
        loop bridge | {closing} | Left: S{across}({second - first}/10) | Right;
    """)


def constrained(seed: int) -> Mechanism:
    """A tree with gears, rods, time-dependent equations, and rolling: constraints that are not joints."""
    random = Random(f"constrained {seed}")
    bare = _started(random_tree(seed, 4, (Joint.REVOLUTE, Joint.PRISMATIC, Joint.UNIVERSAL), parameters=False), seed)
    state = initial_state(bare)
    names = list(bare.layout.positions)
    random.shuffle(names)
    a, b, c, *_ = [*names, *names]
    bodies = [body.name for body in bare.bodies]
    first = random.choice(bodies)
    far = np.array([1.5, -1.0, 0.5])
    place = evaluated(bare, [f"pose:{first}"], state)[f"pose:{first}"] @ [0.2, 0.1, 0, 1]
    ratio = random.choice([2, -3, Fraction(1, 2)])
    offset = state[a] - float(ratio) * state[b]
    ties = {
        "gear": f"loop teeth | gear({ratio}, {_digits(offset)}) | {a} | {b};",
        "rod": f"loop rod | distance({_digits(float(np.linalg.norm(place[:3] - far)))}) "
        f"| {first}: Sx(0.2), Sy(0.1) | Sx(1.5), Sy(-1), Sz(0.5);",
        "led": f"constraint led | {c} + 0.1*{a}^2 = {_digits(state[c] + 0.1 * state[a] ** 2)} + 0.3*sin(t);",
        "rolling": f"constraint rolling | {a}' + 0.4*cos({b})*{c}' - 0.2*{b}' = 0.1*t;",
        "point": f"constraint line | {first}.x - 0.5*{first}.y = LINE;",
    }
    where = evaluated(bare, [f"pose:{first}"], state)[f"pose:{first}"][:3, 3]
    ties["point"] = ties["point"].replace("LINE", _digits(where[0] - 0.5 * where[1]))
    chosen = random.sample(sorted(ties), 2 if len(names) > 3 else 1)
    return _with_possible_velocities(kg.parse(kg.write(bare) + "\n".join(ties[name] for name in chosen)))


def _with_possible_velocities(mechanism: Mechanism) -> Mechanism:
    """Initial velocities that satisfy all constraints: of others, those of coordinates that are named first hold."""
    state, layout = initial_state(mechanism), mechanism.layout
    still = state | dict.fromkeys(layout.velocities, 0.0)
    found = evaluated(mechanism, ["constraint_jacobian", "constraint_rates"], still)
    rows, v = found["constraint_jacobian"], np.array([state[name] for name in layout.velocities])
    v -= np.linalg.lstsq(rows, rows @ v + found["constraint_rates"], rcond=1e-10)[0]
    return started(mechanism, np.array([state[name] for name in layout.positions]), v)


def _written(pose: Floats) -> str:
    """A pose as transforms; what is nothing but rounding is left out."""
    amounts = zip(("Sx", "Sy", "Sz", "Rx", "Ry", "Rz"), (*pose[:3, 3], *_angles(pose[:3, :3])), strict=True)
    return ", ".join(f"{word}({_digits(x)})" for word, x in amounts if abs(x) > 1e-12)


def _angles(turn: Floats) -> Floats:
    """Turns about x, y, z one after the other; any of them where y is a right angle."""
    y = np.arcsin(np.clip(turn[0, 2], -1, 1))
    if abs(turn[0, 2]) > 1 - 1e-12:
        return np.array([np.arctan2(turn[2, 1], turn[1, 1]), y, 0])
    return np.array([np.arctan2(-turn[1, 2], turn[2, 2]), y, np.arctan2(-turn[0, 1], turn[0, 0])])


def _digits(value: float) -> str:
    return f"{value:.15f}"


def contacts(seed: int) -> Mechanism:
    """A chain that falls on a floor and against a wall."""
    return kg.parse(random_chain(seed))


def platforms(seed: int) -> Mechanism:
    """A ring on six legs of one type, each a little out of place."""
    random = Random(seed)

    def off(value: float) -> str:
        return f"{value + random.uniform(-0.03, 0.03):.3f}"

    base = [(0.42, -0.5), (0.42, 0.5), (0.22, 0.61), (-0.64, 0.11), (-0.64, -0.11), (0.22, -0.61)]
    ring = [(0.59, -0.1), (0.59, 0.1), (-0.2, 0.56), (-0.39, 0.46), (-0.39, -0.46), (-0.2, -0.56)]
    legs = [
        f"| {name}: Sx({off(x)}), Sy({off(y)}), Sz({off(0)}) > Sx({off(u)}), Sy({off(w)}), Sz({off(0)})"
        for name, (x, y), (u, w) in zip("ABCDEF", base, ring, strict=True)
    ]
    kind = random.choice(["UPS", "SPU", "UCU"])
    text = f"""model hexapod; coordinates x = {off(0)}, y = {off(0)}, z = 0.6;
        quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (1, {off(0)}, {off(0)}, {off(0)});
        gravity 0, 0, -9.81;
        Ring | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(80), Jx(9), Jy(9), Jz(17);
        platform {kind} | Ring | Sz(0.22), m(4.6), Jx(0.07), Jy(0.07), Jz(0.006)
        | Sz(-0.24), m(2.7), Jx(0.04), Jy(0.04), Jz(0.001) | damping(350) {" ".join(legs)};"""
    model = kg.parse(text)
    found = kg.assemble(model)
    return started(model, found.q, found.v)


_LIBRARY = (
    "3-rrr", "andrews", "bead-on-hoop", "bicycle", "bricard", "cart-double-pendulum", "column", "crane", "four-bar",
    "free-body", "governor", "heavy-top", "knife-edge", "rolling-disc", "rotating-pendulum", "spatial-slider-crank",
    "ur5", "wing-nut",
)  # fmt: skip


def library(seed: int) -> Mechanism:
    """A small mechanism of the library, where it starts."""
    model = replace(kg.load(_LIBRARY[seed]), extras=())
    found = kg.assemble(model)
    return started(model, found.q, found.v)


KINDS: dict[str, Callable[[int], Mechanism]] = {
    "tree": tree,
    "quaternions": quaternions,
    "drifting": drifting,
    "springs": springs,
    "machines": machines,
    "prescribed": prescribed,
    "loops": loops,
    "closures": closures,
    "bridges": bridges,
    "constrained": constrained,
    "contacts": contacts,
    "platforms": platforms,
    "library": library,
}
