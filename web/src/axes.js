// Axes of all plots: margins, scales, round numbers, grid lines and labels on a canvas.

export const MARGIN = { left: 52, right: 10, top: 20, bottom: 24 };

// Pixels from values, and the size of the area between the axes.
export function scales({ x, y }, width, height) {
  const found = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  found.x = (value) => MARGIN.left + ((value - x[0]) / (x[1] - x[0])) * found.width;
  found.y = (value) => MARGIN.top + (1 - (value - y[0]) / (y[1] - y[0])) * found.height;
  return found;
}

// plot: its scales, range, labels, theme (computed style), and the times of events.
export function drawAxes(context, plot, [width, height]) {
  const { range, theme, xLabel, yLabel, events = [] } = plot;
  const color = (name) => theme.getPropertyValue(name);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${color("--sans")}`;
  context.lineWidth = 1;
  context.strokeStyle = color("--rule");
  context.fillStyle = color("--quiet");
  const bottom = height - MARGIN.bottom;
  const labeled = context.measureText(xLabel).width || -14;
  const across = ticks(...range.x, Math.max(2, Math.floor(plot.width / 70)));
  const upward = ticks(...range.y, Math.max(2, Math.floor(plot.height / 24)));
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of upward.values) {
    line(context, [MARGIN.left, plot.y(value)], [width - MARGIN.right, plot.y(value)]);
    context.fillText(upward.text(value), MARGIN.left - 6, plot.y(value));
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const value of across.values) {
    line(context, [plot.x(value), MARGIN.top], [plot.x(value), bottom]);
    const near = plot.x(value) > width - MARGIN.right - labeled - 14;
    if (!near) context.fillText(across.text(value), plot.x(value), bottom + 6);
  }
  context.setLineDash([2, 3]);
  context.strokeStyle = color("--quiet");
  for (const time of events) line(context, [plot.x(time), MARGIN.top], [plot.x(time), bottom]);
  context.setLineDash([]);
  context.fillStyle = color("--ink");
  context.textAlign = "right";
  context.fillText(xLabel, width - MARGIN.right, bottom + 6);
  context.textAlign = "left";
  context.fillText(yLabel, 2, 1);
}

export function fit(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
}

export function line(context, from, to) {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

// The range of all values with a little room; never empty. Ranges of rounding errors are widened.
export function padded(arrays) {
  let [low, high] = [Infinity, -Infinity];
  for (const array of arrays) {
    for (const value of array) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [-1, 1];
  const least = Math.max(Math.abs(low), Math.abs(high)) * 1e-5 || 1;
  const room = Math.max(0.06 * (high - low), least);
  return [low - room, high + room];
}

// Round values within a range, about `count` of them, and how to write them.
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((digit) => digit * power >= raw) * power;
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) values.push(k * step);
  if (values.length < 2 && high > low) return ticks(low, high, count + 1); // one number says nothing of the scale
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const large = Math.max(Math.abs(low), Math.abs(high)) >= 1e5 || digits > 4;
  const text = (value) => (large ? value.toExponential(1) : value.toFixed(digits)).replace("-", "−");
  return { values, text };
}
