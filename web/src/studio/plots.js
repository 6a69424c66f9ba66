// Plots of what is chosen: a panel for each unit, the time cursor in all of them, runs to compare as dashed curves.
import uPlot from "uplot";
import { CURVES } from "../palette.js";
import { element } from "./dom.js";

const HEIGHT = 170;

export class Plots {
  // sought: called with the time of a click.
  constructor(parent, sought) {
    Object.assign(this, { parent, sought, panels: [], time: null });
    new ResizeObserver(() => this.#resize()).observe(parent);
  }

  // run: { t, columns: Map name -> { unit, values } }. others: runs to compare, each with a label. plane: [x, y] names or null.
  show(run, names, others = [], plane = null) {
    this.clear();
    this.run = run;
    const units = new Map();
    for (const name of names) {
      const column = run.columns.get(name);
      if (column) units.set(column.unit, [...(units.get(column.unit) ?? []), name]);
    }
    let color = 0;
    for (const [unit, list] of units) {
      const series = [{ label: "t / s" }];
      const data = [run.t];
      for (const name of list) {
        series.push(this.#series(name, color));
        data.push(run.columns.get(name).values);
        for (const other of others) {
          const column = other.columns.get(name);
          if (!column) continue;
          series.push({ ...this.#series(`${name} (${other.label})`, color), dash: [5, 4] });
          data.push(sampled(other.t, column.values, run.t));
        }
        color++;
      }
      this.#panel(data, series, unit, true);
    }
    if (plane && run.columns.has(plane[0]) && run.columns.has(plane[1])) this.#plane(run, plane);
  }

  // More rows of the same columns.
  update() {
    for (const { plot, names } of this.panels) {
      if (names) plot.setData([this.run.t, ...names.map((name) => this.run.columns.get(name).values)]);
    }
  }

  setTime(time) {
    this.time = time;
    for (const { plot } of this.panels) plot.redraw(false, false);
  }

  clear() {
    for (const { plot } of this.panels) plot.destroy();
    this.panels = [];
    this.parent.replaceChildren();
  }

  #series(label, color) {
    const palette = CURVES[document.documentElement.dataset.theme];
    return { label, stroke: palette[color % palette.length], width: 1.5, points: { show: false } };
  }

  #axes(x, y) {
    const theme = getComputedStyle(document.documentElement);
    const look = { stroke: theme.getPropertyValue("--quiet"), grid: { stroke: theme.getPropertyValue("--rule"), width: 1 }, ticks: { show: false }, font: "11px sans-serif", labelFont: "11px sans-serif", labelSize: 16 };
    return [{ ...look, label: x, size: 30 }, { ...look, label: y, size: 52 }];
  }

  #panel(data, series, unit) {
    const plot = new uPlot({
      width: this.#width(), height: HEIGHT, series, axes: this.#axes("t / s", unit || "1"), scales: { x: { time: false } },
      cursor: { drag: { x: false, y: false } }, legend: { live: true },
      hooks: { draw: [(one) => this.#cursor(one)] },
    }, data, this.#figure());
    plot.over.addEventListener("click", () => plot.cursor.left >= 0 && this.sought(plot.posToVal(plot.cursor.left, "x")));
    const plain = series.every(({ dash }) => !dash);
    this.panels.push({ plot, names: plain ? series.slice(1).map(({ label }) => label) : null });
  }

  #plane(run, [x, y]) {
    const [across, up] = [run.columns.get(x), run.columns.get(y)];
    const plot = new uPlot({
      mode: 2, width: this.#width(), height: 1.5 * HEIGHT, legend: { show: false }, cursor: { show: false },
      axes: this.#axes(`${x} / ${across.unit || 1}`, `${y} / ${up.unit || 1}`),
      scales: { x: { time: false, auto: false, range: () => span(across.values) }, y: { auto: false, range: () => span(up.values) } },
      series: [{}, { ...this.#series("plane", 0), facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }], paths: (one, k) => curve(one, k) }],
      hooks: { draw: [(one) => this.#dot(one, x, y)] },
    }, [null, [across.values, up.values]], this.#figure());
    this.panels.push({ plot, names: null });
  }

  #figure() {
    const box = element("div", "plot-panel");
    this.parent.append(box);
    return box;
  }

  #cursor(plot) {
    if (this.time === null) return;
    const x = plot.valToPos(this.time, "x", true);
    const { left, top, width, height } = plot.bbox;
    if (x < left || x > left + width) return;
    const { ctx } = plot;
    ctx.save();
    ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--cursor");
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    ctx.restore();
  }

  #dot(plot, x, y) {
    if (this.time === null) return;
    const frame = Math.max(0, this.run.t.findLastIndex((time) => time <= this.time));
    const { ctx } = plot;
    ctx.save();
    ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--cursor");
    ctx.beginPath();
    ctx.arc(plot.valToPos(this.run.columns.get(x).values[frame], "x", true), plot.valToPos(this.run.columns.get(y).values[frame], "y", true), 4 * devicePixelRatio, 0, 7);
    ctx.fill();
    ctx.restore();
  }

  #width() {
    return Math.max(this.parent.clientWidth - 4, 200);
  }

  #resize() {
    for (const { plot } of this.panels) plot.setSize({ width: this.#width(), height: plot.height });
  }
}

function curve(plot, k) {
  const [xs, ys] = plot.data[k];
  const path = new Path2D();
  for (let j = 0; j < xs.length; j++) path.lineTo(plot.valToPos(xs[j], "x", true), plot.valToPos(ys[j], "y", true));
  return { stroke: path, fill: null };
}

function span(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const room = 0.06 * (high - low) || 1;
  return [low - room, high + room];
}

// The values of one run at the times of another; nothing after its end.
function sampled(times, values, wanted) {
  let k = 0;
  return wanted.map((time) => {
    if (time < times[0] || time > times.at(-1)) return null;
    while (k < times.length - 2 && times[k + 1] < time) k++;
    const step = times[k + 1] - times[k];
    return step > 0 ? values[k] + ((time - times[k]) / step) * (values[k + 1] - values[k]) : values[k];
  });
}
