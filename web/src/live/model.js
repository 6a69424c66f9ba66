// A mechanism that moves by its own equations: generated functions of all knowns (time, states, inputs, parameters).
import { Matrix4, Quaternion, Vector3 } from "three";
import { matrixOf } from "../motion.js";
import { Integrator } from "./integrator.js";
import { Picture } from "./picture.js";

const AXES = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];
const CLOSINGS = 4; // Newton steps onto the loops after a step of the integrator, at most
const REACHING = 60; // the same after a change of parameters
const CLOSED = 1e-11;
const OPEN = 1e-7; // loops whose states still change by this much are not closed
const LEAST_PIVOT = 1e-12;

export class LiveModel {
  // equations: derivatives, outputs, displacements, jacobians, and with loops `closed`.
  constructor(data, equations) {
    Object.assign(this, data.live);
    this.equations = equations;
    this.data = data;
    this.count = this.states.length;
    this.known = Float64Array.from(this.start);
    this.trial = this.known.slice();
    this.closedStates = new Float64Array(this.count);
    this.pivots = new Float64Array(this.rows);
    this.placed = this.joints.map((joint) => ({ ...joint, matrix: matrixOf(joint.place) }));
    this.picture = new Picture(data, equations, this.placed);
    this.arrows = data.parts.filter((part) => part.kind === "force");
    for (const { vectors } of this.arrows) vectors.fill(0);
    this.integrator = new Integrator(this.count, (t, y, found) => this.#rates(t, y, found));
    this.times = [this.known[0]]; // of what is drawn: a page of a live mechanism has one moment
    this.failure = "";
    this.#close(REACHING);
    this.#move();
  }

  get t() {
    return this.known[0];
  }

  // The states, as a part of all knowns.
  get state() {
    return this.known.subarray(1, 1 + this.count);
  }

  reset() {
    const settings = this.known.slice(1 + this.count);
    this.known.set(this.start);
    this.known.set(settings, 1 + this.count);
    this.failure = "";
    this.integrator.step = 1e-3;
    this.#close(REACHING);
    this.#move();
  }

  // A parameter or an input has another value: loops are closed again, and the picture follows. Returns whether it has
  // another shape.
  changed() {
    const before = this.state.slice();
    this.failure = "";
    this.integrator.step = Math.min(this.integrator.step, 1e-3);
    if (!this.#close(REACHING)) {
      this.state.set(before);
      this.failure = "loops cannot close with these values";
    }
    const shaped = this.picture.follow(this.known);
    this.#move();
    return shaped;
  }

  // Simulate until a time, or as far as there is time to compute: milliseconds. Returns whether it was reached.
  advance(until, budget = Infinity) {
    const begun = performance.now();
    const y = this.state.slice();
    while (this.t < until && !this.failure) {
      const t = this.integrator.advance(this.t, y, until);
      if (t === null || !y.every(Number.isFinite)) {
        this.failure = this.rows
          ? "loops cannot close further, or the position is singular"
          : "the position is singular, or the motion grows without bound";
        break;
      }
      this.known[0] = t;
      this.state.set(y);
      if (!this.#close()) break;
      y.set(this.state);
      if (performance.now() - begun > budget) break;
    }
    this.#move();
    return this.t >= until;
  }

  outputValues() {
    return this.equations.outputs(this.known);
  }

  inputIndex(number) {
    return 1 + this.count + number;
  }

  parameterIndex(number) {
    return 1 + this.count + this.inputs.length + number;
  }

  // The time and the state by name.
  named() {
    return { t: this.t, ...Object.fromEntries(this.states.map(({ name }, k) => [name, this.state[k]])) };
  }

  // A force on a point of a body as forces on the coordinates; null takes it away.
  push(body, point, force) {
    const first = this.inputIndex(0);
    if (this.pushed) for (let k = 0; k < this.forces; k++) this.known[first + k] -= this.pushed[k];
    this.pushed = null;
    if (!force) return;
    const entries = this.equations.jacobians(this.known);
    const width = this.forces;
    const begin = body * (16 + 6 * width);
    const origin = new Vector3(entries[begin + 3], entries[begin + 7], entries[begin + 11]);
    const moment = point.clone().sub(origin).cross(force);
    const wrench = [...force.toArray(), ...moment.toArray()];
    this.pushed = new Float64Array(width);
    for (let k = 0; k < width; k++) {
      for (let row = 0; row < 6; row++) this.pushed[k] += entries[begin + 16 + row * width + k] * wrench[row];
      this.known[first + k] += this.pushed[k];
    }
  }

  // For what draws: one moment, the present one.
  locate() {
    return { frame: 0, share: 0 };
  }

  matrix(link) {
    return this.matrices[link].clone();
  }

  link(link, time, position = new Vector3(), quaternion = new Quaternion()) {
    this.matrices[link].decompose(position, quaternion, new Vector3());
    return { position, quaternion };
  }

  point(link, local) {
    return new Vector3(...local).applyMatrix4(this.matrices[link]);
  }

  #rates(t, y, found) {
    this.trial.set(this.known);
    this.trial[0] = t;
    this.trial.set(y, 1);
    this.equations.derivatives(this.trial, found);
  }

  // Quaternions to unit length and states onto the loops; false where that fails.
  #close(rounds = CLOSINGS) {
    const y = this.state;
    let missed = 0;
    for (const first of this.quaternions) {
      const size = Math.hypot(y[first], y[first + 1], y[first + 2], y[first + 3]);
      for (let k = 0; k < 4; k++) y[first + k] /= size;
    }
    for (let round = 0; this.rows && round < rounds; round++) {
      this.equations.closed(this.known, this.closedStates, this.pivots);
      let change = 0;
      for (let k = 0; k < this.count; k++) change = Math.max(change, Math.abs(this.closedStates[k] - y[k]));
      if (!this.closedStates.every(Number.isFinite) || this.pivots.some((one) => Math.abs(one) < LEAST_PIVOT)) {
        this.failure = "the loops are in a singular position";
        return false;
      }
      y.set(this.closedStates);
      if (change < CLOSED * Math.max(1, ...y.map(Math.abs))) return true;
      missed = change;
    }
    if (missed > OPEN) this.failure = "loops cannot close further";
    return missed <= OPEN;
  }

  // Parents come before their children.
  #move() {
    this.#pull();
    const amounts = this.equations.displacements(this.known);
    this.matrices = [new Matrix4()];
    let place = 0;
    for (const joint of this.placed) {
      const before = this.matrices[joint.parent].clone().multiply(joint.matrix);
      if (joint.kind === "spherical") {
        const [w, x, y, z] = amounts.subarray(place, (place += 4));
        before.multiply(new Matrix4().makeRotationFromQuaternion(new Quaternion(x, y, z, w)));
      } else {
        const amount = amounts[place++];
        const axis = AXES[joint.axis];
        if (joint.kind === "revolute") before.multiply(new Matrix4().makeRotationAxis(axis, amount));
        else before.multiply(new Matrix4().makeTranslation(axis.clone().multiplyScalar(amount)));
      }
      this.matrices.push(before);
    }
  }

  // The forces of joints on their bodies, for the arrows, if they are to be seen.
  #pull() {
    if (!this.pulling || !this.arrows.length) return;
    const found = this.equations.reactions(this.known);
    this.arrows.forEach(({ vectors }, k) => vectors.set(found.subarray(3 * k, 3 * k + 3)));
  }

  // Arrows are computed from now on, or not.
  showForces(wanted) {
    this.pulling = wanted;
    this.#pull();
  }
}
