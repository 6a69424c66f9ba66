"""Every command: what it prints, as text and as JSON, and what it says to mistakes."""

import json
import re
from importlib import import_module

import numpy as np
import pytest

from kinegraph import library
from kinegraph.cli.commands import COMMANDS, Entry, Group
from kinegraph.io import parse
from kinegraph.io.language.writer import write
from tests.cli.run import data, runner
from tests.mechanisms import random_limbs


@pytest.fixture
def run(capsys):
    return runner(capsys)


def test_models_lists_the_whole_library(run):
    rows = data(run("models --json"))["models"]
    assert [row["name"] for row in rows] == list(library.names())
    assert next(row for row in rows if row["name"] == "rackovic-14r")["coordinates"] == 14
    text = run("models").out
    assert all(name in text for name in (*library.names(), "pendulum-N"))
    sizes = {line.split()[0]: re.split(r"  +", line)[1:3] for line in text.splitlines() if "-N " in line}
    assert sizes == {"pendulum-N": ["N"] * 2, "n-four-bar-N": ["2 N + 1"] * 2, "loop-N": ["N - 1"] * 2}


def test_check_sums_up(run):
    facts = data(run("check free-body --json"))
    assert facts["dof"] == 6 and len(facts["coordinates"]) == 7
    assert facts["total_mass"] == 2 and facts["principal_axes"] == []
    assert data(run("check kidym-biped-new --json"))["total_mass"] == pytest.approx(75)


def test_check_shows_bodies_with_their_transforms(run):
    lines = run("check stanford").out.splitlines()
    assert lines[0] == "stanford: well described; 5 bodies, 3 degrees of freedom"
    assert "└── С  Sy(d4)" in lines[-1]


def test_check_lists_what_acts_and_what_has_no_mass(run, tmp_path):
    file = tmp_path / "idle.kg"
    file.write_text(
        "coordinates q, s, p; inputs u, w = sin(t); gravity 0, 0, -9.81; B | Rz(q) | m(1), Jz(1); C~B | Sx(s) | m(1);"
        "D~C | Rz(p) | ; spring coil | on(q), stiffness(2); force push | value(u), on(s);"
        "contact stop | 1 - s >= 0 | restitution(0.5);"
    )
    text = run("check", file).out
    assert "not for motion under forces" in text and "nothing with mass moves with p';" in text
    for line in (
        "coordinates   q [rad], s [m], p [rad]",
        "gravity       0, 0, -9.81 [m/s^2]",
        "total mass    2 kg",
        "elements      coil (spring), push (force)",
        "inputs        u, w = sin(t)",
        "contacts      stop (restitution 0.5); impacts newton, simultaneous",
    ):
        assert line in text
    facts = data(run("check --json", file))
    assert facts["massless"] == ["p'"] and facts["units"]["s"] == "m"
    assert facts["elements"][0] == {"name": "coil", "kind": "spring"}
    assert "p' moves no mass" in run("simulate --for 1", file).err


def test_words_of_other_programs(run):
    found = run("plot double-pendulum")
    assert found.code == 2 and "`kinegraph simulate MODEL --for 10 --plot run.png`" in found.err
    assert run("eval double-pendulum -q H --state q2=45deg").out == run("eval double-pendulum -q H --state q2=pi/4").out
    assert "did you mean `deg`" in run("eval double-pendulum -q H --state q1=45degrees").err


def test_check_reports_missing_values_and_principal_axes(run, tmp_path):
    file = tmp_path / "odd.kg"
    file.write_text("parameters a; coordinates q; Odd | Rz(a*q) | m(1), Jx(2), Jy(2), Jz(3), Jxy(0.5);")
    text = run("check", file).out
    assert "without value: a" in text and "principal axes" in text
    (axes,) = data(run("check --json", file))["principal_axes"]
    assert sorted(axes["moments"]) == pytest.approx([1.5, 2.5, 3])


def test_derive_prints_equations(run):
    text = run("derive double-pendulum -q H").out
    assert "H[2,2] = l2^2*m2" in text and "H is symmetric" in text and "c2 = cos(q2)" in text
    assert "H[2,2] = 4\n" in run("derive double-pendulum -q H --numeric --set l2=2").out


