// Curves are in Okabe and Ito's colors, told apart by everyone; scales in viridis, which also prints well.

export const CURVES = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b3548e", "#c58a00", "#3b9fd8", "#767676", "#111111"],
  dark: ["#56b4e9", "#f0883e", "#2ebf91", "#dd8fbd", "#e6b13a", "#8fd0f5", "#a8a8a8", "#f0f0f0"],
};

const VIRIDIS = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"].map((text) => [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16)));
// The part of the scale that differs from the paper.
const READABLE = { light: [0, 0.88], dark: [0.3, 1] };

// A color for a share between 0 and 1.
export function scaleColor(share, theme) {
  const [low, high] = READABLE[theme];
  const place = Math.min(Math.max(low + share * (high - low), 0), 1) * (VIRIDIS.length - 1);
  const k = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const mixed = VIRIDIS[k].map((one, channel) => Math.round(one + (place - k) * (VIRIDIS[k + 1][channel] - one)));
  return `rgb(${mixed})`;
}
