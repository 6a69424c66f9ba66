// A small plot: curves on one canvas, the time cursor on another above it.
import { CURVES } from "./scene/colors.js";

const MARGIN = { left: 52, right: 10, top: 20, bottom: 24 };
const DASHES = [[], [5, 3], [1.5, 2.5]];

export class Plot {
  // curves: { label: Node, x, y } arrays of one length, in the order of the times; `timed` says that x is the time,
  // `most` how many curves are drawn at first.
  constructor(title, curves, { clock, motion, timed, most, xLabel = "", yLabel = "", note = "", events = [], angles = false }) {
    Object.assign(this, { curves, clock, motion, timed, xLabel, yLabel, note, events });
    this.hidden = new Set([...curves.keys()].filter((index) => index >= most));
    this.element = document.createElement("figure");
    this.element.className = "plot card";
    this.lines = document.createElement("canvas");
    this.cursor = document.createElement("canvas");
    this.area = document.createElement("div");
    this.area.className = "area";
    this.area.append(this.lines, this.cursor);
    this.element.append(this.#caption(title), this.area);
    if (angles) this.#offerWrapping();
    this.#listen();
    new ResizeObserver(() => this.draw()).observe(this.area);
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.area;
    if (!width || !height) return;
    this.theme = getComputedStyle(document.documentElement);
    this.#fit(this.lines, width, height);
    this.#fit(this.cursor, width, height);
    this.#scale(width, height);
    this.#axes(width, height);
    this.#curves();
    this.#swatches();
    this.mark();
  }

  // The cursor: a line at the present time and a dot on every curve.
  mark() {
    if (!this.x) return;
    const context = this.cursor.getContext("2d");
    const { clientWidth: width, clientHeight: height } = this.area;
    context.clearRect(0, 0, width, height);
    if (this.timed) {
      this.cursorX = this.x(this.clock.time);
      context.strokeStyle = this.#color("--cursor");
      context.lineWidth = 1;
      line(context, [this.cursorX, MARGIN.top], [this.cursorX, height - MARGIN.bottom]);
    }
    const { frame, share } = this.motion.locate(this.clock.time);
    const value = (array) => array[frame] + (share > 0 ? share * (array[frame + 1] - array[frame]) : 0);
    this.#visible().forEach(([curve, index]) => {
      context.fillStyle = this.#curveColor(index);
      context.beginPath();
      context.arc(this.x(this.timed ? this.clock.time : value(curve.x)), this.y(value(curve.y)), this.timed ? 2.6 : 4, 0, 7);
      context.fill();
    });
  }

  #caption(title) {
    const caption = document.createElement("figcaption");
    const heading = document.createElement("h2");
    heading.textContent = title;
    this.count = document.createElement("small");
    heading.append(this.count);
    const legend = document.createElement("div");
    legend.className = "legend";
    this.keys = this.curves.map((curve, index) => {
      const key = document.createElement("button");
      key.type = "button";
      key.setAttribute("aria-pressed", String(!this.hidden.has(index)));
      key.title = `Show or hide ${curve.name}`;
      const swatch = document.createElement("i");
      key.append(swatch, curve.label);
      key.addEventListener("click", () => this.#toggle(index));
      legend.append(key);
      return { key, swatch };
    });
    caption.append(heading, legend);
    this.#say();
    return caption;
  }

  // Angles between -pi and pi on request; a jump from one end to the other is not drawn.
  #offerWrapping() {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "±π", className: "wrap" });
    button.title = "Draw angles between −π and π";
    button.setAttribute("aria-pressed", "false");
    const whole = this.curves.map(({ y }) => y);
    button.addEventListener("click", () => {
      const wrap = button.getAttribute("aria-pressed") === "false";
      button.setAttribute("aria-pressed", String(wrap));
      this.curves.forEach((curve, k) => (curve.y = wrap ? wrapped(whole[k]) : whole[k]));
      this.draw();
    });
    this.element.querySelector("h2").append(button);
  }

  // How many of all curves are drawn, if some are not.
  #say() {
    const count = this.curves.length - this.hidden.size;
    const words = this.hidden.size ? `${count} of ${this.curves.length} drawn: click names` : this.note;
    this.count.textContent = words && ` ${words}`;
  }

  #toggle(index) {
    if (!this.hidden.delete(index)) this.hidden.add(index);
    this.keys[index].key.setAttribute("aria-pressed", String(!this.hidden.has(index)));
    this.#say();
    this.draw();
  }

  #listen() {
    const jump = (event) => {
      const box = this.area.getBoundingClientRect();
      this.clock.set(this.#timeAt(event.clientX - box.left, event.clientY - box.top));
    };
    this.area.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.area.setPointerCapture(event.pointerId);
      jump(event);
    });
    this.area.addEventListener("pointermove", (event) => event.buttons === 1 && jump(event));
  }

  #timeAt(px, py) {
    if (this.timed) return this.range.x[0] + ((px - MARGIN.left) / this.width) * (this.range.x[1] - this.range.x[0]);
    let best = [Infinity, this.clock.time];
    for (const [curve] of this.#visible()) {
      for (let k = 0; k < curve.x.length; k++) {
        const distance = Math.hypot(this.x(curve.x[k]) - px, this.y(curve.y[k]) - py);
        if (distance < best[0]) best = [distance, this.motion.times[k]];
      }
    }
    return best[1];
  }

  #visible() {
    return this.curves.map((curve, index) => [curve, index]).filter(([, index]) => !this.hidden.has(index));
  }

  #scale(width, height) {
    this.width = width - MARGIN.left - MARGIN.right;
    this.height = height - MARGIN.top - MARGIN.bottom;
    const shown = this.#visible().map(([curve]) => curve);
    const times = this.motion.times;
    this.range = {
      x: this.timed ? [times[0], Math.max(times.at(-1), times[0] + 1e-9)] : padded(shown.map((curve) => curve.x)),
      y: padded(shown.map((curve) => curve.y)),
    };
    const { x, y } = this.range;
    this.x = (value) => MARGIN.left + ((value - x[0]) / (x[1] - x[0])) * this.width;
    this.y = (value) => MARGIN.top + (1 - (value - y[0]) / (y[1] - y[0])) * this.height;
  }

  #axes(width, height) {
    const context = this.lines.getContext("2d");
    context.clearRect(0, 0, width, height);
    context.font = `11px ${this.theme.getPropertyValue("--sans")}`;
    context.lineWidth = 1;
    context.strokeStyle = this.#color("--rule");
    context.fillStyle = this.#color("--quiet");
    const bottom = height - MARGIN.bottom;
    const labeled = context.measureText(this.xLabel).width || -14;
    const across = ticks(...this.range.x, Math.max(2, Math.floor(this.width / 70)));
    const upward = ticks(...this.range.y, Math.max(2, Math.floor(this.height / 24)));
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of upward.values) {
      line(context, [MARGIN.left, this.y(value)], [width - MARGIN.right, this.y(value)]);
      context.fillText(upward.text(value), MARGIN.left - 6, this.y(value));
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const value of across.values) {
      line(context, [this.x(value), MARGIN.top], [this.x(value), bottom]);
      const near = this.x(value) > width - MARGIN.right - labeled - 14;
      if (!near) context.fillText(across.text(value), this.x(value), bottom + 6);
    }
    context.setLineDash([2, 3]);
    context.strokeStyle = this.#color("--quiet");
    for (const time of this.events) line(context, [this.x(time), MARGIN.top], [this.x(time), bottom]);
    context.setLineDash([]);
    context.fillStyle = this.#color("--ink");
    context.textAlign = "right";
    context.fillText(this.xLabel, width - MARGIN.right, bottom + 6);
    context.textAlign = "left";
    context.fillText(this.yLabel, 2, 1);
  }

  #curves() {
    const context = this.lines.getContext("2d");
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, MARGIN.top, this.width, this.height);
    context.clip();
    context.lineWidth = 1.5;
    context.lineJoin = "round";
    for (const [curve, index] of this.#visible()) {
      context.strokeStyle = this.#curveColor(index);
      context.setLineDash(DASHES[Math.floor(index / CURVES.light.length) % DASHES.length]);
      context.beginPath();
      let drawn = false;
      for (let k = 0; k < curve.x.length; k++) {
        if (Number.isFinite(curve.y[k])) context[drawn ? "lineTo" : "moveTo"](this.x(curve.x[k]), this.y(curve.y[k]));
        drawn = Number.isFinite(curve.y[k]);
      }
      context.stroke();
    }
    context.restore();
  }

  #swatches() {
    this.keys.forEach(({ swatch }, index) => {
      swatch.style.backgroundColor = this.#curveColor(index);
    });
  }

  #curveColor(index) {
    const palette = CURVES[document.documentElement.dataset.theme];
    return palette[index % palette.length];
  }

  #color(name) {
    return this.theme.getPropertyValue(name);
  }

  #fit(canvas, width, height) {
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  }
}

function line(context, from, to) {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

function wrapped(angles) {
  const found = Array.from(angles, (angle) => angle - 2 * Math.PI * Math.floor((angle + Math.PI) / (2 * Math.PI)));
  return found.map((angle, k) => (k > 0 && Math.abs(angle - found[k - 1]) > Math.PI ? NaN : angle));
}

// The range of all values with a little room; never empty. Ranges of rounding errors are widened.
function padded(arrays) {
  let [low, high] = [Infinity, -Infinity];
  for (const array of arrays) {
    for (const value of array) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [-1, 1];
  const least = Math.max(Math.abs(low), Math.abs(high)) * 1e-5 || 1;
  const room = Math.max(0.06 * (high - low), least);
  return [low - room, high + room];
}

// Round values within a range, about `count` of them, and how to write them.
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((digit) => digit * power >= raw) * power;
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) values.push(k * step);
  if (values.length < 2 && high > low) return ticks(low, high, count + 1); // one number says nothing of the scale
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const large = Math.max(Math.abs(low), Math.abs(high)) >= 1e5 || digits > 4;
  const text = (value) => (large ? value.toExponential(1) : value.toFixed(digits)).replace("-", "−");
  return { values, text };
}
