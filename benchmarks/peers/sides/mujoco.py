"""MuJoCo: mj_inverse and mj_forward with contacts, limits and all other constraints switched off."""

from __future__ import annotations

import ctypes
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.peers.robots import RobotCase
from benchmarks.peers.sides.build import Unavailable, shared_library
from benchmarks.peers.sides.peer import Loop, Peer, require_power_of_two
from benchmarks.peers.states import Array, State
from kinegraph.extras import Foreign

_FUNCTIONS = {"tau": "mujoco_inverse", "qdd": "mujoco_forward"}


class Mujoco(Peer):
    """MuJoCo's own generalized coordinates; for a floating base they are Kinegraph's."""

    name = "MuJoCo"

    def __init__(self, case: RobotCase, path: Path, joint_names: Sequence[str]) -> None:
        import mujoco

        self._mujoco = mujoco
        self.model = mujoco_model(mujoco, case, path)
        self.data = mujoco.MjData(self.model)
        self.floating = case.floating
        addresses = [self.model.joint(name).dofadr[0] for name in joint_names]
        offset = 6 if case.floating else 0
        #: Entry i of a MuJoCo vector is entry order[i] of a Pinocchio vector.
        self.order = np.arange(offset + len(joint_names))
        for index, address in enumerate(addresses):
            self.order[address] = offset + index
        self._library = mujoco_library(mujoco, _FUNCTIONS.values())

    def offers(self, quantity: str) -> bool:
        return quantity in _FUNCTIONS

    def rows(self, quantity: str, states: Sequence[State]) -> Array:
        """The arguments of a quantity in MuJoCo's order, a row for each state."""
        rows = []
        for state in states:
            q = state.fixed_q.copy()
            if self.floating:
                q[7:] = q[7:][self.order[6:] - 6]
            else:
                q = q[self.order]
            third = state.fixed_tau if quantity == "qdd" else state.fixed_a
            rows.append(np.concatenate([q, state.fixed_v[self.order], third[self.order]]))
        return np.array(rows)

    def value(self, quantity: str, state: State) -> Array:
        q, v, third = np.split(self.rows(quantity, [state])[0], [self.model.nq, self.model.nq + self.model.nv])
        data = self.data
        data.qpos[:], data.qvel[:] = q, v
        result = np.zeros(self.model.nv)
        if quantity == "tau":
            data.qacc[:] = third
            self._mujoco.mj_inverse(self.model, data)
            result[self.order] = data.qfrc_inverse
            return state.change @ result
        data.qfrc_applied[:] = third
        self._mujoco.mj_forward(self.model, data)
        result[self.order] = data.qacc
        return state.change @ result + state.change_rate @ state.fixed_v

    def loop(self, quantity: str, states: Sequence[State]) -> Loop:
        rows = self.rows(quantity, states)
        require_power_of_two(len(rows))
        function = getattr(self._library, _FUNCTIONS[quantity])
        model, data = self.model._address, self.data._address
        return lambda calls, seed: float(function(model, data, rows.ctypes.data, len(rows) - 1, calls, seed))


def mujoco_model(mujoco: Foreign, case: RobotCase, path: Path) -> Foreign:
    """The robot as MuJoCo reads it, without limits and contacts."""
    root = ElementTree.parse(path).getroot()
    extension = ElementTree.SubElement(root, "mujoco")
    # MuJoCo refuses links without mass and inertias no real body has; those robots it does not take part in.
    ElementTree.SubElement(extension, "compiler", fusestatic="true", strippath="true")
    ElementTree.SubElement(extension, "option", gravity="0 0 -9.81")
    if case.floating:
        _float_base(root)
    try:
        model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
    except ValueError as error:
        raise Unavailable(f"MuJoCo does not read {case.name}: {str(error).splitlines()[0]}") from None
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return model


def _float_base(root: ElementTree.Element) -> None:
    children = {joint.find("child").get("link") for joint in root.iter("joint")}  # type: ignore[union-attr]
    base = next(link.get("name") for link in root.iter("link") if link.get("name") not in children)
    ElementTree.SubElement(root, "link", name="bench_world")
    joint = ElementTree.SubElement(root, "joint", name="bench_base", type="floating")
    ElementTree.SubElement(joint, "parent", link="bench_world")
    ElementTree.SubElement(joint, "child", link=str(base))


def mujoco_library(mujoco: Foreign, functions: Iterable[str]) -> ctypes.CDLL:
    """Functions of `mujoco_peer.c`, linked with the wheel's own library."""
    folder = Path(mujoco.__file__).parent
    shared = next(folder.glob("libmujoco.so.*"), None)
    if shared is None:
        raise Unavailable("the mujoco wheel has no shared library to link with")
    options = ("-O2", f"-I{folder}/include", f"-L{folder}", f"-l:{shared.name}", f"-Wl,-rpath,{folder}")
    library = shared_library("mujoco_peer.c", "gcc", options)
    for name in functions:
        function = getattr(library, name)
        function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_long, ctypes.c_long, ctypes.c_ulong]
        function.restype = ctypes.c_double
    return library
