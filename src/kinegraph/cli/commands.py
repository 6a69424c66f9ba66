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
        "kinegraph.cli.check:run", "Read and validate a model, and say what is in it and what of the file is not."
    ),
    "derive": Entry(
        "kinegraph.cli.derive:run", "Derive equations exactly and print them with a list of abbreviations."
    ),
    "ops": Entry("kinegraph.cli.ops:run", "Count operations after each stage of the reduction, and prove the result."),
    "eval": Entry("kinegraph.cli.eval:run", "Compile quantities and evaluate them at one state."),
    "simulate": Entry(
        "kinegraph.cli.simulate:run", "Simulate a mechanism and print how it went; save the motion and draw it."
    ),
    "study": Entry(
        "kinegraph.cli.study:run",
        "Run many cases of a model, drawn by laws or by a design; or of a study file (.toml), which says all of that.",
    ),
    "assemble": Entry(
        "kinegraph.cli.kinematics:run_assemble",
        "Positions that fit the loops and constraints; values of --at stay as they are if they can.",
    ),
    "inverse": Entry(
        "kinegraph.cli.forces:run_inverse",
        "The unknown forces for a motion given by laws of time, or by samples with their noise.",
    ),
    "statics": Entry(
        "kinegraph.cli.forces:run_statics",
        "The forces that hold a mechanism at rest against weight, springs and other elements, and what its joints "
        "carry.",
    ),
    "reactions": Entry(
        "kinegraph.cli.forces:run_reactions",
        "The force and moment each joint transmits at a state, or the largest ones along a run from there.",
    ),
    "equilibria": Entry(
        "kinegraph.cli.equilibria:run",
        "All equilibria that are found from many starts, with their stability; a rate in --at asks for steady motions.",
    ),
    "linearize": Entry(
        "kinegraph.cli.linear:run_linearize", "A, B, C, D of the linear system about a state, from exact derivatives."
    ),
    "modes": Entry(
        "kinegraph.cli.linear:run_modes",
        "Frequencies, damping ratios and shapes about an equilibrium or steady motion.",
    ),
    "response": Entry(
        "kinegraph.cli.linear:run_response",
        "Amplitude and phase of the coordinates under harmonic forces, over frequency.",
    ),
    "integrals": Entry(
        "kinegraph.cli.first_integrals:run",
        "What does not change along the motion: energy, momenta, and their combinations; each is proved.",
    ),
    "ik": Entry(
        "kinegraph.cli.kinematics:run_ik",
        "All positions that bring a body to a pose, each certified by forward kinematics; or the motion along a path.",
    ),
    "point": Entry(
        "kinegraph.cli.kinematics:run_point",
        "Pose, velocity and acceleration of a point at a state, as the mechanism moves under its forces.",
    ),
    "workspace": Entry(
        "kinegraph.cli.kinematics:run_workspace",
        "Where the ring of a platform can be, and how far from singular poses; or all its poses for given drives.",
    ),
    "dock": Entry(
        "kinegraph.cli.dock:run",
        "A docking: contact, capture by latches, damping, drawing in, the hard joint; outcome and peak forces.",
    ),
    "sensitivity": Entry(
        "kinegraph.cli.parameters:run_sensitivity",
        "Exact derivatives of a run's results by parameters and initial values.",
    ),
    "fit": Entry(
        "kinegraph.cli.parameters:run_fit",
        "Parameters and initial values from measured motion, with error bars; begins at the values of the model "
        "and --set.",
    ),
    "synthesize": Entry(
        "kinegraph.cli.parameters:run_synthesize",
        "Parameters and initial values within bounds whose run comes nearest to what is wanted.",
    ),
    "view": Entry(
        "kinegraph.cli.view:run",
        "Write a page that shows a mechanism where it starts, with a slider for each coordinate.",
    ),
    "export": Entry("kinegraph.cli.export:run", "Write equations as source code, with a self-test inside."),
    "inspect": Entry(
        "kinegraph.cli.inspect:run",
        "Print a value between two stages, as `compile` makes it: the model, its tree of joints, the request with "
        "its key, the graph as derived and reduced, the graph chosen for the kernel, what of it is bound, its "
        "program, LLVM code, assembly; and what the code was proved equal to.",
    ),
    "reproduce": Entry(
        "kinegraph.cli.reproduce:run", "Every printed table of the source documents computed anew beside it."
    ),
    "demo": Entry(
        "kinegraph.cli.demo:run",
        "Derive, reduce, prove, compile and time the legs of a walking robot, let them walk, and report.",
    ),
    "store": Group(
        "kinegraph.cli.store:app",
        "The model database: add, list, show, query, eval, expression, code, reduce, diff, prune, check.",
    ),
}

#: What other programs call a command, and what to type here.
ELSEWHERE = {
    "plot": "simulate MODEL --for 10 --plot run.png",
    "animate": "simulate MODEL --for 10 --page run.html",
    "run": "simulate MODEL --for 10",
    "validate": "check MODEL",
    "show": "view MODEL -o model.html",
    "compile": "export MODEL --to c -o DIR",
    "codegen": "export MODEL --to c -o DIR",
}