def test_derive_latex(run):
    text = run("derive kidym-biped-new -q gravity --latex").out
    mathematics = "".join(line for line in text.splitlines() if not line.startswith("%"))
    assert r"\theta_{L}" in text and "$L" not in mathematics
    assert text.count(r"\begin{align*}") == text.count(r"\end{align*}") > 0
    assert data(run("derive heavy-top -q gravity --json")).keys() == {"name", "text", "latex"}


def test_ops_counts_and_proves(run):
    found = data(run("count stanford -q tau --effort quick --json"))
    keys = {"mul", "add", "div", "sqrt", "sin", "cos", "passes", "proved", "kernel", "largest_exponent"}
    assert set(found) == keys and list(found)[:6] == ["mul", "add", "div", "sqrt", "sin", "cos"]
    assert found["proved"] is True and found["kernel"]["reduction_taken"]
    assert found["kernel"]["limbs_of_one_shape"] is False
    assert [one["name"] for one in found["passes"][:2]] == ["derived", "frames chosen"]
    first = found["passes"][0]
    assert first.keys() == {"name", "mul", "add", "div", "sqrt", "sin", "cos"}
    assert found["mul"] + found["add"] < first["mul"] + first["add"]


def test_ops_says_where_limbs_are_computed_side_by_side(run, tmp_path):
    (tmp_path / "legs.kg").write_text(write(random_limbs(0, limbs=3, joints=2, free=True)))
    result = run("count -q tau --effort quick", tmp_path / "legs.kg")
    assert result.code == 0 and "proved equal to the derived equations" in result.out
    assert "limbs of one shape: kernels compute them side by side" in result.out


@pytest.mark.parametrize(
    "line", ["equilibria double-pendulum", "synthesize double-pendulum", "dock docking-light-legs"]
)
def test_seeds_are_not_negative(run, line):
    result = run(f"{line} --seed -1")
    assert result.code == 2 and "Invalid value for '--seed'" in result.err


def test_ops_draws_no_picture_of_an_unknown_kind(run):
    result = run("count double-pendulum --plot counts.nope")
    assert result.code == 2 and "the file name must end in .png, .svg or .pdf" in result.err


def test_ops_table_symbolic_and_plot(run, tmp_path):
    result = run("count double-pendulum -q tau --symbolic --effort quick --plot", tmp_path / "ops.png")
    assert result.code == 0 and "proved equal to the derived equations" in result.out
    assert (tmp_path / "ops.png").read_bytes().startswith(b"\x89PNG")


def test_ops_like_rackovic_stands_beside_the_published_figures(run):
    found = data(run("count rackovic-6r -q H,C,gravity --like-rackovic --json"))
    assert found["proved"] and len(found["cases"]) == 4
    for case in found["cases"]:
        published = case["steps"][-1]["published"]
        assert case["mul"] < published["mul"] and case["add"] < published["add"]
    last = found["cases"][-1]["steps"]
    assert last[-1]["published"] == {"mul": 140, "add": 107, "sin": 7, "cos": 7}
    assert [step["name"] for step in last][-3:] == ["simplified expressions", "products", "monomials"]
    other = data(run("count double-pendulum -q H --like-rackovic --json"))
    assert all("published" not in step for case in other["cases"] for step in case["steps"])
    assert other["symbolic"]["mul"] > 0
    assert "Table 3.4" in run("count double-pendulum -q H --like-rackovic").out


def test_base_parameters_are_listed_as_formulas(run):
    found = data(run("count double-pendulum -q tau --symbolic --effort quick --base-parameters --json"))
    assert found["base_parameters"]["Iyy:Upper"] == "(m1 + m2)*l1^2" and found["minimal"]
    assert found["no_effect"] == ["amplitude"]
    shown = run("count double-pendulum -q tau --symbolic --effort quick --base-parameters").out
    assert "6 base parameters, the fewest possible" in shown and "mz:Lower = -l2*m2" in shown
    assert "Iyy:Upper = (m1 + m2)*l1^2\n" in run("derive double-pendulum -q base_parameters").out


