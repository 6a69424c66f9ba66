"""Collada (.dae) meshes, read by pycollada where the extra `mesh` is installed."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.io.robot.xml import parse_xml
from kinegraph.solve.problem.problem import Floats


def collada_triangles(data: bytes) -> tuple[Floats, Floats]:
    """Corners in metres and triangles of a Collada document; ValueError if it cannot be read.

    Nodes are placed as the document says. Its up axis is not turned, as the viewers of ROS do not turn it either.
    """
    try:
        import collada
    except ModuleNotFoundError:
        raise ValueError("Collada needs pycollada: pip install 'kinegraph[mesh]'") from None
    try:
        parse_xml(data)  # refuses document types, entities and what is too large
        ignored = [collada.common.DaeUnsupportedError, collada.common.DaeBrokenRefError]
        document = collada.Collada(BytesIO(data), ignore=ignored)
        return _joined(document)
    except (ModelError, collada.common.DaeError, ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"this is no Collada mesh: {error}") from None


def _joined(document: object) -> tuple[Floats, Floats]:
    scene, scale = document.scene, float(document.assetInfo.unitmeter or 1.0)  # type: ignore[attr-defined]
    corners: list[Floats] = []
    triangles: list[Floats] = []
    count = 0
    for geometry in scene.objects("geometry") if scene is not None else ():
        for primitive in geometry.primitives():
            faces = primitive.triangleset() if hasattr(primitive, "triangleset") else primitive
            if np.shape(faces.vertex_index)[1:] != (3,):
                continue  # lines
            corners.append(np.asarray(faces.vertex, float) * scale)
            triangles.append(np.asarray(faces.vertex_index, float) + count)
            count += len(corners[-1])
    if not triangles:
        raise LookupError("it has no triangles")
    return np.concatenate(corners), np.concatenate(triangles)
