// The page of a motion, or of a mechanism to be moved by hand: reads the data and puts the pieces together.
import { Matrix4, Quaternion, Vector3 } from "three";
import { Chain } from "./chain.js";
import { Clock } from "./clock.js";
import { bindDigits, bindEvents, bindOptions, bindStageKeys, bindTheme, bindTransport } from "./controls.js";
import { readData } from "./data.js";
import { Host, valuesOf } from "./hosted.js";
import { makeLive } from "./live/live.js";
import { makeModes } from "./modes.js";
import { Motion, matrixOf } from "./motion.js";
import { makePlots } from "./plots.js";
import { Assembly } from "./scene/assembly.js";
import { Stage } from "./scene/stage.js";
import { upward } from "./scene/view.js";
import { makeSliders } from "./sliders.js";
import "./style.css";

const data = readData();
const live = data.live ? makeLive(data) : null;
const motion = live?.model ?? (data.chain ? new Chain(data) : new Motion(data));
const clock = live?.clock ?? new Clock(data.times[0], data.times.at(-1));
const modes = data.modes ? makeModes(data.modes, clock) : null;
const plots = live?.plots ?? modes?.charts ?? (data.chain ? [] : makePlots(data, motion, clock));
const stage = makeStage();
const panel = document.getElementById("plots");

const nameOf = (name) => document.getElementById("names").children[data.names.indexOf(name)].firstChild.cloneNode(true);
const sliders = data.chain ? makeSliders(data, motion, () => stage?.show(clock.time), nameOf) : null;
if (sliders) panel.append(sliders);
else if (modes) panel.append(modes.element);
else panel.append(...(live ? [live.panel.element] : []), ...plots.map((plot) => plot.element));
document.body.classList.toggle("live", Boolean(live));
document.body.classList.toggle("modes", Boolean(modes));
document.body.classList.toggle("by-hand", Boolean(data.chain));
bindTheme((name) => {
  stage?.setTheme(name);
  for (const plot of plots) plot.draw();
});
bindDigits();
if (stage) bindOptions(stage, data, mostTraveled());
if (stage) bindStageKeys(stage);
bindEvents(clock);
if (!data.chain) bindTransport(clock, motion);
live?.bind(stage, reshape);
clock.onChange(() => {
  stage?.show(clock.time);
  for (const plot of plots) plot.mark?.();
});
const hosted = document.documentElement.classList.contains("hosted"); // a notebook may show many: none plays by itself
if (!hosted && !matchMedia("(prefers-reduced-motion: reduce)").matches) clock.play();

let last = performance.now();
requestAnimationFrame(function frame(now) {
  live?.before((now - last) / 1000);
  clock.advance(Math.min((now - last) / 1000, 0.25));
  last = now;
  stage?.render();
  requestAnimationFrame(frame);
});

// The mechanism has other lengths: drawn anew, with what is visible and where the camera is.
function reshape() {
  if (!stage) return;
  const assembly = new Assembly(data, motion, upward(data.gravity));
  for (const [name, visible] of Object.entries(stage.assembly.visible)) assembly.setLayer(name, visible);
  stage.load(data, motion, assembly);
  stage.show(clock.time);
}

function makeStage() {
  try {
    return new Stage(document.getElementById("stage"), data, motion, new Assembly(data, motion, upward(data.gravity)));
  } catch (error) {
    // Everything but the picture works without WebGL; say what is missing.
    document.getElementById("no-webgl").hidden = false;
    document.getElementById("options").hidden = true;
    document.getElementById("stage").classList.add("empty");
    document.getElementById("stage").title = String(error);
    return null;
  }
}

// The body whose center of mass goes the longest way; -1 if none moves.
function mostTraveled() {
  let best = [1e-9, -1];
  const step = Math.max(1, Math.floor(motion.times.length / 200));
  data.bodies.forEach((body, index) => {
    let way = 0;
    let before = null;
    for (let k = 0; k < motion.times.length; k += step) {
      const here = motion.point(body.link, body.center.slice(0, 3), motion.times[k]);
      if (before) way += here.distanceTo(before);
      before = here;
    }
    if (way > best[0]) best = [way, index];
  });
  return best[1];
}

// For tests and for the curious: the pose of a body at the present time, the clock, what is drawn.
function pose(name) {
  const body = data.bodies.find((one) => one.name === name);
  const position = new Vector3();
  const quaternion = new Quaternion();
  const matrix = new Matrix4().multiplyMatrices(motion.matrix(body.link, clock.time), matrixOf(body.place));
  matrix.decompose(position, quaternion, new Vector3());
  return { position: position.toArray(), quaternion: quaternion.toArray(), matrix: matrix.transpose().toArray() };
}

// Where a body's center is on the canvas, in pixels.
function screen(name) {
  const body = data.bodies.find((one) => one.name === name);
  const { clientWidth: width, clientHeight: height } = stage.element;
  const at = stage.center(body, clock.time).project(stage.camera);
  return [((at.x + 1) / 2) * width, ((1 - at.y) / 2) * height];
}

const played = {
  time: { read: () => clock.time, write: (time) => clock.set(time) },
  playing: { read: () => clock.playing, write: (playing) => clock.play(playing) },
  speed: { read: () => clock.speed, write: (speed) => (clock.speed = speed) },
};
const rows = sliders?.rows ?? live?.panel.rows;
const host = new Host({
  ...(sliders ? {} : played),
  ...(rows ? { values: valuesOf(rows) } : {}),
  ...(live ? { state: { read: () => live.model.named() } } : {}),
  ...(modes ? { mode: { read: () => modes.chosen(), write: (k) => modes.choose(k) } } : {}),
});

window.kinegraph = {
  host,
  recorded: () => live?.record.times.length ?? 0,
  clock, pose, screen, live: live?.model ?? null, times: data.times, webgl: stage !== null, cursors: () => plots.map((plot) => plot.cursorX ?? null),
  drawn: (link) => stage?.assembly.links[link].position.toArray() ?? null,
  axes: () => plots.map(({ xLabel, yLabel }) => [xLabel, yLabel]),
  colors: () => stage?.assembly.colors.map((color) => color.getHexString()),
  layers: () => Object.fromEntries(Object.entries(stage?.assembly.layers ?? {}).map(([name, objects]) => [name, objects.map((one) => one.visible)])),
};
