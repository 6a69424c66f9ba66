// Keeps loops closed while one coordinate is moved by hand: the others follow by damped Newton steps, as little as they can.

import { evaluate, leastChange } from "./program.js";

const CLOSED = 1e-9;
const NEWTON_STEPS = 12;
const DAMPING = 1e-12;
// A slider moves in steps this long (radians, meters), so that the mechanism stays on its branch.
const STRIDE = 0.05;
const SHORTEST = 1e-4;

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

  // What is missed is made up for by the least change, without the column that is held.
  #correction(held) {
    const jacobian = this.slopes().map((row) => row.map((slope, k) => (k === held ? 0 : slope)));
    return leastChange(jacobian, this.rows.map((node) => -this.known[node]), this.rows.map(() => DAMPING));
  }

  // The derivatives of the rows at the values last evaluated.
  slopes() {
    return this.jacobian.map((row) => row.map((node) => this.known[node]));
  }

  #evaluate(values) {
    evaluate(this.nodes, values, this.known);
  }
}
