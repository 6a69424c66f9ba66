"""Macros: a xacro file looks like URDF and becomes one only when `xacro` has expanded it."""

from __future__ import annotations

from kinegraph.errors import ModelError
from kinegraph.io.robot.xml import Element

_EXPAND = "expand the file first: `xacro robot.urdf.xacro > robot.urdf` (pip install xacro)"


def refuse_xacro(root: Element) -> None:
    """Raise a ModelError if a macro, or an expression of one, stands anywhere in the document."""
    pending = [root]
    while pending:
        here = pending.pop()
        if here.tag.startswith("xacro:"):
            raise ModelError(f"<{here.tag}> is a macro, not URDF", here.place, _EXPAND)
        for name, value in here.attributes.items():
            if "${" in value and not name.startswith("xmlns"):
                raise ModelError(f"{name} of <{here.tag}> is `{value}`, an expression of xacro", here.place, _EXPAND)
        pending.extend(reversed(here.children))
