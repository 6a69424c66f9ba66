// What all drawn parts are made of: materials, and meshes that cast shadows.
import { Mesh, MeshLambertMaterial, MeshStandardMaterial, Vector3 } from "three";

export const AXES = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];
export const Y = AXES[1];

// Whether materials are plain, for browsers that draw without a graphics card.
export const quality = { fast: false };

// The number of faces round a curved surface: fewer where each of them is drawn without a graphics card. Multiples of
// four keep the two tones of a sphere apart.
export function round(count) {
  return quality.fast ? Math.min(count, Math.max(8, 4 * Math.round(count / 10))) : count;
}

export function material(color, { roughness = 0.5, metalness = 0.05, ...more } = {}) {
  if (quality.fast) return new MeshLambertMaterial({ color, ...more });
  return new MeshStandardMaterial({ color, roughness, metalness, ...more });
}

export function solid(geometry, color, more) {
  const mesh = new Mesh(geometry, material(color, more));
  mesh.castShadow = true;
  mesh.receiveShadow = true;
  return mesh;
}

// Laid along y from one point to another.
export function between(object, from, to) {
  const along = to.clone().sub(from);
  object.position.copy(from).addScaledVector(along, 0.5);
  if (along.lengthSq() > 0) object.quaternion.setFromUnitVectors(Y, along.normalize());
  return object;
}
