// A body follows the mouse: inverse kinematics by damped least squares, with loops closed after every step.
import { Vector3 } from "three";
import { leastChange } from "../program.js";

const STEPS = 8;
const DAMPING = 1e-5; // of the target; loops are not damped
const CLOSING = 1e-12;
const LONGEST = 0.15; // radians or meters in a step
const SMALL = 1e-6;

// Values of the coordinates that bring a point of a link as near to a target as they can.
export function dragged(chain, link, local, target, limits) {
  let values = [...chain.values.values()];
  let gap = distance(chain, values, link, local, target);
  for (let step = 0; step < STEPS && gap > 1e-7; step++) {
    const change = towards(chain, values, link, local, target);
    if (!change.every(Number.isFinite)) break;
    const size = Math.max(...change.map(Math.abs), 1e-300);
    let share = Math.min(1, LONGEST / size);
    let better = null;
    for (let half = 0; half < 5 && !better; half++, share /= 2) {
      const tried = values.map((value, k) => limited(value + share * change[k], limits[k]));
      const fitting = chain.closing ? chain.closing.closed(tried, -1, 0) : tried;
      if (!fitting) continue;
      const left = distance(chain, fitting, link, local, target);
      if (left < gap - 1e-12) [better, gap] = [fitting, left];
    }
    if (!better) break;
    values = better;
  }
  return values;
}

function limited(value, limits) {
  return limits ? Math.min(Math.max(value, limits[0]), limits[1]) : value;
}

function place(chain, values, link, local) {
  return local.clone().applyMatrix4(chain.placed(values)[link]);
}

function distance(chain, values, link, local, target) {
  return place(chain, values, link, local).distanceTo(target);
}

function towards(chain, values, link, local, target) {
  const here = place(chain, values, link, local);
  const columns = values.map((value, k) => {
    const moved = [...values];
    moved[k] = value + SMALL;
    return place(chain, moved, link, local).sub(here).divideScalar(SMALL);
  });
  const rows = ["x", "y", "z"].map((axis) => columns.map((column) => column[axis]));
  const wanted = new Vector3().subVectors(target, here).toArray();
  const damping = [DAMPING, DAMPING, DAMPING];
  if (chain.closing) {
    chain.closing.missed(values);
    for (const row of chain.closing.slopes()) {
      rows.push(row);
      wanted.push(0);
      damping.push(CLOSING);
    }
  }
  return leastChange(rows, wanted, damping);
}
