"""Principal axes: eigenvectors, and the same dynamics without products of inertia."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinegraph as kg
from kinegraph.model.changes.principal_axes import principal_axes_report

ODD = """
    parameters J = 2; coordinates q1, q2; gravity 1, 2, -9.81;
    A   | Rz(q1)        | Sx(0.3), Ry(0.4), m(1), Jx(J), Jy(2.5), Jz(3), Jxy(0.5), Jyz(-0.3), Jxz(0.2);
    B~A | Sx(1), Ry(q2) | Sz(-0.4), m(2), Jx(1), Jy(1.2), Jz(0.9), Jyz(0.1);
    C~B | Sz(1)         | m(1), Jx(1), Jy(1), Jz(1);
"""


def tensor(inertia):
    jx, jy, jz, jxy, jyz, jxz = inertia
    return np.array([[jx, -jxy, -jxz], [-jxy, jy, -jyz], [-jxz, -jyz, jz]])


def test_report_holds_eigenvectors():
    first, second = principal_axes_report(kg.parse(ODD))
    assert (first.body, second.body) == ("A", "B")
    for one, moments in [(first, (2, 2.5, 3, 0.5, -0.3, 0.2)), (second, (1, 1.2, 0.9, 0, 0.1, 0))]:
        axes = np.array(one.axes).T
        assert np.linalg.det(axes) == pytest.approx(1)
        np.testing.assert_allclose(axes @ np.diag(one.moments) @ axes.T, tensor(moments), atol=1e-14)


def test_the_quaternion_turns_the_central_frame_into_the_principal_axes():
    for axes in principal_axes_report(kg.parse(ODD)):
        w, x, y, z = axes.quaternion
        turn = Rotation.from_quat([x, y, z, w]).as_matrix()
        assert np.allclose(turn, np.transpose(axes.axes), atol=1e-12)


def test_nothing_to_do_without_products_or_values():
    mechanism = kg.parse("parameters k; coordinates q; A | Rz(q) | m(1), Jx(1), Jy(1), Jz(1), Jxy(k);")
    assert principal_axes_report(mechanism) == ()
