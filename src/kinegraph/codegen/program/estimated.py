"""Programs that are kept from the estimate of their running time until the code of one of them is written.

Lowering a graph takes a third of both, and the estimate's arguments differ from the kernel's in their order alone.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from kinegraph.codegen.program.binding import Bound
from kinegraph.codegen.program.program import Instruction, Op, Program


@dataclass(frozen=True)
class _Estimated:
    """A program and what it was lowered from."""

    program: Program
    binding: Bound
    group: int
    fuse: bool

    def fits(self, binding: Bound, group: int, fuse: bool) -> bool:
        """Would lowering differ in the places of inputs alone? Values of parameters might be others."""
        same_graph = self.binding.graph is binding.graph and self.binding.inputs.keys() == binding.inputs.keys()
        return same_graph and (self.group, self.fuse) == (group, fuse) and not binding.parameters

    def with_inputs_of(self, binding: Bound) -> Program:
        """The program with its inputs where another binding has them."""
        places = {old: binding.inputs[node] for node, old in self.binding.inputs.items()}

        def moved(one: Instruction) -> Instruction:
            return one._replace(detail=places[int(one.detail)]) if one.op is Op.INPUT else one

        return Program(tuple(map(moved, self.program.instructions)), binding.input_size, binding.output_size)


#: Two graphs are compared by their estimates; what is not asked for makes room for the next two.
_programs: deque[_Estimated] = deque(maxlen=2)


def keep(program: Program, binding: Bound, group: int, fuse: bool) -> None:
    """Keep a program for whoever writes its code."""
    if not binding.parameters:
        _programs.append(_Estimated(program, binding, group, fuse))


def take(binding: Bound, group: int, fuse: bool) -> Program | None:
    """The program of a bound graph if it is kept; from then on none is."""
    found = next((one for one in tuple(_programs) if one.fits(binding, group, fuse)), None)
    if found is None:
        return None
    _programs.clear()
    return found.with_inputs_of(binding)
