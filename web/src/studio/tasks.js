// Tasks: equilibria, modes that move, the linear system, reactions as arrows, the response in hertz, Campbell diagrams, branches.
import uPlot from "uplot";
import { campbellChart } from "../campbell.js";
import { CURVES } from "../palette.js";
import { button, cancelButton, digits, element, note, table } from "./dom.js";
import { snippet } from "./snippet.js";

const TASKS = [
  ["equilibria", "Equilibria"], ["modes", "Modes"], ["linearize", "Linear system"], ["reactions", "Reactions"], ["response", "Response"], ["campbell", "Campbell"], ["branches", "Branches"],
];
const SWING = 0.25; // radians or meters of the largest entry of a mode

export class Tasks {
  constructor(studio, panel) {
    Object.assign(this, { studio, panel, mode: null });
    this.words = element("output", "words");
    this.body = element("div", "task");
    const bar = element("div", "row wrap", ...TASKS.map(([name, words]) => {
      const one = button(words, () => this.start(name));
      one.dataset.task = name;
      return one;
    }), cancelButton(studio.connection), this.words);
    panel.append(element("div", "card controls", bar), this.body);
  }

  async start(name, more = {}) {
    const { studio } = this;
    this.animate(null);
    this.words.textContent = "…";
    try {
      const found = await studio.connection.ask(name, { ...studio.model(), state: studio.state(), ...more }, { progress: ({ words }) => (this.words.textContent = `${words} …`) });
      if (!found) return;
      this.result = found;
      this.body.replaceChildren(element("div", "card", ...this[`_${name}`](found), found.command ? snippet(found) : null));
    } catch (error) {
      this.body.replaceChildren(element("p", "card note", error.message, element("br"), error.detail?.remedy ?? ""));
    }
    this.words.textContent = "";
  }

