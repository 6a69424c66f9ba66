// A figure on one canvas: axes, and what `paint` draws between them; drawn again when its size changes.
import { drawAxes, fit, scales } from "./axes.js";

export class Chart {
  // Nothing is drawn before its owner sets the range; xLabel and yLabel name the axes.
  constructor(label, paint = () => {}) {
    Object.assign(this, { paint, xLabel: "", yLabel: "" });
    this.element = Object.assign(document.createElement("figure"), { className: "chart" });
    this.area = Object.assign(document.createElement("div"), { className: "area" });
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", label);
    this.area.append(this.canvas);
    this.element.append(this.area);
    new ResizeObserver(() => this.draw()).observe(this.area);
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.area;
    if (!width || !height || !this.range) return;
    this.theme = getComputedStyle(document.documentElement);
    fit(this.canvas, width, height);
    Object.assign(this, scales(this.range, width, height));
    const context = this.canvas.getContext("2d");
    drawAxes(context, this, [width, height]);
    this.paint(context, this);
  }
}
