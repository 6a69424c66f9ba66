"""Options that commands share: MODEL and how it is read, and the options of a run."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_type_hints

import typer

import kinegraph as kg
from kinegraph.cli import completion
from kinegraph.cli.common import assignments, console, force_value, parse_value

if TYPE_CHECKING:
    from kinegraph.compiler.mechanism_source import ReadOptions


# MODEL and the options that say how it is read: the same for every command that takes a model.


@dataclass(frozen=True)
class ModelSource:
    """What the user typed for MODEL and its options."""

    model: str
    options: ReadOptions
    locks: tuple[str, ...] = ()
    #: Values of --set, of which those of unknowns belong to the mechanism that is read.
    settings: tuple[str, ...] = ()

    @property
    def typed(self) -> str:
        """MODEL and its options as they can be typed again."""
        from kinegraph.io.robot.right_angles import ANGLE_TOLERANCE

        options, words = self.options, [self.model]
        words += ["--floating"] if options.floating else []
        words += [] if options.equalities else ["--no-equalities"]
        words += [] if options.actuators else ["--no-actuators"]
        words += [word for item in (options.mocap or {}).items() for word in ("--mocap", _typed_motion(*item))]
        words += [] if options.xacro is None else ["--xacro", ",".join(f"{k}={v}" for k, v in options.xacro.items())]
        words += [word for root in options.package_roots for word in ("--package-root", str(root))]
        words += [] if options.elements is None else ["--elements" if options.elements else "--bare"]
        if options.angle_tolerance != ANGLE_TOLERANCE:
            words += ["--angle-tolerance", repr(options.angle_tolerance)]
        words += [] if options.parameters is None else ["--parameters", str(options.parameters)]
        return shlex.join([*words, *(word for lock in self.locks for word in ("--lock", lock))])

    def read(self) -> kg.Mechanism:
        """The mechanism, without a word about what the file says beyond it."""
        from kinegraph.compiler.mechanism_source import read  # readers only when one is needed

        found = read(self.model, self.options)
        found = locked(found, self.locks) if self.locks else found
        return with_known_forces(found, self.settings) if found.unknowns and self.settings else found

    def mechanism(self) -> kg.Mechanism:
        """The mechanism; one line on stderr says what is left out of it or rounded."""
        from kinegraph.model.robot_data import full_report

        found = self.read()
        summary = full_report(found).summary()
        if summary:
            from rich.text import Text

            line = f"note: {Path(self.model).name}: left out or rounded: {summary}; `kinegraph check` says more"
            console(stderr=True).print(Text(line), soft_wrap=True)
        return found


def with_known_forces(mechanism: kg.Mechanism, settings: tuple[str, ...]) -> kg.Mechanism:
    """The mechanism with values of --set for some of its unknowns: numbers, or formulas of time."""
    from kinegraph.model.changes.coordinates import with_known

    unknowns = {one.name for one in mechanism.unknowns}
    given = {name: text for name, text in assignments(settings, "--set").items() if name in unknowns}
    known = [parameter.name for parameter in mechanism.parameters]
    return with_known(mechanism, {name: force_value(text, known) for name, text in given.items()})


def locked(mechanism: kg.Mechanism, texts: tuple[str, ...]) -> kg.Mechanism:
    """The mechanism with coordinates held as --lock says: `q4=0`, or `q4` for its initial position."""
    known = [parameter.name for parameter in mechanism.parameters]
    parts = [part.strip() for text in texts for part in re.split(r",(?![^()]*\))", text)]
    given = assignments([part for part in parts if "=" in part], "--lock")
    values = {name: parse_value(value, "--lock", known) for name, value in given.items()}
    return kg.lock(mechanism, *(part for part in parts if part and "=" not in part), values)


_PARAMETERS = {
    "model": (
        Annotated[
            str,
            typer.Argument(
                metavar="MODEL",
                help="A model file, or a name from the library.",
                show_default=False,
                autocompletion=completion.models,
            ),
        ],
        inspect.Parameter.empty,
    ),
    "floating": (Annotated[bool, typer.Option("--floating", help="Let the base of a URDF robot move freely.")], False),
    "package_root": (
        Annotated[
            list[Path] | None,
            typer.Option("--package-root", metavar="DIR", help="A folder with meshes that are not below the model."),
        ],
        None,
    ),
    "elements": (
        Annotated[
            bool | None,
            typer.Option("--elements/--bare", help="Use damping, springs, ... of robot files, or not."),
        ],
        None,
    ),
    "equalities": (
        Annotated[
            bool,
            typer.Option(
                "--equalities/--no-equalities", help="Use the constraints of a robot file, or read a tree."
            ),
        ],
        True,
    ),
    "actuators": (
        Annotated[
            bool,
            typer.Option("--actuators/--no-actuators", help="Use the actuators of an MJCF as inputs, or not."),
        ],
        True,
    ),
    "mocap": (
        Annotated[
            list[str] | None,
            typer.Option(
                "--mocap", metavar="BODY=X,Y,Z", help="Move a mocap body of an MJCF: --mocap 'target=0.1*sin(t),0,0.3'."
            ),
        ],
        None,
    ),
    "xacro": (
        Annotated[
            str | None,
            typer.Option(
                "--xacro", metavar="NAME=VALUE,...", help="Expand xacro macros of a URDF you trust; '' for no values."
            ),
        ],
        None,
    ),
    "angle_tolerance": (
        Annotated[
            float | None,
            typer.Option(
                "--angle-tolerance",
                metavar="RADIANS",
                help="Round angles this close to a right angle; default 1e-7. With 1e-5, 1.5708 becomes pi/2.",
            ),
        ],
        None,
    ),
    "parameters": (
        Annotated[
            Path | None,
            typer.Option(
                "--parameters", metavar="FILE", help="Values of parameters: .json, .toml, .csv or lines `name = value`."
            ),
        ],
        None,
    ),
    "lock": (
        Annotated[
            list[str] | None,
            typer.Option(
                "--lock", metavar="NAME=VALUE", help="Hold coordinates: --lock q4=0, or --lock q4 at its initial value."
            ),
        ],
        None,
    ),
}  # fmt: skip


def reads_model(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter `source: ModelSource` becomes MODEL and the options of reading on the command line."""
    hints = get_type_hints(command, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(command).parameters.items()
        if name != "source"
    ]
    kind = inspect.Parameter.KEYWORD_ONLY
    added = [
        inspect.Parameter(name, kind, default=default, annotation=annotation)
        for name, (annotation, default) in _PARAMETERS.items()
    ]
    last = [parameter for parameter in own if parameter.name == "json"]
    first = [parameter for parameter in own if parameter.name != "json"]

    @wraps(command)
    def run(
        model: str, floating: bool, package_root: list[Path] | None, elements: bool | None, equalities: bool,
        actuators: bool, mocap: list[str] | None, xacro: str | None, angle_tolerance: float | None,
        parameters: Path | None, lock: list[str] | None,
        **given: object,
    ) -> None:  # fmt: skip
        from kinegraph.compiler.mechanism_source import ReadOptions
        from kinegraph.io.robot.right_angles import ANGLE_TOLERANCE

        tolerance = ANGLE_TOLERANCE if angle_tolerance is None else angle_tolerance
        motions = dict(_motion(item) for item in mocap or ())
        roots = tuple(package_root or ())
        macros = None if xacro is None else dict(_value(item) for item in xacro.split(",") if item)
        options = ReadOptions(floating, roots, elements, tolerance, parameters, equalities, actuators, motions, macros)
        settings = given.get("settings")
        values = tuple(settings) if isinstance(settings, list) else ()
        command(source=ModelSource(model, options, tuple(lock or ()), values), **given)

    parameters = [added[0], *first, *added[1:], *last]
    run.__signature__ = inspect.Signature([one.replace(kind=kind) for one in parameters])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _motion(item: str) -> tuple[str, tuple[str, ...]]:
    """The body and the formulas of BODY=X,Y,Z; commas inside parentheses belong to a formula."""
    name, equals, formulas = item.partition("=")
    if not name or not equals:
        raise typer.BadParameter(f"--mocap {item!r}: write BODY=X,Y,Z")
    parts, depth = [""], 0
    for letter in formulas:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return name.strip(), tuple(parts)


