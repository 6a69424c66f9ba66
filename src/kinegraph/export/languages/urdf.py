"""The mechanism as URDF."""

from __future__ import annotations

from kinegraph.errors import KernelError
from kinegraph.export.identifiers import prefix
from kinegraph.export.options import ExportOptions
from kinegraph.export.text import MARK, kinegraph_version
from kinegraph.graph.node import Graph
from kinegraph.io.urdf.writing.write import write_urdf
from kinegraph.model.mechanism import Mechanism


def urdf_files(source: Mechanism | Graph, options: ExportOptions) -> tuple[dict[str, str], tuple[str, ...]]:
    """One file and what to know about it; parameters become numbers."""
    if isinstance(source, Graph):
        raise KernelError("a graph has no links and joints: export the mechanism it came from")
    urdf = write_urdf(source, options.parameters, f"{MARK} {kinegraph_version()}.")
    return {f"{prefix(options.name or source.name)}.urdf": urdf.text}, urdf.notes
