// Geometry of bodies: bars, joints, ellipsoids, centers of mass, and the shapes a model gives.
import {
  BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, DoubleSide, Group, Mesh,
  SphereGeometry, Vector3,
} from "three";
import { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";
import { float32, uint32 } from "../data.js";
import { matrixOf } from "../motion.js";
import { AXES, Y, between, material, quality, round, solid } from "./solids.js";

export function bar(part, color, size) {
  const [from, to] = [new Vector3(...part.from), new Vector3(...part.to)];
  const length = from.distanceTo(to);
  const radius = Math.min(Math.max(0.085 * length, 0.012 * size), 0.03 * size, 0.45 * length);
  return between(solid(new CapsuleGeometry(radius, length, round(24) / 4, round(20)), color), from, to);
}

export function joint(part, size) {
  const group = new Group();
  const dark = new Color("#3c4148");
  const axis = AXES[part.axis];
  if (part.kind === "spherical") {
    group.add(solid(new SphereGeometry(0.045 * size, round(24), round(16)), dark));
  } else if (part.kind === "revolute") {
    const pin = solid(new CylinderGeometry(0.032 * size, 0.032 * size, 0.085 * size, round(28)), dark, { roughness: 0.35 });
    const cap = solid(new CylinderGeometry(0.017 * size, 0.017 * size, 0.096 * size, round(20)), "#b9c0c9", { metalness: 0.4 });
    for (const one of [pin, cap]) one.quaternion.setFromUnitVectors(Y, axis);
    group.add(pin, cap);
  } else {
    const [low, high] = part.reach;
    const ends = [low - 0.12 * size, high + 0.12 * size].map((d) => axis.clone().multiplyScalar(d));
    const rail = solid(new CylinderGeometry(0.014 * size, 0.014 * size, ends[0].distanceTo(ends[1]), round(16)), dark);
    group.add(between(rail, ...ends));
  }
  group.applyMatrix4(matrixOf(part.place));
  return group;
}

// The eight octants in two tones, as centers of mass are marked on drawings; a turning body is seen to turn.
function octants(geometry, light, dark) {
  const plain = geometry.toNonIndexed();
  const where = plain.attributes.position;
  const colors = new Float32Array(where.count * 3);
  for (let corner = 0; corner < where.count; corner += 3) {
    const sum = [0, 1, 2].map((k) => [0, 1, 2].reduce((s, c) => s + where.getComponent(corner + c, k), 0) > 0);
    const color = sum.filter(Boolean).length % 2 ? light : dark;
    for (let c = 0; c < 3; c++) color.toArray(colors, 3 * (corner + c));
  }
  plain.setAttribute("color", new BufferAttribute(colors, 3));
  return plain;
}

export function center(radius) {
  const ball = octants(new SphereGeometry(radius, round(24), round(16)), new Color("#f4f4f4"), new Color("#1d2126"));
  return solid(ball, "#ffffff", { vertexColors: true, roughness: 0.4 });
}

export function bob(radius, color) {
  return solid(new SphereGeometry(radius, round(36), round(24)), color);
}

// The ellipsoid of a body's inertia: solid where nothing else shows the body, otherwise one looks through it.
export function ellipsoid(halves, color, opacity) {
  const most = Math.max(...halves);
  const lengths = halves.map((half) => Math.max(half, 0.035 * most));
  if (opacity < 1) {
    const look = { transparent: true, opacity, depthWrite: false };
    const ghost = new Mesh(new SphereGeometry(1, round(quality.fast ? 28 : 40), round(quality.fast ? 20 : 28)), material(color, look));
    ghost.scale.set(...lengths);
    return ghost;
  }
  const light = new Color(color).offsetHSL(0, -0.05, 0.16);
  const body = solid(octants(new SphereGeometry(1, round(64), round(40)), new Color(color), light), "#ffffff", { vertexColors: true });
  body.scale.set(...lengths);
  return body;
}

// A triad of body axes: x red, y green, z blue.
export function axes(size) {
  const group = new Group();
  ["#c8443c", "#3c9a52", "#3b6fd0"].forEach((color, k) => {
    const tip = AXES[k].clone().multiplyScalar(0.16 * size);
    group.add(between(solid(new CylinderGeometry(0.006 * size, 0.006 * size, 0.16 * size, round(10)), color), new Vector3(), tip));
  });
  return group;
}

function triangles(packed) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(float32(packed.corners), 3));
  geometry.setIndex(new BufferAttribute(uint32(packed.triangles), 1));
  return geometry;
}

const FORMS = {
  box: ([x, y, z]) => new BoxGeometry(x, y, z),
  sphere: ([radius]) => new SphereGeometry(radius, round(40), round(28)),
  ellipsoid: ([a, b, c]) => new SphereGeometry(1, round(40), round(28)).scale(a, b, c),
  cylinder: ([radius, length]) => new CylinderGeometry(radius, radius, length, round(40)).rotateX(Math.PI / 2),
  capsule: ([radius, length]) => new CapsuleGeometry(radius, length, round(48) / 4, round(32)).rotateX(Math.PI / 2),
};

// A shape of the model: a form by its sizes, or a mesh.
export function shape(part, meshes, color) {
  const [red, green, blue, opacity] = part.color ?? [];
  const paint = part.color ? new Color().setRGB(red, green, blue, "srgb") : color;
  const clear = part.color && opacity < 1 ? { transparent: true, opacity: Math.max(opacity, 0.05) } : {};
  let geometry = FORMS[part.kind]?.(part.sizes);
  if (!geometry) {
    geometry = toCreasedNormals(triangles(meshes[part.mesh]).scale(...part.sizes), Math.PI / 5);
    clear.side = DoubleSide;
  }
  const mesh = solid(geometry, paint, { roughness: 0.6, ...clear });
  mesh.applyMatrix4(matrixOf(part.place));
  return mesh;
}

