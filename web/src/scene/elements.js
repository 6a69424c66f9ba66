// Springs, dampers, pistons and ropes between two moving points, and what sits in joints.
import { CylinderGeometry, Curve, DoubleSide, Group, TorusGeometry, TubeGeometry, Vector3 } from "three";
import { matrixOf } from "../motion.js";
import { AXES, Y, between, round, solid } from "./solids.js";

const STEEL = "#8a929d";
const DARK = "#565d67";
const OIL = "#b98b3e"; // dampers and brakes
const POWER = "#c0603a"; // pistons that push

// A coil about y, as long as the spring is at the start, with straight ends.
class Coil extends Curve {
  constructor(length, radius, turns) {
    super();
    Object.assign(this, { length, radius, turns });
  }

  getPoint(share, target = new Vector3()) {
    const wound = Math.min(1, Math.max(0, (share - 0.1) / 0.8));
    const out = Math.min(1, Math.max(0, Math.min(share - 0.06, 0.94 - share) / 0.04));
    const angle = 2 * Math.PI * this.turns * wound;
    const radius = this.radius * out;
    return target.set(radius * Math.cos(angle), (share - 0.5) * this.length, radius * Math.sin(angle));
  }
}

// A flat spiral about y.
class Spiral extends Curve {
  constructor(inner, outer, turns) {
    super();
    Object.assign(this, { inner, outer, turns });
  }

  getPoint(share, target = new Vector3()) {
    const radius = this.inner + share * (this.outer - this.inner);
    const angle = 2 * Math.PI * this.turns * share;
    return target.set(radius * Math.cos(angle), 0, radius * Math.sin(angle));
  }
}

function spring(size, length) {
  const radius = 0.034 * size;
  const turns = Math.min(16, Math.max(5, Math.round(length / (1.1 * radius))));
  const coil = new Coil(length, radius, turns);
  const wire = solid(new TubeGeometry(coil, round(24) * turns, 0.0065 * size, round(20) / 4 + 2), STEEL, { metalness: 0.35, side: DoubleSide });
  const group = new Group().add(wire);
  return { group, stretch: (now) => (wire.scale.y = now / length) };
}

// A housing on the first point and a rod on the second that goes into it.
function telescope(size, length, color) {
  const radius = 0.026 * size;
  const housing = solid(new CylinderGeometry(radius, radius, 0.55 * length, round(24)), color);
  const rod = solid(new CylinderGeometry(0.42 * radius, 0.42 * radius, 1, round(16)), STEEL, { metalness: 0.35 });
  const group = new Group().add(housing, rod);
  const stretch = (now) => {
    housing.position.y = 0.275 * length - now / 2;
    const visible = Math.max(now - 0.3 * length, 1e-9);
    rod.scale.y = visible;
    rod.position.y = (now - visible) / 2;
  };
  return { group, stretch };
}

function rope(size) {
  const line = solid(new CylinderGeometry(0.006 * size, 0.006 * size, 1, round(10)), DARK);
  return { group: new Group().add(line), stretch: (now) => (line.scale.y = now) };
}

// What slides in a leg.
function rod(size) {
  const bar = solid(new CylinderGeometry(0.014 * size, 0.014 * size, 1, round(16)), DARK);
  return { group: new Group().add(bar), stretch: (now) => (bar.scale.y = now) };
}

const CONNECTIONS = {
  rod,
  spring,
  rope,
  damper: (size, length) => telescope(size, length, OIL),
  piston: (size, length) => telescope(size, length, POWER),
};

// What joins two moving points; `lay` puts it between them.
export function connection(kind, size, length) {
  const { group, stretch } = CONNECTIONS[kind](size, Math.max(length, 0.05 * size));
  group.userData.lay = (from, to) => {
    between(group, from, to);
    stretch(Math.max(from.distanceTo(to), 1e-9));
  };
  return group;
}

// A spiral spring or a brake beside a revolute joint.
export function inJoint(part, size) {
  const group = new Group();
  if (part.kind === "torsion") {
    const wire = new TubeGeometry(new Spiral(0.036 * size, 0.085 * size, 3.5), round(120), 0.0055 * size, round(16) / 4 + 2);
    group.add(solid(wire, STEEL, { metalness: 0.35 }));
    group.position.copy(AXES[part.axis]).multiplyScalar(0.062 * size);
  } else {
    group.add(solid(new CylinderGeometry(0.05 * size, 0.05 * size, 0.016 * size, round(32)), OIL));
    const rim = solid(new TorusGeometry(0.05 * size, 0.008 * size, 10, round(40)), DARK);
    rim.rotateX(Math.PI / 2);
    group.add(rim);
    group.position.copy(AXES[part.axis]).multiplyScalar(-0.06 * size);
  }
  group.quaternion.setFromUnitVectors(Y, AXES[part.axis]);
  const placed = new Group().add(group);
  placed.applyMatrix4(matrixOf(part.place));
  return placed;
}
