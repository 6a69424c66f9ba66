"""The model database: mechanisms, graphs, expressions, counts, sources and runs in SQLite or PostgreSQL.

from kinegraph.store import add, evaluate, form_expressions, open_store

store = open_store("models.sqlite")
add(store, kg.load("rackovic-6r"), "H,C,gravity")
evaluate(store, "rackovic-6r", ["H11"], {"q2": -0.5})
print(*form_expressions(store, "rackovic-6r", "H11"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.store.query.sql import query
    from kinegraph.store.read.check import check
    from kinegraph.store.read.code import code
    from kinegraph.store.read.evaluate import evaluate
    from kinegraph.store.read.expression import Form, form_expressions
    from kinegraph.store.read.load import load, load_part
    from kinegraph.store.schema.open import Store, open_store
    from kinegraph.store.schema.records import GraphRecord, ModelRecord, PassRecord, SavedModel
    from kinegraph.store.write.add import add, kernel
    from kinegraph.store.write.history import diff, prune
    from kinegraph.store.write.reduce import reduce_stored
    from kinegraph.store.write.rewrite import eliminate
    from kinegraph.store.write.save import save, save_run, save_source

__all__ = [
    "Form", "GraphRecord", "ModelRecord", "PassRecord", "SavedModel", "Store", "add", "check", "code", "diff",
    "eliminate", "evaluate", "form_expressions", "kernel", "load", "load_part", "open_store", "prune", "query",
    "reduce_stored", "save", "save_run", "save_source",
]  # fmt: skip

load_on_demand(
    __name__,
    {
        "query": "kinegraph.store.query.sql",
        "check": "kinegraph.store.read.check",
        "code": "kinegraph.store.read.code",
        "evaluate": "kinegraph.store.read.evaluate",
        **dict.fromkeys(("Form", "form_expressions"), "kinegraph.store.read.expression"),
        **dict.fromkeys(("load", "load_part"), "kinegraph.store.read.load"),
        **dict.fromkeys(("Store", "open_store"), "kinegraph.store.schema.open"),
        **dict.fromkeys(("GraphRecord", "ModelRecord", "PassRecord", "SavedModel"), "kinegraph.store.schema.records"),
        **dict.fromkeys(("add", "kernel"), "kinegraph.store.write.add"),
        **dict.fromkeys(("diff", "prune"), "kinegraph.store.write.history"),
        "reduce_stored": "kinegraph.store.write.reduce",
        "eliminate": "kinegraph.store.write.rewrite",
        **dict.fromkeys(("save", "save_run", "save_source"), "kinegraph.store.write.save"),
    },
)
