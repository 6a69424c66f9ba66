"""The page docs/mjcf.md: what the reader does with every element and attribute of MJCF, from its own tables.

`python -m kinegraph.io.mjcf > docs/mjcf.md` writes it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kinegraph.io.mjcf.body_tree import GENERATED
from kinegraph.io.mjcf.reader import MJCF
from kinegraph.io.robot.vocabulary import Bearing, Entry

_HEAD = """# MJCF: every element and attribute

The reader has a table of all elements and attributes of MJCF. This page is made from that table,
and the tests compare the table with the schema of MuJoCo, so nothing is dropped unsaid. What is in
no column is reported as not understood. [Robot files](robots.md#mjcf) explains what becomes of
them.

* **used**: part of the mechanism;
* **no effect**: on the motion, so it is ignored (pictures, sensors, settings of MuJoCo's solver);
* **reported**: not in the equations, and listed by `kinegraph check` and `mechanism.report`;
* **contacts**: contacts, ranges and dry friction of `kg.simulator(..., contacts=True)` do without
  it, because they are rigid; listed too, and the simulator warns of it;
* **refused**: an error that says what to do.

An attribute is reported only if its value has an effect. Actuators, tendons and constraints that
are used as a whole may still be reported by name, for example a delayed actuator, with the reason.
"""


def page() -> str:
    """The whole page."""
    rows = ["| element | used | no effect | reported | contacts |", "|---|---|---|---|---|"]
    rows += [_row(*one) for one in _entries()]
    refused = "\n".join(f"* `<{tag}>`: {reason}" for tag, (reason, _) in sorted(GENERATED.items()))
    return f"{_HEAD}\n" + "\n".join(rows) + f"\n\n**Refused**\n\n{refused}\n"


def _entries() -> Iterator[tuple[str, str, Entry]]:
    """Each entry once, with the shortest path to it."""
    seen: set[str] = set()
    pending = [("mujoco", "mujoco")]
    while pending:
        path, key = pending.pop(0)
        entry = MJCF[key]
        if key in seen:
            continue
        seen.add(key)
        yield path, key, entry
        inner = ((tag, key) for tag, key in entry.children.items() if key not in ("generated", "idle"))
        pending += [(f"{path}/{tag}", key) for tag, key in inner]


def _row(path: str, key: str, entry: Entry) -> str:
    by_bearing: dict[Bearing, list[str]] = {bearing: [] for bearing in Bearing}
    for name, one in entry.attributes.items():
        by_bearing[one.bearing].append(name)
    idle_children = [f"<{tag}>" for tag, inner in entry.children.items() if inner == "idle"]
    if entry.bearing is not Bearing.UNDERSTOOD:
        idle = entry.bearing is Bearing.IDLE
        cells = ["", "the whole element", "", ""] if idle else ["", "", f"the whole element ({entry.topic})", ""]
    else:
        cells = [
            _listed(by_bearing[Bearing.UNDERSTOOD]),
            _listed([*by_bearing[Bearing.IDLE], *idle_children]),
            _listed(by_bearing[Bearing.LEFT_OUT]),
            _listed(by_bearing[Bearing.CONTACTS]),
        ]
    if key == "an_actuator":
        path = "actuator/all actuators"
    where = path.removeprefix("mujoco/").replace("/", " / ")
    return f"| {where} | {' | '.join(cells)} |"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
