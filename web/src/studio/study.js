// Studies: many cases with varied values; distributions of the outcomes, and a click on a case runs it.
import uPlot from "uplot";
import { CURVES } from "../palette.js";
import { button, cancelButton, digits, element, note, table } from "./dom.js";
import { snippet } from "./snippet.js";

const NEAR = 14; // pixels from a point that a click may be

export class StudyPanel {
  constructor(studio, panel) {
    this.studio = studio;
    const area = (label, placeholder) => {
      const found = element("textarea", "text lines");
      Object.assign(found, { placeholder, rows: 2, spellcheck: false });
      found.setAttribute("aria-label", label);
      return found;
    };
    const number = (label, value) => {
      const found = element("input", "typed");
      Object.assign(found, { type: "number", value, min: 0, step: "any" });
      found.setAttribute("aria-label", label);
      return found;
    };
    this.vary = area("varied values", "m1: uniform(0.8, 1.2)\nq1: normal(0, 0.1)");
    this.outcomes = area("outcomes", "highest: max(q1)");
    this.cases = number("cases", 100);
    this.duration = number("duration of each case in seconds", 3);
    this.words = element("output", "words");
    this.result = element("div");
    panel.append(element("div", "card controls",
      element("h2", "", "Study"), element("p", "note", "One line for each varied parameter or initial value, with its distribution; cases start from the initial state of the text."), this.vary,
      element("p", "note", "Outcomes as formulas of the run; without any, the final state."), this.outcomes,
      element("div", "row", element("label", "", this.cases, " cases of "), element("label", "", this.duration, " s"), button("Start", () => this.start(), { className: "primary" }), cancelButton(studio.connection), this.words)), this.result);
  }

  // A study to begin with, until something else is typed.
  suggest({ coordinates, parameters }) {
    const name = coordinates[0]?.name;
    const parameter = parameters.find(({ value }) => value);
    const lines = [];
    if (parameter) lines.push(`${parameter.name}: uniform(${[0.8, 1.2].map((share) => Number((share * parameter.value).toPrecision(3))).sort((a, b) => a - b).join(", ")})`);
    if (name) lines.push(`${name}: normal(${Number(coordinates[0].value.toPrecision(3))}, 0.1)`);
    for (const [area, text] of [[this.vary, lines.join("\n")], [this.outcomes, name ? `highest: max(${name})` : ""]]) {
      if (area.value === (area.suggested ?? "")) area.value = area.suggested = text;
    }
  }

  async start() {
    const { studio } = this;
    this.words.textContent = "…";
    try {
      const found = await studio.connection.ask("study", { ...studio.model(), vary: lines(this.vary.value), outcomes: lines(this.outcomes.value), cases: Number(this.cases.value), duration: Number(this.duration.value) }, { progress: ({ words }) => (this.words.textContent = `${words} …`) });
      if (found) this.#show(found);
    } catch (error) {
      this.result.replaceChildren(element("p", "card note", error.message, element("br"), error.detail?.remedy ?? ""));
    }
    this.words.textContent = "";
  }

  #show(found) {
    this.found = found;
    const choose = (names, label) => {
      const select = element("select", "", ...names.map((name) => new Option(name)));
      select.setAttribute("aria-label", label);
      select.addEventListener("change", () => this.#draw());
      return select;
    };
    this.x = choose([...found.varied, ...found.outcomes], "across");
    this.y = choose([...found.outcomes, ...found.varied], "up");
    this.plot = element("div", "plot-panel");
    this.bars = element("div", "plot-panel");
    const rows = found.statistics.map(({ name, values }) => [name, ...(values.length ? values.map((value) => digits(value, 4)) : Array(7).fill("–"))]);
    const failed = found.failures ? `; ${found.failures} failed` : "";
    this.result.replaceChildren(element("div", "card", element("h2", "", `${found.cases} cases${failed}`), element("p", "note", "Case 0 is the nominal one. Click a point to run its case."), element("div", "row", this.x, this.y), this.plot, this.bars,
      element("div", "scroll", table(rows, ["", "mean", "std", "min", "5 %", "median", "95 %", "max"])), snippet(found)));
    this.#draw();
  }

