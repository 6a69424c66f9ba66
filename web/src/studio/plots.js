// Plots of what is chosen: a panel for each unit, the time cursor in all of them, runs to compare as dashed curves.
import uPlot from "uplot";
import { CURVES } from "../palette.js";
import { digits, element } from "./dom.js";

const HEIGHT = 170;
const LEGEND = 120; // ms between new numbers in the legends

export class Plots {
  // sought: called with the time of a click.
  constructor(parent, sought) {
    Object.assign(this, { parent, sought, panels: [], time: null, told: 0 });
    new ResizeObserver(() => this.#resize()).observe(parent);
  }

  // run: { t, columns: Map name -> { unit, values } }. others: runs to compare, each with a label. plane: [x, y] names or null.
  show(run, names, others = [], plane = null) {
    this.clear();
    this.run = run;
    this.plane = plane;
    const units = new Map();
    for (const name of names) {
      const column = run.columns.get(name);
      if (column) units.set(column.unit, [...(units.get(column.unit) ?? []), name]);
    }
    let color = 0;
    for (const [unit, list] of units) {
      const series = [{ label: "t / s", value: (_, value) => digits(value, 4) }];
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
    this.told = 0;
    if (this.time !== null) this.setTime(this.time);
  }

  // More rows of the same columns.
  update() {
    for (const { plot, names } of this.panels) {
      if (names) plot.setData([this.run.t, ...names.map((name) => this.run.columns.get(name).values)]);
      else plot.setData([null, this.#planeData(...this.plane)]);
    }
    if (this.run.t.length) this.setTime(this.run.t.at(-1));
  }

  // The moment that the view shows: a line across the panels, and its values in the legends.
  setTime(time) {
    this.time = time;
    if (!this.panels.length) return;
    const frame = before(this.run.t, time);
    const now = performance.now();
    const told = now - this.told > LEGEND;
    if (told) this.told = now;
    for (const panel of this.panels) panel.mark(frame, told);
  }

  clear() {
    for (const { plot } of this.panels) plot.destroy();
    this.panels = [];
    this.parent.replaceChildren();
  }

  #series(label, color) {
    const palette = CURVES[document.documentElement.dataset.theme];
    return { label, stroke: palette[color % palette.length], width: 1.5, points: { show: false }, value: (_, value) => digits(value, 5) };
  }

  #axes(x, y) {
    const theme = getComputedStyle(document.documentElement);
    const look = this.look = { stroke: theme.getPropertyValue("--quiet"), grid: { stroke: theme.getPropertyValue("--rule"), width: 1 }, ticks: { show: false }, font: "11px sans-serif", labelFont: "11px sans-serif", labelSize: 16 };
    return [{ ...look, label: x, size: 30 }, { ...look, label: y, size: 52 }];
  }

  #panel(data, series, unit) {
    const plot = new uPlot({
      width: this.#width(), height: HEIGHT, series, axes: this.#axes("t / s", unit || "1"), scales: { x: { time: false } },
      cursor: { drag: { x: false, y: false } }, legend: { live: true }, hooks: { draw: [(one) => this.#events(one)] },
    }, data, this.#figure());
    plot.over.addEventListener("click", () => plot.cursor.left >= 0 && this.sought(plot.posToVal(plot.cursor.left, "x")));
    const line = element("div", "time-line");
    plot.over.append(line);
    const mark = (frame, told) => {
      const x = plot.valToPos(this.time, "x");
      line.hidden = !(x >= 0 && x <= plot.over.clientWidth);
      line.style.transform = `translateX(${x}px)`;
      if (told && !(plot.cursor.left >= 0)) plot.setLegend({ idx: frame }, false);
    };
    const plain = series.every(({ dash }) => !dash);
    this.panels.push({ plot, mark, names: plain ? series.slice(1).map(({ label }) => label) : null });
  }

  #planeData(x, y) {
    return [this.run.columns.get(x).values, this.run.columns.get(y).values];
  }

  #plane(run, [x, y]) {
    const [across, up] = [run.columns.get(x), run.columns.get(y)];
    const plot = new uPlot({
      mode: 2, width: this.#width(), height: 1.5 * HEIGHT, legend: { show: false }, cursor: { show: false },
      axes: this.#axes(`${x} / ${across.unit || 1}`, `${y} / ${up.unit || 1}`),
      scales: { x: { time: false, auto: false, range: () => span(across.values) }, y: { auto: false, range: () => span(up.values) } },
      series: [{}, { ...this.#series("plane", 0), facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }], paths: (one, k) => curve(one, k) }],
    }, [null, this.#planeData(x, y)], this.#figure());
    const dot = element("div", "plane-dot");
    plot.over.append(dot);
    const mark = (frame) => {
      dot.style.transform = `translate(${plot.valToPos(across.values[frame], "x")}px, ${plot.valToPos(up.values[frame], "y")}px)`;
    };
    this.panels.push({ plot, mark, names: null });
  }

  #figure() {
    const box = element("div", "plot-panel");
    this.parent.append(box);
    return box;
  }

  // A tick at the foot of a panel for each event of the run.
  #events(plot) {
    if (!this.run.events.length) return;
    const { ctx, bbox: { left, top, width, height } } = plot;
    ctx.save();
    ctx.strokeStyle = this.look.stroke;
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    for (const { time } of this.run.events) {
      const x = plot.valToPos(time, "x", true);
      if (x < left || x > left + width) continue;
      ctx.moveTo(x, top + height);
      ctx.lineTo(x, top + height - 7 * devicePixelRatio);
    }
    ctx.stroke();
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

// The last moment not after a time.
export function before(times, time) {
  let [low, high] = [0, times.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  return times[high] <= time ? high : low;
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
