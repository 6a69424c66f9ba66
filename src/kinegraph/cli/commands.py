"""The table of commands: which module holds each, and the line that `kinegraph --help` shows of it.

The module of a command is imported when the command is called, so that none waits for what only others need.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A command: its function as `module:name`, and the first sentences of its docstring."""

    target: str
    help: str


@dataclass(frozen=True)
class Group:
    """A command with commands of its own: its Typer app as `module:name`, and its help."""

    target: str
    help: str


#: In the order in which the help shows them.
COMMANDS: dict[str, Entry | Group] = {
    "models": Entry("kinegraph.cli.models:run", "List the mechanisms of the library."),
    "check": Entry(
        "kinegraph.cli.check:run", "Read and validate a model; list its contents and what was not imported."
    ),
    "view": Entry(
        "kinegraph.cli.view:run", "Write an interactive 3D page of a mechanism, with a slider for each coordinate."
    ),
    "studio": Entry(
        "kinegraph.cli.studio:run",
        "Edit a model beside the moving mechanism: errors as you type, 3D view, equations, simulation.",
    ),
    "derive": Entry("kinegraph.cli.derive:run", "Derive exact equations, and print them with a list of abbreviations."),
    "count": Entry(
        "kinegraph.cli.count:run", "Count operations after each stage of the reduction, and prove the result."
    ),
    "eval": Entry("kinegraph.cli.eval:run", "Compile quantities and evaluate them at one state."),
    "export": Entry("kinegraph.cli.export:run", "Write equations as source code with a self-test."),
    "simulate": Entry("kinegraph.cli.simulate:run", "Simulate a mechanism; save, plot, or animate the result."),
    "simulate-chains": Entry(
        "kinegraph.cli.simulate_chains:run",
        "Simulate a mechanism with loops chain by chain, on threads or MPI ranks.",
    ),
    "study": Entry(
        "kinegraph.cli.study:run",
        "Run many cases of a model with varied parameters and states, or a study file (.toml).",
    ),
    "dock": Entry(
        "kinegraph.cli.dock:run",
        "Simulate a docking from first contact to the hard joint; show its outcome and peak forces.",
    ),
    "assemble": Entry(
        "kinegraph.cli.kinematics:run_assemble",
        "Find positions that satisfy all loops and constraints, keeping the values of --state where possible.",
    ),
    "inverse-kinematics": Entry(
        "kinegraph.cli.kinematics:run_inverse_kinematics",
        "Inverse kinematics: find all joint positions for a pose, or follow a path.",
    ),
    "point-motion": Entry(
        "kinegraph.cli.kinematics:run_point_motion",
        "Compute pose, velocity and acceleration of a point at a state.",
    ),
    "workspace": Entry(
        "kinegraph.cli.kinematics:run_workspace",
        "Compute the workspace of a parallel platform, or all its poses for given drives.",
    ),
    "unknown-forces": Entry(
        "kinegraph.cli.forces:run_unknown_forces",
        "Find unknown forces from a given motion: formulas of time, or measured samples.",
    ),
    "statics": Entry(
        "kinegraph.cli.forces:run_statics",
        "Find the forces that hold a mechanism at rest, and the joint reactions.",
    ),
    "reactions": Entry(
        "kinegraph.cli.forces:run_reactions",
        "Compute the force and moment in each joint at a state, or the largest along a run.",
    ),
    "equilibria": Entry(
        "kinegraph.cli.equilibria:run_equilibria",
        "Find equilibria and their stability from many starts; a rate in --state asks for steady motions.",
    ),
    "continuation": Entry(
        "kinegraph.cli.equilibria:run_continuation",
        "Follow branches of equilibria over a parameter, and find their bifurcations.",
    ),
    "linearize": Entry(
        "kinegraph.cli.linear:run_linearize",
        "Compute A, B, C, D of the linear system about a state, from exact derivatives.",
    ),
    "modes": Entry(
        "kinegraph.cli.linear:run_modes",
        "Compute frequencies, damping ratios and shapes about an equilibrium or steady motion.",
    ),
    "response": Entry(
        "kinegraph.cli.linear:run_response",
        "Compute amplitude and phase of the coordinates under harmonic forces.",
    ),
    "periodic-motion": Entry(
        "kinegraph.cli.machines:run_periodic_motion",
        "Find a steady periodic motion, its stability, and its mean, rms and extremes over a cycle.",
    ),
    "flywheel": Entry(
        "kinegraph.cli.machines:run_flywheel",
        "Find the inertia at which the speed of a machine fluctuates as wanted.",
    ),
    "campbell": Entry(
        "kinegraph.cli.machines:run_campbell",
        "Compute a Campbell diagram: whirl frequencies over the speed of a rotor, and its critical speeds.",
    ),
    "unbalance-response": Entry(
        "kinegraph.cli.machines:run_unbalance_response",
        "Compute the whirl of a rotor under small unbalances over its speed, and its peaks.",
    ),
    "first-integrals": Entry(
        "kinegraph.cli.first_integrals:run",
        "Find and prove first integrals: energy, momenta, and their combinations.",
    ),
    "sensitivities": Entry(
        "kinegraph.cli.parameters:run_sensitivities",
        "Compute exact derivatives of a run with respect to parameters and initial values.",
    ),
    "fit": Entry(
        "kinegraph.cli.parameters:run_fit",
        "Estimate parameters and initial values from measured motion, with standard errors.",
    ),
    "synthesize": Entry(
        "kinegraph.cli.parameters:run_synthesize",
        "Find parameters and initial values within bounds that bring a run closest to wanted outputs.",
    ),
    "synthesize-cycle": Entry(
        "kinegraph.cli.machines:run_synthesize_cycle",
        "Find dimensions of a linkage for goals over a cycle: stroke, extremes, time ratio, transmission angle, path.",
    ),
    "tolerances": Entry(
        "kinegraph.cli.machines:run_tolerances",
        "Compute which tolerance contributes how much to an output, by exact derivatives and by samples.",
    ),
    "inspect": Entry(
        "kinegraph.cli.inspect:run",
        "Print an intermediate value of the compiler: model, joint tree, graph, program, LLVM code or assembly.",
    ),
    "reproduce": Entry(
        "kinegraph.cli.reproduce:run", "Recompute every printed table of the source documents, and compare."
    ),
    "demo": Entry(
        "kinegraph.cli.demo:run", "Derive, reduce, prove, compile, time and simulate the legs of a walking robot."
    ),
    "store": Group(
        "kinegraph.cli.store:app",
        "The model database: add, list, show, query, eval, expression, code, reduce, eliminate, differentiate, diff, "
        "prune, check.",
    ),
}

