// The studio: puts text, view and panels together.
import { bindStageKeys } from "../controls.js";
import { makeSliders } from "../sliders.js";
import { Connection } from "./connection.js";
import { byId, element, formula, note } from "./dom.js";
import { Editor } from "./editor.js";
import { Equations } from "./equations.js";
import { Exports } from "./exports.js";
import { Files } from "./files.js";
import { bindHand } from "./hand.js";
import { parameterCard } from "./parameters.js";
import { Simulation } from "./simulation.js";
import { StudyPanel } from "./study.js";
import { Tasks } from "./tasks.js";
import { Versions } from "./versions.js";
import { Viewer } from "./viewer.js";
import "../style.css";
import "uplot/dist/uPlot.min.css";
import "./studio.css";

const WAIT = 25; // ms after the last key before the text is read, if the text before it is still being read

const studio = { parameters: {}, statements: [], scene: null, latencies: [], ready: false };
window.studio = studio;

const connection = new Connection();
const viewer = new Viewer(byId("stage"), () => (studio.moved = true));
let sliders = null;
let followed = 0;
const FOLLOW = 80; // ms between updates of the sliders while something else moves the mechanism

const editor = new Editor(byId("editor"), {
  changed: () => changed(),
  atLine: (line) => atLine(line),
  save: () => files.save(),
  known: () => [...studio.statements.filter(({ kind }) => kind === "body"), ...(studio.scene?.names ?? []).map((name) => ({ name, kind: "coordinate" })), ...(studio.scene?.parameters ?? []).map(({ name }) => ({ name, kind: "parameter" }))],
});
const files = new Files(connection, editor, () => (studio.parameters = {}), (finished) => (studio.missed = finished));
Object.assign(studio, { connection, viewer, editor, files });

// The position and, during a run, the velocities that the page shows.
studio.state = () => ({ ...Object.fromEntries(viewer.chain.values), ...(simulation.velocity ?? {}) });
const simulation = new Simulation(studio, byId("simulate"));
const equations = new Equations(studio, byId("equations"));
const tasks = new Tasks(studio, byId("tasks"));
const exporting = new Exports(studio, byId("export"));
const study = new StudyPanel(studio, byId("study"));
const versions = new Versions(studio);
Object.assign(studio, { simulation, equations, tasks, study, exporting, versions, panel: "move" });
studio.tick = () => {
  hand?.();
  simulation.tick();
  tasks.tick();
  arrows();
  const now = performance.now();
  if (!studio.moved || studio.panel !== "move" || now - followed < FOLLOW) return;
  [studio.moved, followed] = [false, now];
  sliders?.follow();
};

// The arrows of forces follow the position, a few times a second.
const PAUSE = 150; // ms
let drawnFor = "";
let asked = 0;
async function arrows() {
  if (!viewer.hasArrows || studio.error || performance.now() - asked < PAUSE) return;
  const state = { ...studio.state(), t: viewer.chain.time };
  const key = JSON.stringify([state, studio.parameters]);
  if (key === drawnFor) return;
  [drawnFor, asked] = [key, Infinity];
  const data = viewer.data;
  try {
    const found = await connection.ask("forces", { ...studio.model(), state });
    if (found && viewer.data === data) viewer.turnArrows(found.vectors);
  } catch {
    drawnFor = key; // the text has an error, which it says itself
  }
  asked = performance.now();
}
let hand = null;
viewer.opened = () => {
  bindStageKeys(viewer.stage);
  hand = bindHand(viewer, {
    running: () => simulation.live,
    picked: (name) => studio.pick(name, true),
    pushed: (push) => simulation.push(push),
    grabbed: () => {
      tasks.animate(null);
      if (!simulation.live) simulation.leave();
    },
  });
};

// A body is picked in the view or in the text: its line, its shape and its terms stand out together.
studio.pick = (name, inView) => {
  studio.picked = name;
  viewer.pick(name);
  const statement = studio.statements.find((one) => one.kind === "body" && one.name === name);
  if (inView) editor.pick(statement?.first, statement?.last);
  equations.mark(name);
};

let timer = 0;
let typed = 0;
let reading = 0;
function changed() {
  typed ||= performance.now();
  files.touched();
  clearTimeout(timer);
  timer = setTimeout(refresh, reading ? WAIT : 0);
}

// What every request says about the model.
studio.model = () => ({ text: editor.text, file: files.name, parameters: studio.parameters });

async function refresh() {
  const since = typed;
  typed = 0;
  let found;
  reading++;
  try {
    found = await connection.ask("scene", studio.model());
  } catch (error) {
    found = { statements: studio.statements, error: error.detail ?? { message: error.message } };
  }
  reading--;
  if (!found) return;
  studio.statements = found.statements;
  studio.error = found.error ?? null;
  editor.mark(found.error ? [found.error] : []);
  document.body.classList.toggle("stale", Boolean(found.error));
  showError(found.error);
  if (!found.error) {
    show(found);
    versions.changed();
  }
  else chips([{ name: "text", ready: false, why: found.error.line ? `error in line ${found.error.line}` : "error" }]);
  if (since) {
    viewer.render();
    studio.latencies.push(performance.now() - since);
  }
  studio.ready = true;
  if (studio.missed) {
    studio.arrived(studio.missed);
    studio.missed = null;
  }
}

