"""The energy of a force law: its integral over the deformation, where the law is a polynomial."""

from __future__ import annotations

from fractions import Fraction

from kinegraph.derive.tree.convert import Names, operation
from kinegraph.graph.scalar import Scalar
from kinegraph.model.expression import Call, Expression, Name, Number, Operation, postorder

#: Polynomials of a higher degree are not integrated.
MAX_DEGREE = 50

Coefficients = list[Scalar]  # of the powers of the variable, from the zeroth


def integral(names: Names, law: Expression, variable: str, upper: Scalar) -> Scalar | None:
    """The integral of the law from zero to `upper`; None if the law is no polynomial in the variable."""
    coefficients = _coefficients(names, law, variable)
    if coefficients is None:
        return None
    total = names.number(0)
    for power in range(len(coefficients), 0, -1):  # Horner
        total = (total + coefficients[power - 1] * Fraction(1, power)) * upper
    return total


def _coefficients(names: Names, root: Expression, variable: str) -> Coefficients | None:
    done: list[Coefficients] = []
    for node in postorder(root):
        if isinstance(node, Number):
            done.append([names.number(node.value)])
        elif isinstance(node, Name):
            zero, one = names.number(0), names.number(1)
            done.append([zero, one] if node.text == variable else [names[node.text]])
        elif isinstance(node, Operation | Call):
            parts = done[-len(node.parts) :]
            del done[-len(node.parts) :]
            combined = _combined(node, parts)
            if combined is None or len(combined) > MAX_DEGREE + 1:
                return None
            done.append(combined)
    return done[0]


def _combined(node: Operation | Call, parts: list[Coefficients]) -> Coefficients | None:
    if all(len(part) == 1 for part in parts):
        return [operation(node, [part[0] for part in parts])]
    if isinstance(node, Call):
        return None
    match node.operator:
        case "neg":
            return [-item for item in parts[0]]
        case "+":
            return _sum(parts[0], parts[1])
        case "-":
            return _sum(parts[0], [-item for item in parts[1]])
        case "*":
            return _product(parts[0], parts[1])
        case "/" if len(parts[1]) == 1:
            return [item / parts[1][0] for item in parts[0]]
        case "^" if len(parts[1]) == 1:
            return _power(parts[0], parts[1][0])
    return None


def _sum(a: Coefficients, b: Coefficients) -> Coefficients:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    return [item + shorter[i] if i < len(shorter) else item for i, item in enumerate(longer)]


def _product(a: Coefficients, b: Coefficients) -> Coefficients:
    result = [a[0].number(0)] * (len(a) + len(b) - 1)
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            result[i + j] = result[i + j] + left * right
    return result


def _power(base: Coefficients, exponent: Scalar) -> Coefficients | None:
    value = exponent.value
    if value is None or value.denominator != 1 or not 0 <= value * (len(base) - 1) <= MAX_DEGREE:
        return None
    result = [base[0].number(1)]
    for _ in range(int(value)):
        result = _product(result, base)
    return result
