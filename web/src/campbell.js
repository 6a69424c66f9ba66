// The Campbell diagram of a rotor: frequencies over the speed, lines of excitation, critical speeds.
import { line, padded } from "./axes.js";
import { Chart } from "./chart.js";
import { CURVES } from "./palette.js";

const WHIRLS = ["forward", "backward", "planar"];
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

// at: the speed of the page, if it has one.
export function campbellChart({ over, speeds, frequencies, whirl, orders, critical, at }) {
  const chart = new Chart(`Campbell diagram over ${over}`, paint);
  const known = frequencies.flat().filter((value) => value !== null);
  Object.assign(chart, { xLabel: `${over} / (rad/s)`, yLabel: "ω / (rad/s)" });
  chart.range = { x: [speeds[0], speeds.at(-1)], y: [0, padded([known])[1]] };
  const used = [...new Set(whirl.flat())].filter(Boolean);
  const swatches = used.map(() => document.createElement("i"));
  const key = Object.assign(document.createElement("div"), { className: "key" });
  key.append(...swatches.map((swatch, k) => {
    const entry = document.createElement("span");
    entry.append(swatch, used[k]);
    return entry;
  }));
  chart.element.append(key);
  const kind = (word) => (WHIRLS.includes(word) ? WHIRLS.indexOf(word) : 3);

  function paint(context, { x, y, theme, width, height }) {
    const palette = CURVES[document.documentElement.dataset.theme];
    context.save();
    context.beginPath();
    context.rect(x(speeds[0]), y(chart.range.y[1]), width, height);
    context.clip();
    Object.assign(context, { strokeStyle: theme.getPropertyValue("--quiet"), lineWidth: 1 });
    for (const order of orders) line(context, [x(speeds[0]), y(order * Math.abs(speeds[0]))], [x(speeds.at(-1)), y(order * Math.abs(speeds.at(-1)))]);
    if (at !== undefined) line(context, [x(at), y(0)], [x(at), y(chart.range.y[1])]);
    context.lineWidth = 1.8;
    for (let mode = 0; mode < frequencies[0].length; mode++) {
      for (let k = 1; k < speeds.length; k++) {
        const [before, now] = [frequencies[k - 1][mode], frequencies[k][mode]];
        if (before === null || now === null) continue;
        context.strokeStyle = palette[kind(whirl[k][mode])];
        context.setLineDash(DASHES[kind(whirl[k][mode])]);
        line(context, [x(speeds[k - 1]), y(before)], [x(speeds[k]), y(now)]);
      }
    }
    context.setLineDash([]);
    for (const one of critical) {
      context.fillStyle = palette[kind(one.whirl)];
      context.beginPath();
      context.arc(x(one.speed), y(one.frequency), 4.5, 0, 7);
      context.fill();
    }
    context.restore();
    swatches.forEach((swatch, k) => (swatch.style.background = palette[kind(used[k])]));
  }
  return chart;
}
