// A live page: the mechanism, its clock, what can be changed, and plots of the last seconds.
import { Plot } from "../plot.js";
import { LiveClock } from "./clock.js";
import { LiveModel } from "./model.js";
import { Panel } from "./panel.js";
import { bindPush } from "./push.js";
import { Record } from "./record.js";

const DRAWN = 1 / 20; // seconds between drawings of the plots
const MOST = 8;

export function makeLive(data) {
  const model = new LiveModel(data, globalThis.kinegraphEquations);
  const clock = new LiveClock(model);
  const record = new Record(model);
  const panel = new Panel(model, clock);
  const plots = makePlots(model, record, clock);
  let drawn = 0;
  clock.onChange(() => {
    record.add();
    const now = performance.now() / 1000;
    if (now - drawn < DRAWN && clock.playing) return;
    drawn = now;
    for (const plot of plots) plot.draw();
  });
  let push = () => {};
  return {
    model, clock, panel, plots, record,
    // reshape: called when parameters have changed the shape of the picture.
    bind: (stage, reshape) => {
      panel.reshaped = reshape;
      if (stage) push = bindPush(stage, model, clock, () => clock.tell());
    },
    before: (seconds) => push(seconds),
  };
}

// A panel per unit of coordinates and velocities, and the energies.
function makePlots(model, record, clock) {
  const options = { clock, motion: record, timed: true, xLabel: "t / s" };
  const curves = (columns) => columns.map((column) => ({
    label: document.createTextNode(column.name), name: column.name, x: record.times, y: record.columns[column.place].values,
  }));
  const states = model.states.map((one, place) => ({ ...one, place }));
  const groups = [
    ["Coordinates", states.slice(0, model.positions)],
    ["Velocities", states.slice(model.positions)],
  ];
  const plots = [];
  for (const [title, columns] of groups) {
    for (const unit of new Set(columns.map((one) => one.unit))) {
      const chosen = columns.filter((one) => one.unit === unit);
      plots.push(new Plot(title, curves(chosen), { ...options, yLabel: unit, most: MOST }));
    }
  }
  const energies = ["kinetic", "potential", "energy"].map((name) => ({ name, place: model.count + model.outputs.indexOf(name) }));
  plots.push(new Plot("Energy", curves(energies), { ...options, yLabel: "J", most: MOST }));
  return plots;
}
