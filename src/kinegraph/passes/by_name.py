"""Passes by name: `expand(ways=0), trigonometric_identities, products, monomials(degree=4)` as a tuple, and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import MISSING, Field, fields, replace
from typing import Any

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

#: Every pass a pipeline may name.
NAMED: dict[str, type[Any]] = {
    "rebuild": Rebuild, "dead_code": DeadCode, "inline": Inline, "fast_extract": FastExtract, "search": Search,
    "expand": Expand, "analytic": Analytic, "identical_expressions": IdenticalExpressions,
    "monomials": ExtractMonomials, "products": FactorProducts, "share_angles": ShareAngles,
    "trigonometric_identities": TrigonometricIdentities,
}  # fmt: skip

#: What a search may do if nothing is said: `search(work=...)` says otherwise.
WORK = 200_000

_ITEM = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*(?:,|$)")
_OPTION = re.compile(r"\s*(\w+)\s*=\s*(true|false|-?\d+(?:\.\d+)?)\s*$", re.IGNORECASE)


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
    values: dict[str, Any] = {}
    for part in filter(str.strip, options.split(",")):
        match = _OPTION.match(part)
        if match is None or match[1] not in known:
            raise GraphError(
                f"cannot read the option {part.strip()!r} of {name}: it has {', '.join(known) or 'none'}; "
                "write a number, true or false"
            )
        values[match[1]] = _value(match[2])
    if "compiled" in known:
        work = values.pop("work", None if "seconds" in values else WORK)
        values["budget"] = Budget(work, values.pop("seconds", None), values.pop("compiled", False))
    if "terms" in known:
        values["limits"] = replace(Limits(), **{key: values.pop(key) for key in ("terms", "total") if key in values})
    made: Pass = kind(**values)
    return made


def _options(kind: type[Any]) -> dict[str, Any]:
    """The options of a pass with their usual values: numbers, switches, how long it searches, how far it writes out."""
    found: dict[str, Any] = {}
    for one in fields(kind):
        if one.name == "budget":
            found |= {"work": WORK, "seconds": None, "compiled": False}
        elif one.name == "limits":
            found |= {"terms": Limits().terms, "total": Limits().total}
        elif one.name != "name" and isinstance(_usual(one), int | float):
            found[one.name] = _usual(one)
    return found


def _usual(one: Field[Any]) -> Any:
    return None if one.default is MISSING else one.default


def _value(text: str) -> bool | int | float:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return float(text) if "." in text else int(text)


def _text(step: Pass) -> str:
    name = next((name for name, kind in NAMED.items() if type(step) is kind), "")
    if not name:
        return step.name
    said = []
    for option, usual in _options(type(step)).items():
        value = _said(step, option)
        if value is not None and value != usual:
            said.append(f"{option}={f'{value:g}' if isinstance(value, float) else str(value).lower()}")
    return f"{name}({', '.join(said)})" if said else name


def _said(step: Any, option: str) -> Any:
    """The value of an option, wherever the pass keeps it."""
    if option in ("work", "seconds", "compiled"):
        return getattr(step.budget, option)
    return getattr(step.limits if option in ("terms", "total") else step, option)


def _known() -> str:
    return f"known are {', '.join(NAMED)}"
