"""Enclosures contain all values of a node in a box, and converge with it."""

import numpy as np

from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.enclose import Enclosed, Enclosure
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Kind, Output

NAMES = ("x", "y", "z")


def enclosed_functions():
    """Functions of x, y and z with middle and radius of each."""
    builder = GraphBuilder()
    x, y, z = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in NAMES)
    functions = [x * y - z**2 * x + 3 * x**3, (x * x + y * y).apply("sqrt"), (x * x + 1).apply("log")]
    functions += [x.apply(name) for name in ("sin", "cos", "exp", "atan", "sinh", "cosh", "tanh", "abs", "sign")]
    functions += [x.reciprocal(), x.apply("atan2", y), (x * y).apply("select", x.sin(), y * z)]
    functions += [x.sin().apply("asin"), x.cos().apply("acos"), (y * z).apply("guarded", x * x)]
    radii = [Scalar(builder, builder.symbol(Kind.INPUT, f"r{name}")) for name in NAMES]
    enclosed = Enclosed(builder, {one.index: Enclosure(one, r) for one, r in zip((x, y, z), radii, strict=True)})
    nodes = [part.index for one in functions for part in (one, *enclosed(one.index))]
    return builder.graph([Output("all", (len(functions), 3), tuple(nodes))])


def values(graph, points, radii):
    given = dict(zip(NAMES, points.T, strict=True)) | {f"r{n}": r for n, r in zip(NAMES, radii.T, strict=True)}
    return interpret(graph, given)["all"]


def test_no_value_in_a_box_is_outside_its_enclosure():
    graph, random, narrow = enclosed_functions(), np.random.default_rng(3), 0
    for _ in range(60):
        middle, radii = 2 * random.normal(size=3), 10.0 ** random.uniform(-5, 1, 3)
        points = middle + radii * random.uniform(-1, 1, (400, 3))
        points[::3] = middle + radii * np.sign(points[::3] - middle)
        found = values(graph, points, np.zeros_like(points))[..., 0]
        _, centers, around = values(graph, middle[None], radii[None])[0].T
        known = np.isfinite(centers + around)
        outside = np.abs(found - centers) - around
        assert np.all(outside[:, known] <= 1e-9 * (1 + np.abs(centers) + around)[known])
        narrow += np.count_nonzero(around < 30 * radii.max())
    assert narrow > 400


def test_a_point_is_its_own_enclosure():
    graph, random = enclosed_functions(), np.random.default_rng(5)
    points = random.normal(size=(20, 3))
    found = values(graph, points, np.zeros_like(points))
    np.testing.assert_allclose(found[..., 1], found[..., 0], rtol=1e-12)
    np.testing.assert_array_equal(found[..., 2], 0.0)
