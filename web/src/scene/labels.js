// Names of bodies on the stage: each beside its center of mass, none over another.

const GAPS = [[8, -22], [8, 6], [-8, -22], [-8, 6], [26, -44], [26, 26], [-26, -44], [-26, 26], [50, -70], [50, 50], [-50, -70], [-50, 50]];
const ROOM = 3; // pixels between two labels
const SVG = "http://www.w3.org/2000/svg";

export class Labels {
  constructor(layer, names) {
    this.layer = layer;
    this.lines = document.createElementNS(SVG, "svg");
    layer.append(this.lines);
    this.items = names.map((name) => {
      const span = document.createElement("span");
      const line = document.createElementNS(SVG, "line");
      span.textContent = name;
      layer.append(span);
      this.lines.append(line);
      return { span, line };
    });
  }

  // Puts labels near their anchors, { x, y, depth } in pixels or null; nearest first, and a line leads to each.
  place(anchors, width, height) {
    this.layer.hidden = false;
    const taken = [];
    const order = anchors.map((anchor, index) => [anchor, index]).filter(([anchor]) => anchor);
    order.sort(([a], [b]) => a.depth - b.depth);
    this.items.forEach(({ span, line }, index) => {
      span.hidden = !anchors[index];
      line.toggleAttribute("hidden", !anchors[index]);
    });
    for (const [anchor, index] of order) {
      const { span, line } = this.items[index];
      const size = { width: span.offsetWidth, height: span.offsetHeight };
      const box = free(anchor, size, taken, width, height);
      taken.push(box);
      span.style.transform = `translate(${box.left}px, ${box.top}px)`;
      const end = [Math.min(Math.max(anchor.x, box.left), box.right), Math.min(Math.max(anchor.y, box.top), box.bottom)];
      for (const [name, value] of Object.entries({ x1: anchor.x, y1: anchor.y, x2: end[0], y2: end[1] })) line.setAttribute(name, value);
    }
  }

  hide() {
    this.layer.hidden = true;
  }
}

// The first of some boxes round an anchor that is free; where none is, further and further down.
function free(anchor, { width, height }, taken, stageWidth, stageHeight) {
  const at = ([dx, dy]) => {
    const left = Math.min(Math.max(dx < 0 ? anchor.x + dx - width : anchor.x + dx, 2), stageWidth - width - 2);
    const top = Math.min(Math.max(anchor.y + dy, 2), stageHeight - height - 2);
    return { left, top, right: left + width, bottom: top + height };
  };
  const clear = (box) => taken.every((one) => !overlap(box, one));
  for (const gap of GAPS) if (clear(at(gap))) return at(gap);
  for (let down = 60; down < 2 * stageHeight; down += height + ROOM) {
    for (const gap of [[40, down], [40, -down], [-40, down], [-40, -down]]) if (clear(at(gap))) return at(gap);
  }
  return at(GAPS[0]);
}

export function overlap(a, b) {
  return a.left < b.right + ROOM && b.left < a.right + ROOM && a.top < b.bottom + ROOM && b.top < a.bottom + ROOM;
}
