"""Passes by name: `expand(forms=0), trigonometric_identities, products, monomials(degree=4)` as a tuple, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TypeAlias

from kinegraph.errors import GraphError
from kinegraph.passes.analytic.expansion import Limits
from kinegraph.passes.expand import Analytic, Expand
from kinegraph.passes.factoring.repair import Budget
from kinegraph.passes.fast_extract import FastExtract, Inline
from kinegraph.passes.identical_expressions import IdenticalExpressions
from kinegraph.passes.monomials import ExtractMonomials
from kinegraph.passes.products import FactorProducts
from kinegraph.passes.rebuild import DeadCode, Rebuild
from kinegraph.passes.search import Search
from kinegraph.passes.step import Pass
from kinegraph.passes.trigonometry.identities_pass import TrigonometricIdentities
from kinegraph.passes.trigonometry.share_angles import ShareAngles

#: The value of an option; None is one that is not given.
Option: TypeAlias = bool | int | float | None

#: Every pass a pipeline may name.
NAMED: dict[str, type[Pass]] = {
    "rebuild": Rebuild, "dead_code": DeadCode, "inline": Inline, "fast_extract": FastExtract, "search": Search,
    "expand": Expand, "analytic": Analytic, "identical_expressions": IdenticalExpressions,
    "monomials": ExtractMonomials, "products": FactorProducts, "share_angles": ShareAngles,
    "trigonometric_identities": TrigonometricIdentities,
}  # fmt: skip

#: What a search may do if nothing is said: `search(work=...)` says otherwise.
WORK = 200_000

#: Options that are fields of one field of a pass.
_BUDGET, _LIMITS = ("work", "seconds", "compiled"), ("terms", "total")

#: The least and the greatest value of each option that is a number: beyond, nothing more is found or nothing ends.
RANGES = {
    "degree": (1, 12), "forms": (0, 1000), "function_weight": (0, 1000), "seconds": (0, 10**7),
    "seed": (0, 2**64 - 1), "starts": (1, 10_000), "terms": (1, 1_000_000), "total": (1, 10_000_000),
    "work": (0, 10**12),
}  # fmt: skip

_ITEM = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*(?:,|$)")
_OPTION = re.compile(r"\s*(\w+)\s*=\s*(true|false|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*$", re.IGNORECASE)


def read_passes(text: str) -> tuple[Pass, ...]:
    """The passes a text names, in its order; GraphError says what is wrong and what there is."""
    found: list[Pass] = []
    place = 0
    while place < len(text.rstrip()):
        match = _ITEM.match(text, place)
        if match is None:
            raise GraphError(
                f"cannot read the passes {text[place : place + 40]!r}: write name, name(option=value), ..."
            )
        found.append(_made(match[1], match[2] or ""))
        place = match.end()
    if not found:
        raise GraphError(f"no pass is named: {_known()}")
    return tuple(found)


def passes_text(passes: Sequence[Pass]) -> str:
    """Passes as the text they can be read from; options that are as usual are left out."""
    return ", ".join(map(_text, passes))


def _made(name: str, options: str) -> Pass:
    if name not in NAMED:
        raise GraphError(f"there is no pass {name!r}: {_known()}")
    kind = NAMED[name]
    known = _options(kind)
    values: dict[str, Option] = {}
    for part in filter(str.strip, options.split(",")):
        match = _OPTION.match(part)
        if match is None or match[1] not in known:
            raise GraphError(
                f"cannot read the option {part.strip()!r} of {name}: it has {', '.join(known) or 'none'}; "
                "write a number, true or false"
            )
        values[match[1]] = _allowed(name, match[1], known[match[1]], match[2])
    make: Callable[..., Pass] = kind
    return make(**_joined(known, values))


def _joined(known: Mapping[str, Option], values: Mapping[str, Option]) -> dict[str, object]:
    """Options as fields of a pass: those of a budget and those of limits are one field."""
    found: dict[str, object] = dict(values)
    if "compiled" in known:
        make: Callable[..., Budget] = Budget
        given = {name: found.pop(name) for name in _BUDGET if name in found}
        found["budget"] = make(**{"work": None if "seconds" in given else WORK, **given})
    if "terms" in known:
        limit: Callable[..., Limits] = Limits
        found["limits"] = limit(**{name: found.pop(name) for name in _LIMITS if name in found})
    return found


def _options(kind: type) -> dict[str, Option]:
    """The options of a pass with their usual values: numbers, switches, how long it searches, how far it writes out."""
    found: dict[str, Option] = {}
    for one in fields(kind) if is_dataclass(kind) else ():
        if one.name == "budget":
            found |= {"work": WORK, "seconds": None, "compiled": False}
        elif one.name == "limits":
            found |= {"terms": Limits().terms, "total": Limits().total}
        elif one.name != "name" and isinstance(one.default, int | float):
            found[one.name] = one.default
    return found


def _allowed(name: str, option: str, usual: Option, text: str) -> Option:
    """The value of an option, if it is of the kind of the usual one and in its range."""
    value = _value(text)
    if isinstance(usual, bool):
        fits, range_text = isinstance(value, bool), "true or false"
    else:
        whole, (least, greatest) = isinstance(usual, int), RANGES[option]
        fits = not isinstance(value, bool) and isinstance(value, int if whole else int | float)
        fits = fits and least <= value <= greatest
        range_text = f"{'a whole number' if whole else 'a number'} from {least} to {greatest}"
    if not fits:
        raise GraphError(f"{name}({option}={text}) is out of range: write {range_text}, as in {_example(name, option)}")
    return value


def _example(name: str, option: str) -> str:
    usual = _options(NAMED[name])[option]
    return f"{name}({option}={10 if usual is None else str(usual).lower()})"


def _value(text: str) -> bool | int | float:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _text(step: Pass) -> str:
    name = next((name for name, kind in NAMED.items() if type(step) is kind), "")
    if not name:
        return step.name
    said = []
    for option, usual in _options(type(step)).items():
        value = _said(step, option)
        if value is not None and value != usual:
            said.append(f"{option}={str(value).lower().removesuffix('.0')}")
    return f"{name}({', '.join(said)})" if said else name


def _said(step: Pass, option: str) -> Option:
    """The value of an option, wherever the pass keeps it."""
    owner = "budget" if option in _BUDGET else "limits" if option in _LIMITS else ""
    said: Option = getattr(getattr(step, owner) if owner else step, option)
    return said


def _known() -> str:
    return f"known are {', '.join(NAMED)}"
