"""`kinegraph check`: is the model well described, and what does it describe?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from rich.tree import Tree

import kinegraph as kg
from kinegraph.cli.common import JsonOption, console, plural, print_json
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.errors import KinegraphError
from kinegraph.export.unit import Units
from kinegraph.io.robot.right_angles import tolerance_for
from kinegraph.model.constraints import Contact, constraint_kind, is_constrained
from kinegraph.model.elements import Element, Input, PointForce
from kinegraph.model.evaluate import float_values, known_parameter_values, number
from kinegraph.model.expressions import PI, names, text
from kinegraph.model.mechanism import ZERO, Body, Mechanism
from kinegraph.model.report import MISSING, ROUNDED, Finding, FindingKind
from kinegraph.model.robot_data import full_report
from kinegraph.model.tables import Table
from kinegraph.model.topology import tree_of_records

if TYPE_CHECKING:
    from kinegraph.derive.quantities.mobility import Mobility
    from kinegraph.model.changes.principal_axes import PrincipalAxes


@reads_model
def run(source: ModelSource, json: JsonOption = False) -> None:
    """Read and validate a model; list its contents and what was not imported.

    Example: kinegraph check four-bar
    """
    mechanism = source.read()
    if json:
        print_json(summary(mechanism))
        return
    out = console()
    for line in _lines(mechanism):
        out.print(line, markup=False)
    out.print(_tree(mechanism))
    for line in (*_principal_axes(mechanism), *_report(mechanism), *right_angle_hint(mechanism, source)):
        out.print(line, markup=False)


def summary(mechanism: Mechanism) -> dict[str, object]:
    """The facts as plain data."""
    values = known_parameter_values(mechanism)
    report = full_report(mechanism)
    return {
        "name": mechanism.name,
        "complete": report.complete,
        "bodies": [{"name": body.name, "base": body.base} for body in mechanism.bodies],
        "coordinates": list(mechanism.layout.positions),
        "velocities": list(mechanism.layout.velocities),
        "states": [{"name": one.name, "rate": text(one.rate)} for one in mechanism.states],
        "tables": [
            {
                "name": one.name,
                "points": [len(axis) for axis in one.axes],
                "interpolation": one.interpolation.value,
                "outside": one.outside.value,
            }
            for one in mechanism.tables
        ],
        "dof": _mobility(mechanism).dof,
        "redundant_rows": list(_mobility(mechanism).redundant),
        "loops_open_by": _mobility(mechanism).residual,
        "loops": _loops(mechanism),
        "assembled": _assembled(mechanism),
        "constraints": [
            {"name": one.name, "kind": constraint_kind(mechanism, one).value} for one in mechanism.constraints
        ],
        "contacts": [contact.name for contact in mechanism.contacts],
        "elements": [{"name": one.name, "kind": _kind(one)} for one in mechanism.elements],
        "inputs": [
            {"name": one.name, "value": None if one.value is None else text(one.value)} for one in mechanism.inputs
        ],
        "units": {name: Units(mechanism).of(name) for name in mechanism.layout.positions},
        "massless": list(massless(mechanism)),
        "impacts": {"law": mechanism.impacts.law.value, "order": mechanism.impacts.order.value},
        "unknowns": [unknown.name for unknown in mechanism.unknowns],
        "constraint_rows": _mobility(mechanism).rows,
        "parameters": float_values(values),
        "parameters_without_value": _without_value(mechanism),
        "gravity": [text(part) for part in mechanism.gravity],
        "total_mass": total_mass(mechanism),
        "points": [point.name for point in mechanism.points],
        "principal_axes": [
            {"body": one.body, "moments": one.moments, "axes": one.axes, "quaternion": one.quaternion}
            for one in _axes(mechanism)
        ],
        "left_out": [_finding(one) for one in report.findings if one.kind in MISSING],
        "rounded": [_finding(one) for one in report.of(*ROUNDED)],
        "remarks": [_finding(one) for one in report.findings if one.kind not in MISSING | ROUNDED],
    }


def _table(table: Table) -> str:
    points = " x ".join(str(len(axis)) for axis in table.axes)
    return f"{table.name} ({points} points, {table.interpolation.value}, {table.outside.value})"


def _loops(mechanism: Mechanism) -> list[dict[str, object]]:
    """Every loop with its joint, its rows, the bodies around it and the joint at which it is cut; a gear has no cut."""
    tree = tree_of_records(mechanism)
    around = {chains.joint: chains.bodies for chains in tree.loops}
    return [
        {
            "name": loop.name,
            "joint": loop.type.value,
            "rows": loop.type.rows,
            "cut": loop.name if loop.name in around else None,
            "bodies": list(around.get(loop.name, ())),
        }
        for loop in mechanism.loops
    ]


def _mobility(mechanism: Mechanism) -> Mobility:
    from kinegraph.derive.quantities.mobility import mobility  # numpy only when it is needed

    return mobility(mechanism)


def _assembled(mechanism: Mechanism) -> str | None:
    """Which declared initial values loops move, in words; None if all hold, or nothing can be assembled."""
    from kinegraph.assembly.assemble import Assembler

    if not is_constrained(mechanism):
        return None
    try:
        return Assembler(mechanism).assemble().note
    except KinegraphError:  # parameters without values, or loops that cannot be closed: mobility says so
        return None


def _degrees_of_freedom(mechanism: Mechanism) -> str:
    """Degrees of freedom, or what is known of them."""
    found = _mobility(mechanism)
    if found.dof is not None:
        return plural(found.dof, "degree") + " of freedom"
    return f"{plural(found.velocities, 'velocity')}, {plural(found.rows, 'row')} of loops and constraints"


def _mobility_line(mechanism: Mechanism) -> str:
    found = _mobility(mechanism)
    text = f"mobility      {plural(found.velocities, 'velocity')}, {plural(found.rows, 'row')}"
    if found.dof is None:
        why = "the start cannot be assembled, or is a singular position it cannot leave, or parameters have no values"
        return f"{text}; unknown, for {why}"
    if not found.redundant:
        return f"{text}, all independent"
    return f"{text}; nothing new say {', '.join(found.redundant)}{_open_by(found)}"


def _open_by(found: Mobility) -> str:
    from kinegraph.derive.constraints.positions import CLOSED  # numpy only when it is needed

    if found.residual <= CLOSED:
        return ""
    return f"; rounded numbers leave the loops open by {found.residual:.1e} at least"


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "kind": finding.kind.name.lower(),
        "topic": finding.topic,
        "message": finding.message,
        "count": finding.count,
        "file": finding.place.source if finding.place else None,
        "line": finding.place.line if finding.place else None,
    }


def total_mass(mechanism: Mechanism) -> float | None:
    """The mass of all bodies; None if a parameter in it has no value."""
    values = known_parameter_values(mechanism)
    masses = [body.inertia.mass for body in mechanism.bodies]
    if any(names(mass) - values.keys() - {PI} for mass in masses):
        return None
    return sum(number(mass, values) for mass in masses)


def _without_value(mechanism: Mechanism) -> list[str]:
    known = known_parameter_values(mechanism)
    return [parameter.name for parameter in mechanism.parameters if parameter.name not in known]


def _axes(mechanism: Mechanism) -> tuple[PrincipalAxes, ...]:
    from kinegraph.model.changes.principal_axes import principal_axes_report  # numpy only when it is needed

    return principal_axes_report(mechanism)


def _lines(mechanism: Mechanism) -> Iterator[str]:
    freedom_text = _degrees_of_freedom(mechanism)
    missing = full_report(mechanism).summary(FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD)
    idle = massless(mechanism)
    state = "well described" if not idle else "well described for kinematics, not for motion under forces"
    state = f"described in part, without {missing}" if missing else state
    yield f"{mechanism.name}: {state}; {plural(len(mechanism.bodies), 'body')}, {freedom_text}"
    if idle:
        yield f"massless      nothing with mass moves with {', '.join(idle)}; `simulate` needs a mass there"
    yield f"coordinates   {_with_units(mechanism, mechanism.layout.positions) or 'none'}"
    if len(mechanism.layout.positions) != len(mechanism.layout.velocities):
        yield f"velocities    {', '.join(mechanism.layout.velocities)}"
    if mechanism.states:
        states = (f"{one.name}' = {text(one.rate)}" for one in mechanism.states)
        yield f"states        {_listed(states)}"
    if mechanism.tables:
        yield f"tables        {_listed(_table(one) for one in mechanism.tables)}"
    yield f"parameters    {_parameters(mechanism)}"
    still = all(part == ZERO for part in mechanism.gravity)
    gravity = ", ".join(text(part) for part in mechanism.gravity)
    yield f"gravity       {'none' if still else f'{gravity} [m/s^2]'}"
    mass = total_mass(mechanism)
    yield f"total mass    {'unknown: a parameter has no value' if mass is None else f'{mass:.6g} kg'}"
    if mechanism.elements:
        yield f"elements      {_listed(f'{one.name} ({_kind(one)})' for one in mechanism.elements)}"
    if mechanism.inputs:
        yield f"inputs        {_listed(map(_input, mechanism.inputs))}"
    if mechanism.loops:
        yield f"loops         {', '.join(f'{one.name} ({one.type.value})' for one in mechanism.loops)}"
    if is_constrained(mechanism):
        yield _mobility_line(mechanism)
        if note := _assembled(mechanism):
            yield f"start         {note}"
    kinds = (f"{one.name} ({constraint_kind(mechanism, one).value})" for one in mechanism.constraints)
    if mechanism.constraints:
        yield f"constraints   {', '.join(kinds)}"
    if mechanism.contacts:
        law = f"{mechanism.impacts.law.value}, {mechanism.impacts.order.value}"
        yield f"contacts      {_listed(map(_contact, mechanism.contacts))}; impacts {law}"
    if mechanism.unknowns:
        yield f"unknowns      {', '.join(one.name for one in mechanism.unknowns)}"
    if mechanism.points:
        yield f"points        {', '.join(f'{point.name} on {point.body}' for point in mechanism.points)}"


def _with_units(mechanism: Mechanism, listed: Iterable[str]) -> str:
    """Names with their units; components of quaternions have none."""
    units = Units(mechanism)
    return ", ".join(name if units.of(name) == "1" else units.named(name) for name in listed)


def _listed(items: Iterable[str]) -> str:
    every = list(items)
    more = f", ... and {len(every) - _MOST_LISTED} more" if len(every) > _MOST_LISTED else ""
    return ", ".join(every[:_MOST_LISTED]) + more


_MOST_LISTED = 40


def _kind(element: Element) -> str:
    """The word of an element's statement."""
    return "force" if isinstance(element, PointForce) else type(element).__name__.lower()


