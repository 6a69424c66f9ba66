// The panel that simulates: live, with pushes and parameters that change, or a whole run that is played back.
import { button, cancelButton, digits, element, note } from "./dom.js";
import { Plots, before } from "./plots.js";
import { snippet } from "./snippet.js";

const ROWS = 3000; // of a live simulation, the newest
const DRAWN = 100; // ms between drawings of the plots while it runs
const TOLD = 60; // ms between steps of the clock, the slider and the marks while a run is played
const RUNS = 8;
const FRAMED = 60; // moments of a run to which the camera is fitted
const SHOWN = 60; // events

export class Simulation {
  constructor(studio, panel) {
    Object.assign(this, { studio, panel, runs: [], chosen: new Set(), state: "idle", speed: 1, drawn: 0, told: 0, compare: true });
    this.plots = new Plots(element("div", "plots"), (time) => this.seek(time));
    this.#build();
  }

  get live() {
    return this.state === "live";
  }

  // Another model: what was running ends, runs of the old one stay to be compared.
  loaded(scene) {
    const columns = [...scene.names, ...scene.velocities];
    if (String(columns) !== String(this.names)) {
      if (this.live) this.stop();
      this.names = columns;
      this.chosen = new Set(scene.names.slice(0, 3));
      this.run = null;
      this.runs = [];
      this.plots.clear();
      this.#list();
      this.#quantities(columns);
    }
    const chip = scene.readiness.find(({ name }) => name === "simulation");
    for (const one of [this.playButton, this.runButton]) {
      one.disabled = !chip.ready;
      one.title = chip.why;
    }
  }

  // live

  async play() {
    if (this.live) return this.pause(!this.paused);
    const { studio } = this;
    this.#begin();
    try {
      const names = [];
      await studio.connection.ask("live", { ...studio.model(), state: studio.state() }, {
        progress: ({ words }) => this.#say(words),
        frame: (frame) => this.#frame(frame, names),
      });
    } catch (error) {
      if (error.message !== "canceled") note([error.message, error.detail?.remedy].filter(Boolean).join("; "), "bad");
    }
    this.state = "idle";
    this.#buttons();
    this.#keep();
  }

  pause(paused = true) {
    this.paused = paused;
    this.studio.connection.steer({ playing: !paused });
    this.#buttons();
  }

  stop() {
    this.studio.connection.steer({ stop: true });
    if (this.state === "live") setTimeout(() => this.live && this.studio.connection.ask("cancel", { lane: "live" }), 1500);
  }

  push(push) {
    this.studio.connection.steer({ push });
  }

  parameters(values) {
    this.studio.connection.steer({ parameters: values });
  }

