// A small plot: curves on one canvas, the time cursor on another above it.
import { MARGIN, drawAxes, fit, line, padded, scales } from "./axes.js";
import { CURVES } from "./palette.js";

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
    fit(this.lines, width, height);
    fit(this.cursor, width, height);
    this.#scale(width, height);
    drawAxes(this.lines.getContext("2d"), this, [width, height]);
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
    this.element.classList.toggle("none", !count);
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
    const shown = this.#visible().map(([curve]) => curve);
    const times = this.motion.times;
    this.range = {
      x: this.timed ? [times[0], Math.max(times.at(-1), times[0] + (Number.isFinite(this.clock.end) ? 1e-9 : 1))] : padded(shown.map((curve) => curve.x)),
      y: padded(shown.map((curve) => curve.y)),
    };
    Object.assign(this, scales(this.range, width, height));
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
}

function wrapped(angles) {
  const found = Array.from(angles, (angle) => angle - 2 * Math.PI * Math.floor((angle + Math.PI) / (2 * Math.PI)));
  return found.map((angle, k) => (k > 0 && Math.abs(angle - found[k - 1]) > Math.PI ? NaN : angle));
}