def _input(given: Input) -> str:
    return given.name if given.value is None else f"{given.name} = {text(given.value)}"


def _contact(contact: Contact) -> str:
    parts = {"restitution": contact.restitution, "friction": contact.friction}
    said = ", ".join(f"{word} {text(value)}" for word, value in parts.items() if value != ZERO)
    return f"{contact.name} ({said})" if said else contact.name


def massless(mechanism: Mechanism) -> tuple[str, ...]:
    """The velocities with which nothing with mass moves, as `simulate` refuses them.

    Loops may carry massless bodies, and large mechanisms take too long: nothing is said of these.
    """
    velocities = mechanism.layout.velocities
    if is_constrained(mechanism) or len(velocities) > _MOST_WEIGHED:
        return ()
    from kinegraph.derive.plan import Plan  # only when it is needed
    from kinegraph.derive.quantities.derivation import Derivation

    bare = replace(mechanism, elements=(), contacts=(), unknowns=())
    try:
        inertia = Derivation(bare, {}, Plan()).inertia
    except KinegraphError:  # too large to be derived exactly
        return ()
    return tuple(name for k, name in enumerate(velocities) if inertia[k][k].is_zero)


_MOST_WEIGHED = 60


def _parameters(mechanism: Mechanism) -> str:
    missing = _without_value(mechanism)
    count = len(mechanism.parameters)
    if not count:
        return "none"
    return f"{count}, all with values" if not missing else f"{count}, without value: {', '.join(missing)}"


