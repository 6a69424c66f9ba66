"""The mechanism back in the model language."""

from __future__ import annotations

from kinegraph.errors import KernelError
from kinegraph.export.identifiers import prefix
from kinegraph.export.text import MARK, kinegraph_version
from kinegraph.graph.node import Graph
from kinegraph.io.records.write import write
from kinegraph.model.mechanism import Mechanism


def records_files(source: Mechanism | Graph, name: str | None) -> dict[str, str]:
    """One model file; read again it is the same mechanism."""
    if isinstance(source, Graph):
        raise KernelError("a graph has no records: export the mechanism it came from")
    return {f"{prefix(name or source.name)}.kg": f"# {MARK} {kinegraph_version()}.\n{write(source)}"}
