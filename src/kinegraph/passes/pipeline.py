"""The pipeline: passes by name, the passes of each effort as data, and the runner that counts, selects and proves."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Protocol, TypeAlias

from kinegraph.display import RichDisplay
from kinegraph.errors import GraphError, NumberSizeError, one_of
from kinegraph.graph.count import Operations, count, largest_exponent
from kinegraph.graph.node import Graph, Kind
from kinegraph.graph.proof import prove as compare
from kinegraph.interrupt import Interrupt
from kinegraph.passes.analytic_expansion import Limits
from kinegraph.passes.by_parts import ByParts, Series
from kinegraph.passes.common_subexpressions import DeadCode, FastExtract, Inline, Rebuild, ShareAngles
from kinegraph.passes.effort import Budget, Effort, Pass, PassReport, cheapest, rank, running_time
from kinegraph.passes.expand import Analytic, Expand
from kinegraph.passes.rackovic import ExtractMonomials, FactorProducts, IdenticalExpressions
from kinegraph.passes.search import Search
from kinegraph.passes.trigonometric_identities import TrigonometricIdentities

# Passes by name: `expand(forms=0), trigonometric_identities, by_parts(products, monomials(degree=4))` as a tuple, and
# back.

#: The value of an option; None is one that is not given.
Option: TypeAlias = bool | int | float | None

#: Every pass a pipeline may name.
NAMED: dict[str, type[Pass]] = {
    "rebuild": Rebuild, "dead_code": DeadCode, "inline": Inline, "fast_extract": FastExtract, "search": Search,
    "expand": Expand, "analytic": Analytic, "identical_expressions": IdenticalExpressions,
    "monomials": ExtractMonomials, "products": FactorProducts, "share_angles": ShareAngles,
    "trigonometric_identities": TrigonometricIdentities, "by_parts": ByParts, "series": Series,
}  # fmt: skip

#: What a search may do if nothing is said: `search(work=...)` says otherwise.
WORK = 200_000

#: Options that are fields of one field of a pass.
_BUDGET, _LIMITS = ("work", "seconds"), ("terms", "total", "growth", "steps")
#: The field of the limits, where an option has another name: `work` is that of a search.
_FIELDS = {"steps": "work"}

#: The least and the greatest value of each option that is a number: beyond, nothing more is found or nothing ends.
RANGES = {
    "degree": (1, 12), "forms": (0, 1000), "function_weight": (0, 1000), "growth": (1, 10**6), "seconds": (0, 10**7),
    "seed": (0, 2**64 - 1), "starts": (1, 10_000), "steps": (1, 10**12), "terms": (1, 1_000_000),
    "total": (1, 10_000_000), "work": (0, 10**12),
}  # fmt: skip

_NAME = re.compile(r"\s*(\w+)\s*(\(?)")
_END = re.compile(r"\s*(,|$)")
_OPTION = re.compile(r"\s*(\w+)\s*=\s*(true|false|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*$", re.IGNORECASE)


def read_passes(text: str) -> tuple[Pass, ...]:
    """The passes a text names, in its order; GraphError says what is wrong and names the passes."""
    found: list[Pass] = []
    place = 0
    while place < len(text.rstrip()):
        match = _NAME.match(text, place)
        inside, end = _inside(text, match.end()) if match and match[2] else ("", match.end() if match else place)
        after = _END.match(text, end)
        if match is None or after is None:
            raise GraphError(
                f"cannot read the passes {text[place : place + 40]!r}: write name, name(option=value), ..."
            )
        found.append(_made(match[1], inside))
        place = after.end()
    if not found:
        raise GraphError(f"no pass given: {_known()}")
    return tuple(found)


#: How deep passes may be inside passes.
_DEEPEST = 8


def _inside(text: str, start: int) -> tuple[str, int]:
    """The text up to the parenthesis that closes, and the place after it."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return text[start:place], place + 1
        if depth > _DEEPEST:
            raise GraphError(f"the passes are nested too deeply: write at most {_DEEPEST} levels of parentheses")
    raise GraphError(f"the parenthesis before {text[start : start + 40]!r} is not closed")


def passes_text(passes: Sequence[Pass]) -> str:
    """Passes as the text they can be read from; options that are as usual are left out."""
    return ", ".join(map(_text, passes))


