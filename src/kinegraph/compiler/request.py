"""What is asked for: quantities of a mechanism, with some of its parameters known."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from kinegraph import passes as known_passes
from kinegraph.codegen.program.binding import Argument
from kinegraph.derive.plan import Closure
from kinegraph.derive.quantities.quantity import Quantity, check_entries, dependencies, parse_list
from kinegraph.derive.quantities.variables import Variables
from kinegraph.errors import DerivationError, KernelError, ModelError, one_of
from kinegraph.graph.node import Kind, Symbol
from kinegraph.jit import cache as disk
from kinegraph.jit.cache import digest
from kinegraph.model.constraints import refuse_contact_forces
from kinegraph.model.evaluate import following, parameter_values
from kinegraph.model.expressions import Expression, Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.passes.effort import Effort

Quantities: TypeAlias = str | Quantity | Sequence[str | Quantity]
Parameters: TypeAlias = Mapping[str, Scalar]


@dataclass(frozen=True)
class Request:
    """What is asked for. All later records follow from it, so its complete contents are the key they are stored under.

    parameters: those with values, as exact expressions; all others stay symbols and are arguments of kernels.
    effort, seconds, seed: how hard operations are saved. passes: what is run in place of the effort's own passes, as
    `passes.by_name` writes it. frames: how hard frames are searched for; None as effort.
    closed_legs: legs of platforms in closed form; else they are loops like any others.
    closure: by which method loops are closed.
    cut: the joints at which they are cut for that; none: those the model closes them with.
    """

    mechanism: Mechanism
    quantities: tuple[Quantity, ...]
    parameters: Mapping[str, Expression]
    effort: Effort = Effort.QUICK
    seconds: float | None = None
    seed: int = 0
    frames: Effort | None = None
    closed_legs: bool = True
    closure: Closure = Closure.MULTIPLIERS
    cut: tuple[str, ...] = ()
    passes: str = ""

    @cached_property
    def key(self) -> str:
        """The digest of all of it and of the program's version."""
        return digest(self, disk.sources_digest(Path(__file__).parents[1]))

    def stored_as(self, stage: str, *more: object) -> str:
        """The name on disk of the record of a stage, which follows from this request and from what else is given."""
        return f"{stage}-{self.key}-{digest(*more)}" if more else f"{stage}-{self.key}"

    def __str__(self) -> str:
        return f"{self.mechanism.name}: {', '.join(map(str, self.quantities))}"

    def __repr__(self) -> str:
        how = f"passes {self.passes}" if self.passes else f"effort {self.effort.value}"
        return f"<request {self}; parameters known: {', '.join(self.parameters) or 'none'}; {how}>"


def request_of(
    mechanism: Mechanism,
    quantities: Quantities,
    *,
    numeric: bool = False,
    parameters: Parameters | None = None,
    runtime: Sequence[str] = (),
    effort: Effort | str = Effort.QUICK,
    closed_legs: bool = True,
    closure: Closure | str = Closure.MULTIPLIERS,
    passes: str = "",
) -> Request:
    """A request; parameters stay symbols unless `numeric` (the model's values) or given, those of `runtime` always."""
    wanted = quantities_of(quantities)
    check_entries(mechanism, wanted)
    for quantity in wanted:
        if quantity.name == "tau" or Variables.FORCES in quantity.record.arguments:
            refuse_contact_forces(mechanism, str(quantity))
    bound = bound_parameters(mechanism, numeric, parameters, runtime)
    fixed = {name: value for name, value in bound.items() if name not in runtime}
    return Request(
        mechanism, wanted, fixed, effort_of(effort), closed_legs=closed_legs, closure=closure_of(closure),
        passes=same_passes(passes),
    )  # fmt: skip


def may_be_cut(request: Request) -> bool:
    """Cuts are a matter of accelerations alone: all else belongs to the tree of records and its closing joints."""
    return [str(quantity) for quantity in request.quantities] == ["qdd"]


def same_passes(text: str) -> str:
    """Passes as they are written in one way alone; an empty text leaves them to the effort."""
    if not isinstance(text, str):
        raise DerivationError(f"passes is {text!r:.80}: write their names, such as 'products, monomials(degree=4)'")
    return known_passes.passes_text(known_passes.read_passes(text)) if text else ""


def quantities_of(wanted: Quantities) -> tuple[Quantity, ...]:
    """Quantities from a word, a list separated by commas, or a sequence of words.

    Results go by their names, so a quantity that is named twice is one quantity.
    """
    found = tuple(dict.fromkeys(read_quantities(wanted)))
    if not found:
        raise DerivationError("no quantity is named; name one or more, such as tau or H,gravity")
    return found


def read_quantities(wanted: Quantities) -> tuple[Quantity, ...]:
    """The quantities as they are named, none and repeated ones too."""
    if isinstance(wanted, Quantity):
        return (wanted,)
    if isinstance(wanted, str):
        return parse_list(wanted)
    words: list[object] = list(wanted) if isinstance(wanted, Iterable) else [wanted]
    return tuple(_read_quantity(word) for word in words)


