// The mechanism as a tree of three.js groups, one per link, and its extent in space.
import { Box3, Color, Group, Sphere, Vector3 } from "three";
import { matrixOf } from "../motion.js";
import { Arrows } from "./arrows.js";
import { bodyColors, fixedColor } from "./colors.js";
import { connection, inJoint } from "./elements.js";
import * as shapes from "./shapes.js";
import { bracket, plate, railEnds, wall } from "./supports.js";

const PALE = new Color("#d8dce1"); // a shape without a color of its own is paler than a bar
const JOINTS = ["revolute", "prismatic", "spherical"];
const IN_JOINTS = ["torsion", "brake"];
const ARROWS = ["force", "moment"];
const SEE_THROUGH = 0.22; // of an ellipsoid where bars or shapes show the body
const HUGE = 0.6; // of the mechanism: ellipsoids that large hide more than they tell, and are off at first
const LEG = 0.2; // of its largest length: what never becomes shorter is a leg, not a slider
const BODILY = 0.5; // where nothing else does, but other bodies must be seen through it

export class Assembly {
  constructor(data, motion, up) {
    Object.assign(this, { data, motion, up });
    this.root = new Group();
    this.layers = { ellipsoids: [], centers: [], joints: [], elements: [], forces: [], supports: [], axes: [] };
    this.links = Array.from({ length: data.links + 1 }, () => new Group());
    this.connections = [];
    this.root.add(...this.links);
    this.shaped = data.parts.some((part) => part.sizes);
    this.size = extent(data, motion);
    this.#build();
    const telling = !this.shaped && !this.layers.ellipsoids.some((one) => one.userData.ghost && Math.max(...one.scale) > HUGE * this.size);
    this.visible = {
      ellipsoids: telling, centers: !this.shaped, joints: true, elements: true, forces: !data.live, supports: true, axes: false,
    };
    for (const [name, visible] of Object.entries(this.visible)) this.setLayer(name, visible);
  }

  // Everything at its place at a time.
  show(time) {
    for (let link = 1; link < this.links.length; link++) {
      this.motion.link(link, time, this.links[link].position, this.links[link].quaternion);
    }
    for (const { group, ends } of this.connections) {
      group.userData.lay(...ends.map((end) => this.motion.point(end.link, end.position, time)));
    }
    this.arrows.show(time, this.visible.forces);
  }

  setLayer(name, visible) {
    this.visible[name] = visible;
    for (const object of this.layers[name]) object.visible = visible;
  }

