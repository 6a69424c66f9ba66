"""Loops with redundant rows in many descriptions: accelerations against a pseudo-inverse of all rows."""

from functools import lru_cache
from math import atan, pi, sin, tan

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.derive import Derivations
from kinegraph.compiler.request import request_of
from kinegraph.derive.constraints.positions import ROUNDED
from kinegraph.derive.constraints.redundancy import analyzed
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation, constraint_graph
from kinegraph.derive.quantities.mobility import mobility
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.errors import AssemblyError
from kinegraph.graph.interpret import interpret
from tests.effort import SOAK

#: Two sliders on an arm that a loop makes one.
SLIDERS = """coordinates s = pi/2, u = 0.5, w = 0.5, p = 0.2; gravity 0, -9.81, 0;
Arm | Rz(s) | Sx(0.5), m(2), Jz(0.1); Left~Arm | Sy(0.1), Sx(u) | m(1), Jz(0.01);
Right~Arm | Sy(-0.1), Sx(w) | m(1.5), Jz(0.01); Tool~Arm | Sx(1), Rz(p) | Sx(0.1), m(1), Jz(0.01);
loop bridge | fixed | Left: Sy(-0.2) | Right;"""


@lru_cache(maxsize=4)
def graph_of(mechanism, quantities, closure="multipliers"):
    return Derivations(request_of(mechanism, quantities, numeric=True, closure=closure), cache=False).at_once


#: A chain that comes back to the body it stands on, by way of one without mass.
UNIVERSAL = """coordinates q0 = 0.37, q1 = 0.99, q2 = 0.56, q3 = 0.84; gravity 0, -9.81, 1;
B0 | Sx(0.3), Rx(q0) | Sx(0.1), m(1), Jx(0.1), Jy(0.12), Jz(0.15);
B1~B0 | Sx(0.6), Rx(q1) | Sx(0.1), m(1.5), Jx(0.1), Jy(0.12), Jz(0.15); B2~B1 | Sx(0.3), Ry(q2);
B3~B2 | Sx(0.5), Ry(q3) | Sx(0.1), Sy(0.05), m(1), Jx(0.1), Jy(0.12), Jz(0.15);
loop one | universal | B3 | B0: Sx(1.323627555506708), Sy(0.222042730467948), Sz(-0.145728240440037),
    Rx(0.99), Ry(1.4);"""


def values(mechanism, quantities, q, v, tau, closure="multipliers"):
    layout = mechanism.layout
    names = (*layout.positions, *layout.velocities, *layout.forces)
    graph = graph_of(mechanism, quantities, closure)
    return interpret(graph, dict(zip(names, (*q, *v, *tau), strict=True)))


def dense(mechanism, q, v, tau):
    """All rows as the model states them, none left out: of all a that meet them in the sense of least squares the one
    of least constraint in the metric of H."""
    wanted = "H,bias,constraint_jacobian,d(constraint_rates)/d(dq)"
    found = values(mechanism, wanted, q, v, tau)
    jacobian, gamma = found["constraint_jacobian"], -(found["d(constraint_rates)/d(dq)"] @ v)
    root = np.linalg.inv(np.linalg.cholesky(found["H"]))
    free = root.T @ root @ (tau - found["bias"])
    return free + root.T @ np.linalg.pinv(jacobian @ root.T, rcond=1e-6) @ (gamma - jacobian @ free)


def agrees(mechanism, state, tau, wanted, tolerance=1e-9):
    """Accelerations by multipliers, by a proximal solve, and in independent coordinates."""
    found = values(mechanism, "qdd,qdd_proximal", state.q, state.v, tau)
    size = max(1.0, np.abs(wanted).max())
    np.testing.assert_allclose(found["qdd"], wanted, atol=tolerance * size)
    np.testing.assert_allclose(found["qdd_proximal"], wanted, atol=max(tolerance, 1e-5) * size)
    if not Assembler(mechanism).loses_chart(state.q):
        partitioned = values(mechanism, "qdd", state.q, state.v, tau, "partition")["qdd"]
        np.testing.assert_allclose(partitioned, wanted, atol=10 * tolerance * size)


@pytest.mark.parametrize("s", [pi / 2, 1.5707, 0.0, 1.0])
def test_bridged_sliders_accelerate_alike(s):
    """Redundant rows were identified in the axes of another plan: -9.864 and -9.756 at s = pi/2."""
    mechanism = kg.parse(SLIDERS)
    state = kg.assemble(mechanism, {"s": s, "s'": 0.4, "u'": 0.3})
    wanted = dense(mechanism, state.q, state.v, np.zeros(4))
    assert wanted[1] == pytest.approx(wanted[2])
    agrees(mechanism, state, np.zeros(4), wanted)


