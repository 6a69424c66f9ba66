// Dormand and Prince's method of order 5(4), with steps as long as the tolerance allows.

const NODES = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1];
const WEIGHTS = [
  [],
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
const ERRORS = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];
const RTOL = 1e-8;
const ATOL = 1e-10;
const SHORTEST = 1e-12;

export class Integrator {
  // rates(t, y, found) writes y' into found.
  constructor(size, rates) {
    this.rates = rates;
    this.stages = NODES.map(() => new Float64Array(size));
    this.trial = new Float64Array(size);
    this.step = 1e-3;
  }

  // One step that ends at `limit` or before, in place; returns the new time, or null where no step is short enough.
  advance(t, y, limit) {
    while (true) {
      const left = limit - t;
      const h = Math.min(this.step, left);
      if (!(h > SHORTEST * Math.max(1, Math.abs(t)))) return null;
      const error = this.#attempt(t, y, h);
      const factor = Number.isFinite(error) ? Math.min(5, Math.max(0.2, 0.9 * (error || 1e-9) ** -0.2)) : 0.1;
      if (error <= 1) {
        y.set(this.trial);
        if (h === this.step || factor < 1) this.step = h * factor;
        return h === left ? limit : t + h;
      }
      this.step = h * factor;
    }
  }

  // The state after a step in `trial`; returns its error relative to the tolerance.
  #attempt(t, y, h) {
    const { stages, trial } = this;
    for (let stage = 0; stage < NODES.length; stage++) {
      for (let k = 0; k < y.length; k++) {
        let sum = 0;
        for (let i = 0; i < stage; i++) sum += WEIGHTS[stage][i] * stages[i][k];
        trial[k] = y[k] + h * sum;
      }
      this.rates(t + NODES[stage] * h, trial, stages[stage]);
    }
    let squares = 0;
    for (let k = 0; k < y.length; k++) {
      let error = 0;
      for (let i = 0; i < ERRORS.length; i++) error += ERRORS[i] * stages[i][k];
      const scale = ATOL + RTOL * Math.max(Math.abs(y[k]), Math.abs(trial[k]));
      squares += ((h * error) / scale) ** 2;
    }
    return Math.sqrt(squares / Math.max(1, y.length));
  }
}
