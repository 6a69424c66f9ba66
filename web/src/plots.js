// The plots of a run: its own charts if it has some, then coordinates, velocities, energies, phase plane.
import { Plot } from "./plot.js";

const MOST = 12; // curves drawn at first; all others can be switched on
const MOST_PLANES = 4;

export function makePlots(data, motion, clock) {
  const names = [...document.getElementById("names").children];
  const label = (place, unit) => {
    const found = document.createElement("span");
    found.append(names[place].firstChild.cloneNode(true));
    if (unit) found.append(unitOf(unit));
    return found;
  };
  const timed = { clock, motion, timed: true, xLabel: "t / s", events: data.events };
  // A plot per unit.
  const over = (title, columns, offset) => {
    const placed = columns.map((column, k) => ({ ...column, place: offset + k }));
    return byUnit(placed).map(([unit, own]) => {
      const curves = own.map(({ name, values, place }) => ({ label: label(place), name, x: motion.times, y: values }));
      return new Plot(title, curves, { ...timed, yLabel: unit, most: MOST, angles: unit === "rad" });
    });
  };
  return [
    ...chosen(data, timed),
    ...(data.charts ?? []).map((chart) => charted(chart, timed)),
    ...over("Coordinates", data.positions, 0),
    ...over("Velocities", data.velocities, data.positions.length),
    energies(data.energies, timed),
    plane(data, label, { clock, motion, timed: false, most: MOST_PLANES }),
    ...others(data, timed),
  ];
}

function byUnit(columns) {
  const units = [...new Set(columns.map(({ unit }) => unit))];
  return units.map((unit) => [unit, columns.filter((one) => one.unit === unit)]);
}

const plain = (columns, timed) => columns.map(({ name, values }) => (
  { label: document.createTextNode(name), name, x: timed.motion.times, y: values }
));

// Columns that were asked for: a plot per unit, and one for each column whose unit is not known.
function chosen({ further = [], first = 0 }, timed) {
  const groups = byUnit(further.slice(0, first)).flatMap(([unit, own]) => (unit ? [[unit, own]] : own.map((one) => ["", [one]])));
  return groups.map(([unit, own]) => new Plot("Chosen", plain(own, timed), { ...timed, yLabel: unit, most: MOST }));
}

// All other columns, to be drawn by a click on their names.
function others({ further = [], first = 0 }, timed) {
  const rest = plain(further.slice(first), timed);
  return rest.length ? [new Plot("Further columns", rest, { ...timed, yLabel: "", most: 0 })] : [];
}

// Columns of one unit; the kind of a column (`load:legA`) is in the title.
function charted({ title, unit, curves }, timed) {
  const found = curves.map(({ name, values }) => {
    const label = document.createTextNode(name.split(":").at(-1));
    return { label, name, x: timed.motion.times, y: values };
  });
  return new Plot(title, found, { ...timed, yLabel: unit, most: MOST });
}

function energies({ curves, level }, timed) {
  const found = curves.map((curve) => ({
    label: document.createTextNode(curve.name), name: curve.name, x: timed.motion.times, y: curve.values,
  }));
  const note = level ? `potential from ${Number(level.toPrecision(4))} J` : "";
  return new Plot("Energy", found, { ...timed, yLabel: "J", most: found.length, note });
}

// Velocity over position where a coordinate has both; otherwise the first two velocities against each other.
function plane(data, label, options) {
  const first = data.positions.length;
  const found = pairs(data);
  if (!found.length && data.velocities.length >= 2) {
    const [x, y] = data.velocities;
    const curve = { label: label(first + 1), name: y.name, x: x.values, y: y.values };
    const axes = { xLabel: `${x.name} / ${x.unit}`, yLabel: `${y.name} / ${y.unit}` };
    return new Plot("Phase plane", [curve], { ...options, ...axes });
  }
  const curves = found.map(([position, velocity]) => ({
    label: label(position), name: data.positions[position].name,
    x: data.positions[position].values, y: data.velocities[velocity].values,
  }));
  const xLabel = joined(found.map(([position]) => data.positions[position].unit));
  const yLabel = joined(found.map(([, velocity]) => data.velocities[velocity].unit));
  return new Plot("Phase plane", curves, { ...options, xLabel, yLabel });
}

function pairs(data) {
  const where = new Map(data.velocities.map((column, place) => [column.name, place]));
  return data.positions
    .map((column, place) => [place, where.get(`${column.name}'`)])
    .filter(([, velocity]) => velocity !== undefined);
}

function joined(units) {
  return [...new Set(units.filter(Boolean))].join(", ");
}

function unitOf(text) {
  const found = document.createElement("small");
  found.textContent = ` / ${text}`;
  return found;
}
