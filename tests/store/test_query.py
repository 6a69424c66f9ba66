"""Questions: the ready ones, and free SQL that can change nothing."""

from pathlib import Path

import pytest

from kinegraph import library
from kinegraph.errors import StoreError
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph
from kinegraph.store import Form, GraphRecord, ModelRecord, add, form_expressions, load, open_store, query, save
from kinegraph.store import queries as questions
from kinegraph.store.queries import Question, answer_to
from tests.effort import SOAK


@pytest.fixture(scope="module")
def arm(shared_store):
    add(shared_store, library.mechanism("double-pendulum"), "H,tau,gravity")
    return shared_store


def test_what_an_entry_depends_on(arm):
    answer = questions.depends(arm, "double-pendulum", "H22")
    assert [row[:2] for row in answer.rows] == [("parameter", "m2"), ("parameter", "l2")]
    assert {row[1] for row in questions.depends(arm, "double-pendulum", "H").rows} == {"m1", "m2", "l1", "l2", "q2"}
    with pytest.raises(StoreError, match="no output 'H33'"):
        questions.depends(arm, "double-pendulum", "H33")


def test_what_a_symbol_affects(arm):
    answer = questions.affects(arm, "double-pendulum", "m1")
    assert answer.rows == (("H[1,1]",), ("tau[1]",), ("gravity[1]",))
    with pytest.raises(StoreError, match="did you mean `m1`"):
        questions.affects(arm, "double-pendulum", "M1")


def test_which_models_use_a_parameter(arm):
    save(arm, ModelRecord("other", "some text", (GraphRecord("initial", ("H",), load(arm, "double-pendulum")),)))
    rows = questions.uses(arm, "m2").rows
    assert {row[0] for row in rows} == {"double-pendulum", "other"} and {row[2] for row in rows} == {"parameter"}
    assert answer_to(arm, Question("uses", ("l2",))).rows
    with pytest.raises(StoreError, match="no model in the store has a symbol 'm3'; available: l1"):
        questions.uses(arm, "m3")


def test_terms_that_contain_names(arm):
    answer = questions.terms(arm, "double-pendulum", "tau2", ["q1'", "l1"], Form())
    assert answer.rows == (("tau[2]", "m2*l1*l2*q1'^2*sin(q2)"),) or len(answer.rows) == 1
    whole = questions.terms(arm, "double-pendulum", "tau2", [], Form())
    assert len(whole.rows) > len(answer.rows)


def test_shared_subexpressions(arm):
    answer = questions.shared(arm, "double-pendulum", limit=3)
    graph = load(arm, "double-pendulum")
    assert len(answer.rows) == 3
    for variable, level, uses, _ in answer.rows:
        assert (level, uses) == (graph.levels[int(variable[1:])], graph.use_counts[int(variable[1:])])
    assert answer.rows[0][2] == max(u for u, level in zip(graph.use_counts, graph.levels, strict=True) if level)


def test_costliest_outputs(arm):
    answer = questions.costliest(arm, "double-pendulum")
    graph = load(arm, "double-pendulum")
    costs = {row[0]: row[1:3] for row in answer.rows}
    for output in graph.outputs:
        alone = count(Graph(graph.nodes, (output,)))
        assert costs[output.name] == (alone.mul, alone.add)
    assert answer.rows[0][0] == "tau"


def test_levels(arm):
    answer = questions.levels(arm, "double-pendulum")
    assert sum(row[1] for row in answer.rows) == len(load(arm, "double-pendulum"))


def test_free_sql(arm):
    sql = "SELECT name FROM variable WHERE kind = :kind AND graph = 1 AND name LIKE 'm%' ORDER BY name"
    assert query(arm, sql, {"kind": "parameter"}).rows == (("m1",), ("m2",))
    assert query(arm, "SELECT name FROM variable WHERE kind = 'coordinate' AND name LIKE 'q%' LIMIT 1").rows
    limited = query(arm, "SELECT code FROM variable ORDER BY code", limit=4)
    assert (len(limited.rows), limited.more) == (4, True)
    assert limited.records()[0] == {"code": 0}


