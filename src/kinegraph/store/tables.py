"""The tables of the model database. `docs/store.md` maps their names to those of the dissertation."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem

# A graph is a set of *variables*; a variable is a sum of *terms*, a term a coefficient times *factors*. The order of a
# graph's nodes is the order of the codes. Coefficients are doubles, with which SQL can compute; if a double is not
# exact, `exact` contains the rational as text.

#: Incremented when a table changes. A store with a higher number is not touched, one with a lower number is migrated.
#: 2: tables of bodies, transforms, joints, elements, loops and constraints, and of reductions. 3: of definitions. 4:
#: variables that are definitions. 5: a variable may have several names.
SCHEMA_VERSION = 5

metadata = MetaData()


def _graph_column() -> Column[int]:
    return Column("graph", Integer, ForeignKey("graph.id", ondelete="CASCADE"), primary_key=True)


def _part(name: str, *columns: SchemaItem) -> Table:
    """A table of the parts of graphs: clustered by its key, which begins with the graph."""
    return Table(name, metadata, _graph_column(), *columns, sqlite_with_rowid=False)


#: One row: the program that wrote the store, and the version of its tables.
identity = Table(
    "kinegraph_store",
    metadata,
    Column("schema_version", Integer, primary_key=True),
    Column("written_by", Text, nullable=False),
    Column("created", Text, nullable=False),
)

#: The text of a mechanism; saving another text under a name adds a version.
mechanism = Table(
    "mechanism",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("created", Text, nullable=False),
    UniqueConstraint("name", "version"),
)

#: A computation graph of one mechanism at one stage ("initial", "reduced", ...); `hash` is that of its text form.
graph = Table(
    "graph",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("mechanism", Integer, ForeignKey("mechanism.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("stage", Text, nullable=False),
    Column("quantities", Text, nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("levels", Integer, nullable=False),
    Column("hash", Text, nullable=False),
    Column("proved", Boolean),
    Column("created", Text, nullable=False),
)

#: A node. `kind`: the kind of a symbol, or "sum" or "function". Level 0: it depends on nothing.
variable = _part(
    "variable",
    Column("code", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("name", Text),
    Column("level", Integer, nullable=False),
    Column("static", Boolean(create_constraint=False), nullable=False),
    Column("value", Double),
    Column("exact", Text),
)
Index("variable_by_level", variable.c.graph, variable.c.level, variable.c.code)

#: One summand of a variable of kind "sum".
term = _part(
    "term",
    Column("variable", Integer, primary_key=True, autoincrement=False),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("coefficient", Double, nullable=False),
    Column("exact", Text),
)

#: A variable that a term multiplies.
factor = _part(
    "factor",
    Column("variable", Integer, primary_key=True, autoincrement=False),
    Column("term", Integer, primary_key=True, autoincrement=False),
    Column("factor", Integer, primary_key=True, autoincrement=False),
    Column("exponent", BigInteger, nullable=False),
)

#: An argument of a variable of kind "function" (its `name` is the function).
argument = _part(
    "argument",
    Column("variable", Integer, primary_key=True, autoincrement=False),
    Column("position", SmallInteger, primary_key=True, autoincrement=False),
    Column("argument", Integer, nullable=False),
)

#: A name of a variable, or of its negative: a definition of the model (`definition.name`), or a component of an axis or
#: an arm of the closed form.
defined = _part(
    "defined",
    Column("variable", Integer, primary_key=True, autoincrement=False),
    Column("definition", Text, primary_key=True),
    Column("negative", Boolean(create_constraint=False), nullable=False),
)

#: A named array of variables; `shape` is "6,6" for a matrix and empty for a scalar.
output = _part(
    "output",
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("shape", Text, nullable=False),
)

#: One entry of an output; `label` is H[1,2], counted from one.
entry = _part(
    "entry",
    Column("output", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("label", Text, nullable=False),
    Column("variable", Integer, nullable=False),
)


def _expression_key() -> tuple[Column[int], Column[str]]:
    """Whose expression it is, and in which form: see `expression.Form`."""
    return Column("variable", Integer, primary_key=True, autoincrement=False), Column("form", Text, primary_key=True)


#: One term of a complete analytic expression; zero is one term with the coefficient 0.
expression_term = _part(
    "expression_term",
    *_expression_key(),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("coefficient", Double, nullable=False),
    Column("exact", Text),
)

#: A basic quantity in such a term: a variable itself (function ''), or its sine or cosine.
expression_factor = _part(
    "expression_factor",
    *_expression_key(),
    Column("term", Integer, primary_key=True, autoincrement=False),
    Column("factor", Integer, primary_key=True, autoincrement=False),
    Column("function", Text, primary_key=True),
    Column("exponent", BigInteger, nullable=False),
)

#: Operations after each pass that led to a graph.
pass_count = _part(
    "pass_count",
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    *(Column(c, BigInteger, nullable=False) for c in ("mul", "add", "div", "sqrt", "sin", "cos", "other")),
    Column("seconds", Double),
)

#: Program text generated from a graph.
source = Table(
    "source",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("graph", Integer, ForeignKey("graph.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("language", Text, nullable=False),
    Column("quantities", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("created", Text, nullable=False),
)

#: A computation with a mechanism: its settings and the path of its result.
run = Table(
    "run",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("mechanism", Integer, ForeignKey("mechanism.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("graph", Integer, ForeignKey("graph.id"), index=True),
    Column("settings", JSON, nullable=False),
    Column("result", Text),
    Column("created", Text, nullable=False),
    CheckConstraint("result IS NULL OR result <> ''"),
)

#: The tables of the parts of graphs, in the order they are written.
PARTS = (variable, term, factor, argument, defined, output, entry, expression_term, expression_factor, pass_count)


# The tables of a mechanism's own parts. Its text contains the same; here SQL can query them. Expressions are texts of
# the model language. All tables begin with the mechanism and the number of the row.


def _parts(name: str, *columns: SchemaItem) -> Table:
    mechanism = ForeignKey("mechanism.id", ondelete="CASCADE")
    keys = (
        Column("mechanism", Integer, mechanism, primary_key=True),
        Column("ordinal", Integer, primary_key=True, autoincrement=False),
    )
    return Table(name, metadata, *keys, *columns, sqlite_with_rowid=False)


def _word(name: str, optional: bool = False) -> Column[str]:
    return Column(name, Text, nullable=optional)


#: A body; no base means the fixed frame. Moments are about the center of mass.
body = _parts(
    "body",
    _word("name"),
    _word("base", optional=True),
    *(_word(name) for name in ("mass", "jx", "jy", "jz", "jxy", "jyz", "jxz")),
)

#: An elementary transform of a body: `place` is "link" (from its base to it) or "central" (to its center of mass).
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

#: A joint that closes a loop, or a coupling of two coordinates; `rows` is the number of constraints.
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

#: The origin of a graph: the graph it was reduced from, and the passes or the effort.
reduction = Table(
    "reduction",
    metadata,
    Column("graph", Integer, ForeignKey("graph.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("origin", Integer, ForeignKey("graph.id", ondelete="SET NULL")),
    Column("passes", Text, nullable=False),
)

#: The tables of a mechanism's parts, by the names of their questions.
MODEL_PARTS: dict[str, Table] = {
    "bodies": body,
    "transforms": transform,
    "joints": joint,
    "elements": element,
    "loops": loop,
    "constraints": constraint_equation,
    "definitions": definition,
}
