"""The table of commands: which module holds each, and the line that `kinegraph --help` shows of it.

The module of a command is imported when the command is called, so that none waits for what only others need.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A command: its module inside `kinegraph.cli`, with a function `run`, and the first sentences of that."""

    module: str
    help: str


@dataclass(frozen=True)
class Group:
    """A command with commands of its own: its module inside `kinegraph.cli`, with a Typer `app`, and its help."""

    module: str
    help: str


#: In the order in which the help shows them.
COMMANDS: dict[str, Entry | Group] = {
    "models": Entry("models", "List the mechanisms of the library."),
    "check": Entry("check", "Read and validate a model, and say what is in it and what of the file is not."),
    "derive": Entry("derive", "Derive equations exactly and print them with a list of abbreviations."),
    "ops": Entry("ops", "Count operations after each stage of the reduction, and prove the result."),
    "eval": Entry("eval", "Compile quantities and evaluate them at one state."),
    "simulate": Entry("simulate", "Simulate a mechanism and print how it went; save the motion and draw it."),
    "study": Entry(
        "study",
        "Run many cases of a model, drawn by laws or by a design; or of a study file (.toml), which says all of that.",
    ),
    "assemble": Entry(
        "tasks.assemble", "Positions that fit the loops and constraints; values of --at stay as they are if they can."
    ),
    "inverse": Entry(
        "tasks.forces.inverse", "The unknown forces for a motion given by laws of time, or by samples with their noise."
    ),
    "statics": Entry(
        "tasks.forces.statics",
        "The forces that hold a mechanism at rest against weight, springs and other elements, and what its joints "
        "carry.",
    ),
    "reactions": Entry(
        "tasks.forces.reactions",
        "The force and moment each joint transmits at a state, or the largest ones along a run from there.",
    ),
    "equilibria": Entry(
        "tasks.equilibria",
        "All equilibria that are found from many starts, with their stability; a rate in --at asks for steady motions.",
    ),
    "linearise": Entry("tasks.linearise", "A, B, C, D of the linear system about a state, from exact derivatives."),
    "modes": Entry("tasks.modes", "Frequencies, damping ratios and shapes about an equilibrium or steady motion."),
    "response": Entry(
        "tasks.response", "Amplitude and phase of the coordinates under harmonic forces, over frequency."
    ),
    "integrals": Entry(
        "tasks.integrals",
        "What does not change along the motion: energy, momenta, and their combinations; each is proved.",
    ),
    "ik": Entry(
        "tasks.kinematics.ik",
        "All positions that bring a body to a pose, each certified by forward kinematics; or the motion along a path.",
    ),
    "point": Entry(
        "tasks.kinematics.point",
        "Pose, velocity and acceleration of a point at a state, as the mechanism moves under its forces.",
    ),
    "workspace": Entry(
        "tasks.platforms.workspace",
        "Where the ring of a platform can be, and how far from singular poses; or all its poses for given drives.",
    ),
    "dock": Entry(
        "tasks.dock",
        "A docking: contact, capture by latches, damping, drawing in, the hard joint; outcome and peak forces.",
    ),
    "sensitivity": Entry("tasks.sensitivity", "Exact derivatives of a run's results by parameters and initial values."),
    "fit": Entry(
        "tasks.fit",
        "Parameters and initial values from measured motion, with error bars; begins at the values of the model "
        "and --set.",
    ),
    "synthesise": Entry(
        "tasks.synthesise", "Parameters and initial values within bounds whose run comes nearest to what is wanted."
    ),
    "view": Entry("view", "Write a page that shows a mechanism where it starts, with a slider for each coordinate."),
    "export": Entry("export", "Write equations as source code, with a self-test inside."),
    "inspect": Entry(
        "inspect",
        "Print a value between two stages, as `compile` makes it: the model, its tree of joints, the request with "
        "its key, the graph as derived and reduced, the graph chosen for the kernel, what of it is bound, its "
        "program, LLVM code, assembly; and what the code was proved equal to.",
    ),
    "reproduce": Entry("reproduce", "Every printed table of the source documents computed anew beside it."),
    "demo": Entry(
        "demo", "Derive, reduce, prove, compile and time the legs of a walking robot, let them walk, and report."
    ),
    "store": Group(
        "store", "The model database: add, list, show, query, eval, expression, code, reduce, diff, prune, check."
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
