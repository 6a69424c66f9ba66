"""The model database: mechanisms, graphs, expressions, counts, sources and runs in SQLite or PostgreSQL.

from kinegraph.store import add, evaluate, form_expressions, open_store

store = open_store("models.sqlite")
add(store, kg.load("rackovic-6r"), "H,C,gravity")
evaluate(store, "rackovic-6r", ["H11"], {"q2": -0.5})
print(*form_expressions(store, "rackovic-6r", "H11"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.store.catalog import GraphRecord, ModelRecord, PassRecord, SavedModel
    from kinegraph.store.database import Store, open_store
    from kinegraph.store.differentiation import differentiate
    from kinegraph.store.elimination import eliminate
    from kinegraph.store.evaluation import evaluate
    from kinegraph.store.expressions import Form, form_expressions
    from kinegraph.store.graphs import load, load_part
    from kinegraph.store.maintenance import check, diff, prune
    from kinegraph.store.models import add, kernel
    from kinegraph.store.queries import query
    from kinegraph.store.reduction import reduce_stored
    from kinegraph.store.saving import save, save_run, save_source
    from kinegraph.store.source_code import code

__all__ = [
    "Form", "GraphRecord", "ModelRecord", "PassRecord", "SavedModel", "Store", "add", "check", "code", "diff",
    "differentiate", "eliminate", "evaluate", "form_expressions", "kernel", "load", "load_part", "open_store", "prune",
    "query", "reduce_stored", "save", "save_run", "save_source",
]  # fmt: skip

load_on_demand(
    __name__,
    {
        "query": "kinegraph.store.queries",
        "check": "kinegraph.store.maintenance",
        "code": "kinegraph.store.source_code",
        "evaluate": "kinegraph.store.evaluation",
        **dict.fromkeys(("Form", "form_expressions"), "kinegraph.store.expressions"),
        **dict.fromkeys(("load", "load_part"), "kinegraph.store.graphs"),
        **dict.fromkeys(("Store", "open_store"), "kinegraph.store.database"),
        **dict.fromkeys(("GraphRecord", "ModelRecord", "PassRecord", "SavedModel"), "kinegraph.store.catalog"),
        **dict.fromkeys(("add", "kernel"), "kinegraph.store.models"),
        **dict.fromkeys(("diff", "prune"), "kinegraph.store.maintenance"),
        "reduce_stored": "kinegraph.store.reduction",
        "differentiate": "kinegraph.store.differentiation",
        "eliminate": "kinegraph.store.elimination",
        **dict.fromkeys(("save", "save_run", "save_source"), "kinegraph.store.saving"),
    },
)
