// Directions and distances of looking at a box.
import { Box3, Vector3 } from "three";

// Against gravity; z where there is none.
export function upward(gravity) {
  const down = new Vector3(...gravity);
  return down.length() > 0 ? down.normalize().negate() : new Vector3(0, 0, 1);
}

// Two directions at right angles to up: x and y if up is z, and so on round.
export function horizontal(up) {
  const first = Math.abs(up.z) > 0.9 ? new Vector3(1, 0, 0) : Math.abs(up.y) > 0.9 ? new Vector3(0, 0, 1) : new Vector3(0, 1, 0);
  first.addScaledVector(up, -first.dot(up)).normalize();
  return [first, new Vector3().crossVectors(up, first)];
}

// From where to look: across the plane of most motion, from a little aside and above.
export function viewDirection(box, up) {
  const [first, second] = horizontal(up);
  const span = box.getSize(new Vector3());
  const wide = (axis) => Math.abs(axis.x) * span.x + Math.abs(axis.y) * span.y + Math.abs(axis.z) * span.z;
  const ratio = wide(second) / Math.max(wide(first), 1e-12);
  const [front, side] = ratio < 1 ? [second.clone().negate(), first] : [first, second];
  const flat = Math.min(ratio, 1 / ratio) < 0.15;
  return front.clone().addScaledVector(side, flat ? 0.25 : 0.6).addScaledVector(up, flat ? 0.18 : 0.32).normalize();
}

export function around(middle, half) {
  return new Box3(middle.clone().subScalar(half), middle.clone().addScalar(half));
}

export function corners(box) {
  const found = [];
  for (const x of [box.min.x, box.max.x]) {
    for (const y of [box.min.y, box.max.y]) for (const z of [box.min.z, box.max.z]) found.push(new Vector3(x, y, z));
  }
  return found;
}

// How far away a camera must be, looking as it does, to see the whole box.
export function fitted(box, middle, camera) {
  const tangent = Math.tan((camera.fov * Math.PI) / 360);
  const right = new Vector3();
  const above = new Vector3();
  const back = new Vector3();
  camera.matrixWorld.extractBasis(right, above, back);
  let distance = 0;
  for (const corner of corners(box)) {
    corner.sub(middle);
    const across = Math.abs(corner.dot(right)) / (tangent * camera.aspect);
    const tall = Math.abs(corner.dot(above)) / tangent;
    distance = Math.max(distance, Math.max(across, tall) + corner.dot(back));
  }
  return distance;
}
