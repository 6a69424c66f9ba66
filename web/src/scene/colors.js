// Colors of the scene: every body differs from its neighbors.
import { Color } from "three";

const BODIES = ["#3f78b5", "#d9803a", "#4b9b78", "#a5709c", "#c4a03c", "#5aa4c8", "#b5605a", "#7f8f46"];
const FIXED = "#8a9099";

export const FORCE = "#d1495b";
export const MOMENT = "#8a5fc7";

// One color per body: the next one in turn that neither the base nor a body on the same base has; what is fixed is gray.
export function bodyColors(bodies) {
  const chosen = [];
  let next = 0;
  bodies.forEach((body, index) => {
    if (body.link === 0) return chosen.push(null);
    const siblings = bodies.slice(0, index).flatMap((other, k) => (other.base === body.base ? [chosen[k]] : []));
    const near = new Set([chosen[body.base] ?? null, ...siblings.slice(-(BODIES.length - 2))]);
    while (near.has(next % BODIES.length)) next++;
    chosen.push(next++ % BODIES.length);
  });
  return chosen.map((place) => new Color(place === null ? FIXED : BODIES[place]));
}

export const fixedColor = () => new Color(FIXED);
