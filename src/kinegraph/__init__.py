"""Kinegraph: symbolic rigid-body mechanics. Exact equations, fewest operations, proven, compiled.

import kinegraph as kg

arm = kg.load("puma560")                  # a model file, or a name of the library
graph = kg.derive(arm, "H,gravity")       # exact equations
kernel = kg.compile(arm, "tau")           # machine code
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand
from kinegraph.version import __version__ as __version__

if TYPE_CHECKING:
    from kinegraph import library
    from kinegraph.codegen.kernel import Kernel
    from kinegraph.compiler.base_parameters import base_parameters
    from kinegraph.compiler.compile import compile, derive
    from kinegraph.compiler.mechanism_source import in_principal_axes, load, lock, with_contacts, write
    from kinegraph.compiler.minimize import minimize
    from kinegraph.derive.quantities.quantity import Quantity
    from kinegraph.docking.target import with_target
    from kinegraph.errors import KinegraphError
    from kinegraph.export.write import export
    from kinegraph.graph.count import count
    from kinegraph.graph.interpret import interpret
    from kinegraph.graph.node import Graph
    from kinegraph.graph.proof import prove
    from kinegraph.io import parse
    from kinegraph.jit.kernel import KernelOptions
    from kinegraph.model.axes import Axes
    from kinegraph.model.builder import Builder
    from kinegraph.model.mechanism import Mechanism
    from kinegraph.notation.latex import latex
    from kinegraph.notation.text import formula
    from kinegraph.passes.effort import Effort
    from kinegraph.passes.pipeline import reduce
    from kinegraph.simulate.run import simulate
    from kinegraph.simulate.sweep import sweep
    from kinegraph.solve.problem import Event, Feedback, Sampled
    from kinegraph.store.database import open_store
    from kinegraph.studies.study import study
    from kinegraph.tasks.assemble import assemble
    from kinegraph.tasks.continuation import continuation
    from kinegraph.tasks.equilibria import equilibria
    from kinegraph.tasks.first_integrals import first_integrals
    from kinegraph.tasks.fit import fit
    from kinegraph.tasks.follow import follow, follow_by_spring
    from kinegraph.tasks.gradient import gradient
    from kinegraph.tasks.inverse_kinematics import inverse_kinematics
    from kinegraph.tasks.joint_loads import joint_loads
    from kinegraph.tasks.linearize import linearize
    from kinegraph.tasks.modes import modes
    from kinegraph.tasks.platforms.platform_poses import platform_poses
    from kinegraph.tasks.platforms.workspace import workspace
    from kinegraph.tasks.point_motion import point_motion
    from kinegraph.tasks.pose_solver import pose_solver
    from kinegraph.tasks.prescribed_motion import Measured
    from kinegraph.tasks.reactions import reactions
    from kinegraph.tasks.response import response
    from kinegraph.tasks.sensitivities import sensitivities
    from kinegraph.tasks.statics import statics
    from kinegraph.tasks.synthesize import synthesize, synthesize_path
    from kinegraph.tasks.unknown_forces import unknown_forces
    from kinegraph.view.view import view

#: Where each name is defined. It is imported when first used, so that `import kinegraph` costs nothing.
_HOMES = {
    "Axes": "kinegraph.model.axes",
    "Builder": "kinegraph.model.builder",
    "Effort": "kinegraph.passes.effort",
    "Event": "kinegraph.solve.problem",
    "Graph": "kinegraph.graph.node",
    "Kernel": "kinegraph.jit.kernel",
    "KernelOptions": "kinegraph.jit.kernel",
    "KinegraphError": "kinegraph.errors",
    "Measured": "kinegraph.tasks.prescribed_motion",
    "Mechanism": "kinegraph.model.mechanism",
    "Quantity": "kinegraph.derive.quantities.quantity",
    "Feedback": "kinegraph.solve.problem",
    "Sampled": "kinegraph.solve.problem",
    "assemble": "kinegraph.tasks.assemble",
    "base_parameters": "kinegraph.compiler.base_parameters",
    "continuation": "kinegraph.tasks.continuation",
    "compile": "kinegraph.compiler.compile",
    "count": "kinegraph.graph.count",
    "derive": "kinegraph.compiler.compile",
    "equilibria": "kinegraph.tasks.equilibria",
    "export": "kinegraph.export.write",
    "fit": "kinegraph.tasks.fit",
    "follow": "kinegraph.tasks.follow",
    "follow_by_spring": "kinegraph.tasks.follow",
    "formula": "kinegraph.notation.text",
    "gradient": "kinegraph.tasks.gradient",
    "first_integrals": "kinegraph.tasks.first_integrals",
    "interpret": "kinegraph.graph.interpret",
    "unknown_forces": "kinegraph.tasks.unknown_forces",
    "in_principal_axes": "kinegraph.compiler.mechanism_source",
    "inverse_kinematics": "kinegraph.tasks.inverse_kinematics",
    "joint_loads": "kinegraph.tasks.joint_loads",
    "latex": "kinegraph.notation.latex",
    "library": "",
    "linearize": "kinegraph.tasks.linearize",
    "load": "kinegraph.compiler.mechanism_source",
    "lock": "kinegraph.compiler.mechanism_source",
    "minimize": "kinegraph.compiler.minimize",
    "modes": "kinegraph.tasks.modes",
    "open_store": "kinegraph.store.database",
    "parse": "kinegraph.io",
    "point_motion": "kinegraph.tasks.point_motion",
    "pose_solver": "kinegraph.tasks.pose_solver",
    "prove": "kinegraph.graph.proof",
    "reactions": "kinegraph.tasks.reactions",
    "reduce": "kinegraph.passes.pipeline",
    "response": "kinegraph.tasks.response",
    "platform_poses": "kinegraph.tasks.platforms.platform_poses",
    "sensitivities": "kinegraph.tasks.sensitivities",
    "simulate": "kinegraph.simulate.run",
    "statics": "kinegraph.tasks.statics",
    "study": "kinegraph.studies.study",
    "sweep": "kinegraph.simulate.sweep",
    "synthesize": "kinegraph.tasks.synthesize",
    "synthesize_path": "kinegraph.tasks.synthesize",
    "view": "kinegraph.view.view",
    "with_contacts": "kinegraph.compiler.mechanism_source",
    "with_target": "kinegraph.docking.target",
    "workspace": "kinegraph.tasks.platforms.workspace",
    "write": "kinegraph.compiler.mechanism_source",
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
    "continuation",
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
    "first_integrals",
    "interpret",
    "unknown_forces",
    "inverse_kinematics",
    "joint_loads",
    "latex",
    "library",
    "linearize",
    "load",
    "lock",
    "minimize",
    "modes",
    "open_store",
    "parse",
    "point_motion",
    "pose_solver",
    "prove",
    "reactions",
    "reduce",
    "response",
    "platform_poses",
    "sensitivities",
    "simulate",
    "statics",
    "study",
    "sweep",
    "synthesize",
    "synthesize_path",
    "view",
    "with_contacts",
    "with_target",
    "workspace",
    "write",
]


load_on_demand(__name__, _HOMES)
