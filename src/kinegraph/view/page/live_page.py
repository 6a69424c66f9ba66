"""`live_page`: a mechanism as one HTML file that runs its exact equations in the browser, without a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kinegraph.codegen.program.binding import Argument
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.tree.links import JointKind
from kinegraph.errors import KinegraphError
from kinegraph.export.fmu.description import variables
from kinegraph.export.fmu.equations import CLOSED, DERIVATIVES, OUTPUTS, FmuEquations, chosen_graph, equations, parts
from kinegraph.export.languages.javascript import javascript_object
from kinegraph.export.options import ExportOptions, FunctionLayout
from kinegraph.export.prepare import ExportPart, prepare_parts
from kinegraph.export.unit import Unit, Units
from kinegraph.files import written_to
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.model.elements import CompliantContact
from kinegraph.model.expressions import PI, Expression, Scalar, names
from kinegraph.model.mechanism import Mechanism, QuaternionCoordinates
from kinegraph.view.page import tables
from kinegraph.view.page.elements import arrow
from kinegraph.view.page.frames import CENTER, Frames
from kinegraph.view.page.live_picture import LivePicture
from kinegraph.view.page.meshes import Part
from kinegraph.view.page.scene import Scene
from kinegraph.view.page.solution_page import page_of, page_path

#: The global object of the page with the generated functions.
PROGRAM = "kinegraphEquations"
DISPLACEMENTS, JACOBIANS, PLACEMENTS, REACTIONS = "displacements", "jacobians", "placements", "reactions"
#: Arrows of a run show its forces over time; those of a live page are its reactions.
_ARROWS = ("force", "moment")
#: Reactions are equations of their own; with more velocities they would slow down the page and its derivation.
_MOST_REACTING = 8


def live_page(
    mechanism: Mechanism,
    path: str | Path,
    parameters: Mapping[str, Scalar] | None = None,
    source: str | None = None,
) -> Path:
    """Write a page that simulates the mechanism while it is open: play, push bodies, change parameters.

    The page contains the reduced equations as JavaScript, and needs no server. Sizes of shapes are fixed; lengths and
    other parameters that place bodies can be changed. source: the name of the model on the command line, a file or a
    library name.
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
    scene = program.picture.scene
    headline = _headline(mechanism, program)
    return page_of(scene, _data(scene, program), headline, source, program=program.code, hosted=hosted)


@dataclass(frozen=True)
class LiveProgram:
    """The equations of a mechanism as JavaScript functions of `known`: time, states, inputs, parameters.

    start: the values of all knowns. fixed: the parameters that cannot be changed, since sizes in the picture depend on
    them. reacting: the bodies whose joints have reactions.
    """

    system: FmuEquations
    unit: Unit
    start: tuple[float, ...]
    fixed: tuple[str, ...]
    picture: LivePicture
    reacting: tuple[str, ...]

    @classmethod
    def of(cls, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None) -> LiveProgram:
        """Derive and reduce them; KernelError if a mechanism does not follow from its state alone."""
        options = ExportOptions(parameters=dict(parameters or {}), self_test=False, layout=FunctionLayout.SEPARATE)
        numbers = bound_parameters(mechanism, True, parameters)
        picture = LivePicture.of(mechanism, numbers)
        bound = {name: value for name, value in numbers.items() if name in picture.fixed or names(value) - {PI}}
        system = equations(mechanism, options, bound)
        wanted = {DERIVATIVES, OUTPUTS, CLOSED}
        own = [part for part in parts(system) if part.name in wanted]
        frames = Frames(mechanism, bound)
        placed = frames.placement_graph(PLACEMENTS)
        free = {symbol.name for symbol in (*system.parameters, *placed.symbols(Kind.PARAMETER))}
        used = (Symbol(Kind.PARAMETER, one.name) for one in mechanism.parameters if one.name in free)
        system = replace(system, parameters=tuple(used))
        known = Argument("known", system.known)
        own = [replace(part, arguments=(known,)) for part in own]
        own += [
            ExportPart(
                DISPLACEMENTS, frames.displacement_graph(DISPLACEMENTS), (known,), {DISPLACEMENTS: "of all joints"}
            ),
            ExportPart(PLACEMENTS, placed, (known,), {PLACEMENTS: "all frames and inertias"}),
            _pushes(mechanism, bound, options, known),
        ]
        reacting, graph = _reactions(mechanism, picture.scene.frames, bound, options)
        if graph is not None:
            own.append(ExportPart(REACTIONS, graph, (known,), {REACTIONS: "force of every joint on its body"}))
        unit = prepare_parts(mechanism, own, options)
        start = tuple(variables(mechanism, system, options).starts)
        fixed = tuple(name for name in numbers if name in picture.fixed and not names(numbers[name]) - {PI})
        return cls(system, unit, start, fixed, picture, reacting)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the knowns."""
        return tuple(symbol.name for symbol in self.system.known)

    @property
    def code(self) -> str:
        """The script."""
        return javascript_object(self.unit, PROGRAM)


def _reactions(
    mechanism: Mechanism, frames: Frames, bound: Mapping[str, Expression], options: ExportOptions
) -> tuple[tuple[str, ...], Graph | None]:
    """The forces of joints on their bodies, in the fixed frame, and these bodies; none if they are too many, or are
    not determined."""
    links = {body.name: frames.body(body.name).link for body in mechanism.bodies}
    bases = {body.name: links[body.base] if body.base else 0 for body in mechanism.bodies}
    bodies = tuple(name for name, link in links.items() if link != bases[name])  # welded ones have no joint
    if len(mechanism.layout.velocities) > _MOST_REACTING or mechanism.states or not bodies:
        return (), None
    try:
        graph = chosen_graph(mechanism, [f"reaction:{name}" for name in bodies], bound, options)
    except KinegraphError:  # loops with redundant rows, joints that move no mass
        return (), None
    nodes = tuple(node for output in graph.outputs for node in output.nodes[:3])
    return bodies, Graph(graph.nodes, (Output(REACTIONS, (len(nodes),), nodes),))


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
    parts_drawn = [part for part in program.picture.parts if part["kind"] not in _ARROWS]
    parts_drawn += _reaction_arrows(scene, program.reacting)
    frames = scene.frames
    live = {
        "frames": {
            "bodies": [frames.number_of(body.name) for body in mechanism.bodies],
            "centers": [frames.number_of(body.name + CENTER) for body in mechanism.bodies],
        },
        "contacts": any(isinstance(one, CompliantContact) for one in mechanism.elements),
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


def _reaction_arrows(scene: Scene, bodies: tuple[str, ...]) -> Iterator[Part]:
    """An arrow at the joint of every reacting body; the page fills in the forces."""
    moving = [index for index, link in enumerate(scene.frames.tree.links) if link.joint is not None]
    for body in scene.mechanism.bodies:
        if body.name in bodies:
            link = scene.frames.body(body.name).link
            at = {"position_at": moving.index(link)}
            yield arrow("force", body.name, scene.frames.joint_place(link), 0, np.zeros((1, 3))) | at


def _joints(frames: Frames) -> Iterator[dict[str, object]]:
    """Every link: the frame of its joint, its parent link, and what its displacement does."""
    for index, link in enumerate(frames.tree.links):
        if link.joint is not None:
            place = frames.joint_place(index)
            kind = "spherical" if link.joint.kind is JointKind.SPHERICAL else link.joint.kind.value
            yield {"parent": place.link, "place": place.numbers, "axis": link.joint.axis, "kind": kind}


def _headline(mechanism: Mechanism, program: LiveProgram) -> str:
    return f"{tables.size(mechanism)} · runs in this page: play, push a body, change parameters"
