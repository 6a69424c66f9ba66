"""Kinegraph: symbolic rigid-body mechanics. Exact equations, fewest operations, proven, compiled.

import kinegraph as kg

arm = kg.load("puma560")                  # a model file, or a name of the library
graph = kg.derive(arm, "H,gravity")       # exact equations
kernel = kg.compile(arm, "tau")           # machine code
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand
from kinegraph.version import __version__ as __version__

if TYPE_CHECKING:
    from kinegraph import library
    from kinegraph.compiler.base_parameters import base_parameters
    from kinegraph.compiler.compile import compile, derive
    from kinegraph.compiler.load import in_principal_axes, load, lock, with_contacts, write
    from kinegraph.compiler.minimise import minimise
    from kinegraph.derive.quantities.quantity import Quantity
    from kinegraph.docking.target import with_target
    from kinegraph.errors import KinegraphError
    from kinegraph.export.write import export
    from kinegraph.graph.count import count
    from kinegraph.graph.interpret import interpret
    from kinegraph.graph.node import Graph
    from kinegraph.graph.proof.prove import prove
    from kinegraph.io import parse
    from kinegraph.jit.kernel import Kernel, KernelOptions
    from kinegraph.model.axes import Axes
    from kinegraph.model.builder import Builder
    from kinegraph.model.mechanism import Mechanism
    from kinegraph.notation.latex import latex
    from kinegraph.notation.text import formula
    from kinegraph.passes.pipeline import reduce
    from kinegraph.passes.step import Effort
    from kinegraph.simulate.run import simulate
    from kinegraph.simulate.sweep import sweep
    from kinegraph.solve.problem.events import Event
    from kinegraph.solve.problem.problem import Feedback, Sampled
    from kinegraph.store.schema.open import open_store
    from kinegraph.studies.run import study
    from kinegraph.tasks.assemble import assemble
    from kinegraph.tasks.branches.branches import branches
    from kinegraph.tasks.equilibria import equilibria
    from kinegraph.tasks.forces.joint_loads import joint_loads
    from kinegraph.tasks.forces.reactions import reactions
    from kinegraph.tasks.forces.smoothing import Measured
    from kinegraph.tasks.forces.statics import statics
    from kinegraph.tasks.forces.unknown_forces import inverse_dynamics
    from kinegraph.tasks.integrals import integrals
    from kinegraph.tasks.kinematics.follow import follow
    from kinegraph.tasks.kinematics.inverse_kinematics import inverse_kinematics
    from kinegraph.tasks.kinematics.path_synthesis import synthesise_path
    from kinegraph.tasks.kinematics.point_motion import point_motion
    from kinegraph.tasks.kinematics.pose_solver import pose_solver
    from kinegraph.tasks.kinematics.spring_follow import follow_by_spring
    from kinegraph.tasks.linear.linearise import linearise
    from kinegraph.tasks.linear.modes import modes
    from kinegraph.tasks.linear.response import response
    from kinegraph.tasks.platforms.ring_poses import ring_poses
    from kinegraph.tasks.platforms.workspace import workspace
    from kinegraph.tasks.runs.fit import fit
    from kinegraph.tasks.runs.gradient import gradient
    from kinegraph.tasks.runs.sensitivities import sensitivities
    from kinegraph.tasks.runs.synthesise import synthesise
    from kinegraph.view.look import view

#: Where each name is defined. It is imported when first used, so that `import kinegraph` costs nothing.
_HOMES = {
    "Axes": "kinegraph.model.axes",
    "Builder": "kinegraph.model.builder",
    "Effort": "kinegraph.passes.step",
    "Event": "kinegraph.solve.problem.events",
    "Graph": "kinegraph.graph.node",
    "Kernel": "kinegraph.jit.kernel",
    "KernelOptions": "kinegraph.jit.kernel",
    "KinegraphError": "kinegraph.errors",
    "Measured": "kinegraph.tasks.forces.smoothing",
    "Mechanism": "kinegraph.model.mechanism",
    "Quantity": "kinegraph.derive.quantities.quantity",
    "Feedback": "kinegraph.solve.problem.problem",
    "Sampled": "kinegraph.solve.problem.problem",
    "assemble": "kinegraph.tasks.assemble",
    "base_parameters": "kinegraph.compiler.base_parameters",
    "branches": "kinegraph.tasks.branches.branches",
    "compile": "kinegraph.compiler.compile",
    "count": "kinegraph.graph.count",
    "derive": "kinegraph.compiler.compile",
    "equilibria": "kinegraph.tasks.equilibria",
    "export": "kinegraph.export.write",
    "fit": "kinegraph.tasks.runs.fit",
    "follow": "kinegraph.tasks.kinematics.follow",
    "follow_by_spring": "kinegraph.tasks.kinematics.spring_follow",
    "formula": "kinegraph.notation.text",
    "gradient": "kinegraph.tasks.runs.gradient",
    "integrals": "kinegraph.tasks.integrals",
    "interpret": "kinegraph.graph.interpret",
    "inverse_dynamics": "kinegraph.tasks.forces.unknown_forces",
    "in_principal_axes": "kinegraph.compiler.load",
    "inverse_kinematics": "kinegraph.tasks.kinematics.inverse_kinematics",
    "joint_loads": "kinegraph.tasks.forces.joint_loads",
    "latex": "kinegraph.notation.latex",
    "library": "",
    "linearise": "kinegraph.tasks.linear.linearise",
    "load": "kinegraph.compiler.load",
    "lock": "kinegraph.compiler.load",
    "minimise": "kinegraph.compiler.minimise",
    "modes": "kinegraph.tasks.linear.modes",
    "open_store": "kinegraph.store.schema.open",
    "parse": "kinegraph.io",
    "point_motion": "kinegraph.tasks.kinematics.point_motion",
    "pose_solver": "kinegraph.tasks.kinematics.pose_solver",
    "prove": "kinegraph.graph.proof.prove",
    "reactions": "kinegraph.tasks.forces.reactions",
    "reduce": "kinegraph.passes.pipeline",
    "response": "kinegraph.tasks.linear.response",
    "ring_poses": "kinegraph.tasks.platforms.ring_poses",
    "sensitivities": "kinegraph.tasks.runs.sensitivities",
    "simulate": "kinegraph.simulate.run",
    "statics": "kinegraph.tasks.forces.statics",
    "study": "kinegraph.studies.run",
    "sweep": "kinegraph.simulate.sweep",
    "synthesise": "kinegraph.tasks.runs.synthesise",
    "synthesise_path": "kinegraph.tasks.kinematics.path_synthesis",
    "view": "kinegraph.view.look",
    "with_contacts": "kinegraph.compiler.load",
    "with_target": "kinegraph.docking.target",
    "workspace": "kinegraph.tasks.platforms.workspace",
    "write": "kinegraph.compiler.load",
}

__all__ = [
    "Axes",
    "Builder",
    "Effort",
    "Event",
    "Feedback",
    "Graph",
    "Kernel",
    "KernelOptions",
    "KinegraphError",
    "Measured",
    "Mechanism",
    "Quantity",
    "Sampled",
    "assemble",
    "base_parameters",
    "branches",
    "compile",
    "count",
    "derive",
    "equilibria",
    "export",
    "fit",
    "follow",
    "follow_by_spring",
    "formula",
    "gradient",
    "in_principal_axes",
    "integrals",
    "interpret",
    "inverse_dynamics",
    "inverse_kinematics",
    "joint_loads",
    "latex",
    "library",
    "linearise",
    "load",
    "lock",
    "minimise",
    "modes",
    "open_store",
    "parse",
    "point_motion",
    "pose_solver",
    "prove",
    "reactions",
    "reduce",
    "response",
    "ring_poses",
    "sensitivities",
    "simulate",
    "statics",
    "study",
    "sweep",
    "synthesise",
    "synthesise_path",
    "view",
    "with_contacts",
    "with_target",
    "workspace",
    "write",
]


load_on_demand(__name__, _HOMES)
