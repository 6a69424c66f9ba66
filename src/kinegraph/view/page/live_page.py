"""`live_page`: a mechanism as one HTML file that runs its exact equations in the browser, without a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinegraph.codegen.program.binding import Argument
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.tree.links import JointKind
from kinegraph.export.fmu.description import variables
from kinegraph.export.fmu.equations import CLOSED, DERIVATIVES, OUTPUTS, FmuEquations, chosen_graph, equations, parts
from kinegraph.export.languages.javascript import javascript_object
from kinegraph.export.options import ExportOptions, FunctionLayout
from kinegraph.export.prepare import ExportPart, prepare_parts
from kinegraph.export.unit import Unit, Units
from kinegraph.files import written_to
from kinegraph.graph.node import Graph, Output
from kinegraph.model.expressions import PI, Expression, Scalar, expressions, names
from kinegraph.model.mechanism import Mechanism, QuaternionCoordinates
from kinegraph.model.robot_data import Shape
from kinegraph.view.page import tables
from kinegraph.view.page.frames import Frames, States
from kinegraph.view.page.scene import Scene, scene_of
from kinegraph.view.page.solution_page import page_of, page_path

#: The global object of the page with the generated functions.
PROGRAM = "kinegraphEquations"
DISPLACEMENTS, JACOBIANS = "displacements", "jacobians"
#: Arrows show the forces of one saved run, so a live page has none.
_ARROWS = ("force", "moment")


def live_page(
    mechanism: Mechanism,
    path: str | Path,
    parameters: Mapping[str, Scalar] | None = None,
    source: str | None = None,
) -> Path:
    """Write a page that simulates the mechanism while it is open: play, push bodies, change parameters.

    The page contains the reduced equations as JavaScript, and needs no server. Parameters that shape the picture, such
    as lengths, are fixed. source: the name of the model on the command line, a file or a library name.
    """
    path = page_path(path)
    text = live_text(mechanism, parameters, source)
    with written_to(path):
        path.write_text(text, encoding="utf-8")
    return path


def live_text(
    mechanism: Mechanism,
    parameters: Mapping[str, Scalar] | None = None,
    source: str | None = None,
    *,
    hosted: bool = False,
) -> str:
    """The page as text; hosted: for a frame in a notebook."""
    program = LiveProgram.of(mechanism, parameters)
    columns = dict(zip(program.names, np.array(program.start)[:, None], strict=True))
    scene = scene_of(mechanism, bound_parameters(mechanism, True, parameters), States(columns))
    headline = _headline(mechanism, program)
    return page_of(scene, _data(scene, program), headline, source, program=program.code, hosted=hosted)


@dataclass(frozen=True)
class LiveProgram:
    """The equations of a mechanism as JavaScript functions of `known`: time, states, inputs, parameters.

    start: the values of all knowns. fixed: the parameters that cannot be changed, since the picture depends on them.
    """

    system: FmuEquations
    unit: Unit
    start: tuple[float, ...]
    fixed: tuple[str, ...]

    @classmethod
    def of(cls, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None) -> LiveProgram:
        """Derive and reduce them; KernelError if a mechanism does not follow from its state alone."""
        options = ExportOptions(parameters=dict(parameters or {}), self_test=False, layout=FunctionLayout.SEPARATE)
        numbers = bound_parameters(mechanism, True, parameters)
        shaping = _shaping_names(mechanism, numbers)
        bound = {name: value for name, value in numbers.items() if name in shaping or names(value) - {PI}}
        system = equations(mechanism, options, bound)
        wanted = {DERIVATIVES, OUTPUTS, CLOSED}
        known = Argument("known", system.known)
        frames = Frames(mechanism, numbers)
        own = [part for part in parts(system) if part.name in wanted]
        own.append(
            ExportPart(
                DISPLACEMENTS, frames.displacement_graph(DISPLACEMENTS), (known,), {DISPLACEMENTS: "of all joints"}
            )
        )
        own.append(_pushes(mechanism, bound, options, known))
        unit = prepare_parts(mechanism, own, options)
        start = tuple(variables(mechanism, system, options).starts)
        free = {symbol.name for symbol in system.parameters}
        return cls(system, unit, start, tuple(one.name for one in mechanism.parameters if one.name not in free))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the knowns."""
        return tuple(symbol.name for symbol in self.system.known)

    @property
    def code(self) -> str:
        """The script."""
        return javascript_object(self.unit, PROGRAM)


def _shaping_names(mechanism: Mechanism, numbers: Mapping[str, Expression]) -> set[str]:
    """The parameters that transforms, points, frames of loops and shapes depend on."""
    placed: list[object] = [(body.transforms, body.inertia.central) for body in mechanism.bodies]
    placed += [*mechanism.points, *mechanism.loops, *(one for one in mechanism.extras if isinstance(one, Shape))]
    found: set[str] = set()
    reached = {name for one in placed for root in expressions(one) for name in names(root)}
    while reached - found:
        name = (reached - found).pop()
        found.add(name)
        if name in numbers:
            reached |= names(numbers[name])
    return found & set(numbers)


def _pushes(
    mechanism: Mechanism, bound: Mapping[str, Expression], options: ExportOptions, known: Argument
) -> ExportPart:
    """The place of every body's frame and its Jacobian: what a force on the body does to the coordinates."""
    wanted = [word for body in mechanism.bodies for word in (f"pose:{body.name}", f"jacobian:{body.name}")]
    graph = chosen_graph(mechanism, wanted, bound, options)
    nodes = tuple(node for output in graph.outputs for node in output.nodes)
    whole = Graph(graph.nodes, (Output(JACOBIANS, (len(nodes),), nodes),))
    return ExportPart(JACOBIANS, whole, (known,), {JACOBIANS: "pose and Jacobian of every body"})


def _data(scene: Scene, program: LiveProgram) -> dict[str, object]:
    """What the page's script has to know: the scene at the start, the joints, and the names of all knowns."""
    mechanism, system = scene.mechanism, program.system
    units = Units(mechanism)
    quaternions, place = [], 0
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, QuaternionCoordinates):
            quaternions.append(place)
        place += len(coordinate.names) if isinstance(coordinate, QuaternionCoordinates) else 1
    data = scene.data()
    parts_drawn = [part for part in scene.drawing.parts if part["kind"] not in _ARROWS]
    live = {
        "states": [{"name": one.name, "unit": units.of(one.name) or ""} for one in system.states],
        "positions": len(mechanism.layout.positions),
        "inputs": [{"name": one.name, "unit": units.of(one.name) or ""} for one in system.inputs],
        "forces": len(mechanism.layout.forces),
        "parameters": [one.name for one in system.parameters],
        "fixed": program.fixed,
        "outputs": list(system.outputs),
        "rows": system.closing_rows,
        "quaternions": quaternions,
        "start": list(program.start),
        "joints": list(_joints(scene.frames)),
        "bodies": [body.name for body in mechanism.bodies],
    }
    return data | {"parts": parts_drawn, "live": live, "names": [*mechanism.layout.positions]}


def _joints(frames: Frames) -> Iterator[dict[str, object]]:
    """Every link: the frame of its joint, its parent link, and what its displacement does."""
    for index, link in enumerate(frames.tree.links):
        if link.joint is not None:
            place = frames.joint_place(index)
            kind = "spherical" if link.joint.kind is JointKind.SPHERICAL else link.joint.kind.value
            yield {"parent": place.link, "place": place.numbers, "axis": link.joint.axis, "kind": kind}


def _headline(mechanism: Mechanism, program: LiveProgram) -> str:
    return f"{tables.size(mechanism)} · runs in this page: play, push a body, change parameters"