  #begin() {
    const { scene } = this.studio;
    this.state = "live";
    this.paused = false;
    this.velocity = null;
    this.run = {
      label: "live", t: [], positions: scene.names, events: [],
      columns: new Map([...this.names, "kinetic", "potential", "total"].map((name) => [name, { unit: scene.units[name] ?? "J", values: [] }])),
    };
    this.report.className = "";
    this.report.replaceChildren();
    this.#buttons();
    this.#quantities([...this.names, "kinetic", "potential", "total"]);
    this.#draw();
  }

  #frame(frame) {
    if (!this.live) return;
    const { run, names, studio } = this;
    if (this.paused && run.t.at(-1) === frame.t) return;
    run.t.push(frame.t);
    names.forEach((name, k) => run.columns.get(name).values.push(frame.state[k]));
    run.columns.get("kinetic").values.push(frame.kinetic);
    run.columns.get("potential").values.push(frame.potential);
    run.columns.get("total").values.push(frame.kinetic + frame.potential);
    this.#happened(frame.events);
    if (run.t.length > ROWS) {
      run.t.splice(0, ROWS / 10);
      for (const { values } of run.columns.values()) values.splice(0, ROWS / 10);
    }
    const count = studio.scene.names.length;
    this.velocity = Object.fromEntries(studio.scene.velocities.map((name, k) => [name, frame.state[count + k]]));
    studio.viewer.put(frame.state.slice(0, count), frame.t, true);
    this.time = frame.t;
    this.#say(`t = ${frame.t.toFixed(2)} s`);
    const now = performance.now();
    if (now - this.drawn > DRAWN) {
      this.drawn = now;
      this.plots.update();
    }
  }

  // A frame carries the newest events, and how many there were before: frames may be lost.
  #happened(events) {
    const known = this.run.events.length + (this.run.lost ?? 0);
    if (!events || events.before + events.list.length === known) return;
    this.run.lost = Math.max(this.run.lost ?? 0, events.before - this.run.events.length);
    this.run.events.push(...events.list.slice(Math.max(known - events.before, 0)));
    this.report.className = "card";
    this.report.replaceChildren(...this.#events());
  }

  // The events of the chosen run, newest last; a click shows the moment.
  #events() {
    const { events } = this.run;
    if (!events.length) return [];
    const rows = events.slice(-SHOWN).map(({ name, time }) => button(`${name} at ${digits(time, 5)} s`, () => this.seek(time), { className: "event" }));
    return [element("h4", "", events.length > SHOWN ? `Events, the last ${SHOWN} of ${events.length}` : "Events"), ...rows];
  }

  // whole runs

  async simulate() {
    const { studio } = this;
    this.state = "running";
    this.#buttons();
    try {
      const found = await studio.connection.ask("run", { ...studio.model(), state: studio.state(), duration: Number(this.duration.value), method: this.method.value }, {
        progress: ({ words }) => this.#say(`${words} …`),
      });
      this.take(found);
    } catch (error) {
      if (error.message !== "canceled") note([error.message, error.detail?.remedy].filter(Boolean).join("; "), "bad");
      this.#say("");
    }
    if (this.state === "running") this.state = "idle";
    this.#buttons();
  }

  // A run as the package sends it becomes the one that is played.
  take(found, label = `run ${this.runs.length + 1}`) {
    this.run = { ...found, label, columns: new Map(found.columns.map((one) => [one.name, one])) };
    this.#keep();
    this.#quantities([...this.run.columns.keys()]);
    this.#draw();
    this.#report();
    this.state = "replay";
    const columns = this.run.positions.map((name) => this.run.columns.get(name).values);
    const step = Math.max(1, Math.floor(found.t.length / FRAMED));
    this.studio.viewer.frame(found.t.filter((_, k) => k % step === 0).map((_, k) => columns.map((values) => values[k * step])));
    this.time = found.t[0];
    this.seek(this.time);
    this.playback(true);
  }

  playback(playing) {
    this.replaying = playing;
    this.last = performance.now();
    this.#buttons();
  }

  // Play or pause what there is: the live simulation or the chosen run.
  toggle() {
    if (this.live) this.pause(!this.paused);
    else if (this.run) this.playback(!this.replaying);
  }

  // Something else moves the mechanism from here on.
  leave() {
    if (this.live) this.stop();
    this.playback(false);
    this.velocity = null;
  }

  seek(time) {
    if (!this.run?.t.length || this.live) return;
    const { t, columns, positions } = this.run;
    this.time = Math.min(Math.max(time, t[0]), t.at(-1));
    const frame = before(t, this.time);
    const next = Math.min(frame + 1, t.length - 1);
    const share = next > frame ? (this.time - t[frame]) / (t[next] - t[frame]) : 0;
    const values = positions.map((name) => {
      const column = columns.get(name).values;
      return column[frame] + share * (column[next] - column[frame]);
    });
    this.velocity = Object.fromEntries(this.studio.scene.velocities.map((name) => [name, columns.get(name)?.values[frame] ?? 0]));
    this.studio.viewer.put(values, this.time, true);
    const now = performance.now();
    if (this.replaying && now - this.told < TOLD) return;
    this.told = now;
    this.scrub.value = (this.time - t[0]) / (t.at(-1) - t[0] || 1);
    this.#say(`t = ${this.time.toFixed(2)} s`);
    this.plots.setTime(this.time);
  }

  // The chosen run as something to be drawn from its start: its seconds, and what shows a moment.
  get motion() {
    if (this.live || !this.run?.t.length) return null;
    const { t } = this.run;
    return { seconds: t.at(-1) - t[0], hold: () => this.playback(false), show: (seconds) => this.seek(t[0] + seconds) };
  }

  // Before each drawn frame.
  tick() {
    if (!this.replaying || this.live || !this.run) return;
    const now = performance.now();
    const next = this.time + this.speed * Math.min((now - this.last) / 1000, 0.25);
    this.last = now;
    this.seek(next > this.run.t.at(-1) ? this.run.t[0] : next);
  }

  // the panel

  #build() {
    const number = (value, label, changed) => {
      const input = element("input", "typed");
      Object.assign(input, { type: "number", value, min: 0, step: "any" });
      input.setAttribute("aria-label", label);
      if (changed) input.addEventListener("change", () => changed(Number(input.value)));
      return input;
    };
    this.playButton = button("▶ Live", () => this.play(), { className: "primary" });
    this.stopButton = button("■ Stop", () => this.stop());
    this.duration = number(5, "duration in seconds");
    this.method = element("select", "", ...["dop853", "dopri5", "rk4", "bdf", "ida", "symplectic"].map((name) => new Option(name)));
    this.method.setAttribute("aria-label", "method");
    this.runButton = button("Run", () => this.simulate());
    this.cancelButton = cancelButton(this.studio.connection);
    this.replayButton = button("▶", () => this.toggle(), { title: "Play or pause the run (Space in the view)" });
    this.scrub = element("input", "scrub");
    Object.assign(this.scrub, { type: "range", min: 0, max: 1, step: "any", value: 0 });
    this.scrub.setAttribute("aria-label", "time");
    this.scrub.addEventListener("input", () => {
      this.playback(false);
      const { t } = this.run ?? { t: [] };
      if (t.length) this.seek(t[0] + this.scrub.value * (t.at(-1) - t[0]));
    });
    this.words = element("output", "words");
    const speed = number(1, "speed", (value) => {
      this.speed = value || 1;
      this.studio.connection.steer({ speed: this.speed });
    });
    this.quantities = element("div", "quantities");
    this.list = element("div", "runs");
    this.report = element("div");
    this.planeX = element("select");
    this.planeY = element("select");
    for (const one of [this.planeX, this.planeY]) one.addEventListener("change", () => this.#draw());
    this.planeX.setAttribute("aria-label", "phase plane, across");
    this.planeY.setAttribute("aria-label", "phase plane, up");
    this.panel.append(
      element("div", "card controls",
        element("div", "row", this.playButton, this.stopButton, element("label", "", "speed ", speed), this.words),
        element("p", "note", "While it runs, drag a body to push it and change parameters under Move. Live steps are 1 ms long; Run has error control, exact events and contacts."),
        element("div", "row", this.runButton, element("label", "", this.duration, " s"), this.method, this.cancelButton),
        element("div", "row", this.replayButton, this.scrub)),
      element("div", "card", element("h2", "", "Plot"), this.quantities, element("div", "row", element("span", "note", "phase plane"), this.planeX, this.planeY), this.plots.parent),
      this.list, this.report);
    this.#buttons();
  }

  #buttons() {
    this.playButton.textContent = this.live ? (this.paused ? "▶ Go on" : "❚❚ Pause") : "▶ Live";
    this.stopButton.hidden = !this.live;
    this.runButton.hidden = this.state === "running";
    this.replayButton.textContent = this.replaying ? "❚❚" : "▶";
    this.replayButton.disabled = this.scrub.disabled = this.live || !this.run;
    if (this.live) this.replaying = false;
  }

  #say(words) {
    this.words.textContent = words;
  }

  #keep() {
    if (!this.run?.t.length || this.runs.includes(this.run)) return;
    if (this.run.label === "live") this.run.label = `live ${this.runs.length + 1}`;
    this.runs = [...this.runs, this.run].slice(-RUNS);
    this.#list();
    this.#draw();
  }

  #list() {
    this.list.className = this.runs.length > 1 ? "card runs" : "";
    this.list.replaceChildren();
    if (this.runs.length < 2) return;
    this.list.append(element("h2", "", "Runs"), element("p", "note", "The chosen run is drawn solid, the others dashed."));
    for (const run of this.runs) {
      const one = button(`${run.label} · ${digits(run.t.at(-1) - run.t[0], 4)} s`, () => {
        this.run = run;
        this.#list();
        this.#draw();
        this.#report();
        this.seek(run.t[0]);
      }, { className: run === this.run ? "chosen" : "" });
      this.list.append(one);
    }
  }

  #quantities(names) {
    this.quantities.replaceChildren(...names.map((name) => {
      const chip = button(name, () => {
        if (!this.chosen.delete(name)) this.chosen.add(name);
        chip.setAttribute("aria-pressed", String(this.chosen.has(name)));
        this.#draw();
      }, { className: "quantity" });
      chip.setAttribute("aria-pressed", String(this.chosen.has(name)));
      return chip;
    }));
    for (const select of [this.planeX, this.planeY]) {
      const before = select.value;
      select.replaceChildren(new Option("–", ""), ...names.map((name) => new Option(name)));
      select.value = names.includes(before) ? before : "";
    }
  }

  #draw() {
    if (!this.run) return;
    const plane = this.planeX.value && this.planeY.value ? [this.planeX.value, this.planeY.value] : null;
    const others = this.live ? [] : this.runs.filter((run) => run !== this.run);
    this.plots.show(this.run, this.chosen, others, plane);
  }

  redraw() {
    this.#draw();
  }

  #report() {
    const { run } = this;
    this.report.className = "card";
    if (!run.checks) {
      this.report.className = run.events.length ? "card" : "";
      this.report.replaceChildren(...this.#events());
      return;
    }
    const total = run.columns.get("energy")?.values;
    const drift = total ? Math.max(...total.map((value) => Math.abs(value - total[0]))) : NaN;
    const rows = [["method", run.method], ["ended", run.ended], ["steps", String(run.steps)]];
    if (total) rows.push(["energy at the start", `${digits(total[0])} J`], ["largest change of energy", `${digits(drift, 3)} J`]);
    for (const name of ["dissipated", "supplied"]) {
      const values = run.columns.get(name)?.values;
      if (values) rows.push([`energy ${name}`, `${digits(values.at(-1))} J`]);
    }
    for (const check of run.checks) rows.push([`${check.passed ? "✓" : "✗"} ${check.name}`, check.error.toExponential(1)]);
    const body = element("table", "", ...rows.map(([name, value]) => element("tr", "", element("th", "", name), element("td", "", value))));
    this.report.replaceChildren(element("h2", "", "Energy and solver"), body, ...this.#events(), snippet(run));
  }
}