  // The box of the whole motion, from some of its moments and some corners of what is drawn at first.
  bounds() {
    const box = new Box3();
    const step = Math.max(1, Math.floor(this.motion.times.length / 60));
    for (let frame = 0; frame < this.motion.times.length; frame += step) this.reach(box, this.motion.times[frame]);
    return box.isEmpty() ? new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1)) : box;
  }

  // The box, grown by what is drawn at a time.
  reach(box, time) {
    this.corners ??= this.links.map((link) => someCorners(link));
    const corner = new Vector3();
    this.corners.forEach((points, link) => {
      const matrix = this.motion.matrix(link, time);
      for (const point of points) box.expandByPoint(corner.copy(point).applyMatrix4(matrix));
    });
    for (const end of this.connections.flatMap((one) => one.ends)) box.expandByPoint(this.motion.point(end.link, end.position, time));
    return box;
  }

  #build() {
    const { data } = this;
    const colors = bodyColors(data.bodies);
    this.colors = colors;
    for (const part of data.parts) this.#draw(part, colors[part.body] ?? fixedColor());
    const covered = new Set(data.parts.filter((part) => part.sizes).map((part) => part.link));
    const barred = new Set(data.parts.filter((part) => part.kind === "bar").map((part) => part.body));
    const alone = data.bodies.filter((body) => body.mass > 0 && body.link > 0).length === 1;
    const heaviest = Math.max(...data.bodies.map((body) => body.mass));
    data.bodies.forEach((body, index) => {
      const drawn = covered.has(body.link);
      const opacity = drawn || barred.has(index) ? SEE_THROUGH : alone ? 1 : BODILY;
      this.#mass(body, colors[index], heaviest, opacity, drawn);
    });
    this.#base(data.parts.filter((part) => part.kind === "bar" && part.link === 0));
    this.arrows = new Arrows(data.parts.filter((part) => ARROWS.includes(part.kind)), this.motion, this.size);
    for (const arrow of this.arrows.objects) {
      this.layers.forces.push(arrow);
      this.root.add(arrow);
    }
  }

  #draw(part, color) {
    const { data, size } = this;
    if (part.ends) this.#connect(part);
    else if (part.kind === "bar") this.#add(part.link, shapes.bar(part, color, size));
    else if (JOINTS.includes(part.kind)) this.#joint(part);
    else if (IN_JOINTS.includes(part.kind)) this.#layer("elements", part.link, inJoint(part, size));
    else if (part.kind === "plane") this.#wall(part);
    else if (part.sizes) this.#add(part.link, shapes.shape(part, data.meshes, color.clone().lerp(PALE, 0.55)));
  }

  #joint(part) {
    if (part.kind === "prismatic" && !part.grounded) return this.#leg(part);
    this.#layer("joints", part.link, shapes.joint(part, this.size));
    if (!part.grounded) return;
    const held = part.kind === "prismatic" ? railEnds(part, this.size) : bracket(part.place, this.#away(part), this.size);
    this.#layer("supports", 0, held);
  }

  // What slides on a moving link is on a rod from there to itself, which pierces nothing.
  #leg(part) {
    const ends = [{ link: part.link, position: part.place.slice(0, 3) }, { link: part.moves, position: [0, 0, 0] }];
    this.#between("rod", ends, "joints");
  }

  // Where the bracket of a pivot goes: up if the link hangs below it, else down.
  #away(part) {
    const from = new Vector3(...part.place.slice(0, 3));
    const time = this.motion.times[0];
    let sum = 0;
    for (const body of this.data.bodies) {
      if (body.link !== part.moves) continue;
      sum += this.motion.point(body.link, body.center.slice(0, 3), time).sub(from).dot(this.up);
    }
    return sum < -0.02 * this.size ? this.up : this.up.clone().negate();
  }

  // A plate where the bars of a base that does not move begin, if the base stands below all that moves.
  #base(bars) {
    if (!bars.length) return;
    const ends = bars.flatMap((bar) => [bar.from, bar.to]);
    const height = (end) => new Vector3(...end).dot(this.up);
    const lowest = ends.reduce((best, end) => (height(end) < height(best) ? end : best));
    const time = this.motion.times[0];
    const centers = this.data.bodies.map((body) => this.motion.point(body.link, body.center.slice(0, 3), time));
    if (centers.every((center) => center.dot(this.up) >= height(lowest) - 0.02 * this.size)) {
      this.#layer("supports", 0, plate(lowest, this.up, this.size));
    }
  }

  // A horizontal plane below everything is the ground, which the stage draws.
  #wall(part) {
    if (Math.abs(new Vector3(...part.normal).dot(this.up)) > 0.999) this.ground ??= new Vector3(...part.middle).dot(this.up);
    else this.#layer("supports", 0, wall(part, this.size));
  }

  // A body's mass: its ellipsoid, and a mark at its center; a ball for a point mass.
  #mass(body, color, heaviest, opacity, drawn) {
    const { size } = this;
    const share = Math.cbrt(body.mass / heaviest);
    if (body.ellipsoid && Math.max(...body.ellipsoid) > 0) {
      const shell = placed(shapes.ellipsoid(body.ellipsoid, color, opacity), body.center);
      shell.userData.ghost = opacity === SEE_THROUGH;
      this.#layer("ellipsoids", body.link, shell);
      if (opacity < 1) {
        this.#layer("centers", body.link, placed(shapes.center(0.026 * size * Math.max(share, 0.6)), body.center));
      }
    } else if (body.mass > 0 && !drawn) {
      this.#add(body.link, placed(shapes.bob(0.085 * size * Math.max(share, 0.45), color), body.center));
    }
    this.#layer("axes", body.link, placed(shapes.axes(size), body.place));
  }

  #connect(part) {
    this.#between(part.kind, part.rail ? [this.#railEnd(part), part.ends[1]] : part.ends, "elements");
  }

  #between(kind, ends, layer) {
    const [from, to] = ends.map((end) => this.motion.point(end.link, end.position, this.motion.times[0]));
    const group = connection(kind, this.size, from.distanceTo(to));
    this.connections.push({ group, ends });
    this.layers[layer].push(group);
    this.root.add(group);
  }

  // A spring along a rail begins before the nearest place the slider comes to; in a leg, which stays long, where the leg
  // does.
  #railEnd({ ends: [fixed, moving], rail }) {
    const along = new Vector3(...rail);
    const origin = new Vector3(...fixed.position);
    const step = Math.max(1, Math.floor(this.motion.times.length / 60));
    let [nearest, farthest] = [Infinity, -Infinity];
    for (let frame = 0; frame < this.motion.times.length; frame += step) {
      const time = this.motion.times[frame];
      const local = this.motion.point(moving.link, moving.position, time).applyMatrix4(this.motion.matrix(fixed.link, time).invert());
      const reached = local.sub(origin).dot(along);
      [nearest, farthest] = [Math.min(nearest, reached), Math.max(farthest, reached)];
    }
    if (fixed.link > 0 && nearest > LEG * farthest) return fixed;
    nearest = Math.min(nearest, 0);
    return { link: fixed.link, position: origin.addScaledVector(along, nearest - 0.4 * this.size).toArray() };
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

// Half the length of shapes by their sizes; a mesh counts as a point.
const HALVES = {
  sphere: ([radius]) => radius,
  ellipsoid: (axes) => Math.max(...axes),
  box: (edges) => Math.max(...edges) / 2,
  cylinder: ([radius, length]) => Math.max(radius, length / 2),
  capsule: ([radius, length]) => radius + length / 2,
};

// How large the mechanism is: the radius of what it spans at its start. Thickness of bars and joints follows from it.
function extent(data, motion) {
  const points = [];
  const time = motion.times[0];
  const put = (link, local) => points.push(motion.point(link, local, time));
  const around = (link, middle, half) => {
    for (const sign of [-1, 1]) for (let k = 0; k < 3; k++) put(link, middle.map((one, axis) => one + (axis === k ? sign * half : 0)));
  };
  for (const part of data.parts) {
    if (part.ends) part.ends.forEach((end) => put(end.link, end.position));
    else if (part.kind === "bar") [part.from, part.to].forEach((local) => put(part.link, local));
    else if (part.place) around(part.link, part.place.slice(0, 3), HALVES[part.kind]?.(part.sizes) ?? 0);
  }
  const barred = new Set(data.parts.filter((part) => part.kind === "bar" || part.sizes).map((part) => part.link));
  for (const body of data.bodies) {
    around(body.link, body.center.slice(0, 3), barred.has(body.link) ? 0 : Math.max(0, ...(body.ellipsoid ?? [])));
  }
  return new Sphere().setFromPoints(points).radius || 1;
}
