"""Questions as words: what `kinegraph store query` and the studio hand over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kinegraph.errors import StoreError
from kinegraph.model.names import did_you_mean
from kinegraph.store.query import questions
from kinegraph.store.query.sql import Answer, query
from kinegraph.store.read.expression import Form
from kinegraph.store.schema.model_tables import MODEL_PARTS
from kinegraph.store.schema.open import Store
from kinegraph.store.write.history import diff


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what it is about, and how much of an answer is wanted."""

    question: str
    words: tuple[str, ...] = ()
    limit: int = 1000
    seconds: float = 60.0
    numeric: bool = False
    sums: bool = False


def _check_characters(word: str) -> None:
    """StoreError for what is no text: a database could not read it."""
    try:
        word.encode()
    except UnicodeEncodeError as error:
        place = f"character {error.start + 1} of {word!a}"
        raise StoreError(f"{place} is none of Unicode: write the question in UTF-8") from None


def answer_to(store: Store, given: Question) -> Answer:
    """The answer to a question by its word; StoreError if the word or the number of its arguments is wrong."""
    if given.question not in _QUESTIONS:
        raise StoreError(f"there is no question {given.question!r}; {did_you_mean(given.question, _QUESTIONS)}")
    usage, least, most, answer = _QUESTIONS[given.question]
    if not least <= len(given.words) <= most:
        raise StoreError(f"write `{given.question} {usage}`; {len(given.words)} words were given")
    for word in given.words:
        _check_characters(word)
    found = answer(store, given)
    return Answer(found.columns, found.rows[: given.limit], found.more or len(found.rows) > given.limit)


def _terms(store: Store, given: Question) -> Answer:
    model, output, names = given.words
    containing = [name.strip() for name in names.split(",")]
    return questions.terms(store, model, output, containing, Form(given.numeric, given.sums))


def _changed(store: Store, given: Question) -> Answer:
    name, *versions = given.words
    try:
        found = diff(store, name, *(int(version) for version in versions))
    except ValueError:
        raise StoreError("versions are whole numbers: changed NAME OLD NEW") from None
    rows = [("removed", line, "") for line in found.removed] + [("added", line, "") for line in found.added]
    rows += [(f"count {c.stage}", str(c.before or "none"), str(c.after or "none")) for c in found.counts]
    return Answer(("what", "before", "after"), tuple(rows))


def _parts(what: str) -> Callable[[Store, Question], Answer]:
    return lambda store, given: questions.model_parts(store, what, given.words[0])


_QUESTIONS: dict[str, tuple[str, int, int, Callable[[Store, Question], Answer]]] = {
    "depends": ("MODEL OUTPUT", 2, 2, lambda store, given: questions.depends(store, *given.words)),
    "uses": ("SYMBOL", 1, 1, lambda store, given: questions.uses(store, given.words[0])),
    "affects": ("MODEL SYMBOL", 2, 2, lambda store, given: questions.affects(store, *given.words)),
    "terms": ("MODEL OUTPUT NAME,...", 3, 3, _terms),
    "shared": ("MODEL", 1, 1, lambda store, given: questions.shared(store, given.words[0])),
    "defined": ("MODEL", 1, 1, lambda store, given: questions.defined(store, given.words[0])),
    "costliest": ("MODEL", 1, 1, lambda store, given: questions.costliest(store, given.words[0])),
    "levels": ("MODEL", 1, 1, lambda store, given: questions.levels(store, given.words[0])),
    **{what: ("MODEL", 1, 1, _parts(what)) for what in MODEL_PARTS},
    "changed": ("NAME [OLD NEW]", 1, 3, _changed),
    "sql": (
        "STATEMENT",
        1,
        1,
        lambda store, given: query(store, given.words[0], limit=given.limit, seconds=given.seconds),
    ),
}