def test_eval_uses_initial_values_and_what_is_given(run):
    start = data(run("eval double-pendulum -q gravity --json"))["gravity"]
    again = data(run("eval double-pendulum -q gravity --json --state q1=0.1,q2=-(1+sqrt(2))/10"))["gravity"]
    assert start == pytest.approx(again, rel=1e-14)
    down = data(run("eval double-pendulum -q gravity --json --state q1=pi/2,q2=0 --set m1=2"))["gravity"]
    assert down == pytest.approx([4 * 9.81, 9.81])


def test_eval_takes_velocities_accelerations_forces(run):
    tau = data(run('''eval double-pendulum -q tau --json --state "q1=0,q2=0,q1'=1,q1''=2,q2''=1"'''))["tau"]
    assert tau == pytest.approx([5 * 2 + 2 * 1, 2 * 2 + 1])
    qdd = data(run("eval double-pendulum -q qdd --json --state q1=0,q2=0,tau:q1=12,tau:q2=5"))["qdd"]
    assert qdd == pytest.approx([2, 1])


def test_eval_shapes(run):
    found = data(run("eval double-pendulum -q H,C,gravity,energy --json"))
    assert {name: np.shape(value) for name, value in found.items()} == {
        "H": (2, 2), "C": (2, 2, 2), "gravity": (2,), "energy": (2,),
    }  # fmt: skip
    assert "C[2]" in run("eval double-pendulum -q C").out


def test_eval_normalizes_quaternions(run):
    one, two = (data(run(f"eval heavy-top -q gravity --json --state e0={n},e1={n}")) for n in (1, 2))
    assert one["gravity"] == pytest.approx(two["gravity"], abs=1e-13)
    huge = data(run("eval heavy-top -q gravity --json --state e0=1e160,e1=1e160"))
    assert huge["gravity"] == pytest.approx(one["gravity"], abs=1e-13)


def test_eval_of_a_mechanism_computed_by_loops(run):
    tau = data(run("eval pendulum-400 -q tau --json --state q1=0"))["tau"]
    assert len(tau) == 400 and np.allclose(tau, 0)


@pytest.mark.parametrize(
    ("stage", "shown"),
    [
        ("model", "Lower~Upper"),
        ("tree", "link 2 on link 1: revolute joint about y by q2"),
        ("request", "double-pendulum: tau; parameters known: m1"),
        ("derived", 'output "tau" (2)'),
        ("reduced", 'output "tau" (2)'),
        ("chosen", 'output "tau" (2)'),
        ("bound", "] q2''"),
        ("program", "store v"),
        ("ir", "define"),
        ("asm", ".text"),
        ("proof", "proved equal to the equations as first derived"),
    ],
)
def test_inspect_prints_every_stage(run, stage, shown):
    result = run(f"inspect double-pendulum --stage {stage} -q tau")
    assert result.code == 0 and shown in result.out
    if stage == "model":
        assert parse(result.out) == library.mechanism("double-pendulum")


MISTAKES = [
    ("check puma650", "did you mean `puma560`?"),
    ("check no/such/file.kg", "cannot read"),
    ("eval puma560 -q tao", "did you mean `tau`?"),
    ("eval puma560 -q pose", "pose:BODY"),
    ("eval puma560 -q gravity --state qq1=1", "did you mean"),
    ("eval puma560 -q gravity --state q1", "name=value"),
    ("eval puma560 -q gravity --state q1=one", "not a number"),
    ("eval puma560 -q gravity --state 'q1=1;x'", "not a number"),
    ("eval puma560 -q gravity --set mass=1", "unknown parameter 'mass'"),
    ("eval heavy-top -q gravity --state e0=0", "is zero"),
    ("eval puma-full -q gravity", "has no value"),
    ("count stanford -q tau --effort quick --plot /no/such/folder/x.png", "the folder /no/such/folder does not exist"),
]


@pytest.mark.parametrize(("line", "message"), MISTAKES)
def test_mistakes_are_one_message_and_code_2(run, line, message):
    result = run(line)
    assert result.code == 2 and result.out == ""
    assert result.err.startswith("error: ") and message in result.err and "Traceback" not in result.err


def test_errors_of_a_model_name_the_place(run, tmp_path):
    file = tmp_path / "bad.kg"
    file.write_text("coordinates q;\nArm | Ry(q | m(1);")
    result = run("check", file)
    assert result.code == 2 and "line 2" in result.err


