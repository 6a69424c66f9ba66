"""The bench over files of other packages: what it makes of files, beside MuJoCo where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not installed")
pytest.importorskip("pinocchio", reason="Pinocchio is not installed")

from benchmarks.wheels import FileOutcome, Verdict, compare_mjcf, summary

ARM = """<mujoco><option density="{density}"/><worldbody><body><joint damping="0.1" armature="0.2"/>
<geom type="capsule" fromto="0 0 0 1 0 0" size="0.1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (ARM.format(density=0), Verdict.AGREES),
        (ARM.format(density=1000), Verdict.LEFT_OUT),
        ("<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>", Verdict.STILL),
        ("<mujoco><asset/></mujoco>", Verdict.NO_MECHANISM),
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", Verdict.PEER_REFUSES),
    ],
)
def test_a_file_agrees_or_says_what_is_left_out(tmp_path: Path, text: str, verdict: Verdict) -> None:
    path = tmp_path / "m.xml"
    path.write_text(text)
    assert compare_mjcf(path, tmp_path.name, 2).verdict == verdict.name


def test_the_table_counts_by_package() -> None:
    found = [FileOutcome("gymnasium", "a", "AGREES"), FileOutcome("gymnasium", "b", "REFUSED")]
    assert "| gymnasium | 2 | 1 | 0 | 0 | 0 | 1 | 50 % | 0 | 0 |" in summary(found)
