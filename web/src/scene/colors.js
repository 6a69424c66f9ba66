// Colors: every body differs from its neighbors, curves are Okabe and Ito's, told apart by everyone.
import { Color } from "three";

const BODIES = ["#3f78b5", "#d9803a", "#4b9b78", "#a5709c", "#c4a03c", "#5aa4c8", "#b5605a", "#7f8f46"];
const FIXED = "#8a9099";

export const FORCE = "#d1495b";
export const MOMENT = "#8a5fc7";

export const CURVES = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b3548e", "#c58a00", "#3b9fd8", "#767676", "#111111"],
  dark: ["#56b4e9", "#f0883e", "#2ebf91", "#dd8fbd", "#e6b13a", "#8fd0f5", "#a8a8a8", "#f0f0f0"],
};

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
