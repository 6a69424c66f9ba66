"""Initial values that are declared or set hold with loops, everywhere; what cannot hold is refused or listed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.constraints.conditions import following_columns
from kinegraph.errors import AssemblyError
from kinegraph.export import Fmi
from kinegraph.export.fmu.description import variables
from kinegraph.export.fmu.equations import equations
from kinegraph.export.options import ExportOptions
from kinegraph.graph.interpret import interpret
from kinegraph.tasks.operating_point import operating_point
from kinegraph.view.page.slider_page import initial_closed_positions as page_start
from tests.effort import SOAK

#: The four-bar of docs/model-language.md in relative angles, and one in absolute angles.
RELATIVE = """model four_bar; parameters l1 = 1, l2 = 3, l3 = 2.5, d = 3; coordinates {start}; gravity 0, -9.81, 0;
Crank          | Rz(q1)         | Sx(l1/2), m(1), Jz(0.1);
Coupler~Crank  | Sx(l1), Rz(q2) | Sx(l2/2), m(3), Jz(0.9);
Rocker~Coupler | Sx(l2), Rz(q3) | Sx(l3/2), m(2), Jz(0.5);
loop pin | revolute | Rocker: Sx(l3) | Sx(d); {more}"""
ABSOLUTE = """parameters a = 1, b = 3, c = 2.5, d = 3; coordinates {start}; gravity 0, -9.81, 0;
Crank | Rz(p1) | Sx(a/2), m(1), Jz(0.1); Coupler~Crank | Sx(a), Rz(p2 - p1) | Sx(b/2), m(3), Jz(0.9);
Rocker | Sx(d), Rz(p3) | Sx(c/2), m(2), Jz(0.5); loop pin | revolute | Coupler: Sx(b) | Rocker: Sx(c); {more}"""
RUN = {"native": False, "progress": False}


@pytest.fixture(scope="module")
def declared():
    return kg.parse(RELATIVE.format(start="q1 = 1, q2, q3", more="initial q1' = 5;"))


def test_runs_start_with_declared_values(declared):
    run = kg.simulate(declared, 0.01, times=1, **RUN)
    assert [run["q1"][0], run["q1'"][0]] == pytest.approx([1, 5], abs=1e-13)
    assert run.assembled is None and "assembled" not in str(run)


def test_everything_starts_at_the_same_state(declared):
    """Assembly, tasks, sweeps, studies, derivatives, FMUs and pages."""
    wanted = kg.assemble(declared)
    q, v = wanted.q, wanted.v
    assert (q[0], v[0]) == (1, 5) and not wanted.moved and wanted.independent == ("q1", "q1'")
    point = operating_point(declared)
    swept = kg.sweep(declared, 0.01, over={"l2": [3.0]}, times=1, **RUN)
    first = {"angle": "initial(q1)", "rate": "initial(q1')"}
    study = kg.study(declared, 0.01, vary={"l2": "uniform(2.99, 3.01)"}, cases=2, outcomes=first, **RUN)
    derived = kg.sensitivities(declared, 0.01, ["l2"], times=1, **RUN)
    options = ExportOptions(fmi=Fmi.TWO)
    fmu = variables(declared, equations(declared, options), options).starts[1:7]
    page = page_start(declared, None, {})
    names = (*declared.layout.positions, *declared.layout.velocities)
    found = {
        "point": (*point.q, *point.v), "sweep": [swept[name][0, 0] for name in names], "fmu": fmu,
        "derivatives": [derived[name][0] for name in names], "page": (*page, *v),
    }  # fmt: skip
    for what, state in found.items():
        np.testing.assert_allclose(state, [*q, *v], rtol=0, atol=1e-12, err_msg=what)
    np.testing.assert_allclose([study["angle"], study["rate"]], [[1] * 3, [5] * 3], rtol=0, atol=1e-12)


@pytest.mark.parametrize("first", ["0", "0*2", "1/3"])
def test_a_declared_zero_is_a_value(first):
    """`crank = 0` holds, although coordinates without a value are zero too, and is written back."""
    model = kg.parse(ABSOLUTE.format(start=f"p1 = {first}, p2 = 0.9, p3 = 1.4", more="initial p1' = 0, p2' = 2;"))
    found = kg.assemble(model)
    assert found.q[0] == pytest.approx(0 if first != "1/3" else 1 / 3, abs=0) and found.v[0] == 0
    assert [one.name for one in found.moved] == ["p2", "p2'", "p3"] and all(one.follows for one in found.moved)
    again = kg.parse(kg.write(model))
    assert again == model and again.declared == model.declared == ("p1", "p1'", "p2", "p2'", "p3")
    assert kg.parse(ABSOLUTE.format(start="p1, p2, p3", more="")).declared == ()


def test_what_moved_is_said():
    model = kg.parse(ABSOLUTE.format(start="p1 = 1, p2 = 0.9, p3 = 1.4", more=""))
    run = kg.simulate(model, 0.001, times=1, **RUN)
    assert run["p1"][0] == pytest.approx(1, abs=1e-13)
    assert f"p2 0.9 -> {run['p2'][0]:.6g}" in str(run) and "declared -> assembled" in str(run)
    assert kg.simulate(model, 0.001, times=1, state={"p1": 1.1}, **RUN).assembled is None  # the others follow


def test_values_that_are_set_come_before_declared_ones():
    model = kg.parse(ABSOLUTE.format(start="p1 = 1, p2 = 0.4, p3 = 1.2", more="initial p1' = 5;"))
    found = kg.assemble(model, {"p3": 1.6, "p2'": 0.5})
    assert found.q[2] == 1.6 and found.v[1] == 0.5 and not found.changed
    assert {one.name for one in found.moved} == {"p1", "p2", "p1'"}


@pytest.mark.parametrize(("values", "says"), [
    ({"p1": 1, "p3": 1.9}, r"these follow from p1\n *p3 +1\.9 -> "),
    ({"p1'": 1, "p2'": 7}, r"these follow from p1, p1'\n *p2' +7 -> "),
    ({"p3": 0.2}, r"cannot be closed with the given values.*\n *p3 +0\.2 -> "),
])  # fmt: skip
def test_values_that_cannot_hold_are_refused(values, says):
    model = kg.parse(ABSOLUTE.format(start="p1 = 1, p2 = 0.4, p3 = 1.2", more=""))
    with pytest.raises(AssemblyError, match=says):
        kg.simulate(model, 1, state=values, **RUN)
    with pytest.raises(AssemblyError, match=says):
        operating_point(model, values)
    assert kg.assemble(model, values).changed  # assembling is asked what would fit


def test_rounded_states_are_taken():
    """A state from a table of six digits: the first values hold, the others move in the seventh."""
    model = kg.parse(ABSOLUTE.format(start="p1 = 1, p2 = 0.4, p3 = 1.2", more=""))
    place = kg.assemble(model, {"p1": 1.3, "p1'": 2})
    rounded = np.round([*place.q, *place.v], 6)
    run = kg.simulate(model, 0.001, times=1, state=rounded, **RUN)
    np.testing.assert_allclose([run[name][0] for name in ("p1", "p2", "p3")], place.q, atol=2e-6)
    assert run["p1"][0] == pytest.approx(1.3, abs=1e-13)


@pytest.mark.parametrize("seed", range(200 if SOAK else 4))
def test_a_mechanism_described_in_other_ways_starts_alike(seed):
    """Relative or absolute angles, millimeters or meters, another order: the declared crank and its rate hold."""
    random = np.random.default_rng(seed)
    angle, rate = random.uniform(0, 6), random.uniform(-5, 5)
    guess = kg.assemble(kg.parse(ABSOLUTE.format(start="p1, p2 = 1, p3 = 2", more="")), {"p1": angle}).q
    guess[1:] += random.normal(0, 0.1, 2)
    p = "p1 = {}, p2 = {}, p3 = {}".format(*guess.tolist())
    q = f"q1 = {guess[0]}, q2 = {guess[1] - guess[0]}, q3 = {guess[2] - guess[1] + np.pi}"
    spin = f"initial {{}}' = {rate};"
    lengths = "a = 1, b = 3, c = 2.5, d = 3", "a = 1000, b = 3000, c = 2500, d = 3000"
    meters = kg.parse(ABSOLUTE.format(start=p, more=spin.format("p1")))
    ways = [
        meters,
        kg.parse(kg.write(meters)),
        kg.parse(ABSOLUTE.replace(*lengths).format(start=p, more=spin.format("p1"))),
        kg.parse(RELATIVE.format(start=q, more=spin.format("q1"))),
    ]
    relative = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    for model in ways:
        found = kg.assemble(model)
        assert (found.q[0], found.v[0]) == (pytest.approx(angle, abs=0), pytest.approx(rate, abs=0))
        absolute = relative @ found.q - [0, 0, np.pi] if model.name == "four_bar" else found.q
        np.testing.assert_allclose(absolute, kg.assemble(meters).q, atol=1e-9)


@pytest.mark.parametrize("seed", range(400 if SOAK else 8))
def test_values_hold_in_random_spatial_loops(seed):
    """Chains closed where they are: declared positions fit and stay, and as many declared velocities as can be do."""
    random = np.random.default_rng(seed)
    count = int(random.integers(4, 8))
    place = random.uniform(-2, 2, count)
    joints = random.choice(["Rx", "Ry", "Rz", "Sx"], count, p=[0.3, 0.3, 0.3, 0.1])
    steps = ["Sx({:.3f}), Sy({:.3f}), Sz({:.3f})".format(*random.uniform(-0.6, 0.6, 3)) for _ in range(count)]
    bodies = [
        f"B{k}{f'~B{k - 1}' if k else ''} | {steps[k]}, {joints[k]}(q{k}) | m(1), Jx(1), Jy(1), Jz(1);"
        for k in range(count)
    ]
    names = [f"q{k}" for k in range(count)]
    last = f"pose:B{count - 1}"
    chain = kg.derive(kg.parse(f"coordinates {', '.join(names)}; {' '.join(bodies)}"), last)
    pose = interpret(chain, dict(zip(names, place.tolist(), strict=True)))[last]
    frame = [*pose[:3, 3].tolist(), *Rotation.from_matrix(pose[:3, :3]).as_euler("XYZ").tolist()]
    joint = "revolute" if count > 5 and seed % 2 else "spherical"
    end = "Sx({!r}), Sy({!r}), Sz({!r}), Rx({!r}), Ry({!r}), Rz({!r})".format(*frame)
    declared = set(random.permutation(count)[: int(random.integers(1, count + 1))].tolist())
    start = ", ".join(f"q{k} = {place[k]:.17g}" if k in declared else f"q{k}" for k in range(count))
    assembler = Assembler(
        kg.parse(f"coordinates {start}; {' '.join(bodies)} loop end | {joint} | B{count - 1}: | {end};")
    )
    nearby = np.where([k in declared for k in range(count)], place, place + random.normal(0, 0.05, count))
    v, rates = random.normal(size=count), tuple(f"q{k}'" for k in sorted(declared))
    found = assembler.assembled(nearby, v, (), 0.0, (*assembler.mechanism.declared, *rates))
    held = [int(name[1:-1]) for name in found.independent if name in rates]
    assert not [one for one in found.moved if one.name in names] and found.residual < 1e-10
    assert (found.v[held] == v[held]).all() and len(held) <= found.mobility
    assert np.abs(assembler.conditions().rate(found.q, found.v)).max() < 1e-8 * (1 + np.abs(found.v).max())
    free = assembler.conditions().jacobian(found.q)[:, [k for k in range(count) if k not in held]]
    assert np.linalg.matrix_rank(free, 1e-9) == count - found.mobility


def test_coordinates_that_no_loop_contains_stay():
    """A stretched four-bar is searched for beside its start: an arm that hangs on it keeps its angle."""
    arm = "Arm~Crank | Sx(0.2), Ry(free) | m(1), Jy(1); Cart | Sx(x) | m(1);"
    model = kg.parse(ABSOLUTE.format(start="p1, p2, p3, free, x", more="") + arm)
    found = kg.assemble(model)
    assert found.residual < 1e-10 and list(found.q[3:]) == [0, 0] and abs(found.q[2]) > 0.01
    assert {tuple(one.q[3:]) for one in Assembler(model).modes({"p1": 1}, starts=20)} == {(0.0, 0.0)}


def test_followers_do_not_depend_on_units():
    jacobian = np.array([[1000.0, 300.0, 1.0, 0.0], [500.0, -800.0, 0.0, 1.0]])
    assert following_columns(jacobian, [0, 1]) == {2, 3}
    assert following_columns(jacobian, [2]) == {1, 3} and following_columns(jacobian, [3, 2]) == {0, 1}
    assert following_columns(jacobian, [0, 1, 2, 3]) == {2, 3}


def test_accelerations_follow():
    """J a + bias = 0 with the one that is given; one more is refused."""
    assembler = Assembler(kg.load("four-bar"))
    place = assembler.assemble({"crank": 1, "crank'": 3})
    found = assembler.accelerations(place.q, place.v, np.array([2.0, 0, 0]), ["crank''"])
    step = 1e-4
    ahead, behind = (
        assembler.assembled(place.q + s * place.v, np.array([3 + 2 * s, *place.v[1:]]), ["crank", "crank'"])
        for s in (step, -step)
    )
    np.testing.assert_allclose((ahead.v - behind.v) / (2 * step), [*found], rtol=0, atol=1e-5)
    with pytest.raises(AssemblyError, match=r"these follow from crank''\n *rocker'' +1 -> "):
        assembler.accelerations(place.q, place.v, np.array([2.0, 0, 1]), ["crank''", "rocker''"])
