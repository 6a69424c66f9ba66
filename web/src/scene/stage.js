// The stage: camera, light, ground, trail, labels. Draws only when something has changed.
import {
  AmbientLight, Color, DirectionalLight, Group, HemisphereLight, NeutralToneMapping, PCFShadowMap, PerspectiveCamera, Scene,
  Sphere, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { Ground } from "./ground.js";
import { Labels } from "./labels.js";
import { around, fitted, horizontal, viewDirection } from "./view.js";

const THEMES = {
  light: { background: "#f5f6f8", grid: "#8d96a3", shadow: 0.2, trail: "#c2387a" },
  dark: { background: "#15181c", grid: "#6d7682", shadow: 0.45, trail: "#ff7db4" },
};

export class Stage {
  // fast: without shadows and smoothed edges, for browsers that draw without a graphics card.
  constructor(element, data, motion, assembly, fast = false) {
    this.element = element;
    this.fast = fast;
    this.renderer = new WebGLRenderer({ antialias: !fast });
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.enabled = !fast;
    this.renderer.shadowMap.type = PCFShadowMap;
    element.prepend(this.renderer.domElement);
    this.scene = new Scene();
    this.old = []; // contents that were replaced
    this.load(data, motion, assembly);
    new ResizeObserver(() => this.#resize()).observe(element);
    this.#resize();
  }

  // Another mechanism, or another version of it: the camera stays where a user has put it.
  load(data, motion, assembly) {
    const [trail, followed] = [this.trailed, this.followed?.name];
    this.content?.removeFromParent();
    this.old.push(this.content);
    this.content = new Group();
    this.trail = this.followed = this.trailed = this.ground = null;
    Object.assign(this, { data, motion, assembly, up: assembly.up, time: motion.times[0] });
    this.content.add(assembly.root);
    this.box = assembly.bounds();
    this.sphere = this.box.getBoundingSphere(new Sphere());
    this.#surround();
    this.#labels();
    this.scene.add(this.content);
    if (!this.camera) this.#camera();
    this.camera.up.copy(this.up);
    if (this.theme) this.setTheme(this.theme);
    const again = (name) => data.bodies.find((body) => body.name === name);
    if (trail && again(trail)) this.setTrail(again(trail));
    if (followed && again(followed)) this.follow(again(followed));
    if (!this.touched) this.home();
    this.changed = true;
  }

  // The box of all that will be seen: camera, light and ground suit it, unless a user has put the camera elsewhere.
  fit(box) {
    this.box = box;
    this.sphere = box.getBoundingSphere(new Sphere());
    for (const object of this.surroundings) {
      object.removeFromParent();
      discard(object);
    }
    this.#surround();
    if (this.theme) this.setTheme(this.theme);
    if (!this.touched) this.home();
  }

  #surround() {
    const before = new Set(this.content.children);
    this.#lights();
    this.#ground();
    this.surroundings = this.content.children.filter((object) => !before.has(object));
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
    // Only now, so that what replaced them has taken over their shaders, which are slow to compile.
    for (const content of this.old.splice(0)) if (content) discard(content);
    this.#placeLabels();
  }

  setTheme(name) {
    this.theme = name;
    const theme = THEMES[name];
    this.scene.background = new Color(theme.background);
    this.ground?.setTheme(theme);
    this.trailColor = theme.trail;
    if (this.trail) this.trail.material.color.set(theme.trail);
    this.changed = true;
  }

  setLayer(name, visible) {
    if (name === "labels") this.labeled = visible;
    else if (name === "ground") for (const object of this.ground.objects) object.visible = visible;
    else this.assembly.setLayer(name, visible);
    if (name === "forces") this.motion.showForces?.(visible);
    this.show(this.time);
  }

  // The path of a body's center of mass up to now; null for none.
  setTrail(body) {
    if (this.trail) this.content.remove(this.trail);
    this.trail = null;
    this.trailed = body?.name;
    if (body && this.motion.times.length > 1) {
      const points = Array.from(this.motion.times, (time) => this.center(body, time).toArray()).flat();
      const material = new LineMaterial({ color: this.trailColor, linewidth: 2, transparent: true, opacity: 0.75 });
      this.trail = new Line2(new LineGeometry().setPositions(points), material);
      this.trail.frustumCulled = false;
      this.content.add(this.trail);
    }
    this.show(this.time ?? this.motion.times[0]);
  }

  // A motion so far that the mechanism would be a speck in a picture of all of it.
  get goesFar() {
    return this.sphere.radius > 20 * this.assembly.size;
  }

  // The camera goes with a body's center of mass; null for none.
  follow(body) {
    this.followed = body;
    this.followedAt = body ? this.center(body, this.time) : null;
  }

  center(body, time) {
    return this.motion.point(body.link, body.center.slice(0, 3), time);
  }

  home() {
    const { camera, controls, sphere, up } = this;
    const box = this.followed ? around(this.center(this.followed, this.time), 1.6 * this.assembly.size) : this.box;
    const middle = box.getCenter(new Vector3());
    const direction = viewDirection(box, up);
    camera.position.copy(middle).add(direction);
    camera.lookAt(middle);
    camera.updateMatrixWorld();
    const room = this.motion.times.length > 1 ? 1.08 : this.room ?? (this.data.live ? 1.9 : 1.3); // what is moved by hand will go further
    const distance = fitted(box, middle, camera) * room;
    camera.position.copy(middle).addScaledVector(direction, distance);
    camera.near = Math.max(distance / 200, 1e-6);
    camera.far = distance + 40 * sphere.radius;
    camera.updateProjectionMatrix();
    controls.target.copy(middle);
    controls.update();
    this.changed = true;
  }

  // By the keyboard: the camera round its target by angles, and nearer or farther by a factor.
  turn(left, above, factor = 1) {
    const { camera, controls, up } = this;
    const arm = camera.position.clone().sub(controls.target);
    const side = new Vector3().crossVectors(up, arm).normalize();
    const steep = arm.angleTo(up) - above;
    if (steep > 0.05 && steep < Math.PI - 0.05) arm.applyAxisAngle(side, -above);
    arm.applyAxisAngle(up, left).multiplyScalar(factor);
    camera.position.copy(controls.target).add(arm);
    camera.lookAt(controls.target);
    this.touched = this.changed = true;
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
    this.renderer.setPixelRatio(this.fast ? 1 : Math.min(devicePixelRatio, 2));
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
    this.content.add(sky, sun, sun.target, new AmbientLight("#ffffff", 0.45));
  }

  // Without gravity and without a floor there is no below.
  #ground() {
    if (!this.data.gravity.some(Boolean) && this.assembly.ground === undefined) return;
    this.ground = new Ground(this.box, this.sphere, this.up, this.assembly.ground, !this.fast);
    this.content.add(...this.ground.objects);
  }

  #labels() {
    const layer = document.getElementById("labels");
    layer.replaceChildren();
    this.labels = new Labels(layer, this.data.bodies.map((body) => body.name));
  }

  #placeLabels() {
    if (!this.labeled) return this.labels.hide();
    const { clientWidth: width, clientHeight: height } = this.element;
    const anchors = this.data.bodies.map((body) => {
      const at = this.center(body, this.time).project(this.camera);
      if (Math.abs(at.x) > 1 || Math.abs(at.y) > 1 || at.z > 1) return null;
      return { x: ((at.x + 1) / 2) * width, y: ((1 - at.y) / 2) * height, depth: at.z };
    });
    this.labels.place(anchors, width, height);
  }

  #drawTrail(time) {
    if (!this.trail) return;
    const { frame } = this.motion.locate(time);
    this.trail.geometry.instanceCount = Math.max(frame, 0);
    this.trail.visible = frame > 0;
  }

  #moveWith(time) {
    const now = this.center(this.followed, time);
    const step = now.clone().sub(this.followedAt);
    this.camera.position.add(step);
    this.controls.target.add(step);
    this.followedAt = now;
  }
}

// Takes a group out of its scene and its geometry and materials out of the memory of the graphics card.
function discard(group) {
  group.traverse((object) => {
    object.geometry?.dispose();
    for (const one of [object.material ?? []].flat()) one.dispose();
    object.dispose?.();
  });
}

// Whether the browser draws without a graphics card.
export function drawsSlowly() {
  const context = document.createElement("canvas").getContext("webgl2");
  const names = context?.getExtension("WEBGL_debug_renderer_info");
  const name = names ? String(context.getParameter(names.UNMASKED_RENDERER_WEBGL)) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}
