"""What CVODE calls while it steps: machine code, or Python functions around interpreted kernels."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import LEFT, onto_constraints, set_inputs
from kinegraph.solve.problem.problem import CauchyProblem, Floats, code_of
from kinegraph.solve.sundials.library import sundials

_POINTER, _REAL, _FLAG = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
_RATE = ctypes.CFUNCTYPE(_FLAG, _REAL, _POINTER, _POINTER, _POINTER)
_JACOBIAN = ctypes.CFUNCTYPE(_FLAG, _REAL, *[_POINTER] * 7)
_AGAIN, _GIVE_UP = 1, -1  # what CVODE understands: try a shorter step, or end the run


class Callbacks(ABC):
    """Addresses of the right-hand side and its Jacobian (0: none); they are handed `data`."""

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
        """Raise what was raised inside a callback, which C code cannot hand on."""
        return


def callbacks(problem: CauchyProblem, x: Floats) -> Callbacks:
    """The callbacks of a problem; x is the argument of its kernels."""
    return CompiledCallbacks(problem, x) if problem.native else InterpretedCallbacks(problem, x)


class CompiledCallbacks(Callbacks):
    """Compiled functions: no step waits for Python."""

    def __init__(self, problem: CauchyProblem, x: Floats) -> None:
        from kinegraph.jit.bitcode import compiled
        from kinegraph.solve.sundials import compiled_callbacks as place

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
        """Ctrl-C is pressed while Python runs, which is nearly always in here: keep it for `trouble`."""

        def guarded(*arguments: object) -> int:
            try:
                with np.errstate(all="ignore"):
                    return function(*arguments)
            except BaseException as raised:
                self._raised = raised
                return _GIVE_UP

        return guarded

    def _fill(self, t: float, state: int) -> bool:
        """Put state and inputs into x, on the constraints; False where there is no state on them nearby."""
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
