// Animated GIF from frames of pixels: one palette by median cut, what does not change is transparent, LZW.

const COLORS = 255; // the last entry of the palette is transparent
const CLEAR = 255;
const LARGEST = 4096; // codes of LZW

export class Gif {
  // samples: some frames (RGBA) that have the colors of all.
  constructor(width, height, samples) {
    Object.assign(this, { width, height, palette: paletteOf(samples), known: new Int16Array(1 << 15).fill(-1), before: null });
    this.bytes = new Bytes();
    this.bytes.text("GIF89a");
    this.bytes.short(width, height);
    this.bytes.put(0xf7, 0, 0);
    for (let k = 0; k < 256; k++) this.bytes.put(...(this.palette[k] ?? [0, 0, 0]));
    this.bytes.put(0x21, 0xff, 11);
    this.bytes.text("NETSCAPE2.0");
    this.bytes.put(3, 1, 0, 0, 0); // again and again
  }

  // A frame, shown for some hundredths of a second.
  add(pixels, hundredths) {
    const indices = this.#indexed(pixels);
    this.bytes.put(0x21, 0xf9, 4, 0x05);
    this.bytes.short(hundredths);
    this.bytes.put(CLEAR, 0, 0x2c);
    this.bytes.short(0, 0, this.width, this.height);
    this.bytes.put(0, 8);
    compress(indices, this.bytes);
  }

  end() {
    this.bytes.put(0x3b);
    return this.bytes.all();
  }

  #indexed(pixels) {
    const count = this.width * this.height;
    const now = new Uint8Array(count);
    const shown = new Uint8Array(count);
    for (let k = 0, at = 0; k < count; k++, at += 4) {
      const key = keyOf(pixels, at);
      if (this.known[key] < 0) this.known[key] = nearest(this.palette, pixels.subarray(at, at + 3));
      now[k] = this.known[key];
      shown[k] = this.before && this.before[k] === now[k] ? CLEAR : now[k];
    }
    this.before = now;
    return shown;
  }
}

const keyOf = (pixels, at) => ((pixels[at] >> 3) << 10) | ((pixels[at + 1] >> 3) << 5) | (pixels[at + 2] >> 3);
const channel = (key, c) => (key >> (10 - 5 * c)) & 31;

function nearest(palette, pixel) {
  let [best, least] = [0, Infinity];
  palette.forEach((color, k) => {
    const gap = color.reduce((sum, value, c) => sum + (value - pixel[c]) ** 2, 0);
    if (gap < least) [best, least] = [k, gap];
  });
  return best;
}

// Boxes of colors are cut at the median of their longest side, the fullest and longest first.
function paletteOf(samples) {
  const sums = new Map(); // key: pixels, and the sums of their channels
  for (const pixels of samples) {
    for (let at = 0; at < pixels.length; at += 4) {
      const key = keyOf(pixels, at);
      const sum = sums.get(key) ?? sums.set(key, [0, 0, 0, 0]).get(key);
      sum[0]++;
      for (let c = 0; c < 3; c++) sum[c + 1] += pixels[at + c];
    }
  }
  let boxes = [box([...sums])];
  while (boxes.length < COLORS) {
    const widest = boxes.reduce((best, one) => (one.weight > best.weight ? one : best));
    if (!widest.weight) break;
    boxes = boxes.filter((one) => one !== widest).concat(halves(widest));
  }
  return boxes.map(({ colors, count }) => [1, 2, 3].map((c) => Math.round(colors.reduce((sum, [, one]) => sum + one[c], 0) / count)));
}

function box(colors) {
  const count = colors.reduce((sum, [, [pixels]]) => sum + pixels, 0);
  const sides = [0, 1, 2].map((c) => {
    const values = colors.map(([key]) => channel(key, c));
    return values.reduce((a, b) => Math.max(a, b), 0) - values.reduce((a, b) => Math.min(a, b), 31);
  });
  const side = sides.indexOf(Math.max(...sides));
  return { colors, count, side, weight: sides[side] * Math.cbrt(count) };
}

function halves({ colors, count, side }) {
  colors.sort(([a], [b]) => channel(a, side) - channel(b, side));
  let [sum, cut] = [0, 0];
  while (cut < colors.length - 1 && (cut === 0 || sum < count / 2)) sum += colors[cut++][1][0];
  return [box(colors.slice(0, cut)), box(colors.slice(cut))];
}

function compress(indices, bytes) {
  const block = [];
  let [bits, filled, size] = [0, 0, 9];
  const flush = () => {
    if (block.length) bytes.put(block.length, ...block.splice(0));
  };
  const code = (value) => {
    bits |= value << filled;
    for (filled += size; filled >= 8; filled -= 8, bits >>>= 8) {
      block.push(bits & 255);
      if (block.length === 255) flush();
    }
  };
  const table = new Int16Array(LARGEST * 256).fill(-1);
  let [next, prefix] = [258, indices[0]];
  code(256);
  for (let k = 1; k < indices.length; k++) {
    const at = prefix * 256 + indices[k];
    if (table[at] >= 0) {
      prefix = table[at];
      continue;
    }
    code(prefix);
    if (next === LARGEST) {
      code(256);
      table.fill(-1);
      [next, size] = [258, 9];
    } else {
      if (next === 1 << size) size++;
      table[at] = next++;
    }
    prefix = indices[k];
  }
  code(prefix);
  code(257);
  if (filled) block.push(bits & 255);
  flush();
  bytes.put(0);
}

// Bytes that grow.
class Bytes {
  constructor() {
    Object.assign(this, { data: new Uint8Array(1 << 16), length: 0 });
  }

  put(...values) {
    if (this.length + values.length > this.data.length) {
      const more = new Uint8Array(2 * this.data.length + values.length);
      more.set(this.data);
      this.data = more;
    }
    this.data.set(values, this.length);
    this.length += values.length;
  }

  short(...values) {
    for (const value of values) this.put(value & 255, value >> 8);
  }

  text(words) {
    this.put(...new TextEncoder().encode(words));
  }

  all() {
    return this.data.subarray(0, this.length);
  }
}
