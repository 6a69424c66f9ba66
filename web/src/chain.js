// A mechanism moved by hand: the links' places from the values of the coordinates. Stands in for a motion of one moment.
import { Matrix4, Quaternion, Vector3 } from "three";
import { Closing } from "./closing.js";
import { matrixOf } from "./motion.js";
import { evaluate } from "./program.js";

const AXES = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];

export class Chain {
  constructor(data) {
    this.times = data.times;
    this.names = data.names;
    this.joints = data.chain.map((joint) => ({ ...joint, matrix: matrixOf(joint.place) }));
    this.placing = data.placing;
    this.values = new Map(data.names.map((name, k) => [name, data.start[k]]));
    this.closing = data.closing ? new Closing(data.closing) : null;
    this.start = data.start;
    this.time = 0;
    this.#move();
  }

  // Move one coordinate; with loops the others follow. Returns how far it came: less where the loops cannot close.
  set(name, value) {
    if (this.closing) {
      const values = [...this.values.values()];
      this.closing.move(values, this.names.indexOf(name), value);
      this.put(values);
    } else {
      this.values.set(name, value);
      this.#move();
    }
    return this.values.get(name);
  }

  // All coordinates in their order, which must fit the loops.
  put(values, time = this.time) {
    this.names.forEach((name, k) => this.values.set(name, values[k]));
    this.time = time;
    this.#move();
  }

  reset() {
    this.put(this.start);
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

  // The matrices of all links at some values of the coordinates. Parents come before their children.
  placed(values) {
    const known = evaluate(this.placing, [...values, this.time]);
    const matrices = [new Matrix4()];
    for (const joint of this.joints) {
      const before = matrices[joint.parent].clone().multiply(joint.matrix);
      matrices.push(before.multiply(step(joint, joint.amounts.map((node) => known[node]))));
    }
    return matrices;
  }

  #move() {
    this.matrices = this.placed([...this.values.values()]);
  }
}

function step({ kind, axis }, amounts) {
  const found = new Matrix4();
  if (kind === "revolute") return found.makeRotationAxis(AXES[axis], amounts[0]);
  if (kind === "prismatic") return found.makeTranslation(AXES[axis].clone().multiplyScalar(amounts[0]));
  const [w, x, y, z] = amounts;
  return found.makeRotationFromQuaternion(new Quaternion(x, y, z, w).normalize());
}
