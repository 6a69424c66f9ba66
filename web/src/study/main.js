// The page of a study: the variables that matter, distributions of the outcomes, any two columns, and any case.
import { line } from "../axes.js";
import { Chart } from "../chart.js";
import { bindTheme } from "../controls.js";
import { float64, uint32 } from "../data.js";
import { Host } from "../hosted.js";
import { CURVES } from "../palette.js";
import { Scatter, labeled, short } from "./scatter.js";
import "../style.css";
import "./study.css";

const BINS = [8, 60];

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const cases = uint32(data.cases);
const columns = new Map(data.columns.map((one) => [one.name, { ...one, values: float64(one.values) }]));
const marks = new Map(data.marks.map((one) => [one.name, { ...one, codes: uint32(one.codes) }]));
const columnOf = (name) => columns.get(name) ?? marks.get(name);

const scatters = ["first", "second", "both"].map((name) => {
  const found = new Scatter("Cases as points: click one to see its values", choose);
  byId(name).append(found.element);
  return found;
});
const histograms = [...columns.values()].filter(({ role }) => role === "outcome").map((column) => histogram(column));
byId("distributions").append(...histograms.map(({ element }) => element));

const menu = byId("outcome");
for (const { name } of data.outcomes) menu.add(new Option(name));
const axes = Object.fromEntries(["across", "up", "color"].map((name) => [name, byId(name)]));
for (const name of columns.keys()) for (const one of Object.values(axes)) one.add(new Option(name));
for (const name of marks.keys()) axes.color.add(new Option(name));
for (const one of Object.values(axes)) one.addEventListener("change", drawBoth);
menu.addEventListener("change", chooseOutcome);

// Bars of what an outcome depends on, longest first; and the two names that matter most.
function chooseOutcome() {
  const one = data.outcomes[menu.selectedIndex];
  byId("method").textContent = one.method;
  const longest = Math.max(1e-9, ...one.influences.map(([, value]) => value));
  byId("bars").replaceChildren(...one.influences.flatMap(([name, value]) => {
    const bar = element("i");
    bar.style.width = `${(100 * Math.max(value, 0)) / Math.max(longest, 1)}%`;
    return [element("span", "", labeled(columns.get(name) ?? { name })), element("b", "", bar), element("span", "", value.toFixed(3))];
  }));
  const [first, second = first] = one.best;
  const outcome = columnOf(one.name);
  const mark = marks.get(outcome.words ? one.name : "class") ?? marks.get("success") ?? null;
  const up = outcome.words ? columns.get(data.outcomes.find(({ name }) => columns.has(name))?.name ?? second) : outcome;
  scatters[0].show({ x: columns.get(first), y: up, color: mark });
  scatters[1].show({ x: columns.get(second), y: up, color: mark });
  byId("second").hidden = second === first;
  Object.assign(axes.across, { value: first });
  Object.assign(axes.up, { value: second === first ? up.name : second });
  Object.assign(axes.color, { value: one.name });
  drawBoth();
}

function drawBoth() {
  scatters[2].show({ x: columns.get(axes.across.value), y: columns.get(axes.up.value), color: columnOf(axes.color.value) });
}

// The values of a case, and how to run it.
function choose(row) {
  const number = cases[row];
  byId("number").value = number;
  const rows = [...columns.values()].map((one) => [labeled(one), short(one.values[row], 9), one.role]);
  for (const { name, words, codes } of marks.values()) rows.push([name, words[codes[row]], "outcome"]);
  const failure = data.failures[number];
  const list = (role) => rows.filter((one) => one[2] === role).flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]);
  const table = (title, role) => {
    const found = element("div", "", element("h4", "", title));
    found.append(element("dl", "", ...list(role)));
    return found;
  };
  const run = element("code", "", `kg.view(study.case(${number}).simulate(), "case-${number}.html")`);
  const words = element("p", "note", "Run it: ", run, " or ", element("code", "", `kinegraph study … --case ${number}`));
  const lines = failure ? [element("p", "bad", failure)] : [];
  byId("values").replaceChildren(table("Varied", "varied"), table("Outcomes", "outcome"), ...lines, words);
  for (const one of [...scatters, ...histograms]) Object.assign(one, { row }).draw();
}

byId("number").max = cases.at(-1);
byId("number").addEventListener("change", () => {
  const row = cases.indexOf(Number(byId("number").value));
  if (row >= 0) choose(row);
});

// How often an outcome has which value; lines are the nominal case, the quantiles, and the chosen case.
function histogram(column) {
  const sorted = column.values.filter((value, row) => Number.isFinite(value) && cases[row] > 0).sort();
  const chart = new Chart(`Histogram of ${column.name}`, paint);
  chart.yLabel = "cases";
  chart.element.prepend(element("figcaption", "", labeled(column)));
  if (!sorted.length) chart.area.replaceChildren(element("p", "note", "no values"));
  const room = sorted.at(-1) - sorted[0] || Math.abs(sorted[0]) || 1;
  const low = sorted.at(-1) > sorted[0] ? sorted[0] : sorted[0] - room / 2;
  const count = Math.min(BINS[1], Math.max(BINS[0], Math.floor(Math.sqrt(sorted.length))));
  const bins = new Array(count).fill(0);
  for (const value of sorted) bins[Math.min(count - 1, Math.floor(((value - low) / room) * count))]++;
  if (sorted.length) chart.range = { x: [low - 0.03 * room, low + 1.03 * room], y: [0, 1.08 * Math.max(...bins)] };

  function paint(context, { x, y, theme, row }) {
    const palette = CURVES[document.documentElement.dataset.theme];
    context.fillStyle = palette[5];
    const edge = (k) => x(low + (k * room) / count);
    bins.forEach((number, k) => context.fillRect(edge(k) + 0.5, y(number), edge(k + 1) - edge(k) - 1, y(0) - y(number)));
    const at = (value, color, dash) => {
      if (!Number.isFinite(value)) return;
      Object.assign(context, { strokeStyle: color, lineWidth: 1.6 });
      context.setLineDash(dash);
      line(context, [x(value), y(0)], [x(value), y(chart.range.y[1])]);
      context.setLineDash([]);
    };
    for (const level of [0.05, 0.95]) at(sorted[Math.round(level * (sorted.length - 1))], palette[6], [2, 3]);
    if (cases[0] === 0) at(column.values[0], palette[1], []);
    if (row !== undefined) at(column.values[row], theme.getPropertyValue("--ink"), [5, 3]);
  }
  return chart;
}

function element(kind, className = "", ...content) {
  const found = document.createElement(kind);
  if (className) found.className = className;
  found.append(...content);
  return found;
}

// Cells of correlations are colored by their value.
for (const cell of document.querySelectorAll("[data-share]")) {
  const value = Number(cell.dataset.share);
  cell.style.background = `color-mix(in srgb, ${value < 0 ? "#d55e00" : "#0072b2"} ${Math.round(70 * Math.abs(value))}%, transparent)`;
}
for (const bar of document.querySelectorAll("[data-width]")) bar.style.width = `${100 * Number(bar.dataset.width)}%`;

bindTheme(() => {
  for (const one of [...scatters, ...histograms]) one.draw();
});
if (data.outcomes.length && columns.size) chooseOutcome();
else byId("matters").hidden = true;
choose(0);
const host = new Host({
  case: {
    read: () => cases[scatters[0].row],
    write: (number) => {
      const row = cases.indexOf(number);
      if (row >= 0) choose(row);
    },
  },
});
window.kinegraph = { host, choose, scatters, chosen: () => scatters[0].row };