def _tree(mechanism: Mechanism) -> Tree:
    """The bodies as they stand on each other, with the transforms that lead to each.

    Bodies beyond a depth are listed side by side with the name of their base; of very many only the first are shown.
    """
    children: dict[str | None, list[Body]] = {}
    for body in mechanism.bodies:
        children.setdefault(body.base, []).append(body)
    root = Tree("fixed frame")
    pending = [(root, 0, body) for body in reversed(children.get(None, []))]
    printed = 0
    while pending and printed < _MOST_BODIES:
        branch, depth, body = pending.pop()
        base = f" on {body.base}" if depth > _DEEPEST else ""
        twig = branch.add(f"{body.name}{base}  {_placement(mechanism, body)}")
        printed += 1
        below = branch if depth >= _DEEPEST else twig
        pending.extend((below, depth + 1, child) for child in reversed(children.get(body.name, [])))
    if printed < len(mechanism.bodies):
        root.add(f"... and {len(mechanism.bodies) - printed} more bodies")
    return root


_DEEPEST = 24  # levels that are drawn as such
_MOST_BODIES = 400


def _placement(mechanism: Mechanism, body: Body) -> str:
    """The transforms of a body in the model language."""
    alone = Mechanism(mechanism.name, (Body(body.name, None, body.transforms),))
    record = next(line for line in kg.write(alone).splitlines() if "|" in line)
    return record.partition("|")[2].strip().rstrip(";").rstrip() or "(in the frame of its base)"


