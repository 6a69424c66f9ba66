// What holds the mechanism: brackets of pivots, ends of rails, the plate of a fixed base, walls.
import { BoxGeometry, ConeGeometry, CylinderGeometry, DoubleSide, EdgesGeometry, Group, LineBasicMaterial, LineSegments, Mesh, PlaneGeometry, Vector3 } from "three";
import { matrixOf } from "../motion.js";
import { AXES, Y, material, round, solid } from "./solids.js";

const STONE = "#a3a9b2";

// A bracket whose tip is in the joint and whose plate lies in the given direction.
export function bracket(place, direction, size) {
  const height = 0.13 * size;
  const cone = solid(new ConeGeometry(0.07 * size, height, 4, 1).rotateY(Math.PI / 4), STONE, { flatShading: true });
  cone.position.y = -height / 2;
  const plate = solid(new BoxGeometry(0.19 * size, 0.02 * size, 0.19 * size), STONE);
  plate.position.y = -height - 0.01 * size;
  const group = new Group().add(cone, plate);
  group.quaternion.setFromUnitVectors(Y, direction.clone().negate());
  group.position.set(...place.slice(0, 3));
  return group;
}

// Blocks at both ends of a rail.
export function railEnds(part, size) {
  const group = new Group();
  const axis = AXES[part.axis];
  for (const end of [part.reach[0] - 0.12 * size, part.reach[1] + 0.12 * size]) {
    const block = solid(new BoxGeometry(0.06 * size, 0.025 * size, 0.06 * size), STONE);
    block.quaternion.setFromUnitVectors(Y, axis);
    block.position.copy(axis).multiplyScalar(end);
    group.add(block);
  }
  group.applyMatrix4(matrixOf(part.place));
  return group;
}

// The plate under a base that does not move.
export function plate(position, up, size) {
  const disc = solid(new CylinderGeometry(0.12 * size, 0.13 * size, 0.018 * size, round(48)), STONE);
  disc.quaternion.setFromUnitVectors(Y, up);
  disc.position.set(...position);
  return disc;
}

// A wall one looks through.
export function wall(part, size) {
  const length = Math.max(part.reach, 0.8 * size) * 1.25;
  const pane = new PlaneGeometry(length, length);
  const look = { transparent: true, opacity: 0.28, side: DoubleSide, depthWrite: false };
  const edge = new LineSegments(new EdgesGeometry(pane), new LineBasicMaterial({ color: STONE }));
  const group = new Group().add(new Mesh(pane, material(STONE, look)), edge);
  group.quaternion.setFromUnitVectors(AXES[2], new Vector3(...part.normal));
  group.position.set(...part.middle);
  return group;
}
