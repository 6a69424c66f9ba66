// Forces as straight arrows, moments as arrows round their axis; long ones are strong ones.
import { ConeGeometry, CylinderGeometry, Group, TorusGeometry, Vector3 } from "three";
import { FORCE, MOMENT } from "./colors.js";
import { Y, round, solid } from "./solids.js";

const LONGEST = 0.5; // of the size of the mechanism, for the strongest force
const WIDEST = 0.17; // radius of the strongest moment
const LEAST = 0.02; // of the strongest: what is weaker is not drawn

const Z = new Vector3(0, 0, 1);
const ARC = 1.5 * Math.PI;

function straight(size) {
  const radius = 0.011 * size;
  const shaft = solid(new CylinderGeometry(radius, radius, 1, round(14)), FORCE);
  const head = solid(new ConeGeometry(2.8 * radius, 7 * radius, round(20)), FORCE);
  const group = new Group().add(shaft, head);
  const set = (direction, share) => {
    const length = Math.max(LONGEST * share * size, 8 * radius);
    shaft.scale.y = length - 7 * radius;
    shaft.position.y = (length - 7 * radius) / 2;
    head.position.y = length - 3.5 * radius;
    group.quaternion.setFromUnitVectors(Y, direction);
  };
  return { group, set };
}

function curved(size) {
  const arc = solid(new TorusGeometry(1, 0.09, round(10), round(48), ARC), MOMENT);
  const head = solid(new ConeGeometry(0.26, 0.6, round(18)), MOMENT);
  head.position.set(Math.cos(ARC), Math.sin(ARC), 0);
  head.quaternion.setFromUnitVectors(Y, new Vector3(-Math.sin(ARC), Math.cos(ARC), 0));
  const group = new Group().add(arc, head);
  const set = (direction, share) => {
    group.scale.setScalar((0.055 + (WIDEST - 0.055) * share) * size);
    group.quaternion.setFromUnitVectors(Z, direction);
  };
  return { group, set };
}

export class Arrows {
  constructor(parts, motion, size) {
    this.motion = motion;
    this.arrows = parts.map((part) => ({ part, ...(part.kind === "force" ? straight(size) : curved(size)) }));
    this.parts = parts;
    this.measure();
  }

  // Lengths are relative to the strongest of all.
  measure() {
    this.strongest = { force: strongest(this.parts, "force"), moment: strongest(this.parts, "moment") };
  }

  get objects() {
    return this.arrows.map(({ group }) => group);
  }

  // Every arrow at its point, as long and in the direction it has at a time. Weak ones vanish.
  show(time, visible) {
    if (visible && this.motion.pulling) this.#grow();
    const { frame, share } = this.motion.locate(time);
    for (const { part, group, set } of this.arrows) {
      const vector = at(part.vectors, frame, share).applyQuaternion(this.motion.link(part.axes, time).quaternion);
      const size = vector.length() / this.strongest[part.kind];
      group.visible = visible && size > LEAST;
      if (!group.visible) continue;
      group.position.copy(this.motion.point(part.link, part.position, time));
      set(vector.normalize(), Math.min(size, 1));
    }
  }

  // Of a live motion nobody knows the strongest force: it is the strongest so far.
  #grow() {
    for (const kind of ["force", "moment"]) {
      const [now, known] = [strongest(this.parts, kind), this.strongest[kind]];
      if (now < Infinity && (known === Infinity || now > known)) this.strongest[kind] = now;
    }
  }
}

function at(vectors, frame, share) {
  const found = new Vector3().fromArray(vectors, 3 * frame);
  return share > 0 ? found.lerp(new Vector3().fromArray(vectors, 3 * frame + 3), share) : found;
}

function strongest(parts, kind) {
  let most = 0;
  for (const part of parts) {
    if (part.kind !== kind) continue;
    for (let k = 0; k < part.vectors.length; k += 3) most = Math.max(most, Math.hypot(...part.vectors.subarray(k, k + 3)));
  }
  return most || Infinity;
}
