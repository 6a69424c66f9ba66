"""Recursive dynamics behind the same call as a compiled kernel, with proofs that are stored on disk."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.codegen.kernel import Code, Doubles, Kernel, Outputs, Recipe, Result, refuse_zero_quaternions, vector
from kinegraph.codegen.program.binding import Argument
from kinegraph.derive.constraints.redundancy import row_names_of
from kinegraph.derive.quantities.record import Extent
from kinegraph.derive.quantities.table import RECORDS
from kinegraph.derive.quantities.variables import Variables
from kinegraph.graph.certificate import RecursiveProof
from kinegraph.jit import cache as disk
from kinegraph.jit.cache import digest
from kinegraph.jit.engine import Glue, with_tables
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive.c_interface import Addressed
from kinegraph.recursive.systems import ClosedSystem, RecursiveSystem

if TYPE_CHECKING:
    from kinegraph.recursive.proof.prove import System


_log = logging.getLogger("kinegraph")


def proof_of(
    system: System, mechanism: Mechanism, quantities: Sequence[str], parameters: Mapping[str, Scalar]
) -> RecursiveProof | None:
    """The proof of all quantities that Newton's law determines; None, with a warning, where none is made."""
    from kinegraph.recursive.proof.prove import PROVED, proved, unproved  # few ask

    given = {name: expression(value, name) for name, value in parameters.items()}
    wanted = tuple(name for name in quantities if name in PROVED)
    why = (
        unproved(system, mechanism, given) if wanted else f"{', '.join(quantities)} by recursive algorithms: not proved"
    )
    if why:
        _log.warning("%s: %s", mechanism.name, why)
        return None
    name = f"loops-proof-{digest(mechanism, wanted, given, disk.sources_digest(Path(__file__).parents[1]))}"
    stored = disk.CachedRecord(name, _read, _written)
    return stored.load() or stored.save(proved(system, mechanism, wanted, given))


def _read(text: str) -> RecursiveProof:
    found = json.loads(text)
    return RecursiveProof(**{**found, "quantities": tuple(found["quantities"])})


def _written(proof: RecursiveProof) -> str:
    return json.dumps(asdict(proof))


class RecursiveKernel(Kernel):
    """Quantities computed by recursive algorithms over the bodies of a mechanism. Operations are not counted."""

    form = "recursive"

    def __init__(
        self,
        mechanism: Mechanism,
        quantities: Sequence[str],
        arguments: Sequence[Argument],
        parameters: Mapping[str, Scalar] | None = None,
    ) -> None:
        self._recipe = mechanism, tuple(quantities), tuple(arguments), dict(parameters or {})
        self.arguments = tuple(arguments)
        self.operations = None
        constrained = is_constrained(mechanism)
        self.system = ClosedSystem(mechanism, parameters) if constrained else RecursiveSystem(mechanism, parameters)
        self.outputs = tuple(Result(name, _shape(mechanism, name)) for name in quantities)

    @cached_property
    def proof(self) -> RecursiveProof | None:  # type: ignore[override]
        """Made when it is asked for, as it may take longer than compiling, and stored on disk; None where none is made,
        which is logged. ProofError if the recursion is wrong."""
        return proof_of(self.system, *self._recipe[:2], self._recipe[3])

    @property
    def recipe(self) -> Recipe:
        return RecursiveKernel, self._recipe  # not the arrays and compiled code

    @cached_property
    def _entry(self) -> tuple[Glue, Addressed] | None:
        """Code with an address, and the memory it reads; None where Python has to take part."""
        if [output.name for output in self.outputs] != ["qdd"]:
            return None
        found = self.system.addressed([self._place(group) for group in ("q", "v", "tau", "t")])
        return None if found is None else (glued(found), found)

    def _place(self, name: str) -> int:
        """Where an argument begins among all of them; -1 if the kernel does not take it."""
        before = 0
        for argument in self.arguments:
            if argument.name == name:
                return before
            before += len(argument.symbols)
        return -1

    @property
    def address(self) -> int:
        """A C function `void f(const double *x, double *y)`, which gives NaN where nothing has inertia.

        There is none for coordinates that bodies share, displacements that are not linear, and varying gravity.
        """
        return super().address if self._entry is None else self._entry[0].address

    @property
    def code(self) -> Code:
        return super().code if self._entry is None else self._entry[0].address

    def __call__(self, *values: ArrayLike, **named: ArrayLike) -> Outputs:
        """The outputs for one state: an array, or a dict of arrays by name if there are several."""
        arranged = zip(self.arguments, self.arranged(values, named), strict=True)
        given = {argument.name: np.asarray(vector(argument, value), dtype=float) for argument, value in arranged}
        results = {output.name: self._quantity(output.name, given) for output in self.outputs}
        return results if len(results) > 1 else next(iter(results.values()))

    def batch(self, *values: ArrayLike, out: object = None, **named: ArrayLike) -> Outputs:
        """The outputs for many states, one after the other; an argument of one state serves all."""
        self.refuse_out(out)
        found = [self.by_name(self(*row)) for row in zip(*self.rows(values, named), strict=True)]
        shapes = [(output.name, (len(found), *output.shape)) for output in self.outputs]
        results = {name: np.array([one[name] for one in found]).reshape(shape) for name, shape in shapes}
        return results if len(results) > 1 else next(iter(results.values()))

    def _quantity(self, name: str, given: Mapping[str, Doubles]) -> Doubles:
        compute: Callable[..., Doubles] = getattr(self.system, name)
        for argument in self.arguments:
            refuse_zero_quaternions(argument, given[argument.name])
        time = given.get(Variables.TIME.value)
        arguments = [given[group.value] for group in RECORDS[name].arguments]
        return np.asarray(compute(*arguments, 0.0 if time is None else float(time.reshape(()))))


def glued(code: Addressed) -> Glue:
    """Code with the memory it reads as one function."""
    return with_tables(code.address, code.tables.addresses)


def _shape(mechanism: Mechanism, name: str) -> tuple[int, ...]:
    """The shape of a quantity that loops compute: along velocities, rows, or of a known length."""
    lengths = {Extent.VELOCITIES: len(mechanism.layout.velocities), Extent.ROWS: len(row_names_of(mechanism))}
    return tuple(lengths[extent] if isinstance(extent, Extent) else extent for extent in RECORDS[name].shape)