def _made(name: str, options: str) -> Pass:
    if name not in NAMED:
        raise GraphError(f"unknown pass {name!r}: {_known()}")
    kind = NAMED[name]
    if kind in (ByParts, Series):
        steps: Callable[..., Pass] = kind
        return steps(read_passes(options)) if options.strip() else steps()
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
    if "work" in known:
        make: Callable[..., Budget] = Budget
        given = {name: found.pop(name) for name in _BUDGET if name in found}
        found["budget"] = make(**{"work": None if "seconds" in given else WORK, **given})
    if "terms" in known:
        limit: Callable[..., Limits] = Limits
        found["limits"] = limit(**{_FIELDS.get(name, name): found.pop(name) for name in _LIMITS if name in found})
    return found


def _options(kind: type) -> dict[str, Option]:
    """The options of a pass with their usual values: numbers, switches, how long it searches, how far it writes out."""
    found: dict[str, Option] = {}
    for one in fields(kind) if is_dataclass(kind) else ():
        if one.name == "budget":
            found |= {"work": WORK, "seconds": None}
        elif one.name == "limits":
            found |= {name: getattr(Limits(), _FIELDS.get(name, name)) for name in _LIMITS}
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
    if isinstance(step, ByParts | Series):
        return name if step.steps == type(step)().steps else f"{name}({passes_text(step.steps)})"
    said = []
    for option, usual in _options(type(step)).items():
        value = _said(step, option)
        if value is not None and value != usual:
            said.append(f"{option}={str(value).lower().removesuffix('.0')}")
    return f"{name}({', '.join(said)})" if said else name


def _said(step: Pass, option: str) -> Option:
    """The value of an option, wherever the pass keeps it."""
    owner = "budget" if option in _BUDGET else "limits" if option in _LIMITS else ""
    said: Option = getattr(getattr(step, owner) if owner else step, _FIELDS.get(option, option))
    return said


def _known() -> str:
    return f"known are {', '.join(NAMED)}"


# The passes of each effort as data: routes through a graph, each a tuple of passes, of which the cheapest is kept.
#
# `print(*routes(Effort.NORMAL), sep="\n")` shows them.


