"""The computing functions of a program: straight-line code over lanes, and back-substitution in loops over columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinegraph.codegen.llvm.assembly import Lanes, Writer, call_function
from kinegraph.codegen.llvm.batch import tile_starts
from kinegraph.codegen.llvm.sincos import pair_type
from kinegraph.codegen.program.binding import BackSubstitution
from kinegraph.codegen.program.instructions import Chunks, Instruction, Op, Program

# The computing functions of a program: straight-line code over vectors of lanes, cut into chunks.

# x: the inputs, y: the outputs, s: the scratch array; each entry is one value of all lanes.
_PARAMETERS = "ptr noalias readonly %x, ptr noalias %y, ptr noalias %s"


def body_functions(program: Program, chunks: Chunks, lanes: Lanes, inline: bool = False, name: str = "body") -> str:
    """Define `@body(x, y, s)`, which computes one state per lane, and the functions it calls."""
    if len(chunks.ranges) == 1:
        attribute = "alwaysinline" if inline else "noinline"
        head = f"define internal void @{name}({_PARAMETERS}) {attribute} {lanes.on_stack}#0"
        return _chunk(program, chunks, 0, lanes).function(head)
    texts = []
    calls = Writer()
    for number in range(len(chunks.ranges)):
        head = f"define internal void @{name}_chunk{number}({_PARAMETERS}) noinline {lanes.on_stack}#0"
        texts.append(_chunk(program, chunks, number, lanes).function(head))
        calls.do(f"call void @{name}_chunk{number}(ptr %x, ptr %y, ptr %s)")
    calls.do("ret void")
    texts.append(calls.function(f"define internal void @{name}({_PARAMETERS}) noinline #0"))
    return "\n".join(texts)


def _chunk(program: Program, chunks: Chunks, number: int, lanes: Lanes) -> Writer:
    body = _Body(program, chunks, lanes)
    for index in chunks.ranges[number]:
        body.instruction(index)
    body.writer.do("ret void")
    return body.writer


class _Body:
    """One function: values by their number, loaded or spelled out where they are first used."""

    def __init__(self, program: Program, chunks: Chunks, lanes: Lanes) -> None:
        self.program = program
        self.instructions = program.instructions
        self.slots = chunks.slots
        self.lanes = lanes
        self.writer = Writer()
        self.names: dict[int, str] = {}
        self.pairs: dict[int, tuple[list[str], list[str]]] = {}

    def instruction(self, index: int) -> None:
        one = self.instructions[index]
        writing = _WRITING.get(one.op)
        if writing is None:
            return
        self.width = self.lanes_of(index)
        result = writing(self, index, one)
        if result is not None:
            self.names[index] = result
            if index in self.slots:
                self.store(result, "%s", self.slots[index])

    def lanes_of(self, index: int) -> Lanes:
        """How many numbers a value is: the states of a batch, or the limbs a scalar kernel computes side by side."""
        return Lanes(self.program.width(index)) if self.program.widths else self.lanes

    def operand(self, index: int) -> str:
        name = self.names.get(index)
        if name is None:
            one = self.instructions[index]
            lanes = self.lanes_of(index)
            if one.op is Op.LITERALS:
                name = lanes.literals([float(self.instructions[operand].detail) for operand in one.operands])
            elif one.op is Op.LITERAL:
                name = lanes.literal(float(one.detail))
            elif one.op is Op.INPUT:
                name = self.load("%x", int(one.detail), lanes)
            else:
                name = self.load("%s", self.slots[index], lanes)
            self.names[index] = name
        return name

    def load(self, base: str, position: int, lanes: Lanes) -> str:
        address = self.writer.element(base, position, self.lanes.type)
        return self.writer.define(f"load {lanes.type}, ptr {address}, align {self.lanes.bytes}")

    def store(self, name: str, base: str, position: int) -> None:
        address = self.writer.element(base, position, self.lanes.type)
        self.writer.do(f"store {self.width.type} {name}, ptr {address}, align {self.lanes.bytes}")

    # what each operation writes

    def binary(self, instruction: str, one: Instruction) -> str:
        left, right = one.operands
        return self.writer.define(f"{instruction} {self.width.type} {self.operand(left)}, {self.operand(right)}")

    def negate(self, name: str) -> str:
        return self.writer.define(f"fneg {self.width.type} {name}")

    def multiply_add(self, one: Instruction) -> str:
        left, right, addend = (self.operand(operand) for operand in one.operands)
        if one.op is Op.NEGATED_MULTIPLY_ADD:
            left = self.negate(left)
        elif one.op is Op.MULTIPLY_SUBTRACT:
            addend = self.negate(addend)
        kind = self.width.type
        return self.writer.define(
            f"call {kind} @llvm.fmuladd.{self.width.suffix}({kind} {left}, {kind} {right}, {kind} {addend})"
        )

    def function(self, one: Instruction) -> str:
        return call_function(self.writer, self.width, str(one.detail), [self.operand(o) for o in one.operands])

    def join(self, one: Instruction) -> str:
        return self._packed([self.operand(operand) for operand in one.operands], self.width)

    def pick(self, one: Instruction) -> str:
        (vector,) = one.operands
        kind = self.lanes_of(vector).type
        return self.writer.define(f"extractelement {kind} {self.operand(vector)}, i64 {one.detail}")

    def store_output(self, one: Instruction) -> None:
        self.store(self.operand(one.operands[0]), "%y", int(one.detail))

    def sincos(self, index: int, one: Instruction) -> None:
        """One vector of angles: the lanes of a batch, or several angles of a scalar kernel side by side."""
        angles = [self.operand(operand) for operand in one.operands]
        wide = self.lanes if self.lanes.count > 1 else Lanes(angle_lanes(len(angles)))
        packed = angles[0] if self.lanes.count > 1 else self._packed(angles, wide)
        if index in self.program.signs:
            sign = self.writer.define(f"call {wide.type} @sign_of_sine{wide.count}({wide.type} {packed})")
            self.pairs[index] = self._unpacked(sign, wide, len(angles)), []
            return
        pair = self.writer.define(f"call {pair_type(wide)} @sincos{wide.count}({wide.type} {packed})")
        values = [self.writer.define(f"extractvalue {pair_type(wide)} {pair}, {part}") for part in (0, 1)]
        self.pairs[index] = (self._unpacked(values[0], wide, len(angles)), self._unpacked(values[1], wide, len(angles)))

    def _packed(self, angles: list[str], wide: Lanes) -> str:
        total = "poison"
        for lane in range(wide.count):
            angle = angles[lane] if lane < len(angles) else angles[0]
            total = self.writer.define(f"insertelement {wide.type} {total}, double {angle}, i64 {lane}")
        return total

    def _unpacked(self, packed: str, wide: Lanes, count: int) -> list[str]:
        if self.lanes.count > 1:
            return [packed]
        return [self.writer.define(f"extractelement {wide.type} {packed}, i64 {lane}") for lane in range(count)]

    def sine(self, one: Instruction) -> str:
        sines, cosines = self.pairs[one.operands[0]]
        return (sines if one.op is Op.SIN else cosines)[int(one.detail)]


def angle_lanes(count: int) -> int:
    """How wide a vector a group of angles of a scalar kernel takes: a power of two, at least two."""
    return max(2, 1 << (count - 1).bit_length())


_WRITING: dict[Op, Callable[[_Body, int, Instruction], str | None]] = {
    Op.ADD: lambda body, _, one: body.binary("fadd", one),
    Op.SUBTRACT: lambda body, _, one: body.binary("fsub", one),
    Op.MULTIPLY: lambda body, _, one: body.binary("fmul", one),
    Op.DIVIDE: lambda body, _, one: body.binary("fdiv", one),
    Op.NEGATE: lambda body, _, one: body.negate(body.operand(one.operands[0])),
    Op.MULTIPLY_ADD: lambda body, _, one: body.multiply_add(one),
    Op.MULTIPLY_SUBTRACT: lambda body, _, one: body.multiply_add(one),
    Op.NEGATED_MULTIPLY_ADD: lambda body, _, one: body.multiply_add(one),
    Op.FUNCTION: lambda body, _, one: body.function(one),
    Op.SINCOS: lambda body, index, one: body.sincos(index, one),
    Op.SIN: lambda body, _, one: body.sine(one),
    Op.COS: lambda body, _, one: body.sine(one),
    Op.JOIN: lambda body, _, one: body.join(one),
    Op.PICK: lambda body, _, one: body.pick(one),
    Op.STORE: lambda body, _, one: body.store_output(one),
}


# Back-substitution as code: straight over the entries of L, in loops over the columns.
#
# A scalar kernel takes several columns of one state into a vector, where entries of L are spread over the lanes; in a
# batch a column of all states is a vector already.


def substitute_function(tail: BackSubstitution, starts: Sequence[int], lanes: Lanes, widest: int) -> str:
    """Define `@substitute(z, y)`, from all values of the graph to the results."""
    width = 1 << (min(tail.size, widest).bit_length() - 1) if lanes.count == 1 else lanes.count
    columns = _Columns(tail, lanes, Lanes(width)).text()
    step = width if lanes.count == 1 else 1
    writer = Writer()
    factors = writer.element("%z", starts[len(tail.solved)], lanes.type)
    for number, solved in enumerate(tail.solved):
        start, size = starts[number], starts[number + 1] - starts[number]
        source, target = (writer.element(base, start, lanes.type) for base in ("%z", "%y"))
        if not solved:
            writer.do(
                f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 {target}, ptr align 8 {source}, "
                f"i64 {size * lanes.bytes}, i1 false)"
            )
            continue
        for column in tile_starts(tail.size, step):
            places = [writer.element(base, column, lanes.type) for base in (source, target)]
            writer.do(f"call void @columns(ptr {places[0]}, ptr {places[1]}, ptr {factors})")
    writer.do("ret void")
    head = "define internal void @substitute(ptr noalias readonly %z, ptr noalias %y) noinline #0"
    return columns + "\n" + writer.function(head)


def body_with_substitution(values: int, lanes: Lanes) -> str:
    """Define `@body(x, y, s)` of `@values(x, z, s)` and `@substitute(z, y)`; z takes the first of the scratch array."""
    writer = Writer()
    rest = writer.element("%s", values, lanes.type)
    writer.do(f"call void @values(ptr %x, ptr %s, ptr {rest})")
    writer.do("call void @substitute(ptr %s, ptr %y)")
    writer.do("ret void")
    return writer.function(
        "define internal void @body(ptr noalias readonly %x, ptr noalias %y, ptr noalias %s) noinline #0"
    )


class _Columns:
    """`@columns(right, result, factors)`: one vector of columns."""

    def __init__(self, tail: BackSubstitution, lanes: Lanes, wide: Lanes) -> None:
        self.tail = tail
        self.lanes = lanes
        self.wide = wide
        self.writer = Writer()

    def text(self) -> str:
        tail = self.tail
        rows: dict[int, list[tuple[int, int]]] = {i: [] for i in tail.order}
        for number, (i, j) in enumerate(tail.lower):
            rows[i].append((number, j))
        x = {i: self._load("%right", i * tail.size) for i in tail.order}
        for i in reversed(tail.order):  # L^T y = right
            negative = self._negative(x[i]) if rows[i] else ""
            for number, j in rows[i]:
                x[j] = self._fused(self._factor(number), negative, x[j])
        for i in tail.order:  # D z = -y
            inverse = self._factor(len(tail.lower) + i)
            x[i] = self._negative(self.writer.define(f"fmul {self.wide.type} {inverse}, {x[i]}"))
        negatives: dict[int, str] = {}
        for i in tail.order:  # L x = z
            for number, j in rows[i]:
                x[i] = self._fused(self._factor(number), negatives[j], x[i])
            negatives[i] = self._negative(x[i])
            self._store(x[i], "%result", i * tail.size)
        self.writer.do("ret void")
        return self.writer.function(
            "define internal void @columns(ptr noalias readonly %right, ptr noalias %result, "
            "ptr noalias readonly %factors) noinline #0"
        )

    def _load(self, base: str, position: int) -> str:
        address = self.writer.element(base, position, self.lanes.type)
        return self.writer.define(f"load {self.wide.type}, ptr {address}, align {self.lanes.bytes}")

    def _store(self, value: str, base: str, position: int) -> None:
        address = self.writer.element(base, position, self.lanes.type)
        self.writer.do(f"store {self.wide.type} {value}, ptr {address}, align {self.lanes.bytes}")

    def _factor(self, position: int) -> str:
        writer, kind = self.writer, self.wide.type
        address = writer.element("%factors", position, self.lanes.type)
        value = writer.define(f"load {self.lanes.type}, ptr {address}, align {self.lanes.bytes}")
        if self.wide == self.lanes:
            return value
        first = writer.define(f"insertelement {kind} poison, double {value}, i64 0")
        return writer.define(f"shufflevector {kind} {first}, {kind} poison, <{self.wide.count} x i32> zeroinitializer")

    def _negative(self, value: str) -> str:
        return self.writer.define(f"fneg {self.wide.type} {value}")

    def _fused(self, a: str, b: str, c: str) -> str:
        kind = self.wide.type
        return self.writer.define(f"call {kind} @llvm.fmuladd.{self.wide.suffix}({kind} {a}, {kind} {b}, {kind} {c})")
