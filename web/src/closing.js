// Keeps loops closed while one coordinate is moved by hand: the others follow by damped Newton steps, as little as they can.

const CLOSED = 1e-9;
const NEWTON_STEPS = 12;
const DAMPING = 1e-12;
// A slider moves in steps this long (radians, meters), so that the mechanism stays on its branch.
const STRIDE = 0.05;
const SHORTEST = 1e-4;

const FUNCTIONS = {
  sin: Math.sin, cos: Math.cos, sqrt: Math.sqrt, exp: Math.exp, log: Math.log, asin: Math.asin, acos: Math.acos,
  atan: Math.atan, atan2: Math.atan2, sinh: Math.sinh, cosh: Math.cosh, tanh: Math.tanh, abs: Math.abs, sign: Math.sign,
  reciprocal: (x) => 1 / x,
  select: (condition, chosen, other) => (condition >= 0 ? chosen : other),
  guarded: (value, room) => (room >= 0 ? value : NaN),
};

export class Closing {
  constructor({ nodes, rows, jacobian }) {
    Object.assign(this, { nodes, rows, jacobian, known: new Float64Array(nodes.length) });
  }

  // Move values[held] toward a value, in place; returns how far it came: the value itself where the loops close there.
  move(values, held, wanted) {
    let stride = STRIDE;
    while (values[held] !== wanted) {
      const left = wanted - values[held];
      const next = Math.abs(left) <= stride ? wanted : values[held] + Math.sign(left) * stride;
      const tried = this.closed(values, held, next);
      if (tried) values.splice(0, values.length, ...tried);
      else if ((stride /= 2) < SHORTEST) break;
    }
    return values[held];
  }

  // What the rows miss most by.
  missed(values) {
    this.#evaluate(values);
    return Math.max(0, ...this.rows.map((node) => Math.abs(this.known[node])));
  }

  // Values near the given ones whose loops close, with one of them held; null if there are none.
  closed(values, held, value) {
    const found = [...values];
    found[held] = value;
    for (let step = 0; step < NEWTON_STEPS; step++) {
      if (this.missed(found) < CLOSED) return this.#near(values, found, held) ? found : null;
      const change = this.#correction(held);
      if (!change.every(Number.isFinite)) return null;
      change.forEach((amount, k) => (found[k] += amount));
    }
    return null;
  }

  // A jump of some coordinate would be another branch.
  #near(before, after, held) {
    return after.every((value, k) => k === held || Math.abs(value - before[k]) < 20 * STRIDE);
  }

  // - J^T (J J^T + damping)^-1 of what is missed, without the column that is held.
  #correction(held) {
    const jacobian = this.jacobian.map((row) => row.map((node, k) => (k === held ? 0 : this.known[node])));
    const matrix = jacobian.map((a) => jacobian.map((b) => a.reduce((sum, entry, k) => sum + entry * b[k], 0)));
    const size = matrix.reduce((sum, row, i) => sum + row[i], 0) / matrix.length;
    matrix.forEach((row, i) => (row[i] += DAMPING * (1 + size)));
    const forces = solved(matrix, this.rows.map((node) => -this.known[node]));
    return jacobian[0].map((_, k) => jacobian.reduce((sum, row, i) => sum + row[k] * forces[i], 0));
  }

  #evaluate(values) {
    const known = this.known;
    this.nodes.forEach((node, index) => (known[index] = valueOf(node, known, values)));
  }
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

// A symmetric positive definite system, by Cholesky's factors.
function solved(matrix, right) {
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
