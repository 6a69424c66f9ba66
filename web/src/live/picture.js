// The picture of a live mechanism after its parameters: frames of joints, bodies and parts, and ellipsoids of inertia.
import { Matrix4, Quaternion, Vector3 } from "three";

const FRAME = 12; // numbers of a frame: rotation by rows, position
const INERTIA = 7; // mass, Jx, Jy, Jz, Jxy, Jyz, Jxz
const SWEEPS = 30;

export class Picture {
  // placed: the joints of the model, whose matrices follow.
  constructor(data, equations, placed) {
    Object.assign(this, { data, equations, placed, last: null });
  }

  // Frames and inertias at the knowns; whether they have changed.
  follow(known) {
    const found = this.equations.placements(known);
    this.last ??= this.equations.placements(Float64Array.from(this.data.live.start));
    if (!found.every(Number.isFinite) || found.every((value, k) => value === this.last[k])) return false;
    this.last = found.slice();
    this.placed.forEach((joint, k) => (joint.matrix = matrixAt(found, k)));
    const { bodies, parts, live } = this.data;
    const inertias = found.length - INERTIA * bodies.length;
    bodies.forEach((body, k) => {
      body.place = placeOf(matrixAt(found, live.frames.bodies[k]));
      const own = found.subarray(inertias + INERTIA * k, inertias + INERTIA * (k + 1));
      body.mass = own[0];
      const center = matrixAt(found, live.frames.centers[k]);
      const principal = ellipsoid(own);
      body.ellipsoid = principal?.axes ?? null;
      body.center = placeOf(principal ? center.multiply(principal.matrix) : center);
    });
    for (const part of parts) for (const one of [part, ...(part.ends ?? [])]) moved(one, found);
    return true;
  }
}

// The vectors of a part that belong to frames.
function moved(part, found) {
  for (const key of ["from", "to", "position", "place"]) {
    const number = part[`${key}_at`];
    if (number !== undefined) part[key] = placeOf(matrixAt(found, number)).slice(0, part[key].length);
  }
}

function matrixAt(found, number) {
  const [a, b, c, d, e, f, g, h, i, x, y, z] = found.subarray(FRAME * number, FRAME * (number + 1));
  return new Matrix4().set(a, b, c, x, d, e, f, y, g, h, i, z, 0, 0, 0, 1);
}

function placeOf(matrix) {
  const [position, quaternion] = [new Vector3(), new Quaternion()];
  matrix.decompose(position, quaternion, new Vector3());
  return [...position.toArray(), ...quaternion.toArray()];
}

// Axes and semi-axes of the uniform ellipsoid with an inertia; null if there is none.
function ellipsoid([mass, xx, yy, zz, xy, yz, xz]) {
  const tensor = [[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]];
  if (!(mass > 0) || !tensor.flat().some(Boolean)) return null;
  const { values, vectors } = eigen(tensor);
  const sum = values[0] + values[1] + values[2];
  const axes = values.map((value) => Math.sqrt(Math.max(0, (5 / (2 * mass)) * (sum - 2 * value))));
  const columns = [0, 1, 2].map((k) => new Vector3(vectors[0][k], vectors[1][k], vectors[2][k]));
  columns[2].crossVectors(columns[0], columns[1]); // right-handed
  return { axes, matrix: new Matrix4().makeBasis(...columns) };
}

// Eigenvalues and eigenvectors (as columns) of a symmetric matrix of three rows, by Jacobi's rotations.
function eigen(tensor) {
  const a = tensor.map((row) => [...row]);
  const vectors = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (Math.abs(a[p][q]) < 1e-300) continue;
      const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
      const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
      const c = 1 / Math.hypot(t, 1);
      const s = t * c;
      for (let k = 0; k < 3; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
      for (let k = 0; k < 3; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      for (const row of vectors) [row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]];
    }
  }
  return { values: [a[0][0], a[1][1], a[2][2]], vectors };
}
