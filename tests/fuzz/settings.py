"""What stands beside a model: study files, files of parameters, ports, words for passes, questions to a store."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, mkdtemp

import kinegraph as kg
from kinegraph.cli.common import assignments
from kinegraph.docking.target import port_of, with_target
from kinegraph.graph.node import Graph
from kinegraph.io import parse
from kinegraph.passes.pipeline import NAMED, passes_text, read_passes
from kinegraph.store.database import Store, open_store
from kinegraph.store.models import add
from kinegraph.store.queries import Question, answer_to
from kinegraph.studies.study_file import read_study_file
from tests.fuzz import sources
from tests.fuzz.damage import damaged_text
from tests.fuzz.odd import number
from tests.fuzz.subject import Depth

STUDIES = (
    """model = "two.kg"
duration = 0.2
cases = 3
seed = 1
design = "sobol"
until = "success +- 0.01 @ 0.9"
success = "high and happened(up)"
method = "rk4"
step = 0.05
[vary]
q1 = "uniform(-1, 1)"
"q1', q2'" = "disc(0.5)"
l = ["normal(1, 0.1)"]
[parameters]
l = 1.5
[inputs]
q2 = {times = [0, 1, 2], values = [0, 0.1, 0]}
[events]
up = "q1"
top = {condition = "q2 - 1", action = "stop", direction = "rising"}
[outcomes]
most = "max(q1) - final(q2)"
[classes]
high = "most > 0 and stopped_by(top)"
low = "true"
""",
    """model = "two.kg"
duration = 0.1
cases = 2
chunk = 1
rtol = 1e-5
times = 4
[vary]
q1 = "choice(1, 2, 5)"
r = "truncated(0, 1, -1, 1)"
[state]
q2 = "r*cos(0.3)"
[events]
back = {condition = "q1", reset = {"q1'" = "-0.5*q1'"}}
[outcomes]
mean = "mean(q1^2)"
when = "time_of_max(q2)"
there = "at(back, q1')"
""",
)

PARAMETERS = (
    ("json", '{"l": 2, "parameters": 3}'),
    ("json", '{"parameters": {"l": "2*pi"}}'),
    ("toml", 'l = 0.5\n[parameters]\nl = "1/3"\n'),
    ("csv", "name,value,unit\nl,1e-3,m\n# l,2\n"),
    ("txt", "l = 2*3 # meters\n"),
)

PORT = "latches=3 radius=0.66 root=0.54 tip=0.4 height=0.2 edge=0.01 mass=2e4 center=-1 closing=0.08 ahead=0.2"

QUESTIONS = (
    "depends two tau[0]", "affects two l", "terms two tau[1] q1,q2", "shared two", "costliest two@1",
    "levels two@1:reduced", "changed two 1 2", "bodies two",
    "sql 'select name, count(*) as many from model group by name having many > :x'",
    "sql 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 9) select * from n'",
    "sql 'pragma table_info(model)'", "sql 'attach database x as y'", "sql 'select zeroblob(1e9)'",
)  # fmt: skip

_STUDY_WORDS = ("duration", "[vary]", "uniform", "max", "[events]", "true", "inf", "nan", "1979-05-27", "'''", "{", "}")


def make_study(chance: Random) -> str:
    """A damaged study file."""
    return damaged_text(chance.choice(STUDIES), chance, _STUDY_WORDS)


def run_study(text: str, depth: Depth) -> None:
    """Read a study; deep cases run it, interpreted, at most three cases of it."""
    with _file("study.toml", text) as path:
        (path.parent / "two.kg").write_text(sources.SMALL_MODELS[1], "utf-8")
        asked, _ = read_study_file(path, cases=3, native=False)
        asked.plan()
        if depth >= Depth.DERIVE and asked.duration <= 1:
            kg.study(path, cases=3, native=False, threads=1)


def make_parameters(chance: Random) -> str:
    """A damaged file of values; its first line is the ending of its name."""
    ending, text = chance.choice(PARAMETERS)
    return f"{ending}\n{damaged_text(text, chance, ('l', 'parameters', 'nan', 'inf', '1e999'))}"


def run_parameters(text: str, depth: Depth) -> None:
    """Take the values of a model's parameters from a file."""
    ending, _, rest = text.partition("\n")
    with _file(f"values.{ending}", rest) as path:
        model = path.parent / "two.kg"
        model.write_text(sources.SMALL_MODELS[1], "utf-8")
        kg.load(model, parameters=path)


def make_port(chance: Random) -> str:
    """Words for a port, some of them wrong."""
    if chance.random() < 0.5:
        return damaged_text(PORT, chance)
    words = [word.partition("=")[0] for word in PORT.split()]
    return " ".join(f"{word}={number(chance)}" for word in chance.sample(words, chance.randint(1, 3)))


def run_port(text: str, depth: Depth) -> None:
    """Put a target before the ring of a model."""
    port = port_of(assignments(text.split(), "--port"))
    made = with_target(_ring(), port)
    if depth >= Depth.WRITE:
        assert parse(kg.write(made)).layout == made.layout


@cache
def _ring() -> kg.Mechanism:
    return parse("""coordinates x, y, z; quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (1, 0, 0, 0);
    Chaser | | m(1); Ring | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(10), Jx(1), Jy(1), Jz(1);""")


def make_passes(chance: Random) -> str:
    """Names of passes with options, some of them wrong."""
    sound = ", ".join(passes_text(read_passes(name)) if chance.random() < 0.3 else name for name in _some(chance))
    if chance.random() < 0.3:
        return sound
    return damaged_text(sound, chance, ("work=1", "(", "search", "(terms=2, total=9)"))


def _some(chance: Random) -> list[str]:
    return [chance.choice(sorted(NAMED)) for _ in range(chance.randint(1, 3))]


def run_passes(text: str, depth: Depth) -> None:
    """Read passes; written and read again they are the same. Deep cases run them."""
    passes = read_passes(text)
    assert read_passes(passes_text(passes)) == passes
    if depth >= Depth.DERIVE:
        graph = _graph()
        for one in passes:
            graph = one.apply(graph)


@cache
def _graph() -> Graph:
    return kg.derive(parse(sources.SMALL_MODELS[1]), "tau")


def make_question(chance: Random) -> str:
    """A question to a store, damaged."""
    text = chance.choice(QUESTIONS)
    return damaged_text(text, chance, ("select", "from", "two", "union", "--", "'", "::", "limit -1"))


def run_question(text: str, depth: Depth) -> None:
    """Ask a small store; whatever is asked, it stays what it is."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    if not words:
        return
    store = _store()
    answer_to(store, Question(words[0], tuple(words[1:]), limit=20, seconds=2))


@cache
def _store() -> Store:
    store = open_store(Path(mkdtemp()) / "store.sqlite")
    add(store, kg.parse(sources.SMALL_MODELS[1].replace("parameters", "model two; parameters")), "tau")
    return store


@contextmanager
def _file(name: str, text: str) -> Iterator[Path]:
    """A file in a folder of its own; the characters U+DC80 to U+DCFF are single bytes that are not text."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        yield path