  // The position with these values of the coordinates.
  #put(state) {
    const { viewer, simulation } = this.studio;
    simulation.leave();
    viewer.put(viewer.data.names.map((name) => state[name] ?? viewer.chain.values.get(name)), 0, true);
  }

  _equilibria({ equilibria, starts, singular, continua }) {
    const rows = equilibria.map((one, k) => {
      const show = button(`${k + 1}`, () => this.#put(one.state), { title: "Show it" });
      return [show, one.stable === null ? "?" : one.stable ? "stable" : "unstable", Object.entries(one.state).map(([name, value]) => `${name} = ${digits(value, 5)}`).join(", ") + (one.note ? `; ${one.note}` : "")];
    });
    if (equilibria.length) this.#put(equilibria[0].state);
    return [
      element("h2", "", equilibria.length === 1 ? "1 equilibrium" : `${equilibria.length} equilibria`), element("p", "note", `found from ${starts} starts${continua ? `; ${continua} continua, each with one example` : ""}`),
      Object.assign(table(rows, ["", "", "position"]), { className: "words" }), ...singular.map((words) => element("p", "note", words)),
    ];
  }

  _modes({ modes, stable, state }) {
    const [first] = modes.filter(({ frequency }) => frequency > 1e-9);
    const rows = modes.map((mode, k) => [
      button(`▶ ${k + 1}`, () => this.animate(mode, state), { title: "Animate" }), digits(mode.frequency, 6), digits(mode.damping, 3), `${digits(mode.eigenvalue[0], 4)} ± ${digits(Math.abs(mode.eigenvalue[1]), 5)} i`,
    ]);
    const shapes = table(Object.keys(modes[0]?.shape ?? {}).map((name) => [name, ...modes.map(({ shape: { [name]: [real, imaginary] } }) => `${digits(real, 3)}${Math.abs(imaginary) > 1e-9 ? ` ${imaginary < 0 ? "−" : "+"} ${digits(Math.abs(imaginary), 3)} i` : ""}`)]), ["shape", ...modes.map((_, k) => String(k + 1))]);
    this.#put(state);
    if (first) this.animate(first, state);
    return [
      element("h2", "", `${modes.length} ${modes.length === 1 ? "mode" : "modes"} about the nearest equilibrium`), element("p", stable ? "note good" : "note bad", stable ? "stable" : "not stable, or neutral"),
      table(rows, ["", "Hz", "damping", "eigenvalue / (1/s)"]), shapes, button("Stop the animation", () => this.animate(null)),
    ];
  }

  // A mode moves the mechanism about a state; loops stay closed. Nothing without a mode.
  animate(mode, state) {
    if (this.mode && !mode) this.#put(this.about);
    this.mode = mode;
    this.held = false;
    this.about = state;
    this.since = performance.now();
  }

  tick() {
    if (this.mode && !this.held) this.#swing((performance.now() - this.since) / 1000);
  }

  // One period of the moving mode as something to be drawn; null if none moves.
  get motion() {
    if (!this.mode) return null;
    return { seconds: 1 / this.#rate, hold: () => (this.held = true), show: (seconds) => this.#swing(seconds) };
  }

  // Hertz at which the mode is shown.
  get #rate() {
    return Math.min(Math.max(this.mode.frequency, 0.3), 1.2);
  }

  #swing(seconds) {
    const { viewer } = this.studio;
    const phase = 2 * Math.PI * this.#rate * seconds;
    const largest = Math.max(...Object.values(this.mode.shape).map(([re, im]) => Math.hypot(re, im))) || 1;
    const values = viewer.data.names.map((name) => {
      const [re, im] = this.mode.shape[name] ?? [0, 0];
      return (this.about[name] ?? viewer.chain.values.get(name)) + (SWING / largest) * (re * Math.sin(phase) + im * Math.cos(phase));
    });
    const fitting = viewer.chain.closing ? viewer.chain.closing.closed(values, -1, 0) : values;
    if (fitting) viewer.put(fitting, 0, true);
  }

  _linearize({ states, inputs, A, B, eigenvalues }) {
    const matrix = (name, rows, columns) => [element("h4", "", name), element("div", "scroll", table(rows.map((row, k) => [states[k], ...row.map((value) => digits(value, 5))]), ["", ...columns]))];
    return [element("h2", "", "Linear system about the nearest equilibrium"), ...matrix("A", A, states), ...matrix("B", B, inputs), element("p", "", `eigenvalues: ${eigenvalues.map(([re, im]) => `${digits(re, 4)}${im ? ` ${im < 0 ? "−" : "+"} ${digits(Math.abs(im), 4)} i` : ""}`).join(", ")}`)];
  }

  _reactions({ reactions }) {
    const arrows = [];
    const finite = (vector) => vector?.map((value) => value ?? 0);
    for (const { force, moment, about } of reactions) {
      if (!force) continue;
      if (Math.hypot(...finite(force)) > 0) arrows.push({ kind: "force", at: about, vector: finite(force) });
      if (Math.hypot(...finite(moment)) > 0) arrows.push({ kind: "moment", at: about, vector: finite(moment) });
    }
    this.studio.viewer.showArrows(arrows);
    const cells = (vector) => vector.map((value) => (value === null ? element("span", "undetermined", "–") : digits(value, 4)));
    const rows = reactions.filter(({ force }) => force).map((one) => [one.joint, ...cells(one.force), ...cells(one.moment)]);
    const without = reactions.filter(({ force }) => !force).map(({ joint, why }) => element("p", "note", `${joint}: ${why}`));
    const clear = button("Remove the arrows", () => this.studio.viewer.showArrows([]));
    return [element("h2", "", "Reactions at this state"), element("p", "note", "Force in N and moment in N m, in fixed axes. A component that loops leave undetermined has a dash and no arrow."), element("div", "scroll", table(rows, ["joint of", "Fx", "Fy", "Fz", "Mx", "My", "Mz"])), ...without, clear];
  }

  _response({ frequencies, inputs, input, outputs, units, amplitude }) {
    const menu = element("select", "", ...inputs.map((name) => new Option(name, name, name === input, name === input)));
    menu.setAttribute("aria-label", "force");
    menu.addEventListener("change", () => this.start("response", { input: menu.value }));
    const box = element("div", "plot-panel");
    const palette = CURVES[document.documentElement.dataset.theme];
    const theme = getComputedStyle(document.documentElement);
    const look = { stroke: theme.getPropertyValue("--quiet"), grid: { stroke: theme.getPropertyValue("--rule"), width: 1 }, font: "11px sans-serif", labelFont: "11px sans-serif", labelSize: 16 };
    requestAnimationFrame(() => new uPlot({
      width: Math.max(box.clientWidth, 240), height: 260, scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
      axes: [{ ...look, label: "f / Hz" }, { ...look, label: `amplitude / ${[...new Set(units)].join(", ")}`, size: 64 }],
      series: [{ label: "f / Hz" }, ...outputs.map((label, k) => ({ label, stroke: palette[k % palette.length], width: 1.5 }))],
    }, [frequencies, ...amplitude.map((row) => row.map((value) => (value > 0 ? value : null)))], box));
    return [element("h2", "", "Response to a harmonic force"), element("label", "", "force ", menu), box];
  }

  _campbell(found) {
    const menu = element("select", "", ...found.choices.map((name) => new Option(name, name, name === found.over, name === found.over)));
    menu.setAttribute("aria-label", "speed");
    const ends = [found.low, found.high].map((value, k) => {
      const input = Object.assign(element("input", "typed"), { type: "number", step: "any", value });
      input.setAttribute("aria-label", k ? "to" : "from");
      return input;
    });
    const again = button("Compute", () => this.start("campbell", { over: menu.value, low: ends[0].value, high: ends[1].value }));
    const form = element("div", "row wrap", "over ", menu, " from ", ends[0], " to ", ends[1], " rad/s ", again);
    if (!found.speeds) return [element("h2", "", "Campbell diagram"), form, element("p", "note", found.why)];
    const rows = found.critical.map((one) => [digits(one.speed, 7), one.whirl, digits(one.order), digits(one.damping, 3)]);
    const list = rows.length ? element("div", "scroll", table(rows, ["critical speed / (rad/s)", "whirl", "order", "damping"])) : element("p", "note", "no critical speed in this range");
    return [element("h2", "", `Campbell diagram of ${found.body}`), form, campbellChart(found).element, list];
  }

  _branches({ branches, held, more }) {
    const rows = branches.map((one, k) => button(`${k + 1}`, () => this.#put(one), { title: Object.entries(one).map(([name, value]) => `${name} = ${digits(value, 5)}`).join(", ") }));
    if (branches.length < 2) note("there is only one assembly with these values");
    return [element("h2", "", branches.length === 1 ? "1 assembly" : `${branches.length} assemblies`), element("p", "note", held.length ? `all with the same ${held.join(", ")}${more ? `; ${more} more` : ""}` : ""), element("div", "row wrap", ...rows)];
  }
}