  #draw() {
    const { columns } = this.found;
    const [xs, ys] = [columns[this.x.value], columns[this.y.value]];
    const theme = getComputedStyle(document.documentElement);
    const look = { stroke: theme.getPropertyValue("--quiet"), grid: { stroke: theme.getPropertyValue("--rule"), width: 1 }, font: "11px sans-serif", labelFont: "11px sans-serif", labelSize: 16 };
    const axes = (x, y) => [{ ...look, label: x, size: 30 }, { ...look, label: y, size: 52 }];
    const color = CURVES[document.documentElement.dataset.theme][0];
    const width = Math.max(this.plot.clientWidth, 220);
    const dots = (plot) => {
      const { ctx } = plot;
      ctx.save();
      ctx.fillStyle = color;
      xs.forEach((x, k) => {
        if (x === null || ys[k] === null) return;
        ctx.beginPath();
        ctx.arc(plot.valToPos(x, "x", true), plot.valToPos(ys[k], "y", true), (k ? 2.5 : 5) * devicePixelRatio, 0, 7);
        ctx.fill();
      });
      ctx.restore();
    };
    this.plot.replaceChildren();
    const plot = new uPlot({
      width, height: 240, legend: { show: false }, cursor: { drag: { x: false, y: false } }, axes: axes(this.x.value, this.y.value),
      scales: { x: { time: false, auto: false, range: () => span(xs) }, y: { auto: false, range: () => span(ys) } },
      series: [{}, { paths: () => null, points: { show: false } }], hooks: { draw: [dots] },
    }, [[...span(xs)], [...span(ys)]], this.plot);
    this.at = (index) => [plot.valToPos(xs[index], "x"), plot.valToPos(ys[index], "y")];
    plot.over.addEventListener("click", (event) => {
      const box = plot.over.getBoundingClientRect();
      const distances = xs.map((x, k) => (x === null || ys[k] === null ? Infinity : Math.hypot(plot.valToPos(x, "x") - event.clientX + box.left, plot.valToPos(ys[k], "y") - event.clientY + box.top)));
      const nearest = distances.indexOf(Math.min(...distances));
      if (distances[nearest] < NEAR) this.run(nearest);
    });
    this.bars.replaceChildren();
    const statistics = this.found.statistics.find(({ name }) => name === this.y.value);
    if (!statistics?.counts) return;
    const middles = statistics.counts.map((_, k) => (statistics.edges[k] + statistics.edges[k + 1]) / 2);
    this.histogram = new uPlot({
      width, height: 130, legend: { show: false }, cursor: { show: false }, axes: axes(this.y.value, "cases"), scales: { x: { time: false } },
      series: [{}, { stroke: color, fill: color, paths: uPlot.paths.bars({ size: [0.95] }), points: { show: false } }],
    }, [middles, statistics.counts], this.bars);
  }

  // A case is simulated again and played under Simulate.
  async run(index) {
    const { studio, found } = this;
    const state = {};
    const parameters = { ...studio.parameters };
    for (const name of found.varied) {
      const value = found.columns[name][index];
      if (found.states.includes(name)) state[name] = value;
      else if (studio.scene.parameters.some((one) => one.name === name)) parameters[name] = value;
      else return note(`${name} is a name of the study alone: run its case with kinegraph study --case ${index}`, "bad");
    }
    try {
      const run = await studio.connection.ask("run", { ...studio.model(), parameters, state, duration: found.duration });
      studio.simulation.take(run, `case ${index}`);
      note(`case ${index} is played; its plots are under Simulate`);
    } catch (error) {
      note([error.message, error.detail?.remedy].filter(Boolean).join("; "), "bad");
    }
  }
}

// `name: text` for each line.
function lines(text) {
  const found = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) found[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return found;
}

function span(values) {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const room = 0.06 * (high - low) || 1;
  return [low - room, high + room];
}