function show(scene) {
  studio.scene = scene;
  viewer.load(scene);
  byId("title").textContent = scene.model;
  byId("size").textContent = scene.size;
  chips(scene.readiness);
  studio.moved = true;
  showControls(scene);
  simulation.loaded(scene);
  study.suggest(scene);
  if (studio.panel === "equations") equations.refresh();
}

// Sliders and parameters, made anew only if they are others: laying them out takes longer than drawing the mechanism.
let controls = "";
const moving = {
  get values() {
    return viewer.chain.values;
  },
  set: (name, value) => viewer.chain.set(name, value),
  reset: () => viewer.chain.reset(),
};
function showControls(scene) {
  const key = JSON.stringify([scene.coordinates, scene.parameters, studio.parameters, scene.left_out]);
  if (key === controls) return;
  controls = key;
  const panel = byId("move");
  const scroll = panel.scrollTop;
  sliders = makeSliders(scene, moving, () => {
    viewer.handMoved = true;
    viewer.show();
  }, (name) => formula(scene.notation[name]));
  panel.replaceChildren(sliders, parameterCard(scene, studio, changedParameters));
  if (scene.left_out.length) panel.append(element("div", "card", element("h2", "", "Left out or rounded"), ...scene.left_out.map((line) => element("p", "note", line))));
  panel.scrollTop = scroll;
}

// A running simulation takes the new values at once; otherwise the mechanism is drawn with them.
function changedParameters(parameters) {
  const running = simulation.live;
  studio.parameters = parameters;
  if (running) simulation.parameters(parameters);
  else changed();
}

function showError(error) {
  const box = byId("error");
  box.hidden = !error;
  box.replaceChildren();
  if (!error) return;
  const where = error.line ? `line ${error.line}: ` : "";
  box.append(element("strong", "", where + error.message));
  if (error.remedy) box.append(element("span", "", error.remedy));
  if (error.line) box.addEventListener("click", () => editor.pick(error.line), { once: true });
}

// What can be done with the model, and what blocks what.
let chipped = "";
function chips(readiness) {
  const key = JSON.stringify(readiness);
  if (key === chipped) return;
  chipped = key;
  byId("chips").replaceChildren(...readiness.map(({ name, ready, why }) => {
    const words = why && !ready ? `${name}: ${why}` : name;
    const chip = element("span", ready ? "chip ready" : "chip blocked", ready ? "✓ " : "! ", words);
    chip.title = words;
    return chip;
  }));
}

// The body whose statement the cursor is in.
function atLine(line) {
  const at = studio.statements.find(({ kind, first, last }) => kind === "body" && first <= line && line <= last);
  studio.pick(at?.name ?? null, false);
}

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = (name) => {
    document.documentElement.dataset.theme = name;
    viewer.setTheme(name);
    simulation.redraw?.();
  };
  dark.addEventListener("change", () => apply(dark.matches ? "dark" : "light"));
  byId("theme").addEventListener("click", () => apply(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  apply(dark.matches ? "dark" : "light");
}

// Panels beside the view, and on a phone the text and the view too: one at a time.
function tabs() {
  for (const bar of document.querySelectorAll("[role=tablist]")) {
    const all = [...bar.querySelectorAll("[role=tab]")];
    const choose = (tab) => {
      for (const one of all) {
        one.setAttribute("aria-selected", String(one === tab));
        one.tabIndex = one === tab ? 0 : -1;
      }
      if (bar.id === "places") document.body.dataset.place = tab.dataset.shows;
      else for (const one of all) byId(one.dataset.shows).hidden = one !== tab;
      if (bar.id !== "places") studio.panel = tab.dataset.shows;
      if (tab.dataset.shows === "equations" && studio.scene) equations.refresh();
    };
    all.forEach((tab, k) => {
      tab.addEventListener("click", () => choose(tab));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) all.at((k + step) % all.length).focus();
      });
    });
    choose(all[0]);
  }
}

// After an interruption: the scene again, and a run that has ended meanwhile.
async function comeBack() {
  const { finished } = await connection.ask("hello");
  await refresh();
  studio.arrived(finished);
}
studio.arrived = (finished) => {
  if (!finished || studio.error || String(finished.positions) !== String(studio.scene?.names)) return;
  simulation.take(finished);
  note("the run has ended meanwhile: it is under Simulate");
};

connection.on("arrived", (finished) => studio.arrived(finished));
connection.on("closed", (event) => {
  byId("offline").hidden = false;
  byId("offline").textContent = event?.reason || "The studio does not answer; it may have been ended. Trying again …";
});
connection.on("open", () => {
  byId("offline").hidden = true;
  (studio.ready ? comeBack() : files.begin()).catch((error) => note(error.message, "bad"));
});
connection.on("disk", (message) => files.changedOnDisk(message));

theme();
tabs();
// Keys of the view, beside those that turn it: 0 is the first view, space plays and pauses.
byId("stage").addEventListener("keydown", (event) => {
  const act = { 0: () => viewer.stage?.home(), " ": () => simulation.toggle() }[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});
byId("undo").addEventListener("click", () => editor.undo());
byId("redo").addEventListener("click", () => editor.redo());
byId("home").addEventListener("click", () => viewer.stage?.home());
byId("reset").addEventListener("click", () => viewer.reset());

requestAnimationFrame(function frame() {
  studio.tick?.();
  viewer.render();
  requestAnimationFrame(frame);
});
