// Colours: bodies by the branch of the tree they belong to, curves by Okabe and Ito, told apart by everyone.
import { Color } from "three";

const BRANCHES = ["#3f78b5", "#d9803a", "#4b9b78", "#a5709c", "#c4a03c", "#5aa4c8", "#96705c"];
const FIXED = "#8a9099";

export const CURVES = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b3548e", "#c58a00", "#3b9fd8", "#767676", "#111111"],
  dark: ["#56b4e9", "#f0883e", "#2ebf91", "#dd8fbd", "#e6b13a", "#8fd0f5", "#a8a8a8", "#f0f0f0"],
};

// One colour per body: a chain of bodies has one hue, lighter and darker in turn; what is fixed is grey.
export function bodyColours(bodies) {
  const children = bodies.map(() => 0);
  for (const body of bodies) if (body.base >= 0) children[body.base] += 1;
  const chains = new Map();
  let next = 0;
  const chain = (index) => {
    if (chains.has(index)) return chains.get(index);
    const { base } = bodies[index];
    const goesOn = base >= 0 && children[base] === 1 && bodies[base].link > 0;
    const before = goesOn ? chain(base) : null;
    const found = before ? { hue: before.hue, depth: before.depth + 1 } : { hue: 0, depth: 0 };
    if (!before && bodies[index].link > 0) found.hue = next++;
    chains.set(index, found);
    return found;
  };
  return bodies.map((body, index) => {
    if (body.link === 0) return new Color(FIXED);
    const { hue, depth } = chain(index);
    return new Color(BRANCHES[hue % BRANCHES.length]).offsetHSL(0, 0, depth % 2 ? 0.07 : -0.015);
  });
}

export const fixedColour = () => new Color(FIXED);