def _value(item: str) -> tuple[str, str]:
    """The name and the value of NAME=VALUE."""
    name, equals, value = item.partition("=")
    if not name or not equals:
        raise typer.BadParameter(f"--xacro {item!r}: write NAME=VALUE")
    return name.strip(), value.strip()


def _typed_motion(name: str, motion: Sequence[object]) -> str:
    return f"{name}={','.join(map(str, motion))}"


# Options of commands that run a mechanism: the same words mean the same thing everywhere.

DurationOption = Annotated[
    float, typer.Option("--duration", "--for", metavar="SECONDS", help="How long to simulate, in seconds.")
]
StartTimeOption = Annotated[float, typer.Option("--t0", metavar="SECONDS", help="The start time.")]
RunStateOption = Annotated[
    list[str] | None,
    typer.Option("--state", metavar="NAME=VALUE,...", help="The initial state: q1=1,q1'=0. Default: the model's."),
]
InputOption = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=FORMULA",
        help="A force on a coordinate, or an input of the model: q1=2*sin(3*t)-0.1*q1', u=@samples.csv.",
    ),
]
EventOption = Annotated[
    list[str] | None,
    typer.Option("--event", metavar="NAME=FORMULA", help="Record when a formula crosses zero: low=tip.z+1."),
]
StopOption = Annotated[
    list[str] | None, typer.Option("--stop", metavar="NAME=FORMULA", help="Stop when a formula crosses zero.")
]
StopIfOption = Annotated[
    list[str] | None,
    typer.Option("--stop-if", metavar="NAME=FORMULA", help="Stop when a formula is positive, also at the start."),
]
IntegralOption = Annotated[
    list[str] | None,
    typer.Option("--integral", metavar="NAME=FORMULA", help="An integral over time as an output: cost=q1^2."),
]
RtolOption = Annotated[float, typer.Option(help="Relative tolerance per step.")]
AtolOption = Annotated[float | None, typer.Option(help="Absolute tolerance per step.")]
CompileOption = Annotated[bool, typer.Option("--native/--interpret", help="Compile the runs, or interpret them.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
