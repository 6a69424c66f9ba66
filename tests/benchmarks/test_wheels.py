"""The bench over files of other packages: what it makes of files, beside MuJoCo where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not installed")
pytest.importorskip("pinocchio", reason="Pinocchio is not installed")

from benchmarks.wheel_peers import FileOutcome, Verdict, compare_mjcf, compare_sdf, compare_urdf
from benchmarks.wheels import outcomes, summary

ARM = """<mujoco><option density="{density}"/><worldbody><body><joint damping="0.1" armature="0.2"/>
<geom type="capsule" fromto="0 0 0 1 0 0" size="0.1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (ARM.format(density=0), Verdict.AGREES),
        (ARM.format(density=1000), Verdict.AGREES),
        ("<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>", Verdict.STILL),
        ("<mujoco><asset/></mujoco>", Verdict.NO_MECHANISM),
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", Verdict.PEER_REFUSES),
    ],
)
def test_a_file_agrees_or_says_what_is_left_out(tmp_path: Path, text: str, verdict: Verdict) -> None:
    path = tmp_path / "m.xml"
    path.write_text(text)
    assert compare_mjcf(path, tmp_path, 2).verdict == verdict.name


LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def test_urdf_and_sdf_are_compared_too(tmp_path: Path) -> None:
    urdf, sdf = tmp_path / "m.urdf", tmp_path / "m.sdf"
    inertia = '<inertia ixx="1" iyy="2" izz="2" ixy="0" iyz="0" ixz="0"/>'
    link = f'<link name="b"><inertial><mass value="2"/>{inertia}</inertial></link>'
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/><limit/></joint>'
    urdf.write_text(f'<robot name="r"><link name="a"/>{link}{joint}</robot>'.replace("<limit/>", LIMIT))
    assert compare_urdf(urdf, tmp_path, 2).verdict == Verdict.AGREES.name
    hinge = "<parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz></axis>"
    sdf.write_text(f'<sdf version="1.9"><model name="m"><link name="a"/><joint name="j" type="revolute">{hinge}</joint>'
                   "</model></sdf>")  # fmt: skip
    pytest.importorskip("pydrake", reason="Drake is not installed")
    assert compare_sdf(sdf, tmp_path, 2).verdict == Verdict.AGREES.name


def test_files_are_found_by_package_and_format(tmp_path: Path) -> None:
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "arm.xml").write_text(ARM.format(density=0))
    (tmp_path / "robots" / "notes.xml").write_text("<note/>")
    (one,) = outcomes([], 1, tmp_path, 1)
    assert (one.format, one.package, one.file, one.verdict) == ("MJCF", "robots", "arm.xml", "AGREES")


def test_the_table_counts_by_package() -> None:
    found = [FileOutcome("MJCF", "gymnasium", "a", "AGREES"), FileOutcome("MJCF", "gymnasium", "b", "REFUSED")]
    assert "| gymnasium | 2 | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 50.0 % | 0 | 0 |" in summary(found)
