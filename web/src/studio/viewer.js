// The mechanism in three dimensions: drawn anew when the model changes, moved by sliders, by the mouse or by a run.
import { Chain } from "../chain.js";
import { unpacked } from "../data.js";
import { Assembly } from "../scene/assembly.js";
import { Stage } from "../scene/stage.js";
import { upward } from "../scene/view.js";
import { byId, element } from "./dom.js";

const LAYERS = {
  ellipsoids: "Ellipsoids", centers: "Centers of mass", joints: "Joints", supports: "Supports", elements: "Springs, dampers",
  forces: "Forces", axes: "Frames",
};

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
    const assembly = new Assembly(this.data, this.chain, upward(this.data.gravity));
    for (const [name, visible] of this.layers) assembly.setLayer?.(name, visible);
    if (!this.stage && !this.failed) this.#open(assembly);
    else this.stage?.load(this.data, this.chain, assembly);
    this.#options();
    this.show();
  }

  #open(assembly) {
    try {
      this.stage = new Stage(this.parent, this.data, this.chain, assembly);
      this.stage.setTheme(document.documentElement.dataset.theme);
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
    this.handMoved ||= byHand;
    this.show();
  }

  show() {
    this.stage?.show(this.chain.times[0]);
    this.moved();
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

  #options() {
    const box = byId("layers");
    box.replaceChildren();
    if (!this.stage) return;
    const { assembly } = this.stage;
    for (const [name, words] of Object.entries(LAYERS)) {
      if (assembly.layers[name].length) box.append(this.#toggle(name, words, assembly.visible[name]));
    }
    box.append(this.#toggle("labels", "Names", this.layers.get("labels") ?? false));
    if (this.layers.get("labels")) this.stage.setLayer("labels", true);
  }

  #toggle(name, words, on) {
    const box = element("input");
    box.type = "checkbox";
    box.checked = on;
    box.addEventListener("change", () => {
      this.layers.set(name, box.checked);
      this.stage.setLayer(name, box.checked);
    });
    return element("label", "", box, words);
  }
}
