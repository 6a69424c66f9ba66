"""Kinegraph: symbolic rigid-body mechanics. Exact equations, fewest operations, proven, compiled.

import kinegraph as kg

arm = kg.load("puma560")                  # a model file, or a name from the library
graph = kg.derive(arm, "H,gravity")       # exact equations
kernel = kg.compile(arm, "tau")           # machine code
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand
from kinegraph.version import __version__ as __version__

if TYPE_CHECKING:
    from kinegraph import library
    from kinegraph.compiler.compile import compile, derive
    from kinegraph.compiler.mechanism_source import load, lock, write
    from kinegraph.compiler.minimize import minimize
    from kinegraph.docking.dock import dock
    from kinegraph.errors import KinegraphError
    from kinegraph.export.write import export
    from kinegraph.graph.count import count
    from kinegraph.graph.proof import prove
    from kinegraph.io import parse
    from kinegraph.model.builder import Builder
    from kinegraph.model.mechanism import Mechanism
    from kinegraph.notation.latex import latex
    from kinegraph.notation.text import formula
    from kinegraph.passes.effort import Effort
    from kinegraph.passes.pipeline import reduce
    from kinegraph.robot.joint_order import order
    from kinegraph.robot.robot import robot
    from kinegraph.simulate.chains import simulate_chains
    from kinegraph.simulate.run import simulate
    from kinegraph.simulate.simulator import simulator
    from kinegraph.simulate.sweep import sweep
    from kinegraph.solve.problem import Event, Feedback
    from kinegraph.store.database import open_store
    from kinegraph.studies.study import study
    from kinegraph.tasks.assemble import assemble
    from kinegraph.tasks.campbell import campbell
    from kinegraph.tasks.continuation import continuation
    from kinegraph.tasks.equilibria import equilibria
    from kinegraph.tasks.first_integrals import first_integrals
    from kinegraph.tasks.fit import fit
    from kinegraph.tasks.flywheel import flywheel
    from kinegraph.tasks.follow import follow
    from kinegraph.tasks.gradient import gradient
    from kinegraph.tasks.inverse_kinematics import inverse_kinematics
    from kinegraph.tasks.joint_loads import joint_loads
    from kinegraph.tasks.linearize import linearize
    from kinegraph.tasks.modes import modes
    from kinegraph.tasks.periodic_motion import periodic_motion
    from kinegraph.tasks.platforms.platform_poses import platform_poses
    from kinegraph.tasks.platforms.workspace import workspace
    from kinegraph.tasks.point_motion import point_motion
    from kinegraph.tasks.reactions import reactions
    from kinegraph.tasks.response import response
    from kinegraph.tasks.sensitivities import sensitivities
    from kinegraph.tasks.statics import statics
    from kinegraph.tasks.synthesize import synthesize, synthesize_path
    from kinegraph.tasks.synthesize_cycle import synthesize_cycle
    from kinegraph.tasks.tolerances import tolerances
    from kinegraph.tasks.unbalance_response import unbalance_response
    from kinegraph.tasks.unknown_forces import unknown_forces
    from kinegraph.view.view import view

#: The module of each public name. It is imported on first use, so that `import kinegraph` is fast.
_HOMES = {
    # Models: read, write, build and change a mechanism.
    "load": "kinegraph.compiler.mechanism_source",
    "parse": "kinegraph.io",
    "write": "kinegraph.compiler.mechanism_source",
    "lock": "kinegraph.compiler.mechanism_source",
    "library": "",
    "Builder": "kinegraph.model.builder",
    "Mechanism": "kinegraph.model.mechanism",
    # Equations: derive, reduce, count, prove and print them.
    "derive": "kinegraph.compiler.compile",
    "reduce": "kinegraph.passes.pipeline",
    "minimize": "kinegraph.compiler.minimize",
    "count": "kinegraph.graph.count",
    "prove": "kinegraph.graph.proof",
    "formula": "kinegraph.notation.text",
    "latex": "kinegraph.notation.latex",
    "Effort": "kinegraph.passes.effort",
    # Code: a kernel to call, or source code of another language.
    "compile": "kinegraph.compiler.compile",
    "export": "kinegraph.export.write",
    # Robots: the everyday object, and the order of coordinates in other programs.
    "robot": "kinegraph.robot.robot",
    "order": "kinegraph.robot.joint_order",
    # Motion: runs, with events and controllers.
    "simulate": "kinegraph.simulate.run",
    "simulate_chains": "kinegraph.simulate.chains",
    "sweep": "kinegraph.simulate.sweep",
    "simulator": "kinegraph.simulate.simulator",
    "Event": "kinegraph.solve.problem",
    "Feedback": "kinegraph.solve.problem",
    # Positions and poses.
    "assemble": "kinegraph.tasks.assemble",
    "inverse_kinematics": "kinegraph.tasks.inverse_kinematics",
    "follow": "kinegraph.tasks.follow",
    "point_motion": "kinegraph.tasks.point_motion",
    "platform_poses": "kinegraph.tasks.platforms.platform_poses",
    "workspace": "kinegraph.tasks.platforms.workspace",
    # Forces.
    "unknown_forces": "kinegraph.tasks.unknown_forces",
    "statics": "kinegraph.tasks.statics",
    "reactions": "kinegraph.tasks.reactions",
    "joint_loads": "kinegraph.tasks.joint_loads",
    # Equilibria, vibrations and conserved quantities.
    "equilibria": "kinegraph.tasks.equilibria",
    "continuation": "kinegraph.tasks.continuation",
    "linearize": "kinegraph.tasks.linearize",
    "modes": "kinegraph.tasks.modes",
    "response": "kinegraph.tasks.response",
    "first_integrals": "kinegraph.tasks.first_integrals",
    # Machines: cycles, speeds, rotors and tolerances.
    "periodic_motion": "kinegraph.tasks.periodic_motion",
    "flywheel": "kinegraph.tasks.flywheel",
    "campbell": "kinegraph.tasks.campbell",
    "unbalance_response": "kinegraph.tasks.unbalance_response",
    # Parameters of a run: derivatives, identification and design.
    "sensitivities": "kinegraph.tasks.sensitivities",
    "gradient": "kinegraph.tasks.gradient",
    "fit": "kinegraph.tasks.fit",
    "synthesize": "kinegraph.tasks.synthesize",
    "synthesize_path": "kinegraph.tasks.synthesize",
    "synthesize_cycle": "kinegraph.tasks.synthesize_cycle",
    "tolerances": "kinegraph.tasks.tolerances",
    # Studies of many runs, and dockings.
    "study": "kinegraph.studies.study",
    "dock": "kinegraph.docking.dock",
    # The model database, pages, and errors.
    "open_store": "kinegraph.store.database",
    "view": "kinegraph.view.view",
    "KinegraphError": "kinegraph.errors",
}

__all__ = [  # noqa: RUF022 - grouped by purpose
    # Models: read, write, build and change a mechanism.
    "load",
    "parse",
    "write",
    "lock",
    "library",
    "Builder",
    "Mechanism",
    # Equations: derive, reduce, count, prove and print them.
    "derive",
    "reduce",
    "minimize",
    "count",
    "prove",
    "formula",
    "latex",
    "Effort",
    # Code: a kernel to call, or source code of another language.
    "compile",
    "export",
    # Robots: the everyday object, and the order of coordinates in other programs.
    "robot",
    "order",
    # Motion: runs, with events and controllers.
    "simulate",
    "simulate_chains",
    "sweep",
    "simulator",
    "Event",
    "Feedback",
    # Positions and poses.
    "assemble",
    "inverse_kinematics",
    "follow",
    "point_motion",
    "platform_poses",
    "workspace",
    # Forces.
    "unknown_forces",
    "statics",
    "reactions",
    "joint_loads",
    # Equilibria, vibrations and conserved quantities.
    "equilibria",
    "continuation",
    "linearize",
    "modes",
    "response",
    "first_integrals",
    # Machines: cycles, speeds, rotors and tolerances.
    "periodic_motion",
    "flywheel",
    "campbell",
    "unbalance_response",
    # Parameters of a run: derivatives, identification and design.
    "sensitivities",
    "gradient",
    "fit",
    "synthesize",
    "synthesize_path",
    "synthesize_cycle",
    "tolerances",
    # Studies of many runs, and dockings.
    "study",
    "dock",
    # The model database, pages, and errors.
    "open_store",
    "view",
    "KinegraphError",
]


load_on_demand(__name__, _HOMES)
