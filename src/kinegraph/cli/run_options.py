"""Options of commands that run a mechanism: the same words mean the same thing everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

DurationOption = Annotated[float, typer.Option("--for", metavar="SECONDS", help="How long to simulate.")]
RunSetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE,...", help="Initial values (q1=1,q1'=0) and parameters (m1=2)."),
]
InputOption = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=FORMULA",
        help="A force on a coordinate or an input of the model: q1=2*sin(3*t)-0.1*q1', u=@samples.csv.",
    ),
]
EventOption = Annotated[
    list[str] | None,
    typer.Option("--event", metavar="NAME=FORMULA", help="Record when a formula passes zero: low=tip.z+1."),
]
StopOption = Annotated[
    list[str] | None, typer.Option("--stop", metavar="NAME=FORMULA", help="Stop when a formula passes zero.")
]
StopIfOption = Annotated[
    list[str] | None,
    typer.Option("--stop-if", metavar="NAME=FORMULA", help="Stop wherever a formula is positive, at the start too."),
]
IntegralOption = Annotated[
    list[str] | None,
    typer.Option("--integral", metavar="NAME=FORMULA", help="A result that is an integral over time: cost=q1^2."),
]
RtolOption = Annotated[float, typer.Option(help="Relative tolerance per step.")]
AtolOption = Annotated[float | None, typer.Option(help="Absolute tolerance per step.")]
CompileOption = Annotated[bool, typer.Option("--native/--interpret", help="Compile the runs or not.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="No progress bar, no word of what is compiled.")]