def _read_quantity(word: object) -> Quantity:
    if isinstance(word, str):
        return Quantity.parse(word)
    if not isinstance(word, Quantity):
        raise DerivationError(f"{word!r:.80} is not a name of quantities; write text such as 'tau' or ['H', 'gravity']")
    return word


def effort_of(effort: Effort | str) -> Effort:
    """The effort of this name."""
    return one_of(Effort, effort, "effort", DerivationError)


def closure_of(closure: Closure | str) -> Closure:
    """The closure of this name."""
    return one_of(Closure, closure, "closure", DerivationError)


def runtime_names(mechanism: Mechanism, runtime: str | Sequence[str]) -> tuple[str, ...]:
    """The parameters that are given when a kernel runs, checked; a single one may be given as it is.

    A name may be a pattern, `m_*` for all that begin so; its parameters follow in the order of the model.
    """
    if not isinstance(runtime, Iterable):
        raise KernelError(f"runtime is {runtime!r:.80}: give names of parameters, such as ['m1']")
    given = (runtime,) if isinstance(runtime, str) else tuple(runtime)
    known = [parameter.name for parameter in mechanism.parameters]
    found: dict[str, None] = {}
    for name in given:
        own = (
            [one for one in known if fnmatch.fnmatchcase(one, name)]
            if isinstance(name, str) and _PATTERN.search(name)
            else [name]
        )
        if not own:
            raise KernelError(f"no runtime parameter matches {name!r}; parameters are: {_some(known)}")
        if own == [name] and name not in known:
            raise KernelError(f"runtime parameter {name!r} does not exist; parameters are: {_some(known)}")
        if own == [name] and name in found:
            raise KernelError(f"runtime parameter {name!r} is named twice: name it once")
        found |= dict.fromkeys(own)
    return tuple(found)


def _matching(name: str, known: Sequence[str]) -> list[str]:
    """The parameters that match a pattern; a name without wildcards is returned as it is."""
    if not isinstance(name, str) or not _PATTERN.search(name):
        return [name]
    return [one for one in known if fnmatch.fnmatchcase(one, name)]


_PATTERN = re.compile(r"[*?\[]")
_LISTED = 40


def _some(known: Sequence[str]) -> str:
    ordered = sorted(known)
    return ", ".join(ordered[:_LISTED]) + (", ..." if len(ordered) > _LISTED else "")


def bound_parameters(
    mechanism: Mechanism, numeric: bool, parameters: Parameters | None, runtime: Sequence[str] = ()
) -> dict[str, Expression]:
    """The parameters that become numbers, as exact expressions: those given, and all others if `numeric`.

    Those of `runtime` need no value yet.
    """
    if not isinstance(parameters or {}, Mapping):
        raise ModelError(f"parameters is {parameters!r:.80}", remedy="give values by name, such as {'m1': 2}")
    given = {name: expression(value, name) for name, value in (parameters or {}).items()}
    known = {parameter.name: parameter.value for parameter in mechanism.parameters}
    for name in given:
        if name not in known:
            fault = f"unknown parameter {name!r}"
            if name in mechanism.input_names:
                raise ModelError(fault, remedy=f"{name} is an input of the model: pass it as inputs or in the state")
            raise ModelError(fault, remedy=did_you_mean(name, known) or "the model has no parameters")
    if not numeric:
        return given
    _require_values(mechanism, given, runtime)
    return {name: value for name, value in known.items() if value is not None} | given


def _require_values(mechanism: Mechanism, given: Mapping[str, Expression], runtime: Sequence[str]) -> None:
    """ModelError for a parameter that has no value when code is written, and needs one."""
    if runtime:
        late = {*runtime, *following(mechanism, runtime)}
        mechanism = replace(mechanism, parameters=tuple(p for p in mechanism.parameters if p.name not in late))
        given = {name: value for name, value in given.items() if name not in late}
    parameter_values(mechanism, given)


def arguments_of(mechanism: Mechanism, quantities: Quantities, runtime: Sequence[str] = ()) -> tuple[Argument, ...]:
    """What a kernel of these quantities takes, in the order q, v, a, tau, u, t, p; only what they depend on."""
    needed = {group for quantity in quantities_of(quantities) for group in dependencies(quantity, mechanism)}
    arguments = [_argument(group, mechanism) for group in Variables if group in needed]
    if runtime:
        arguments.append(Argument(Variables.PARAMETERS.value, tuple(Symbol(Kind.PARAMETER, name) for name in runtime)))
    return tuple(arguments)


def _argument(group: Variables, mechanism: Mechanism) -> Argument:
    quaternions = mechanism.layout.quaternions if group is Variables.POSITIONS else ()
    return Argument(group.value, group.symbols(mechanism), quaternions)
