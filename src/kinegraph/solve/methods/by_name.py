"""The integrators by name."""

from __future__ import annotations

from enum import Enum

from kinegraph.errors import SolveError
from kinegraph.solve.methods.method import Solver


class Method(Enum):
    """The integrators a user can name; the value is the name."""

    RK4 = "rk4"
    DOPRI5 = "dopri5"
    DOP853 = "dop853"
    SYMPLECTIC = "symplectic"
    ADAMS = "adams"
    BDF = "bdf"
    IDA = "ida"

    @classmethod
    def named(cls, name: object) -> Method:
        """The method of this name."""
        try:
            return cls(str(name).lower())
        except ValueError:
            known = ", ".join(method.value for method in cls)
            raise SolveError(f"there is no method {name!r}; known are {known}") from None

    def solver(self) -> Solver:
        """The integrator with its usual settings."""
        from kinegraph.solve.methods.cvode import Cvode, Formula
        from kinegraph.solve.methods.ida import Ida
        from kinegraph.solve.methods.runge_kutta import RungeKutta
        from kinegraph.solve.methods.symplectic import Symplectic
        from kinegraph.solve.methods.tableau import DORMAND_PRINCE_5, DORMAND_PRINCE_8, RK4

        match self:
            case Method.RK4:
                return RungeKutta(RK4)
            case Method.DOPRI5:
                return RungeKutta(DORMAND_PRINCE_5)
            case Method.DOP853:
                return RungeKutta(DORMAND_PRINCE_8)
            case Method.SYMPLECTIC:
                return Symplectic()
            case Method.ADAMS:
                return Cvode(Formula.ADAMS)
            case Method.BDF:
                return Cvode(Formula.BDF)
            case Method.IDA:
                return Ida()


def method_table() -> str:
    """All methods and what they can do, as a table of Markdown."""
    head = ["method", "order", "steps", "integrates", "stiff", "loops", "lanes"]
    rows = [head, ["---"] * len(head), *(_row(method) for method in Method)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(method: Method) -> list[str]:
    solver = method.solver()
    able = solver.capabilities
    steps = [word for word, yes in (("adaptive", able.adaptive), ("fixed", able.fixed_step)) if yes]
    marks = ["yes" if yes else "" for yes in (able.stiff, able.projection, able.lanes)]
    return [f"`{method.value}`", str(solver.order), ", ".join(steps), able.form.value, *marks]


def solver_of(method: str | Method | Solver) -> Solver:
    """An integrator from what a user gives."""
    if isinstance(method, Solver):
        return method
    return (method if isinstance(method, Method) else Method.named(method)).solver()
