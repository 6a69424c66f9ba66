// The mechanism as a tree of three.js groups, one per link, and its extent in space.
import { Box3, Color, Group, Sphere, Vector3 } from "three";
import { bodyColours, fixedColour } from "./colours.js";
import { matrixOf } from "./motion.js";
import * as shapes from "./shapes.js";

const PLAIN = new Color("#d8dce1"); // a shape without a colour of its own is paler than a bar
const JOINTS = ["revolute", "prismatic", "spherical"];

export class Assembly {
  constructor(data, motion) {
    this.data = data;
    this.motion = motion;
    this.root = new Group();
    this.layers = { ellipsoids: [], centres: [], joints: [], axes: [] };
    this.links = Array.from({ length: data.links + 1 }, () => new Group());
    this.connections = [];
    this.root.add(...this.links);
    this.size = extent(data, motion);
    this.#build();
    this.shown = { ellipsoids: !data.parts.some((part) => part.sizes), centres: true, joints: true, axes: false };
    for (const [name, visible] of Object.entries(this.shown)) this.setLayer(name, visible);
  }

  // Everything at its place at a time.
  show(time) {
    for (let link = 1; link < this.links.length; link++) {
      this.motion.link(link, time, this.links[link].position, this.links[link].quaternion);
    }
    for (const { group, ends } of this.connections) {
      group.userData.lay(...ends.map((end) => this.motion.point(end.link, end.position, time)));
    }
  }

  setLayer(name, visible) {
    for (const object of this.layers[name]) object.visible = visible;
  }

  // The box of the whole motion, from some of its moments and some corners of what is drawn.
  bounds() {
    const box = new Box3();
    const own = this.links.map((link) => someCorners(link));
    const step = Math.max(1, Math.floor(this.motion.times.length / 60));
    const corner = new Vector3();
    for (let frame = 0; frame < this.motion.times.length; frame += step) {
      own.forEach((points, link) => {
        const matrix = this.motion.matrix(link, this.motion.times[frame]);
        for (const point of points) box.expandByPoint(corner.copy(point).applyMatrix4(matrix));
      });
    }
    return box.isEmpty() ? new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1)) : box;
  }

  #build() {
    const { data } = this;
    const colours = bodyColours(data.bodies);
    for (const part of data.parts) this.#draw(part, colours[part.body] ?? fixedColour());
    const covered = new Set(data.parts.filter((part) => part.sizes).map((part) => part.link));
    const barred = new Set(data.parts.filter((part) => part.kind === "bar").map((part) => part.body));
    const alone = data.bodies.filter((body) => body.mass > 0 && body.link > 0).length === 1;
    const heaviest = Math.max(...data.bodies.map((body) => body.mass));
    data.bodies.forEach((body, index) => {
      const shaped = covered.has(body.link);
      this.#mass(body, colours[index], heaviest, { shaped, ghost: shaped || (!alone && barred.has(index)) });
    });
  }

  #draw(part, colour) {
    const { data, size } = this;
    if (part.ends) this.#connect(part);
    else if (part.kind === "bar") this.#add(part.link, shapes.bar(part, colour, size));
    else if (JOINTS.includes(part.kind)) this.#layer("joints", part.link, shapes.joint(part, size));
    else this.#add(part.link, shapes.shape(part, data.meshes, colour.clone().lerp(PLAIN, 0.55)));
  }

  // A body's mass: its ellipsoid, a ghost where something else shows the body; a ball for a point mass.
  #mass(body, colour, heaviest, { ghost, shaped }) {
    const { size } = this;
    const share = Math.cbrt(body.mass / heaviest);
    if (body.ellipsoid && Math.max(...body.ellipsoid) > 0) {
      const shell = placed(shapes.ellipsoid(body.ellipsoid, colour, !ghost), body.centre);
      if (ghost) this.#layer("ellipsoids", body.link, shell);
      else this.#add(body.link, shell);
    } else if (body.mass > 0 && !shaped) {
      this.#add(body.link, placed(shapes.bob(0.085 * size * Math.max(share, 0.45), colour), body.centre));
    }
    if (body.mass > 0 && body.ellipsoid && ghost) {
      const mark = shapes.centre(0.026 * size * Math.max(share, 0.6));
      this.#layer("centres", body.link, placed(mark, body.centre));
    }
    this.#layer("axes", body.link, placed(shapes.axes(size), body.place));
  }

  #connect(part) {
    const group = shapes.connection(part, this.size);
    this.connections.push({ group, ends: part.ends });
    this.root.add(group);
  }

  #layer(name, link, object) {
    this.layers[name].push(object);
    this.#add(link, object);
  }

  #add(link, object) {
    this.links[link].add(object);
  }
}

function placed(object, place) {
  object.applyMatrix4(matrixOf(place));
  return object;
}

// Up to a hundred corners of each visible mesh on a link, in the link's frame.
function someCorners(group) {
  const found = [];
  group.updateMatrixWorld(true);
  const inverse = group.matrixWorld.clone().invert();
  group.traverseVisible((object) => {
    const corners = object.geometry?.attributes.position;
    if (!corners) return;
    const step = Math.max(1, Math.floor(corners.count / 100));
    const matrix = inverse.clone().multiply(object.matrixWorld);
    for (let k = 0; k < corners.count; k += step) found.push(new Vector3().fromBufferAttribute(corners, k).applyMatrix4(matrix));
  });
  return found;
}

// How large the mechanism is: the radius of what it spans at its start. Thickness of bars and joints follows from it.
function extent(data, motion) {
  const points = [];
  const time = motion.times[0];
  const put = (link, local) => points.push(motion.point(link, local, time));
  for (const part of data.parts) {
    if (part.ends) part.ends.forEach((end) => put(end.link, end.position));
    else if (part.kind === "bar") [part.from, part.to].forEach((local) => put(part.link, local));
    else put(part.link, part.place.slice(0, 3));
  }
  for (const body of data.bodies) {
    const half = Math.max(0, ...(body.ellipsoid ?? []));
    for (const sign of [-1, 1]) {
      for (let k = 0; k < 3; k++) {
        const local = body.centre.slice(0, 3);
        local[k] += sign * half;
        put(body.link, local);
      }
    }
  }
  return new Sphere().setFromPoints(points).radius || 1;
}