def _principal_axes(mechanism: Mechanism) -> Iterator[str]:
    from kinegraph.model.changes.principal_axes import in_principal_axes  # numpy only when it is needed

    found = _axes(mechanism)
    if found:
        yield "principal axes of bodies with products of inertia (in their central frames):"
        if in_principal_axes(mechanism) != mechanism:
            yield "  `velocity principal (...)` of their quaternions makes the equations shorter"
    for one in found:
        yield f"  {one.body}"
        for moment, axis in zip(one.moments, one.axes, strict=True):
            yield f"    {moment:<12.6g} along ({', '.join(f'{part:+.6f}' for part in axis)})"


def _report(mechanism: Mechanism) -> Iterator[str]:
    report = full_report(mechanism)
    if report.findings:
        yield str(report)


def right_angle_hint(mechanism: Mechanism, source: ModelSource) -> Iterator[str]:
    """What taking angles near right ones as exact would save, and how to ask for it."""
    near = mechanism.report.of(FindingKind.NEAR_RIGHT_ANGLE)
    if not near:
        return
    tolerance = float(tolerance_for(Fraction(max(finding.distance for finding in near))))
    rounded = replace(source, options=replace(source.options, angle_tolerance=tolerance)).read()
    count = plural(len(near), "angle")
    if len(mechanism.layout.velocities) > _MOST_COUNTED:
        yield f"--angle-tolerance {tolerance:g} takes the {count} as right angles, which makes equations shorter"
        return
    written, exact = (kg.count(kg.derive(one, "tau")) for one in (mechanism, rounded))
    if exact.total == written.total:  # an angle of a range, say
        return
    saving = f"tau by {exact.total} operations instead of {written.total}"
    yield f"--angle-tolerance {tolerance:g} takes the {count} as right angles: {saving}"


#: More velocities than this, and deriving only to count takes too long.
_MOST_COUNTED = 12