@pytest.mark.parametrize(("text", "rows"), [(SLIDERS, 1), (UNIVERSAL, 2)], ids=["sliders", "universal"])
def test_redundant_rows_are_left_out_in_the_axes_of_every_plan(text, rows):
    """Derivatives of the second ended in a ProofError: the graphs differ."""
    mechanism = kg.parse(text)
    graphs = [
        Derivation(mechanism, {}, Plan(in_parent_frame=kept)) for kept in (frozenset(), frozenset(range(5)), None)
    ]
    assert [len(one.constrained.taken) for one in graphs] == [rows] * 3
    for quantity in (Quantity("qdd"), Quantity("multipliers"), Quantity("qdd", by=("v",))):
        first, *others = (one.builder.graph([one.output(quantity)]) for one in graphs)
        assert all(kg.prove(first, other) for other in others)


def inertia(random):
    mass = random.uniform(0.5, 2)
    place = ", ".join(f"S{axis}({random.uniform(-0.2, 0.2):.3f})" for axis in "xyz")
    return f"{place}, m({mass:.3f}), Jx({0.02 * mass:.5f}), Jy({0.024 * mass:.5f}), Jz({0.028 * mass:.5f})"


class Linkage:
    """A random overconstrained linkage: numbers rounded to some digits, on a given carrier."""

    def __init__(self, seed, digits=17):
        self.random, self.digits = np.random.default_rng(seed), digits
        ways = [self.sliders, self.four_bar, self.parallel_bars, self.bennett]
        self.lines, self.starts, self.base = [], [], ""
        self.carry((seed // len(ways)) % 3)
        ways[seed % len(ways)](self.base)
        head = f"coordinates {', '.join(self.starts)}; gravity 0.5, -9.81, 2;"
        self.mechanism = kg.parse("\n".join([head, *self.lines]))

    def number(self, x):
        return f"{x:.{self.digits}f}"

    def turn(self):
        return ", ".join(f"R{axis}({self.number(self.random.uniform(-1, 1))})" for axis in "xyz")

    def body(self, name, base, way):
        self.lines.append(f"{name}{base} | {way} | {inertia(self.random)};")

    def carry(self, kind):
        """The carrier: the world, a rotated frame, or a moving arm."""
        if kind == 2:
            self.starts += ["a1 = 0.4", "a2 = -0.7"]
            self.body("Arm1", "", "Sx(0.1), Rz(a1)")
            self.body("Arm2", "~Arm1", f"{self.turn()}, Sx(0.3), Ry(a2)")
        if kind:
            self.lines.append(f"Foot{'~Arm2' if kind == 2 else ''} | {self.turn()}, Sz(0.1);")
            self.base = "~Foot"

    def sliders(self, base):
        turn = self.turn()
        self.starts += [f"p = {pi / 2!r}", "u = 0.5", "w = 0.5"]
        self.body("Arm", base, "Rz(p)")
        self.body("Left", "~Arm", f"Sy(0.1), {turn}, Sx(u)")
        self.body("Right", "~Arm", f"Sy(0.1), {turn}, Sx(w)")
        joint = self.random.choice(["fixed", "spherical", "prismatic(y)", "revolute"])
        self.lines.append(f"loop one | {joint} | Left | Right;")

    def four_bar(self, base):
        size, two = self.random.uniform(0.8, 1.2), self.random.random() < 0.5
        a, b, c, d = (self.number(part * size) for part in (0.3, 1.0, 0.8, 1.1))
        self.starts += ["p = 0.7", "q = -0.2", "r = 1.4"]
        self.body("Crank", base, "Rz(p)")
        self.body("Coupler", "~Crank", f"Sx({a}), Rz(q)")
        self.body("Rocker", base, f"Sx({d}), Rz(r)")
        if two:  # a hinge of two points
            self.lines.append(
                f"loop up | spherical | Coupler: Sx({b}), Sz(0.1), {self.turn()} | Rocker: Sx({c}), Sz(0.1);"
            )
            self.lines.append(f"loop low | spherical | Coupler: Sx({b}), Sz(-0.1) | Rocker: Sx({c}), Sz(-0.1);")
        else:
            joint = self.random.choice(["revolute", "cylindrical"])
            self.lines.append(f"loop one | {joint} | Coupler: Sx({b}), Rz(0.4) | Rocker: Sx({c});")

    def parallel_bars(self, base):
        length, places = self.number(0.6), [1.0, 0.45]
        joint = self.random.choice(["revolute", "spherical"])
        turn = "" if joint == "revolute" else f", {self.turn()}"
        self.starts += ["p = 0.5", "q = -0.5", "r0 = 0.5", "r1 = 0.5"]
        self.body("Bar", base, "Rz(p)")
        self.body("Plate", "~Bar", f"Sx({length}), Rz(q)")
        for k, place in enumerate(map(self.number, places)):
            self.body(f"Bar{k}", base, f"Sy({place}), Rz(r{k})")
            self.lines.append(f"loop pin{k} | {joint} | Bar{k}: Sx({length}){turn} | Plate: Sy({place});")

    def bennett(self, base):
        """a/sin(alpha) = b/sin(beta); cut at the ground or between two moving links."""
        alpha, beta = self.random.uniform(0.3, 1.2, 2)
        size, first = self.random.uniform(0.3, 0.8), float(self.random.choice([0.7, -1.1, 2.0]))
        second = 2 * atan(sin((beta + alpha) / 2) / sin((beta - alpha) / 2) / tan(first / 2))
        out = f"Sx({self.number(size * sin(alpha))}), Rx({self.number(alpha)})"
        there = f"Sx({self.number(size * sin(beta))}), Rx({self.number(beta)})"
        back, home = (f"Rx(-{two[3:]}, Sx(-{one[3:]}" for one, two in (w.split(", ") for w in (out, there)))
        self.body("L1", base, "Rz(p)")
        self.body("L2", "~L1", f"{out}, Rz(q)")
        if self.random.random() < 0.5:
            self.starts += [f"p = {first!r}", f"q = {second!r}", f"r = {2 * pi - first!r}"]
            self.body("L3", "~L2", f"{there}, Rz(r)")
            self.lines.append(f"loop one | revolute | L3: {out} | {'Foot: ' if base else ''}{home};")
        else:
            self.starts += [f"p = {first!r}", f"q = {second!r}", f"r = {second!r}"]
            self.body("L3", base, f"{home}, Rz(r)")
            self.lines.append(f"loop one | revolute | L2: {there} | L3: {back};")


def states(linkage, count):
    """The initial state and states along its motions, with consistent velocities and forces."""
    mechanism, random = linkage.mechanism, np.random.default_rng(1)
    assembler = Assembler(mechanism)
    q = assembler.assemble().q
    for _ in range(count):
        state = assembler.assembled(q, random.normal(size=len(mechanism.layout.velocities)))
        yield state, random.normal(size=len(state.v))
        jacobian, aim = assembler.conditions().jacobian(state.q), random.normal(size=len(state.v))
        step = aim - np.linalg.pinv(jacobian, rcond=1e-7) @ (jacobian @ aim)
        q = state.q + 0.4 * step / np.linalg.norm(step)


@pytest.mark.parametrize("seed", range(240) if SOAK else [3, 4, 5, 6, 8, 10, 11, 91])
def test_overconstrained_linkages_described_in_other_ways(seed):
    """Rotated, on moving arms, closed by other joints, cut elsewhere; and the same rounded to six digits."""
    linkage, rounded = Linkage(seed), Linkage(seed, digits=6).mechanism
    mechanism = linkage.mechanism
    assert mobility(mechanism).dof == mobility(rounded).dof
    for state, tau in states(linkage, 4 if SOAK else 2):
        wanted = dense(mechanism, state.q, state.v, tau)
        agrees(mechanism, state, tau, wanted)
        near = Assembler(rounded).assembled(state.q, state.v)
        assert near.residual < ROUNDED
        np.testing.assert_allclose(near.q, state.q, atol=1e-4)
        np.testing.assert_allclose(near.v, state.v, atol=1e-4)
        found = values(rounded, "qdd", near.q, near.v, tau)["qdd"]
        np.testing.assert_allclose(found, wanted, atol=1e-3 * max(1, np.abs(wanted).max()))


def bennett(digits=None):
    a, b = ("atan(3/4)", "atan(12/5)") if digits is None else (f"{atan(x):.{digits}f}" for x in (3 / 4, 12 / 5))
    second = 2 * atan(sin((atan(12 / 5) + atan(3 / 4)) / 2) / sin((atan(12 / 5) - atan(3 / 4)) / 2) / tan(0.35))
    return kg.parse(f"""coordinates th1 = 0.7, th2 = {second!r}, th3 = {2 * pi - 0.7!r}; gravity 0.3, -9.81, 1;
        initial th1' = 1.3; L1 | Rz(th1) | Sx(0.1), Sy(0.02), m(1), Jx(0.01), Jy(0.02), Jz(0.03);
        L2~L1 | Sx(0.39), Rx({a}), Rz(th2) | Sx(0.1), Sz(0.03), m(1.5), Jx(0.01), Jy(0.02), Jz(0.03);
        L3~L2 | Sx(0.6), Rx({b}), Rz(th3) | Sx(0.1), m(0.7), Jx(0.01), Jy(0.02), Jz(0.03);
        loop close | revolute(z) | L3: Sx(0.39), Rx({a}) | Rx(-{b}), Sx(-0.6);""")


FLAT = {"th1": 0.0, "th2": pi, "th3": 2 * pi}


@pytest.mark.parametrize("at", [FLAT, {"th1": 1e-9}, {"th1": 1e-4}, {"th1": 2.5}], ids=str)
def test_bennett_moves_through_its_flat_position(at):
    """The rows that are independent at the start depend on each other where all links are in line; others do not."""
    mechanism, tau = bennett(), np.array([0.1, 0.2, 0.3])
    state = kg.assemble(mechanism, {**at, "th1'": 1.3})
    assert state.mobility == 1 and not Assembler(mechanism).singular_rows(state.q)
    agrees(mechanism, state, tau, dense(mechanism, state.q, state.v, tau))


def test_bennett_runs_round_and_keeps_its_energy():
    run = kg.simulate(bennett(), 2, state={"th1'": 12}, native=False, rtol=1e-9)
    assert run.ending.status.good and max(abs(run["th1"] - 0.7)) > 2 * pi
    assert all(check.passed for check in run.checks)


@pytest.mark.parametrize("digits", [10, 6])
def test_one_tolerance_decides_everywhere_whether_loops_are_closed(digits):
    """Rounded angles contradict each other: `assemble` took what `check` refused."""
    rounded, exact = bennett(digits), bennett()
    found, state, wanted = mobility(rounded), kg.assemble(rounded), kg.assemble(exact)
    assert found.dof == state.mobility == 1
    assert state.residual == pytest.approx(found.residual, rel=0.2)
    np.testing.assert_allclose(state.v, wanted.v, atol=1e-6)
    np.testing.assert_allclose(
        values(rounded, "qdd", state.q, state.v, np.zeros(3))["qdd"],
        values(exact, "qdd", wanted.q, wanted.v, np.zeros(3))["qdd"], atol=1e-4,
    )  # fmt: skip


def test_tasks_take_loops_that_close_but_for_rounding():
    """Rounded rows would allow no motion, so that forces at rest were not determined."""
    exact, rounded = (kg.statics(one).values for one in (bennett(), bennett(6)))
    np.testing.assert_allclose(rounded, exact, rtol=1e-5)
    hanging, standing = kg.equilibria(bennett(6), starts=12)
    assert hanging.stable and not standing.stable
    np.testing.assert_allclose(hanging.q[0], -1.412774, atol=1e-5)


def test_rows_are_chosen_by_position_only_where_that_is_needed():
    """Bricard's redundant rows change with the position too, but the remaining rows suffice through the full cycle."""
    assert not analyzed(kg.load("bricard"), (), constraint_graph).clusters
    (cluster,) = analyzed(bennett(), (), constraint_graph).clusters
    assert cluster.rank == 2 and len(cluster.rows) == 5


@pytest.mark.parametrize("further", ["", "Free~Bar | Rz(f) | Sx(0.1), m(1), Jz(0.1);"])
def test_a_chain_that_reaches_just_so_is_singular_and_one_too_short_is_refused(further):
    """Rows that contradict each other by rounding differ from rows out of reach of a stretched chain."""
    text = """coordinates p = 0.3, q = -0.5, r = 2.9{f}; gravity 0, -9.81, 0;
        Crank | Rz(p) | Sx(0.1), m(1), Jz(0.1); Bar~Crank | Sx(0.5), Rz(q) | Sx(0.1), m(1), Jz(0.1);
        Rocker | Sx({d}), Rz(r) | Sx(0.1), m(1), Jz(0.1); {further}
        loop pin | revolute | Bar: Sx(0.6) | Rocker: Sx(0.4);"""
    names = {"f": ", f" if further else "", "further": further}
    stretched = kg.parse(text.format(d=1.5, **names))
    assert Assembler(stretched).singular_rows(kg.assemble(stretched).q) == ("pin.x",)
    assert mobility(stretched).dof is None
    for short in (1e-9, 1e-6):
        with pytest.raises(AssemblyError, match=f"pin has a gap of {short:.0e}"):
            kg.assemble(kg.parse(text.format(d=1.5 + short, **names)))
