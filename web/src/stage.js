// The stage: camera, light, ground, trail, labels. Draws only when something has changed.
import {
  AmbientLight, Box3, BufferGeometry, Color, DirectionalLight, Float32BufferAttribute, HemisphereLight, LineBasicMaterial,
  LineSegments, Mesh, NeutralToneMapping, PCFShadowMap, PerspectiveCamera, PlaneGeometry, Scene, ShadowMaterial,
  Sphere, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";

const THEMES = {
  light: { background: "#f5f6f8", grid: "#8d96a3", shadow: 0.2, trail: "#c2387a" },
  dark: { background: "#15181c", grid: "#6d7682", shadow: 0.45, trail: "#ff7db4" },
};

export class Stage {
  constructor(element, data, motion, assembly) {
    this.element = element;
    this.data = data;
    this.motion = motion;
    this.assembly = assembly;
    this.renderer = new WebGLRenderer({ antialias: true });
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    element.prepend(this.renderer.domElement);
    this.scene = new Scene();
    this.scene.add(assembly.root);
    this.box = assembly.bounds();
    this.sphere = this.box.getBoundingSphere(new Sphere());
    this.up = upward(data.gravity);
    this.#lights();
    this.#ground();
    this.#camera();
    this.#labels();
    new ResizeObserver(() => this.#resize()).observe(element);
    this.#resize();
  }

  show(time) {
    this.assembly.show(time);
    this.#drawTrail(time);
    if (this.followed) this.#moveWith(time);
    this.time = time;
    this.changed = true;
  }

  // Draws if anything has changed since the last time.
  render() {
    this.controls.update();
    if (!this.changed) return;
    this.changed = false;
    this.renderer.render(this.scene, this.camera);
    this.#placeLabels();
  }

  setTheme(name) {
    const theme = THEMES[name];
    this.scene.background = new Color(theme.background);
    if (this.grid) this.grid.material.color.set(theme.grid);
    if (this.floor) this.floor.material.opacity = theme.shadow;
    this.trailColour = theme.trail;
    if (this.trail) this.trail.material.color.set(theme.trail);
    this.changed = true;
  }

  setLayer(name, visible) {
    if (name === "labels") this.labelled = visible;
    else this.assembly.setLayer(name, visible);
    this.changed = true;
  }

  // The path of a body's mass centre up to now; null for none.
  setTrail(body) {
    if (this.trail) this.scene.remove(this.trail);
    this.trail = null;
    if (body && this.motion.times.length > 1) {
      const points = Array.from(this.motion.times, (time) => this.centre(body, time).toArray()).flat();
      const material = new LineMaterial({ color: this.trailColour, linewidth: 2, transparent: true, opacity: 0.75 });
      this.trail = new Line2(new LineGeometry().setPositions(points), material);
      this.trail.frustumCulled = false;
      this.scene.add(this.trail);
    }
    this.show(this.time ?? this.motion.times[0]);
  }

  // A motion so far that the mechanism would be a speck in a picture of all of it.
  get goesFar() {
    return this.sphere.radius > 5 * this.assembly.size;
  }

  // The camera goes with a body's mass centre; null for none.
  follow(body) {
    this.followed = body;
    this.followedAt = body ? this.centre(body, this.time) : null;
  }

  centre(body, time) {
    return this.motion.point(body.link, body.centre.slice(0, 3), time);
  }

  home() {
    const { camera, controls, sphere, up } = this;
    const box = this.followed ? around(this.centre(this.followed, this.time), 1.6 * this.assembly.size) : this.box;
    const middle = box.getCenter(new Vector3());
    const direction = viewDirection(box, up);
    camera.position.copy(middle).add(direction);
    camera.lookAt(middle);
    camera.updateMatrixWorld();
    const room = this.motion.times.length > 1 ? 1.08 : 1.3; // what is moved by hand will go further
    const distance = fitted(box, middle, camera) * room;
    camera.position.copy(middle).addScaledVector(direction, distance);
    camera.near = Math.max(distance / 200, 1e-6);
    camera.far = distance + 40 * sphere.radius;
    camera.updateProjectionMatrix();
    controls.target.copy(middle);
    controls.update();
    this.changed = true;
  }

  #camera() {
    this.camera = new PerspectiveCamera(30, 1, 0.01, 1000);
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.controls.addEventListener("start", () => (this.touched = true));
    this.controls.addEventListener("change", () => (this.changed = true));
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!this.touched) this.home();
    this.changed = true;
  }

  #lights() {
    const { up, sphere } = this;
    const sky = new HemisphereLight("#ffffff", "#c9ced6", 2.7);
    sky.position.copy(up);
    const sun = new DirectionalLight("#fffaf2", 2.3);
    const [side] = horizontal(up);
    const front = viewDirection(this.box, up);
    sun.position.copy(sphere.center).addScaledVector(up, 3.2 * sphere.radius);
    sun.position.addScaledVector(front, 1.6 * sphere.radius).addScaledVector(side, -1.3 * sphere.radius);
    sun.target.position.copy(sphere.center);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    sun.shadow.radius = 4;
    sun.shadow.bias = -0.0004;
    sun.shadow.normalBias = 0.006 * this.assembly.size;
    const reach = 1.25 * sphere.radius;
    Object.assign(sun.shadow.camera, {
      left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * sphere.radius, far: 8 * sphere.radius,
    });
    this.scene.add(sky, sun, sun.target, new AmbientLight("#ffffff", 0.45));
  }

  // A grid below the lowest point of the motion; without gravity there is no below.
  #ground() {
    if (!this.data.gravity.some(Boolean)) return;
    const { up, sphere, box } = this;
    const [side, front] = horizontal(up);
    const lowest = Math.min(...corners(box).map((corner) => corner.dot(up)));
    const middle = sphere.center.clone().addScaledVector(up, lowest - sphere.center.dot(up) - 0.004 * sphere.radius);
    this.grid = fadingGrid(middle, side, front, sphere.radius);
    this.floor = new Mesh(new PlaneGeometry(12 * sphere.radius, 12 * sphere.radius), new ShadowMaterial());
    this.floor.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), up);
    this.floor.position.copy(middle);
    this.floor.receiveShadow = true;
    this.scene.add(this.floor, this.grid);
  }

  #labels() {
    const layer = document.getElementById("labels");
    this.labels = this.data.bodies.map((body) => {
      const label = document.createElement("span");
      label.textContent = body.name;
      layer.append(label);
      return label;
    });
  }

  #placeLabels() {
    const { clientWidth: width, clientHeight: height } = this.element;
    this.labels.forEach((label, index) => {
      label.hidden = !this.labelled;
      if (!this.labelled) return;
      const at = this.centre(this.data.bodies[index], this.time).project(this.camera);
      label.style.transform = `translate(${((at.x + 1) / 2) * width}px, ${((1 - at.y) / 2) * height}px)`;
    });
  }

  #drawTrail(time) {
    if (!this.trail) return;
    const { frame } = this.motion.locate(time);
    this.trail.geometry.instanceCount = Math.max(frame, 0);
    this.trail.visible = frame > 0;
  }

  #moveWith(time) {
    const now = this.centre(this.followed, time);
    const step = now.clone().sub(this.followedAt);
    this.camera.position.add(step);
    this.controls.target.add(step);
    this.followedAt = now;
  }
}

