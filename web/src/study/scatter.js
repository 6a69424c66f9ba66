// Cases as points over two columns, colored by a third; a click chooses the nearest case.
import { drawAxes, fit, padded, scales } from "../axes.js";
import { CURVES, scaleColor } from "../palette.js";

const NEAR = 18; // pixels from a point that a click may be

export class Scatter {
  // chosen: called with the row of the case.
  constructor(label, chosen) {
    this.element = Object.assign(document.createElement("figure"), { className: "scatter" });
    this.area = Object.assign(document.createElement("div"), { className: "area" });
    this.canvas = document.createElement("canvas");
    this.key = Object.assign(document.createElement("div"), { className: "key" });
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", label);
    this.area.append(this.canvas);
    this.element.append(this.area, this.key);
    this.area.addEventListener("click", (event) => {
      const box = this.area.getBoundingClientRect();
      const nearest = this.#nearest(event.clientX - box.left, event.clientY - box.top);
      if (nearest >= 0) chosen(nearest);
    });
    new ResizeObserver(() => this.draw()).observe(this.area);
  }

  // Columns { name, unit, values }; the color may also be { words, codes }.
  show({ x, y, color }) {
    Object.assign(this, { across: x, up: y, color });
    this.draw();
  }

  // The row that stands out.
  mark(row) {
    this.row = row;
    this.draw();
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.area;
    if (!width || !height || !this.across) return;
    this.theme = getComputedStyle(document.documentElement);
    fit(this.canvas, width, height);
    this.range = { x: padded([this.across.values]), y: padded([this.up.values]) };
    [this.xLabel, this.yLabel] = [labeled(this.across), labeled(this.up)];
    Object.assign(this, scales(this.range, width, height));
    const context = this.canvas.getContext("2d");
    drawAxes(context, this, [width, height]);
    const colors = this.#colors(document.documentElement.dataset.theme);
    const size = this.across.values.length > 1500 ? 1.8 : 2.6;
    context.globalAlpha = this.across.values.length > 600 ? 0.75 : 0.9;
    this.across.values.forEach((_, row) => this.#dot(context, row, size, colors(row)));
    context.globalAlpha = 1;
    if (this.row === undefined) return;
    this.#dot(context, this.row, 4.5, colors(this.row));
    context.strokeStyle = this.theme.getPropertyValue("--ink");
    context.lineWidth = 2;
    context.stroke();
  }

  #dot(context, row, size, color) {
    context.beginPath();
    const [x, y] = [this.across.values[row], this.up.values[row]];
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    context.fillStyle = color;
    context.arc(this.x(x), this.y(y), size, 0, 7);
    context.fill();
  }

  // The color of a row, and the key that says what colors mean.
  #colors(theme) {
    const palette = CURVES[theme];
    if (!this.color) return this.#say([], () => palette[0]);
    if (this.color.words) {
      const entry = (word, k) => [word, palette[k % palette.length]];
      return this.#say(this.color.words.map(entry), (row) => palette[this.color.codes[row] % palette.length]);
    }
    const { values } = this.color;
    const known = values.filter(Number.isFinite);
    const [low, high] = [known.reduce((a, b) => Math.min(a, b), Infinity), known.reduce((a, b) => Math.max(a, b), -Infinity)];
    const share = (value) => (high > low ? (value - low) / (high - low) : 0.5);
    const gray = this.theme.getPropertyValue("--rule");
    const steps = [0, 0.25, 0.5, 0.75, 1].map((part) => [short(low + part * (high - low)), scaleColor(part, theme)]);
    return this.#say(known.length ? steps : [], (row) => (Number.isFinite(values[row]) ? scaleColor(share(values[row]), theme) : gray), labeled(this.color));
  }

  #say(entries, color, title = "") {
    const rows = entries.map(([words, own]) => {
      const one = document.createElement("span");
      const swatch = document.createElement("i");
      swatch.style.backgroundColor = own;
      one.append(swatch, words);
      return one;
    });
    this.key.replaceChildren(...(title && rows.length ? [`${title}:`] : []), ...rows);
    return color;
  }

  #nearest(px, py) {
    let best = [NEAR, -1];
    this.across.values.forEach((x, row) => {
      const distance = Math.hypot(this.x(x) - px, this.y(this.up.values[row]) - py);
      if (distance < best[0]) best = [distance, row];
    });
    return best[1];
  }
}

export const labeled = ({ name, unit }) => (unit ? `${name} / ${unit}` : name);

export const short = (value, digits = 4) => (Number.isFinite(value) ? String(Number(value.toPrecision(digits))).replace("-", "−") : "–");
