"""The C sources of an FMU: the equations, the header that ties them to the runtime, and the runtime itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files

from kinegraph.export.fmu.description import TOLERANCE
from kinegraph.export.fmu.equations import FmuEquations
from kinegraph.export.languages.c import c_files, comment_block
from kinegraph.export.languages.syntax import indented, number_lines, number_text
from kinegraph.export.options import Fmi
from kinegraph.export.text import MARK
from kinegraph.export.unit import Unit
from kinegraph.graph.node import Kind
from kinegraph.solve.methods.tableau import DORMAND_PRINCE_5

#: How far hosts of Model Exchange may let the length of a quaternion go from 1 before an event mends it. Events cost
#: their integrators much, and the equations do not mind.
QUATERNION_SLACK = 1e-3

#: How far they may let loops open. Rates and outputs are computed where loops are closed, whatever the states.
CLOSING_SLACK = 1e-6

# No model gives its name to these files: names that end in an underscore are ours, see `identifiers`.
_HEADERS = ("fmu_instance_.h", "fmu_integrate_.h", "fmu_common_.h")
_MODEL = "fmu_model_.h"
_INTERFACES = {Fmi.TWO: "fmu_fmi2_.c", Fmi.THREE: "fmu_fmi3_.c"}


@dataclass(frozen=True)
class Facts:
    """What the runtime needs: the token, the first values of all knowns, where quaternions begin in the state, and
    which states the model declares to start with."""

    token: str
    start: Sequence[float]
    quaternions: Sequence[int]
    declared: Sequence[bool]


def source_files(unit: Unit, system: FmuEquations, facts: Facts, fmi: Fmi) -> dict[str, str]:
    """The text of every file of the folder `sources`; those that end in .c are to be compiled."""
    runtime = files("kinegraph.export.fmu") / "c"
    texts = c_files(unit)
    texts[_MODEL] = _model_header(unit, system, facts)
    for name in (*_HEADERS, _INTERFACES[fmi]):
        texts[name] = f"/* {MARK} {unit.version}. */\n{(runtime / name).read_text('utf-8')}"
    return texts


def _model_header(unit: Unit, system: FmuEquations, facts: Facts) -> str:
    lines = [
        *comment_block([f"{MARK} {unit.version}.", "What the runtime has to know of the model."]),
        "#ifndef KINEGRAPH_FMU_MODEL",
        "#define KINEGRAPH_FMU_MODEL",
        "",
        f'#include "{unit.name}.h"',
        "",
        f"#define MODEL(function) {unit.stem}_##function",
        f'#define FMU_TOKEN "{facts.token}"',
        f"#define FMU_STATES {len(system.states)}",
        f"#define FMU_INPUTS {len(system.inputs)}",
        f"#define FMU_PARAMETERS {len(system.parameters)}",
        f"#define FMU_OUTPUTS {len(system.outputs)}",
        f"#define FMU_QUATERNIONS {len(facts.quaternions)}",
        f"#define FMU_QUATERNION_SLACK {QUATERNION_SLACK!r}",
        f"#define FMU_ROWS {system.closing_rows}",
        f"#define FMU_START_ROWS {len(system.by_position)}",
        f"#define FMU_VELOCITIES {sum(one.kind is Kind.VELOCITY for one in system.states)}",
        f"#define FMU_CLOSING_SLACK {CLOSING_SLACK!r}",
        f"#define FMU_TOLERANCE {TOLERANCE!r}",
        "",
        "/* Time, states, inputs and parameters in the beginning. */",
        *_table(f"static const double START[{len(facts.start)}]", facts.start),
        "",
        "/* Where quaternions begin among the states. */",
        f"static const int QUATERNIONS[] = {{{', '.join(map(str, facts.quaternions)) or '0'}}};",
        "",
        *_start_tables(system, facts),
        *_method(),
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _start_tables(system: FmuEquations, facts: Facts) -> list[str]:
    """What completing start values needs; nothing without loops."""
    if not system.by_position:
        return []
    declared, by_position = (
        ", ".join(str(int(one)) for one in table) for table in (facts.declared, system.by_position)
    )  # fmt: skip
    return [
        "/* Which states start as the model declares, and which rows hold by position. */",
        f"static const int DECLARED[] = {{{declared}}};",
        f"static const int BY_POSITION[] = {{{by_position}}};",
        "",
    ]


def _method() -> list[str]:
    """The tableau `simulate` uses, written down once more."""
    method = DORMAND_PRINCE_5
    size = method.stages + 1
    (error,) = method.error_weights()
    lines = [f"/* {method.name}: the last stage is the end of the step. */"]
    lines += _table(f"static const double STAGE_TIMES[{size}]", method.nodes()[:size].tolist())
    lines.append(f"static const double STAGE_WEIGHTS[{size}][{size}] = {{")
    for row in method.matrix()[:size, :size].tolist():
        lines += ["    {", *indented(indented(number_lines(row, _number))), "    },"]
    return [*lines, "};", *_table(f"static const double ERROR_WEIGHTS[{size}]", error.tolist())]


def _table(declaration: str, values: Sequence[float]) -> list[str]:
    return [f"{declaration} = {{", *indented(number_lines(values, _number)), "};"]


_number = partial(number_text, infinity="INFINITY", nan="NAN")
