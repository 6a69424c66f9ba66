// The four plots of a run: coordinates, velocities, energies, phase plane.
import { Plot } from "./plot.js";

const MOST = 12;
const MOST_PLANES = 4;

export function makePlots(data, motion, clock) {
  const names = [...document.getElementById("names").children];
  const label = (place) => names[place].firstChild.cloneNode(true);
  const first = data.positions.length;
  const over = (columns, offset) =>
    columns.slice(0, MOST).map((column, k) => ({ label: label(offset + k), x: motion.times, y: column.values }));
  const left = (columns) => (columns.length > MOST ? `first ${MOST} of ${columns.length}` : "");
  const timed = { clock, motion, timed: true, xLabel: "t / s", events: data.events };
  const energies = data.energies.map((column) => ({ label: words(column.name), x: motion.times, y: column.values }));
  return [
    new Plot("Coordinates", over(data.positions, 0), { ...timed, note: left(data.positions) }),
    new Plot("Velocities", over(data.velocities, first), { ...timed, note: left(data.velocities) }),
    new Plot("Energy / J", energies, timed),
    new Plot(planeTitle(data), planes(data, label), { clock, motion, timed: false }),
  ];
}

// Velocity over position where a coordinate has both; otherwise the first two velocities against each other.
function planes(data, label) {
  const first = data.positions.length;
  const found = pairs(data).map(([position, velocity]) => ({
    label: label(position), x: data.positions[position].values, y: data.velocities[velocity].values,
  }));
  if (found.length || data.velocities.length < 2) return found.slice(0, MOST_PLANES);
  return [{ label: label(first + 1), x: data.velocities[0].values, y: data.velocities[1].values }];
}

function planeTitle(data) {
  if (pairs(data).length || data.velocities.length < 2) return "Phase plane";
  return `Phase plane: ${data.velocities[1].name} over ${data.velocities[0].name}`;
}

function pairs(data) {
  const where = new Map(data.velocities.map((column, place) => [column.name, place]));
  return data.positions
    .map((column, place) => [place, where.get(`${column.name}'`)])
    .filter(([, velocity]) => velocity !== undefined);
}

function words(text) {
  return document.createTextNode(text);
}