#: What other programs or earlier versions call a command, and what to type here.
ELSEWHERE = {
    "plot": "simulate MODEL --for 10 --plot run.png",
    "animate": "simulate MODEL --for 10 --page run.html",
    "run": "simulate MODEL --for 10",
    "validate": "check MODEL",
    "show": "view MODEL -o model.html",
    "compile": "export MODEL --to c -o DIR",
    "codegen": "export MODEL --to c -o DIR",
    "ops": "count MODEL",
    "inverse": "unknown-forces MODEL --motion q1=sin(t) --for 2",
    "ik": "inverse-kinematics MODEL --body NAME --pose x,y,z",
    "point": "point-motion MODEL --point NAME",
    "linearise": "linearize MODEL",
    "integrals": "first-integrals MODEL",
    "sensitivity": "sensitivities MODEL --by m1",
    "synthesise": "synthesize MODEL --wanted tip.x=0.5 --bounds m1=0:2",
    "branches": "continuation MODEL --over m1=0:2",
}

#: Options of earlier versions, and what to write now; with a command where the answer depends on it.
RENAMED_OPTIONS = {
    "--at": "--state",
    "--within": "--bounds",
    "--ring-tilt": "--platform-tilt",
    "--points": "--times",
    "--steps": "--times",
    "--trajectories": "--times",
    "--start": "--t0",
    "--results": "--outputs",
    "--want": "--wanted",
    "--of": "--point",
    "--bearing": "--no-drives",
    "--anywhere": "--no-steady",
    "--to-capture": "--stop-at-capture",
    "equilibria --over": "`kinegraph continuation MODEL --over NAME=FROM:TO`",
    "equilibria --plot": "`kinegraph continuation MODEL --over NAME=FROM:TO --plot FILE`",
    "response --over": "--frequencies",
    "response --input": "--inputs",
}