function upward(gravity) {
  const down = new Vector3(...gravity);
  return down.length() > 0 ? down.normalize().negate() : new Vector3(0, 0, 1);
}

// Two directions at right angles to up: x and y if up is z, and so on round.
function horizontal(up) {
  const first = Math.abs(up.z) > 0.9 ? new Vector3(1, 0, 0) : Math.abs(up.y) > 0.9 ? new Vector3(0, 0, 1) : new Vector3(0, 1, 0);
  first.addScaledVector(up, -first.dot(up)).normalize();
  return [first, new Vector3().crossVectors(up, first)];
}

// From where to look: across the plane of most motion, from a little aside and above.
function viewDirection(box, up) {
  const [first, second] = horizontal(up);
  const span = box.getSize(new Vector3());
  const wide = (axis) => Math.abs(axis.x) * span.x + Math.abs(axis.y) * span.y + Math.abs(axis.z) * span.z;
  const ratio = wide(second) / Math.max(wide(first), 1e-12);
  const [front, side] = ratio < 1 ? [second.clone().negate(), first] : [first, second];
  const flat = Math.min(ratio, 1 / ratio) < 0.15;
  return front.clone().addScaledVector(side, flat ? 0.25 : 0.6).addScaledVector(up, flat ? 0.18 : 0.32).normalize();
}

function around(middle, half) {
  return new Box3(middle.clone().subScalar(half), middle.clone().addScalar(half));
}

function corners(box) {
  const found = [];
  for (const x of [box.min.x, box.max.x]) {
    for (const y of [box.min.y, box.max.y]) for (const z of [box.min.z, box.max.z]) found.push(new Vector3(x, y, z));
  }
  return found;
}

// How far away a camera must be, looking as it does, to see the whole box.
function fitted(box, middle, camera) {
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
