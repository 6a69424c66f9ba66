"""`kinegraph store`: the model database."""

from __future__ import annotations

import typer

from kinegraph.cli.store.reading import QUESTIONS, check, code, evaluate, expression, list_models, query, show
from kinegraph.cli.store.writing import add, diff, eliminate, prune, reduce

app = typer.Typer(
    help="The model database: add, list, show, query, eval, expression, code, reduce, diff, prune, check."
)

app.command("add")(add)
app.command("list")(list_models)
app.command("show")(show)
app.command("query", help="Ask the store a question:\n\n" + QUESTIONS)(query)
app.command("eval")(evaluate)
app.command("expression")(expression)
app.command("code")(code)
app.command("diff")(diff)
app.command("prune")(prune)
app.command("eliminate")(eliminate)
app.command("reduce")(reduce)
app.command("check")(check)
