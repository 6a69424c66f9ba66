// The ground: a grid that fades out, and a floor that takes shadows.
import {
  BufferGeometry, Float32BufferAttribute, LineBasicMaterial, LineSegments, Mesh, PlaneGeometry, ShadowMaterial, Vector3,
} from "three";
import { corners, horizontal } from "./view.js";

export class Ground {
  // At the floor of the model if it has one, else below the lowest point of the motion. Only shadows show the floor.
  constructor(box, sphere, up, level, shadows) {
    const [side, front] = horizontal(up);
    const lowest = level ?? Math.min(...corners(box).map((corner) => corner.dot(up))) - 0.004 * sphere.radius;
    const middle = sphere.center.clone().addScaledVector(up, lowest - sphere.center.dot(up));
    this.grid = fadingGrid(middle, side, front, sphere.radius);
    this.floor = new Mesh(new PlaneGeometry(12 * sphere.radius, 12 * sphere.radius), new ShadowMaterial());
    this.floor.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), up);
    this.floor.position.copy(middle);
    this.floor.receiveShadow = true;
    this.objects = shadows ? [this.floor, this.grid] : [this.grid];
  }

  setTheme({ grid, shadow }) {
    this.grid.material.color.set(grid);
    this.floor.material.opacity = shadow;
  }
}

function fadingGrid(middle, side, front, radius) {
  const step = roundStep(radius / 3);
  const count = Math.ceil((3.2 * radius) / step);
  const reach = count * step;
  const points = [];
  const alphas = [];
  const put = (a, b) => {
    points.push(...middle.clone().addScaledVector(side, a).addScaledVector(front, b).toArray());
    alphas.push(1, 1, 1, 0.62 * Math.max(0, 1 - Math.hypot(a, b) / reach) ** 1.6);
  };
  for (let line = -count; line <= count; line++) {
    for (let piece = -count; piece < count; piece++) {
      for (const end of [piece, piece + 1]) put(line * step, end * step);
      for (const end of [piece, piece + 1]) put(end * step, line * step);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(points, 3));
  geometry.setAttribute("color", new Float32BufferAttribute(alphas, 4));
  return new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }));
}

// 1, 2 or 5 times a power of ten.
function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((digit) => digit * power >= value * 0.999) * power;
}
