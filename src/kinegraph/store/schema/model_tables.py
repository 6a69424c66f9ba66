"""The tables of a mechanism's own parts. Its text holds the same; here SQL can ask for them.

Expressions are texts of the model language. All tables begin with the mechanism and the number of the row.
"""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, Table, Text
from sqlalchemy.schema import SchemaItem

from kinegraph.store.schema.tables import metadata


def _parts(name: str, *columns: SchemaItem) -> Table:
    mechanism = ForeignKey("mechanism.id", ondelete="CASCADE")
    keys = (
        Column("mechanism", Integer, mechanism, primary_key=True),
        Column("ordinal", Integer, primary_key=True, autoincrement=False),
    )
    return Table(name, metadata, *keys, *columns, sqlite_with_rowid=False)


def _word(name: str, optional: bool = False) -> Column[str]:
    return Column(name, Text, nullable=optional)


#: A body; no base means the fixed frame. Moments are about the centre of mass.
body = _parts(
    "body",
    _word("name"),
    _word("base", optional=True),
    *(_word(name) for name in ("mass", "jx", "jy", "jz", "jxy", "jyz", "jxz")),
)

#: An elementary transform of a body: `place` is "link" (from its base to it) or "central" (on to its centre of mass).
#: `kind` is rotation, shift or quaternion, `amount` an angle, a distance or four components.
transform = _parts(
    "transform",
    _word("body"),
    _word("place"),
    Column("position", Integer, nullable=False),
    _word("kind"),
    _word("axis", optional=True),
    _word("amount"),
)

#: A moving transform between a body and its base: `kind` is revolute, prismatic or spherical.
joint = _parts(
    "joint",
    _word("body"),
    _word("base", optional=True),
    _word("kind"),
    _word("axis", optional=True),
    _word("coordinates"),
)

#: A spring, damper, force ...; `text` is its statement.
element = _parts("element", _word("name"), _word("kind"), _word("text"))

#: A joint that closes a loop, or a coupling of two coordinates; `rows` is how many motions it takes away.
loop = _parts(
    "loop",
    _word("name"),
    _word("kind"),
    _word("first", optional=True),
    _word("second", optional=True),
    Column("rows", Integer, nullable=False),
    _word("text"),
)

#: A constraint or a contact; `kind` is constraint or contact.
constraint_equation = _parts("constraint_equation", _word("name"), _word("kind"), _word("text"))

#: A name for an expression; `kind` is definition or quasivelocity, `value` the expression.
definition = _parts("definition", _word("name"), _word("kind"), _word("value"))

#: How a graph came about: the graph it was reduced from, and the passes or the effort that did it.
reduction = Table(
    "reduction",
    metadata,
    Column("graph", Integer, ForeignKey("graph.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("origin", Integer, ForeignKey("graph.id", ondelete="SET NULL")),
    Column("passes", Text, nullable=False),
)

#: The tables of a mechanism's parts, by the questions that ask for them.
MODEL_PARTS: dict[str, Table] = {
    "bodies": body,
    "transforms": transform,
    "joints": joint,
    "elements": element,
    "loops": loop,
    "constraints": constraint_equation,
    "definitions": definition,
}
