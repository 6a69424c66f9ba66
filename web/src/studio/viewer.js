// The mechanism in three dimensions: drawn anew when the model changes, moved by sliders, by the mouse or by a run.
import { Box3, Sphere } from "three";
import { Chain } from "../chain.js";
import { float32, unpacked } from "../data.js";
import { Assembly } from "../scene/assembly.js";
import { quality } from "../scene/solids.js";
import { Stage, drawsSlowly } from "../scene/stage.js";
import { upward } from "../scene/view.js";
import { matrixOf } from "../motion.js";
import { byId, element } from "./dom.js";

const LAYERS = {
  ellipsoids: "Ellipsoids", centers: "Centers of mass", joints: "Joints", supports: "Supports", elements: "Springs, dampers",
  forces: "Forces", axes: "Frames",
};

const LOOK = 250; // ms between looks at whether the mechanism has left the view
const FAR = 20; // of the mechanism's size: what goes further is followed

export class Viewer {
  // moved: called after each change of the position.
  constructor(parent, moved) {
    this.parent = parent;
    this.moved = moved;
    this.layers = new Map();
    this.handMoved = false;
  }

  // A new version of the model. What was moved by hand stays where it is, as far as the loops allow.
  load(data) {
    const { statements, readiness, parameters, notation, left_out: _, size, model, ...drawn } = data;
    const key = JSON.stringify(drawn);
    if (key === this.drawn && !this.extras) return;
    this.drawn = key;
    this.extras = false;
    unpacked(data);
    const before = this.chain;
    const same = before && this.handMoved && String(before.names) === String(data.names);
    this.data = data;
    this.chain = new Chain(data);
    if (same) this.#restore([...before.values.values()]);
    else this.handMoved = false;
    this.#draw();
  }

  // Draws the parts again, with other arrows.
  #draw() {
    if (!this.stage) quality.fast = drawsSlowly();
    const assembly = new Assembly(this.data, this.chain, upward(this.data.gravity));
    for (const [name, visible] of this.layers) if (name in assembly.layers) assembly.setLayer(name, visible);
    if (!this.stage && !this.failed) this.#open(assembly);
    else this.stage?.load(this.data, this.chain, assembly);
    this.start = this.stage?.box.clone();
    this.#options();
    this.#light();
    this.show();
  }

  #open(assembly) {
    try {
      this.stage = new Stage(this.parent, this.data, this.chain, assembly, quality.fast);
      this.stage.setTheme(document.documentElement.dataset.theme);
      this.stage.room = 1.7; // it will swing
      this.stage.home();
      this.opened?.();
    } catch (error) {
      this.failed = String(error);
      byId("no-webgl").hidden = false;
    }
  }

  #restore(values) {
    const { closing } = this.chain;
    const fitting = closing ? closing.closed(values, -1, 0) : values;
    if (fitting) this.chain.put(fitting);
    else this.handMoved = false;
  }

  // Coordinates in their order, which must fit the loops.
  put(values, time = 0, byHand = false) {
    this.chain.put(values, time);
    this.#keepInView();
    if (this.extras) this.showArrows([]); // they belong to another position
    this.handMoved ||= byHand;
    this.show();
  }

  // A run that will be played: positions in the order of the coordinates. The camera shows all of it, or goes with the
  // heaviest body where all of it would be too far away.
  frame(positions) {
    const { stage, chain } = this;
    if (!stage) return;
    const now = [...chain.values.values()];
    const box = this.start.clone();
    for (const values of positions) {
      chain.put(values);
      stage.assembly.reach(box, chain.times[0]);
    }
    chain.put(now);
    this.#fit(box);
  }

  #fit(box) {
    const { stage } = this;
    if (stage.box.containsBox(box) || stage.followed) return;
    if (box.getBoundingSphere(new Sphere()).radius < FAR * stage.assembly.size) return stage.fit(box);
    stage.follow(this.data.bodies.reduce((best, one) => (one.link > 0 && one.mass > best.mass ? one : best)));
    if (!stage.touched) stage.home();
  }

  // What moves out of the view by itself is shown again, a few times a second.
  #keepInView() {
    const { stage } = this;
    const now = performance.now();
    if (!stage || now - (this.looked ?? 0) < LOOK) return;
    this.looked = now;
    const box = stage.assembly.reach(new Box3(), this.chain.times[0]);
    if (!stage.box.intersectsBox(box)) this.#fit(box.union(stage.box));
  }

  show() {
    this.stage?.show(this.chain.times[0]);
    this.moved();
  }

  // The arrows of the model's own forces at another state, packed as in the scene.
  turnArrows(vectors) {
    const own = this.data.parts.filter((part) => part.vectors && !part.extra);
    if (own.length !== vectors.length) return;
    own.forEach((part, k) => (part.vectors = float32(vectors[k])));
    this.stage?.assembly.arrows.measure();
    this.show();
  }

  get hasArrows() {
    return this.data?.parts.some((part) => part.vectors && !part.extra);
  }

  get values() {
    return [...this.chain.values.values()];
  }

  reset() {
    this.handMoved = false;
    this.chain.reset();
    this.show();
  }

  render() {
    this.stage?.render();
  }

  setTheme(name) {
    this.stage?.setTheme(name);
  }

  // The frame of a body on its link.
  frameOf(body) {
    return matrixOf(body.place);
  }

  // A body that stands out; none without a name.
  pick(name) {
    this.picked = name;
    this.#light();
  }

  #light() {
    if (!this.stage) return;
    const { assembly } = this.stage;
    const body = this.data.bodies.find((one) => one.name === this.picked);
    assembly.links.forEach((group, link) => group.traverse((object) => {
      const { material } = object;
      if (material?.emissive) material.emissive.set(body && link > 0 && link === body.link ? "#5f5f4c" : "#000000");
    }));
    this.stage.changed = true;
  }

  // Forces and moments at points of the fixed frame, such as reactions: { kind, at, vector } each.
  showArrows(arrows) {
    this.extras = arrows.length > 0;
    this.data.parts = this.data.parts.filter((part) => !part.extra);
    for (const { kind, at, vector } of arrows) {
      this.data.parts.push({ extra: true, kind, name: "", link: 0, position: at, axes: 0, vectors: new Float32Array(vector) });
    }
    this.#draw();
  }

  #options() {
    const box = byId("layers");
    if (!this.stage) return box.replaceChildren();
    const { assembly } = this.stage;
    if (this.layers.get("labels")) this.stage.setLayer("labels", true);
    const key = JSON.stringify(Object.keys(LAYERS).map((name) => assembly.layers[name].length > 0 && assembly.visible[name]));
    if (key === this.offered) return;
    this.offered = key;
    box.replaceChildren();
    for (const [name, words] of Object.entries(LAYERS)) {
      if (assembly.layers[name].length) box.append(this.#toggle(name, words, assembly.visible[name]));
    }
    box.append(this.#toggle("labels", "Names", this.layers.get("labels") ?? false));
  }

  #toggle(name, words, on) {
    const box = element("input");
    box.type = "checkbox";
    box.checked = on;
    box.addEventListener("change", () => {
      this.layers.set(name, box.checked);
      this.offered = null;
      this.stage.setLayer(name, box.checked);
    });
    return element("label", "", box, words);
  }
}
