"""The C interface of SUNDIALS, from the libraries that come with scikit-sundae.

scikit-sundae's own interface calls Python for every right-hand side. The same libraries called directly take compiled
functions, so that no step waits for Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, byref, c_double, c_int, c_long, c_void_p
from functools import cache
from pathlib import Path
from typing import cast

from kinegraph.errors import SolveError
from kinegraph.solve.loops.marks import Floats

ONE_STEP = 2


class Sundials:
    """Functions of the libraries by name, and the type of their indices."""

    def __init__(self, handles: list[ctypes.CDLL], index: type[ctypes.c_int32] | type[ctypes.c_int64]) -> None:
        self._handles = handles
        self.index = index

    def function(self, name: str, result: type | None, *arguments: type) -> Callable[..., int]:
        """A C function with its types."""
        for handle in self._handles:
            found = getattr(handle, name, None)
            if found is not None:
                found.restype, found.argtypes = result, list(arguments)
                return cast("Callable[..., int]", found)
        raise SolveError(f"the SUNDIALS of scikit-sundae has no {name}: use method='dop853', or update scikit-sundae")

    def address(self, name: str) -> int:
        """The address of a C function."""
        found = cast("c_void_p", self.function(name, c_void_p))
        return int(ctypes.cast(found, c_void_p).value or 0)


@cache
def sundials() -> Sundials:
    """The libraries, loaded."""
    try:
        from sksundae import _cy_common, _cy_cvode
    except ImportError:
        raise SolveError(
            "methods adams and bdf need scikit-sundae, which is not installed\n  pip install scikit-sundae"
        ) from None
    if _cy_common.config["SUNDIALS_FLOAT_TYPE"] != "double":
        raise SolveError("this scikit-sundae was built for another precision than double: reinstall it")
    index = ctypes.c_int32 if _cy_common.config["SUNDIALS_INT_TYPE"] == "int" else ctypes.c_int64
    module = Path(_cy_cvode.__file__)
    # Looking up a name in the module finds it in the libraries the module needs; Windows does not look there.
    handles = [ctypes.CDLL(str(module))]
    if not hasattr(handles[0], "CVodeCreate"):
        folder = module.parents[1] / "scikit_sundae.libs"
        handles += [ctypes.CDLL(str(file)) for file in sorted(folder.glob("*sundials*"))]
    return Sundials(handles, index)


class Session:
    """One CVODE run: everything it allocated is given back by `close`."""

    def __init__(self, formula: int, y: Floats, atol: Floats, rtol: float, start: float, rate: int) -> None:
        self.library = library = sundials()
        self._context = c_void_p()
        self._check("SUNContext_Create", library.function("SUNContext_Create", c_int, c_int, c_void_p)(
            0, byref(self._context)))  # fmt: skip
        self._vectors: list[c_void_p] = []
        # A failed step is answered by a status; CVODE would also print it.
        library.function("SUNContext_ClearErrHandlers", c_int, c_void_p)(self._context)
        self.y = self._vector(y)
        self._step = library.function("CVode", c_int, c_void_p, c_double, c_void_p, POINTER(c_double), c_int)
        self._memory = c_void_p(library.function("CVodeCreate", c_void_p, c_int, c_void_p)(formula, self._context))
        self.call("CVodeInit", (c_void_p, rate), (c_double, start), (c_void_p, self.y))
        self.call("CVodeSVtolerances", (c_double, rtol), (c_void_p, self._vector(atol)))
        self.call("CVodeSetMaxHnilWarns", (c_int, -1))  # no lines about short first steps on standard error
        self._matrix: c_void_p | None = None
        self._solver: c_void_p | None = None

    def _vector(self, array: Floats) -> c_void_p:
        """A vector of SUNDIALS on the memory of an array, which must live as long."""
        index = self.library.index
        make = self.library.function("N_VMake_Serial", c_void_p, index, c_void_p, c_void_p)
        self._vectors.append(c_void_p(make(len(array), array.ctypes.data, self._context)))
        return self._vectors[-1]

    def use_dense_solver(self, size: int, jacobian: int) -> None:
        """Newton iterations with a dense matrix; `jacobian` 0 lets CVODE form differences."""
        index = self.library.index
        make = self.library.function("SUNDenseMatrix", c_void_p, index, index, c_void_p)
        self._matrix = c_void_p(make(size, size, self._context))
        solver = self.library.function("SUNLinSol_Dense", c_void_p, c_void_p, c_void_p, c_void_p)
        self._solver = c_void_p(solver(self.y, self._matrix, self._context))
        self.call("CVodeSetLinearSolver", (c_void_p, self._solver), (c_void_p, self._matrix))
        if jacobian:
            self.call("CVodeSetJacFn", (c_void_p, jacobian))

    def call(self, name: str, *arguments: tuple[type, object]) -> int:
        """Call `name(memory, ...)` and check that it went well; returns its flag."""
        function = self.library.function(name, c_int, c_void_p, *(kind for kind, _ in arguments))
        return self._check(name, function(self._memory, *(value for _, value in arguments)))

    def step(self, end: float) -> tuple[int, float]:
        """One step; the flag of CVODE (negative: it failed) and the time reached."""
        reached = c_double()
        return self._step(self._memory, end, self.y, byref(reached), ONE_STEP), reached.value

    def derivative(self, t: float, order: int, target: Floats) -> None:
        """A derivative of the state (0: the state) at a time within the last step."""
        vector = self._vector(target)
        self.call("CVodeGetDky", (c_double, t), (c_int, order), (c_void_p, vector))
        self.library.function("N_VDestroy", None, c_void_p)(self._vectors.pop())

    @property
    def order(self) -> int:
        """The degree of the polynomial that CVODE holds of the last step."""
        value = c_int()
        self.call("CVodeGetLastOrder", (POINTER(c_int), byref(value)))
        return value.value

    def count(self, name: str) -> int:
        """A counter, e.g. CVodeGetNumSteps."""
        value = c_long()
        self.call(name, (POINTER(c_long), byref(value)))
        return value.value

    def close(self) -> None:
        """Give everything back."""
        free = self.library.function
        free("CVodeFree", None, c_void_p)(byref(self._memory))
        if self._solver is not None:
            free("SUNLinSolFree", c_int, c_void_p)(self._solver)
            free("SUNMatDestroy", None, c_void_p)(self._matrix)
        for vector in self._vectors:
            free("N_VDestroy", None, c_void_p)(vector)
        free("SUNContext_Free", c_int, c_void_p)(byref(self._context))

    @staticmethod
    def _check(name: str, flag: int) -> int:
        if flag < 0:
            raise SolveError(f"{name} of SUNDIALS failed with {flag}")
        return flag
