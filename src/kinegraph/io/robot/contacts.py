"""Shapes that would touch: contacts are not in the equations, and the report says so."""

from __future__ import annotations

from collections.abc import Iterable

from kinegraph.io.robot.report import Findings
from kinegraph.model.report import FindingKind
from kinegraph.model.robot.data import Extra, Shape, ShapeRole


def report_contacts(extras: Iterable[Extra], findings: Findings) -> None:
    """Report how many shapes could touch others and do not."""
    solid = [extra for extra in extras if isinstance(extra, Shape) and extra.role is not ShapeRole.VISUAL]
    if solid:
        message = f"contacts: nothing stops the {len(solid)} shapes that could touch"
        findings.add(FindingKind.LEFT_OUT, message, topic="contacts")
