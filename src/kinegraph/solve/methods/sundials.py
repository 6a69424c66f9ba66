"""The C interface of SUNDIALS, and the callbacks that CVODE calls."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable
from ctypes import POINTER, byref, c_double, c_int, c_long, c_void_p
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.errors import SolveError
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import LEFT, onto_constraints, set_inputs
from kinegraph.solve.problem import CauchyProblem, code_of

# The C interface of SUNDIALS, from the libraries that come with scikit-sundae.
#
# scikit-sundae's own interface calls Python for every right-hand side. The libraries can also call
# compiled functions directly.

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
    """One CVODE run; `close` frees everything it allocated."""

    def __init__(self, formula: int, y: Floats, atol: Floats, rtol: float, start: float, rate: int) -> None:
        self.library = library = sundials()
        self._context = c_void_p()
        self._check("SUNContext_Create", library.function("SUNContext_Create", c_int, c_int, c_void_p)(
            0, byref(self._context)))  # fmt: skip
        self._vectors: list[c_void_p] = []
        # A failed step returns a status; CVODE would also print it.
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
        """Call `name(memory, ...)` and check for failure; returns its flag."""
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
        """Free all memory."""
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


# Callbacks: machine code, or Python functions around interpreted kernels.

_POINTER, _REAL, _FLAG = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
_RATE = ctypes.CFUNCTYPE(_FLAG, _REAL, _POINTER, _POINTER, _POINTER)
_JACOBIAN = ctypes.CFUNCTYPE(_FLAG, _REAL, *[_POINTER] * 7)
_AGAIN, _GIVE_UP = 1, -1  # flags of CVODE: try a shorter step, or end the run


class Callbacks(ABC):
    """Addresses of the right-hand side and its Jacobian (0: none); both receive `data`."""

    rate: int
    jacobian: int
    data: int

    @property
    @abstractmethod
    def bad(self) -> int:
        """The first component of a rate that was not finite; -1: none."""

    @property
    @abstractmethod
    def calls(self) -> tuple[int, int]:
        """How often the right-hand side and its Jacobian were evaluated."""

    def trouble(self) -> None:
        """Raise the exception of a callback, which C code cannot pass on."""
        return


def callbacks(problem: CauchyProblem, x: Floats) -> Callbacks:
    """The callbacks of a problem; x is the argument of its kernels."""
    return CompiledCallbacks(problem, x) if problem.native else InterpretedCallbacks(problem, x)


class CompiledCallbacks(Callbacks):
    """Compiled functions: no step waits for Python."""

    def __init__(self, problem: CauchyProblem, x: Floats) -> None:
        from kinegraph.jit.bitcode import compiled
        from kinegraph.solve.loops import multistep as place

        library, rhs, inputs = sundials(), problem.rhs, problem.inputs
        buffer: Floats = np.zeros(max(rhs.size**2, len(problem.projected())))
        data = np.zeros(place.DATA, dtype=np.int64)
        functions = (place.RATE, rhs.code), (place.JACOBIAN, rhs.jacobian), (place.PROJECTION, rhs.projection)
        for where, function in functions:
            code = code_of(function)
            assert isinstance(code, int)
            data[where] = code
        data[place.VECTOR_DATA] = library.address("N_VGetArrayPointer")
        data[place.MATRIX_DATA] = library.address("SUNDenseMatrix_Data")
        data[place.SIZE], data[place.X_SIZE] = rhs.size, len(x)
        data[place.PROJECTED_SIZE] = len(problem.projected())
        data[place.PIECES], data[place.INPUTS] = inputs.coefficients.shape[:2]
        data[place.X], data[place.BUFFER] = x.ctypes.data, buffer.ctypes.data
        data[place.KNOTS], data[place.COEFFICIENTS] = inputs.knots.ctypes.data, inputs.coefficients.ctypes.data
        data[place.BAD] = -1
        self._places, self._data, self._keep = place, data, (buffer, x, problem)
        self.rate = compiled(place.rate).address
        self.jacobian = compiled(place.jacobian).address if rhs.jacobian else 0
        self.data = data.ctypes.data

    @property
    def bad(self) -> int:
        return int(self._data[self._places.BAD])

    @property
    def calls(self) -> tuple[int, int]:
        return int(self._data[self._places.RATE_CALLS]), int(self._data[self._places.JACOBIAN_CALLS])


class InterpretedCallbacks(Callbacks):
    """Python functions, for runs too short to be worth compiling."""

    data = 0

    def __init__(self, problem: CauchyProblem, x: Floats) -> None:
        library = sundials()
        self._problem, self._x, rhs = problem, x, problem.rhs
        self._code, self._jacobian, self._projection = map(code_of, (rhs.code, rhs.jacobian, rhs.projection))
        self._vector_data = library.function("N_VGetArrayPointer", _POINTER, _POINTER)
        self._matrix_data = library.function("SUNDenseMatrix_Data", _POINTER, _POINTER)
        self._bad, self._rates, self._jacobians = -1, 0, 0
        self._raised: BaseException | None = None
        self._functions = [_RATE(self._guarded(self._rate)), _JACOBIAN(self._guarded(self._slopes))]
        self.rate, jacobian = (ctypes.cast(one, _POINTER).value or 0 for one in self._functions)
        self.jacobian = jacobian if problem.rhs.jacobian else 0

    @property
    def bad(self) -> int:
        return self._bad

    @property
    def calls(self) -> tuple[int, int]:
        return self._rates, self._jacobians

    def trouble(self) -> None:
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised

    def _guarded(self, function: Callable[..., int]) -> Callable[..., int]:
        """Keep Ctrl-C for `trouble`: while Python runs, it nearly always interrupts this function."""

        def guarded(*arguments: object) -> int:
            try:
                with np.errstate(all="ignore"):
                    return function(*arguments)
            except BaseException as raised:
                self._raised = raised
                return _GIVE_UP

        return guarded

    def _fill(self, t: float, state: int) -> bool:
        """Put state and inputs into x, on the constraints; False if there is no such state nearby."""
        size, inputs = self._problem.rhs.size, self._problem.inputs
        self._x[:size] = _doubles(self._vector_data(state), size)
        self._x[size] = t
        set_inputs(inputs.knots, inputs.coefficients, t, self._x, size + 1)
        if self._projection != 0:
            projected = self._problem.projected()
            onto_constraints(self._projection, self._x, size, projected)
            return bool(projected[LEFT] == 0.0)
        return True

    def _rate(self, t: float, state: int, slope: int, data: int) -> int:
        if not self._fill(t, state):
            return _AGAIN
        rate = _doubles(self._vector_data(slope), self._problem.rhs.size)
        call(self._code, self._x, rate, 0)
        self._rates += 1
        infinite = np.flatnonzero(~np.isfinite(rate))
        if len(infinite):
            self._bad = int(infinite[0])
            return _AGAIN
        return 0

    def _slopes(self, t: float, state: int, slope: int, matrix: int, *unused: int) -> int:
        self._fill(t, state)
        size = self._problem.rhs.size
        rows = np.empty((size, size))
        call(self._jacobian, self._x, rows, 0)
        _doubles(self._matrix_data(matrix), size * size)[:] = rows.T.ravel()  # CVODE stores matrices by columns
        self._jacobians += 1
        return 0


def _doubles(address: int, count: int) -> Floats:
    """An array on memory of SUNDIALS."""
    return np.frombuffer(memoryview((_REAL * count).from_address(address)))