def test_the_documented_statements(arm):
    page = (Path(__file__).parents[2] / "docs" / "store.md").read_text()
    statements = [line.strip() for line in page.splitlines() if line.startswith("    SELECT")]
    assert len(statements) == 4
    form_expressions(arm, "double-pendulum", "H", keep=True)
    assert all(query(arm, statement).rows for statement in statements)


WRITES = [
    "DELETE FROM graph",
    "UPDATE mechanism SET name = 'x'",
    "INSERT INTO kinegraph_store VALUES (9, 'x', 'y')",
    "DROP TABLE term",
    "CREATE TABLE mine (x INTEGER)",
    "SELECT 1; DELETE FROM graph",
    "COMMIT; DELETE FROM graph",
    "WITH gone AS (DELETE FROM graph RETURNING id) SELECT * FROM gone",
    "SELECT * INTO mine FROM graph",
    "ATTACH DATABASE '/tmp/kinegraph-attached.sqlite' AS other",
    "VACUUM INTO '/tmp/kinegraph-vacuumed.sqlite'",
    "PRAGMA query_only = OFF",
    "PRAGMA journal_mode = WAL",
    "SET TRANSACTION READ WRITE",
    "BEGIN",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "",
    "nonsense",
]


@pytest.mark.parametrize("statement", WRITES)
def test_nothing_but_reading(arm, statement):
    before = query(arm, "SELECT COUNT(*) FROM graph").rows
    with pytest.raises(StoreError):
        query(arm, statement)
    assert query(arm, "SELECT COUNT(*) FROM graph").rows == before
    assert query(arm, "SELECT COUNT(*) FROM mechanism WHERE name = 'double-pendulum'").rows[0][0] == 1


LARGE = [
    "SELECT randomblob(900000000)",
    "SELECT hex(zeroblob(100000000))",
    "SELECT " + "(" * 600 + "1" + ")" * 600,
    "SELECT " + " + ".join(["1"] * 1000),
    " UNION ALL ".join(["SELECT 1"] * 300),
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 900) SELECT randomblob(1000000) FROM n",
]


def test_printf_makes_nothing_beyond_its_limit(tmp_path):
    """Beyond its limit of 16 MB SQLite's printf gives nothing, without an error."""
    store = open_store(tmp_path / "store.sqlite")
    size = 1_000_000_000 if SOAK else 20_000_000
    assert query(store, f"SELECT printf('%.*c', {size}, 'x')").rows[0][0] is None
    store.close()


@pytest.mark.parametrize("statement", LARGE, ids=range(len(LARGE)))
def test_no_statement_takes_all_memory(tmp_path, statement):
    """SQLite looks at its time limit between steps only, so single steps must not be able to make gigabytes."""
    store = open_store(tmp_path / "store.sqlite")
    with pytest.raises(StoreError):
        query(store, statement, limit=100_000)
    store.close()


def test_a_query_without_end_is_stopped(arm):
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n"
    with pytest.raises(StoreError, match="took too long"):
        query(arm, endless, seconds=0.3)


@pytest.mark.parametrize(
    ("question", "words", "message"),
    [
        ("dpends", (), "did you mean `depends`"),
        ("depends", ("double-pendulum",), "write `depends MODEL OUTPUT`; 1 words"),
        ("changed", ("double-pendulum", "one", "two"), "versions are integers"),
        ("sql", ("SELECT x FROM nowhere",), "nowhere"),
        ("sql", ("SELECT \udcff",), "character 8 of .* is not valid Unicode"),
        ("costliest", (f"double-pendulum@{10**15}",), f"no version {10**15}"),
        ("costliest", (f"#{10**15}",), "no graph"),
        ("costliest", ("double-pendulum@" + "9" * 5000,), "is not a stored model"),
        ("changed", ("double-pendulum", "1", str(10**20)), "no version"),
        ("depends", ("double-pendulum", "%" + "9" * 5000), "no output"),
    ],
)
def test_a_wrong_question_says_how_to_ask(arm, question, words, message):
    with pytest.raises(StoreError, match=message):
        answer_to(arm, Question(question, words))


def test_a_long_answer_is_cut(arm):
    answer = answer_to(arm, Question("depends", ("double-pendulum", "tau"), limit=2))
    assert (len(answer.rows), answer.more) == (2, True)