def test_json_has_no_nan(run, capsys):
    from kinegraph.cli.common import print_json

    print_json({"x": [1.0, float("nan"), float("inf")]})
    assert json.loads(capsys.readouterr().out) == {"x": [1.0, None, None]}


FREE = ("base_x", "base_e0")


@pytest.mark.parametrize(
    "line",
    [
        "check {} --json",
        "derive {} -q energy --json",
        "count {} -q energy --effort quick --json",
        'eval {} -q momentum --state "base_x\'=1" --json',
        "simulate {} --for 0.01 --times 2 --json",
        "inspect {} --stage model --json",
        "export {} --to records -o {folder} --json",
        "store add {} -q energy --store {folder}/here.db --json",
    ],
    ids=lambda line: line.split()[0],
)
def test_the_base_of_a_robot_floats_by_choice(run, tmp_path, line):
    """Every command that reads a model takes --floating and --package-root."""
    robot = tmp_path / "robot.urdf"
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    robot.write_text(f'<robot name="r"><link name="one"><inertial><mass value="2"/>{inertia}</inertial></link></robot>')
    result = run(f"{line.format(robot, folder=tmp_path)} --floating --package-root {tmp_path}")
    found = data(result)
    if line.startswith("check"):
        assert found["dof"] == 6 and set(FREE) <= set(found["coordinates"])
    elif line.startswith("eval"):
        assert found["momentum"][0] == 2.0


def test_only_a_urdf_can_float(run):
    result = run("check double-pendulum --floating")
    assert result.code == 2 and "only a URDF's base" in result.err
    result = run("check double-pendulum --package-root .")
    assert result.code == 2 and "package roots" in result.err


def test_check_of_a_long_chain_shows_its_beginning(run, tmp_path):
    """Bodies far down are listed side by side, and of very many the first alone: printing stays quick."""
    count = 1500
    links = "".join(f'<link name="l{i}"/>' for i in range(count))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(count - 1)
    )
    path = tmp_path / "chain.urdf"
    path.write_text(f'<robot name="chain">{links}{joints}</robot>')
    result = run(f"check {path}")
    assert "chain: well described; 1500 bodies, 0 degrees of freedom" in result.out
    assert "l100 on l99" in result.out and "... and 1100 more bodies" in result.out
    assert max(map(len, result.out.splitlines())) <= 160


def test_eval_says_what_has_no_value(run, tmp_path):
    """A mass in polar coordinates: at the center nothing resists a turn."""
    file = tmp_path / "polar.kg"
    file.write_text("coordinates q, r; A | Rz(q), Sx(r) | m(1);")
    found = run(f"eval {file} -q H,qdd --state q=1,r=0,tau:q=1")
    assert found.code == 1 and "H" in found.out and "qdd" in found.out
    assert found.err.startswith("error: qdd: the coordinates of polar are singular here, as in gimbal lock: q moves")
    assert run(f"eval {file} -q H,qdd --state r=0,tau:q=1 --json").code == 1
    assert run(f"eval {file} -q H,qdd --state r=1,tau:q=1").code == 0


@pytest.mark.parametrize("option", ["-o nowhere/run.csv", "--plot nowhere/run.png", "--page nowhere/run.html"])
def test_a_folder_that_is_missing_is_named_before_the_run(run, option):
    result = run(f"simulate double-pendulum --for 1e6 {option}")
    assert result.code == 2 and "the folder nowhere does not exist" in result.err


def test_simulate_names_the_files_it_wrote(run, tmp_path):
    said = run("simulate double-pendulum --for 0.1 --quiet -o", tmp_path / "run.csv").out
    assert "wrote" in said and "run.csv" in said


def test_every_command_on_a_model_shows_an_example():
    for name, entry in COMMANDS.items():
        module, _, function = entry.target.partition(":")
        told = (getattr(import_module(module), function).__doc__ or "") if isinstance(entry, Entry) else ""
        assert f"Example: kinegraph {name}" in told or name in ("models", "demo") or isinstance(entry, Group)


def test_a_name_that_is_given_twice_is_refused(capsys):
    run = runner(capsys)
    for line in ("--state q1=1,q1=2", "--state q1=1 --state q1=1", "--set m1=1,m1=2"):
        result = run(f"eval double-pendulum -q H {line}")
        assert result.code == 2 and "is given twice" in result.err
