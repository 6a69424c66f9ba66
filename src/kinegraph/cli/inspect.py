"""`kinegraph inspect`: print what stands between two stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated

import typer

import kinegraph as kg
from kinegraph.cli.common import (
    ClosureOption,
    JsonOption,
    PassesOption,
    QuantityOption,
    SetOption,
    parameter_settings,
    print_json,
)
from kinegraph.cli.count import known_values
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.compiler import stored
from kinegraph.compiler.bind import straight_kernel
from kinegraph.compiler.compile import is_recursive
from kinegraph.compiler.request import Request, quantities_of, same_passes
from kinegraph.derive.plan import Closure
from kinegraph.model.expressions import Expression
from kinegraph.passes.effort import Effort


class Stage(StrEnum):
    """The values between the stages, in order: those of the records are named as these are."""

    MODEL = "model"
    TREE = "tree"
    REQUEST = "request"
    DERIVED = "derived"
    REDUCED = "reduced"
    CHOSEN = "chosen"
    BOUND = "bound"
    PROGRAM = "program"
    IR = "ir"
    ASM = "asm"
    PROOF = "proof"


@reads_model
def run(
    source: ModelSource,
    stage: Annotated[Stage, typer.Option(help="The value to print.")] = Stage.DERIVED,
    quantity: QuantityOption = "tau",
    symbolic: Annotated[bool, typer.Option("--symbolic", help="Keep all parameters symbolic.")] = False,
    effort: Annotated[Effort, typer.Option(help="How hard to reduce.")] = Effort.QUICK,
    closure: ClosureOption = Closure.MULTIPLIERS,
    passes: PassesOption = "",
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Print an intermediate value of the compiler: model, joint tree, graph, program, LLVM code or assembly.

    Parameters with values become numbers.

    Example: kinegraph inspect double-pendulum --stage tree
    """
    mechanism = source.mechanism()
    values = parameter_settings(mechanism, settings)
    if not symbolic:
        values = {**known_values(mechanism), **values}
    request = Request(mechanism, quantities_of(quantity), values, effort, closure=closure, passes=same_passes(passes))
    text = stage_text(request, stage)
    if json:
        print_json({"name": mechanism.name, "stage": stage.value, "text": text})
    else:
        typer.echo(text, nl=not text.endswith("\n"))


def stage_text(request: Request, stage: Stage) -> str:
    """The text of one stage."""
    mechanism, values = request.mechanism, request.parameters
    if stage is Stage.MODEL:
        return kg.write(mechanism)
    if stage is Stage.TREE:
        return "\n".join(_tree(mechanism, values)) + "\n"
    if stage is Stage.REQUEST:
        return f"{request!r}\nkey {request.key}\n"
    if stage is Stage.PROOF and is_recursive(request):
        return f"{kg.compile(mechanism, request.quantities, parameters=values).proof or 'not proved'}\n"
    from kinegraph.graph.text import dump

    runtime = [one.name for one in mechanism.parameters if one.name not in values]
    resolved = stored.resolve_closure(request, runtime)
    if stage is Stage.DERIVED:
        return dump(stored.derived(resolved).graph)
    if stage is Stage.REDUCED:
        return dump(stored.reduced(resolved).graph)
    if stage is not Stage.PROOF and is_recursive(request, runtime):
        typer.echo(f"`compile` computes {request} by loops over bodies: this is what loops=False compiles", err=True)
    kernel = straight_kernel(resolved, runtime)
    if stage is Stage.PROOF:
        return f"{kernel.proof}\n"
    if stage is Stage.CHOSEN:
        return dump(kernel.graph)
    if stage is Stage.BOUND:
        return f"{kernel.binding}\n"
    if stage is Stage.PROGRAM:
        return f"{kernel.program}\n"
    return kernel.ir if stage is Stage.IR else kernel.assembly()


def _tree(mechanism: kg.Mechanism, values: Mapping[str, Expression]) -> Iterator[str]:
    """Elementary links: what each moves about or along, and where its joint sits on the link before."""
    from kinegraph.compiler.request import bound_parameters
    from kinegraph.derive.plan import Plan
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.graph.node import Output
    from kinegraph.notation.text import expressions

    derivation = Derivation(mechanism, bound_parameters(mechanism, False, values), Plan(regroup=False))
    tree = derivation.tree
    bodies: dict[int, list[str]] = {}
    for name, place in tree.bodies.items():
        bodies.setdefault(place.link, []).append(name)
    yield f"# {len(tree.links) - 1} elementary joints; link 0 is the fixed frame"
    for index, link in enumerate(tree.links):
        bodies_on_it = f"carries {', '.join(bodies[index])}" if index in bodies else ""
        if link.joint is None or link.origin is None:
            yield f"link {index}: fixed frame {bodies_on_it}".rstrip()
            continue
        scalars = [link.joint.displacement, link.moments.mass, *link.origin.position]
        scalars += [entry for row in link.origin.rotation for entry in row]
        nodes = tuple(scalar.index for scalar in scalars)
        texts = expressions(derivation.builder.graph([Output("link", (len(nodes),), nodes)]))
        moves = _motion(link.joint.kind.value, "xyz"[link.joint.axis], texts[0])
        frame_note = ", kept in the frame of its parent" if index in derivation.layout.in_parent_frame else ""
        yield f"link {index} on link {link.parent}: {moves}{frame_note}"
        yield f"    joint at ({', '.join(texts[2:5])}){_turned(texts[5:])}"
        if bodies_on_it or texts[1] != "0":
            yield f"    mass {texts[1]}, {bodies_on_it}".rstrip(", ")


def _motion(kind: str, axis: str, displacement: str) -> str:
    if kind == "spherical":
        return "spherical joint by a quaternion"
    return f"{kind} joint {'about' if kind == 'revolute' else 'along'} {axis} by {displacement}"


def _turned(rotation: list[str]) -> str:
    if rotation == ["1", "0", "0", "0", "1", "0", "0", "0", "1"]:
        return ""
    rows = [", ".join(rotation[start : start + 3]) for start in (0, 3, 6)]
    return f", turned by [{'; '.join(rows)}]"
