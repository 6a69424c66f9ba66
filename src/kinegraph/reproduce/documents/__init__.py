"""One file a document."""

from __future__ import annotations

from kinegraph.reproduce.document import Document
from kinegraph.reproduce.documents.database import DATABASE
from kinegraph.reproduce.documents.inverse import INVERSE
from kinegraph.reproduce.documents.kidym import KIDYM

DOCUMENTS: dict[str, Document] = {one.word: one for one in (KIDYM, INVERSE, DATABASE)}
