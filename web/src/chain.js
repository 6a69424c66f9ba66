// A mechanism moved by hand: the links' places from the values of the coordinates. Stands in for a motion of one moment.
import { Matrix4, Quaternion, Vector3 } from "three";
import { Closing } from "./closing.js";
import { matrixOf } from "./motion.js";

const AXES = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];

export class Chain {
  constructor(data) {
    this.times = data.times;
    this.joints = data.chain.map((joint) => ({ ...joint, matrix: matrixOf(joint.place) }));
    this.values = new Map(data.coordinates.map(({ name, value }) => [name, value]));
    this.closing = data.closing ? new Closing(data.closing) : null;
    this.#move();
  }

  // Move one coordinate; with loops the others follow. Returns how far it came: less where the loops cannot close.
  set(name, value) {
    if (this.closing) {
      const names = [...this.values.keys()];
      const values = [...this.values.values()];
      this.closing.move(values, names.indexOf(name), value);
      names.forEach((one, k) => this.values.set(one, values[k]));
    } else this.values.set(name, value);
    this.#move();
    return this.values.get(name);
  }

  reset(coordinates) {
    for (const { name, value } of coordinates) this.values.set(name, value);
    this.#move();
  }

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

  // Parents come before their children.
  #move() {
    this.matrices = [new Matrix4()];
    for (const joint of this.joints) {
      const before = this.matrices[joint.parent].clone().multiply(joint.matrix);
      this.matrices.push(before.multiply(this.#step(joint)));
    }
  }

  #step(joint) {
    const step = new Matrix4();
    if (joint.kind === "fixed") return step.makeRotationFromQuaternion(new Quaternion(...joint.turn));
    let amount = joint.rest;
    for (const [name, slope] of Object.entries(joint.slopes)) amount += slope * this.values.get(name);
    const axis = AXES[joint.axis];
    if (joint.kind === "revolute") return step.makeRotationAxis(axis, amount);
    return step.makeTranslation(axis.clone().multiplyScalar(amount));
  }
}