class Condition(Protocol):
    """When a route is taken: `results` are those of the routes before it, by name."""

    def holds(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Whether a route is taken, from what went in and what earlier routes gave."""
        ...


@dataclass(frozen=True)
class Small:
    """The graph has at most so many nodes; `with_rates`, if it depends on more than positions.

    What depends on rates has far more terms when written out.
    """

    nodes: int
    with_rates: int | None = None

    def holds(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Whether the graph is small enough, with another limit where it has rates."""
        rates = self.with_rates is not None and entry.symbols(Kind.VELOCITY, Kind.STATE, Kind.ACCELERATION, Kind.INPUT)
        most = self.with_rates if rates and self.with_rates is not None else self.nodes
        return len(entry) <= most

    def __str__(self) -> str:
        rates = f" ({self.with_rates} with rates)" if self.with_rates is not None else ""
        return f"up to {self.nodes} nodes{rates}"


@dataclass(frozen=True)
class Large:
    """The graph has at least so many operations."""

    operations: int

    def holds(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Whether the graph is large enough."""
        return count(entry).total >= self.operations

    def __str__(self) -> str:
        return f"from {self.operations} operations on"


@dataclass(frozen=True)
class Unchanged:
    """Another route left the graph as it came."""

    route: str

    def holds(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Whether another route changed nothing."""
        return results[self.route] is entry

    def __str__(self) -> str:
        return f"if {self.route!r} changed nothing"


@dataclass(frozen=True)
class Cheapest:
    """Another route's result is the cheapest of some; the first of equal ones is."""

    route: str
    among: tuple[str, ...]

    def holds(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Whether a route gave the cheapest of some results."""
        return cheapest(*(results[name] for name in self.among)) is results[self.route]

    def __str__(self) -> str:
        return f"if {self.route!r} is the cheapest of {', '.join(self.among)}"


@dataclass(frozen=True)
class Route:
    """Passes one after the other; a pass before the last that changes nothing ends it.

    It starts from the graph as it came, or from the cheapest result of the routes in `after`. With `rest` its search
    has the time that is left.
    """

    name: str
    passes: tuple[Pass, ...]
    after: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    rest: bool = False

    def taken(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Do all its conditions hold?"""
        return all(condition.holds(entry, results) for condition in self.conditions)

    def start(self, entry: Graph, results: Mapping[str, Graph]) -> Graph:
        """The graph it starts from."""
        return cheapest(*(results[name] for name in self.after)) if self.after else entry

    def __str__(self) -> str:
        parts = [f"{self.name}: {passes_text(self.passes)}"]
        parts += [f"after {' or '.join(self.after)}"] if self.after else []
        parts += map(str, self.conditions)
        parts += ["with the time that is left"] if self.rest else []
        return "; ".join(parts)


#: How long `Effort.SEARCH` takes if it is not told, in seconds.
SEARCH_SECONDS = 60.0


#: From how many seeds a search begins.
_STARTS = 4


def routes(effort: Effort, seconds: float | None = None, seed: int = 0) -> tuple[Route, ...]:
    """The routes of an effort; `seconds` are those of `Effort.SEARCH`."""
    if effort is Effort.QUICK:
        return _quick(seed)
    if effort is Effort.NORMAL:
        return _normal(Budget(work=20_000_000), seed)
    return _search(SEARCH_SECONDS if seconds is None else seconds, seed)


def _quick(seed: int) -> tuple[Route, ...]:
    """The graph as it stands, factored, and its outputs written out, each where it is small enough."""
    written = Analytic(Budget(work=1_000_000), seed, Limits(terms=300, total=1500), forms=2, greedy=True)
    return (
        Route("factored", (FastExtract(),), conditions=(Small(12_000),)),
        Route("simplified", (TrigonometricIdentities(), FastExtract()), conditions=(Small(1500),)),
        Route("written out", (written,), conditions=(Small(1500, with_rates=200),)),
    )


#: Fast extract with and without trigonometric identities before it: these may leave less to share.
_FACTORED = (
    Route("factored", (FastExtract(),)),
    Route("simplified", (TrigonometricIdentities(), FastExtract())),
)


def _normal(half: Budget, seed: int) -> tuple[Route, ...]:
    """Half of the work goes to the graph as it stands, half to its outputs written out, or to the graph again.

    Large graphs have more to find, and get twice as much once more. Small graphs take a second or two, and a search of
    them easily gets stuck: they are searched from more seeds, too.
    """
    long = Budget(work=2 * (half.work or 0))
    widely = Search(half, seed, starts=4 * _STARTS)
    return (
        *_FACTORED,
        Route("searched", (Search(half, seed, starts=_STARTS),), after=("factored", "simplified")),
        Route("searched widely", (widely,), ("factored", "simplified"), (Small(100),)),
        Route("written out", (Analytic(long, seed),)),
        Route("searched again", (Search(half, seed + 1),), ("searched",), (Unchanged("written out"),)),
        Route("searched long", (Search(long, seed + 2),), ("searched again",), (Large(800), Unchanged("written out"))),
    )


def _search(seconds: float, seed: int) -> tuple[Route, ...]:
    """A quarter of the time on each variant, the rest on the better one."""
    quarter = Budget(seconds=seconds / 4)
    both = ("searched", "written out")
    return (
        *_FACTORED,
        Route("searched", (Search(quarter, seed, starts=_STARTS),), after=("factored", "simplified")),
        Route("written out", (Analytic(quarter, seed),)),
        Route("searched again", (Search(quarter, seed + 1),), ("searched",), (Cheapest("searched", both),), rest=True),
        Route("written again", (Analytic(quarter, seed + 1),), (), (Cheapest("written out", both),), rest=True),
    )


# The pipeline: passes in order, counted after each, the best variant kept, the result proved.


@dataclass(frozen=True)
class Reduction(RichDisplay):
    """A reduced graph, how it came about, and whether it was proved equal to the graph it came from.

    `interrupted`: it was ended early, a longer run may find a better one.
    """

    graph: Graph
    reports: tuple[PassReport, ...]
    proved: bool
    interrupted: bool = False

    def __repr__(self) -> str:
        verdict = "proved equal" if self.proved else "not proved"
        return f"<Reduction by {len(self.reports)} passes, {verdict}: {self.graph!r}>"


OnPass: TypeAlias = Callable[[PassReport], None]


class Runner:
    """Applies passes, keeps the books, never accepts a costlier graph; after an interrupt does nothing more."""

    def __init__(self, graph: Graph, on_pass: OnPass | None, interrupt: Interrupt) -> None:
        self.on_pass, self.interrupt = on_pass, interrupt
        self.best = graph
        self.allowed_time = running_time(count(graph))
        self.reports: list[PassReport] = []

    def run(self, step: Pass, graph: Graph, seconds: float | None = None) -> Graph:
        """The result of a pass, or the graph as it was if that was better; a search has so many `seconds`."""
        if self.interrupt.requested:
            return graph
        started = time.perf_counter()
        before, candidate = count(graph), graph
        # Written out, the numbers of a graph may grow too long: it is left as it is.
        with self.interrupt.catching(), suppress(NumberSizeError):
            candidate = self._bound(step, seconds).apply(graph)
        result = candidate if self._better(count(candidate), before) else graph
        self._note(step.name, before, result, started)
        return result

    def follow(self, steps: Iterable[Pass], graph: Graph) -> None:
        """Passes in the order given, also through graphs that cost more; the cheapest met is the best."""
        for step in steps:
            if self.interrupt.requested:
                return
            started, before = time.perf_counter(), count(graph)
            with self.interrupt.catching(), suppress(NumberSizeError):
                graph = self._bound(step, None).apply(graph)
            self._note(step.name, before, graph, started)

    def _note(self, name: str, before: Operations, graph: Graph, started: float) -> None:
        seconds = time.perf_counter() - started
        report = PassReport(name, before, count(graph), seconds, largest_exponent(graph))
        self.reports.append(report)
        self.best = cheapest(self.best, graph)
        if self.on_pass:
            self.on_pass(report)

    def _bound(self, step: Pass, seconds: float | None) -> Pass:
        """A pass whose search sees the interrupt, and has so many seconds if any are said."""
        if isinstance(step, ByParts | Series):
            return replace(step, steps=tuple(self._bound(one, seconds) for one in step.steps))
        if not isinstance(step, Search | Analytic):
            return step
        budget = replace(step.budget, interrupt=self.interrupt)
        return replace(step, budget=budget if seconds is None else replace(budget, seconds=seconds))

    def run_all(self, steps: Iterable[Pass], graph: Graph) -> Graph:
        """Passes one after the other."""
        for step in steps:
            graph = self.run(step, graph)
        return graph

    def _better(self, after: Operations, before: Operations) -> bool:
        """Fewer operations; a kernel that would run longer than the original's is not taken."""
        return running_time(after) <= self.allowed_time and rank(after) <= rank(before)


def reduce(
    graph: Graph,
    effort: Effort | str = Effort.NORMAL,
    seconds: float | None = None,
    seed: int = 0,
    prove: bool = True,
    on_pass: OnPass | None = None,
    interrupt: Interrupt | None = None,
    passes: Sequence[Pass] = (),
) -> Reduction:
    """The graph with as few operations as the effort allows, never more than it had; proved by default.

    `seconds` boxes the time of `Effort.SEARCH`. An interrupt, requested of the token or by Ctrl-C, returns the best
    graph so far, proved as well. `passes` are run in their order in place of those of the effort (`by_name.read_passes`
    makes them of a text); the cheapest graph on the way is taken.
    """
    taken = routes(one_of(Effort, effort, "effort", GraphError), seconds, seed)
    runner = Runner(graph, on_pass, interrupt or Interrupt())
    with runner.interrupt.catching():
        if passes:
            runner.follow(passes, graph)
        else:
            entry = runner.run_all((Rebuild(), DeadCode()), graph)
            _follow(runner, entry, taken, SEARCH_SECONDS if seconds is None else seconds)
    if prove:
        compare(graph, runner.best).require()
    return Reduction(runner.best, tuple(runner.reports), prove, runner.interrupt.requested)


def _follow(runner: Runner, entry: Graph, taken: Sequence[Route], seconds: float) -> None:
    """Every route whose conditions hold, from where it starts."""
    started = time.monotonic()
    results: dict[str, Graph] = {}
    for route in taken:
        if not route.taken(entry, results):
            continue
        left = max(1.0, seconds - (time.monotonic() - started)) if route.rest else None
        graph = route.start(entry, results)
        for step in route.passes:
            before, graph = graph, runner.run(step, graph, left)
            if graph is before:
                break
        results[route.name] = graph
