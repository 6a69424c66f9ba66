// A graph as plain numbers, evaluated node by node: what the package writes as `placing` and `closing`.

const FUNCTIONS = {
  sin: Math.sin, cos: Math.cos, sqrt: Math.sqrt, exp: Math.exp, log: Math.log, asin: Math.asin, acos: Math.acos,
  atan: Math.atan, atan2: Math.atan2, sinh: Math.sinh, cosh: Math.cosh, tanh: Math.tanh, abs: Math.abs, sign: Math.sign,
  reciprocal: (x) => 1 / x,
  select: (condition, chosen, other) => (condition >= 0 ? chosen : other),
  guarded: (value, room) => (room >= 0 ? value : NaN),
};

// All nodes at the values, in order; `known` is filled and returned.
export function evaluate(nodes, values, known = new Float64Array(nodes.length)) {
  for (let k = 0; k < nodes.length; k++) known[k] = valueOf(nodes[k], known, values);
  return known;
}

function valueOf(node, known, values) {
  if (typeof node === "number") return node;
  const [kind, ...parts] = node;
  if (kind === "q") return values[parts[0]];
  if (kind === "+") return parts.reduce((sum, term) => sum + termOf(term, known), 0);
  return FUNCTIONS[kind](...parts.map((one) => known[one]));
}

function termOf([coefficient, ...factors], known) {
  let product = coefficient;
  for (let k = 0; k < factors.length; k += 2) product *= known[factors[k]] ** factors[k + 1];
  return product;
}

// A symmetric positive definite system, by Cholesky's factors. Both arguments are overwritten.
export function solved(matrix, right) {
  const count = right.length;
  for (let i = 0; i < count; i++) {
    for (let j = 0; j <= i; j++) {
      let rest = matrix[i][j];
      for (let k = 0; k < j; k++) rest -= matrix[i][k] * matrix[j][k];
      matrix[i][j] = i === j ? Math.sqrt(rest) : rest / matrix[j][j];
    }
    for (let k = 0; k < i; k++) right[i] -= matrix[i][k] * right[k];
    right[i] /= matrix[i][i];
  }
  for (let i = count - 1; i >= 0; i--) {
    for (let k = i + 1; k < count; k++) right[i] -= matrix[k][i] * right[k];
    right[i] /= matrix[i][i];
  }
  return right;
}

// The smallest change whose rows are as wanted: J^T (J J^T + damping)^-1 wanted, each row with its own damping.
export function leastChange(jacobian, wanted, damping) {
  const matrix = jacobian.map((a) => jacobian.map((b) => a.reduce((sum, entry, k) => sum + entry * b[k], 0)));
  const size = matrix.reduce((sum, row, i) => sum + row[i], 0) / matrix.length;
  matrix.forEach((row, i) => (row[i] += damping[i] * (1 + size)));
  const forces = solved(matrix, [...wanted]);
  return jacobian[0].map((_, k) => jacobian.reduce((sum, row, i) => sum + row[k] * forces[i], 0));
}
