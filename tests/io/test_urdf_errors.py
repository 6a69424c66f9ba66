"""URDF that cannot be read: every message has the place, what was found, and what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinegraph.errors import ModelError
from kinegraph.io.robot import xml
from kinegraph.io.urdf import load_urdf, parse_urdf
from tests.io.test_urdf import joint, robot

INERTIAL = '<link name="a"><inertial><mass value="{}"/></inertial></link>'


@pytest.mark.parametrize(
    ("given", "message", "remedy"),
    [
        ("<sdf/>", "the root element is <sdf>: this is SDFormat", "recognizes the format"),
        ("<robot/>", "no links", "<link name"),
        ("<robot><xacro:macro/></robot>", "<xacro:macro> is a xacro macro", "xacro robot.urdf.xacro"),
        (robot(), "2 root links: a, b", "fixed joints"),
        (robot(joint(), joint(name="k")), "b is the child of two joints: j and k", "close the loop"),
        (robot(joint(), joint(name="k", parent="b", child="a")), "form a cycle: a <- b <- a", "must be the root"),
        (robot(joint(parent="A")), "unknown link 'A' as the parent of the joint j", "did you mean `a`?"),
        (robot(joint(kind="revolut")), "unknown type 'revolut'", "did you mean `revolute`?"),
        (robot(joint(), joint()), "two elements <joint> have the name j", "rename"),
        (robot(joint('<axis xyz="0 0 0"/>')), "the axis of the joint j is zero", "0 0 1"),
        (robot(joint('<axis xyz="0 1"/>')), "takes 3 numbers, found 2", "0 0 0"),
        (robot(joint('<origin xyz="0 1 x"/>')), "`x`, not a finite number", "decimal"),
        (robot(joint('<origin xyz="0 1 1e99999"/>')), "`1e99999`, not a finite number", "decimal"),
        (robot(joint('<axis xyz="0 1e-9 1e309"/>')), "`1e309`, not a finite number", "decimal"),
        (robot(joint('<origin xyz="0 1 nan"/>')), "`nan`, not a finite number", "decimal"),
        (robot(joint('<mimic joint="k"/>')), "mimics the unknown joint 'k'", "mimic=False"),
        (robot(joint('<mimic joint="j"/>')), "in a cycle, including j", "remove one <mimic>"),
        (robot(joint('<origin quat_xyzw="1 0 0 0"/>')), "quat_xyzw needs URDF 1.1", 'version="1.1"'),
        (
            robot(joint('<origin quat_xyzw="0 0 0 0"/>')).replace("<robot", '<robot version="1.1"'),
            "the quaternion of the joint j is zero", "write 0 0 0 1 for no rotation",
        ),
        (f"<robot>{INERTIAL.format(-1)}</robot>", "mass of a is negative: -1", "zero or positive"),
        ("<robot><link/></robot>", "<link> has no name", '<link name="...">'),
        ("<robot><link name='a'></robot>", "not well-formed XML: mismatched tag", ""),
        ("", "not well-formed XML: no element found", ""),
    ],
)  # fmt: skip
def test_errors_say_where_what_and_what_instead(given: str, message: str, remedy: str) -> None:
    with pytest.raises(ModelError) as raised:
        parse_urdf(given, "robot.urdf")
    first, _, second = str(raised.value).partition("\n")
    assert first.startswith("robot.urdf: line 1, column ")
    assert message in first
    assert remedy in second


def test_the_line_is_that_of_the_element() -> None:
    with pytest.raises(ModelError, match="line 3, column 5"):
        parse_urdf('<robot>\n  <link name="a"/>\n    <link name="a"/>\n</robot>', "robot.urdf")


BOMB = '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"><link name="a"/></robot>'
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot name="x"><link name="&a;"/></robot>'


@pytest.mark.parametrize("hostile", [BOMB, OUTSIDE, '<!DOCTYPE r SYSTEM "http://x/y.dtd"><robot/>'])
def test_document_types_and_entities_are_refused(hostile: str) -> None:
    with pytest.raises(ModelError, match="declares a document type"):
        parse_urdf(hostile)


@pytest.mark.parametrize("encoding", ["gb2312", "Shift_JIS", "utf-7", "big5", "idna", "undefined", "no-such-encoding"])
def test_other_encodings_are_refused(encoding: str) -> None:
    with pytest.raises(ModelError, match=r"encoding|not well-formed"):
        parse_urdf(f'<?xml version="1.0" encoding="{encoding}"?><robot name="r"><link name="a"/></robot>'.encode())


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="nest deeper than 1000"):
        parse_urdf("<a>" * 2000 + "</a>" * 2000)
    monkeypatch.setattr(xml, "MAX_ELEMENTS", 10)
    with pytest.raises(ModelError, match="more than 10 elements"):
        parse_urdf("<robot>" + "<link/>" * 20 + "</robot>")
    monkeypatch.setattr(xml, "MAX_BYTES", 10)
    with pytest.raises(ModelError, match="has 15 bytes; the limit is 10"):
        parse_urdf("<robot></robot>")


def test_a_long_chain_needs_no_recursion() -> None:
    links = "".join(f'<link name="l{i}"/>' for i in range(3001))
    joints = (joint(name=f"j{i}", parent=f"l{i}", child=f"l{i + 1}") for i in range(3000))
    assert len(parse_urdf(robot(*joints, links=links)).mechanism.coordinates) == 3000


def test_a_missing_file_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        load_urdf(tmp_path / "none.urdf")
