// The page's data: JSON with arrays packed as base64.

function bytes(text) {
  const raw = atob(text);
  const found = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) found[k] = raw.charCodeAt(k);
  return found.buffer;
}

export const float32 = (text) => new Float32Array(bytes(text));
export const float64 = (text) => new Float64Array(bytes(text));
export const uint32 = (text) => new Uint32Array(bytes(text));

export function readData() {
  return unpacked(JSON.parse(document.getElementById("data").textContent));
}

// The same data with its arrays as arrays.
export function unpacked(data) {
  data.times = float64(data.times);
  data.motion = float32(data.motion);
  for (const part of data.parts) if (part.vectors) part.vectors = float32(part.vectors);
  const charted = (data.charts ?? []).map(({ curves }) => curves);
  for (const list of [data.positions, data.velocities, data.energies?.curves, data.further, ...charted]) {
    for (const column of list ?? []) if (column.values) column.values = float32(column.values);
  }
  return data;
}
