"""One file per document."""

from __future__ import annotations

from kinegraph.reproduce.document import Document
from kinegraph.reproduce.documents.database import DATABASE
from kinegraph.reproduce.documents.docking import DOCKING
from kinegraph.reproduce.documents.inverse import INVERSE
from kinegraph.reproduce.documents.kidym import KIDYM
from kinegraph.reproduce.documents.loops import LOOPS

DOCUMENTS: dict[str, Document] = {one.word: one for one in (KIDYM, INVERSE, LOOPS, DATABASE, DOCKING)}
