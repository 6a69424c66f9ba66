// A row for every coordinate of a mechanism that is moved by hand: a slider, a number to type, the unit, the limits.

const DEGREE = 180 / Math.PI;

// label: a function that gives a coordinate's name as an element. moved: called whenever one has moved.
export function makeSliders(data, chain, moved, label) {
  const card = element("div", "card sliders");
  const rows = data.coordinates.map((coordinate) => {
    return new Row(coordinate, label(coordinate.name), (value) => {
      const reached = chain.set(coordinate.name, value);
      for (const row of rows) if (row.coordinate !== coordinate) row.follow(chain.values.get(row.coordinate.name));
      moved();
      return reached;
    });
  });
  const head = element("div", "head");
  head.append(element("h2", "", "Coordinates"));
  if (data.coordinates.some(({ unit }) => unit === "rad")) head.append(degrees(rows));
  const grid = element("div", "grid");
  grid.append(...rows.flatMap((row) => row.elements));
  const reset = element("button", "", "Back to the start");
  reset.type = "button";
  reset.addEventListener("click", () => {
    chain.reset();
    for (const row of rows) row.follow(row.coordinate.value);
    moved();
  });
  card.append(head, grid, ...(rows.length ? [reset] : [element("p", "note", "Nothing can be moved by a slider.")]));
  card.rows = new Map(rows.map((row) => [row.coordinate.name, { get: () => row.value, set: (value) => row.set(value) }]));
  // What has moved by other means, such as a mouse.
  card.follow = () => rows.forEach((row) => row.follow(chain.values.get(row.coordinate.name)));
  return card;
}

// Angles in radians, or in degrees if someone would rather read those.
function degrees(rows) {
  const label = element("label", "degrees");
  const box = element("input");
  box.type = "checkbox";
  box.addEventListener("change", () => rows.forEach((row) => row.inDegrees(box.checked)));
  label.append(box, "degrees");
  return label;
}

class Row {
  constructor(coordinate, label, changed) {
    Object.assign(this, { coordinate, changed, factor: 1, value: coordinate.value, open: false });
    this.name = element("span", "coordinate");
    this.name.append(label);
    this.range = element("input");
    Object.assign(this.range, { type: "range", min: coordinate.lower, max: coordinate.upper, step: "any" });
    this.typed = element("input", "typed");
    Object.assign(this.typed, { type: "number", step: "any" });
    for (const input of [this.range, this.typed]) input.setAttribute("aria-label", coordinate.name);
    this.unit = element("span", "unit", coordinate.unit);
    this.limits = element("p", "limits");
    this.limits.append(element("span"), element("span"));
    this.limits.hidden = !coordinate.limited;
    this.warning = element("p", "warning");
    this.range.addEventListener("input", () => this.set(Number(this.range.value)));
    this.typed.addEventListener("input", () => this.#read());
    this.typed.addEventListener("blur", () => this.#show());
    this.#show();
  }

  get elements() {
    return [this.name, this.range, this.typed, this.unit, this.limits, this.warning];
  }

  set(value) {
    this.#take(value);
    this.#show();
  }

  // The value that another coordinate's motion gives this one.
  follow(value) {
    this.open = false;
    this.value = value;
    this.#show();
  }

  // Loops may not close as far as is wanted: then the row says where they end.
  #take(value) {
    this.value = this.changed(value);
    this.open = this.value !== value;
  }

  inDegrees(wanted) {
    const angle = this.coordinate.unit === "rad";
    this.factor = wanted && angle ? DEGREE : 1;
    this.unit.textContent = wanted && angle ? "°" : this.coordinate.unit;
    this.#show();
  }

  // What is typed is taken while it is a number, beyond the limits too: the row says so.
  #read() {
    const value = this.typed.value.trim() === "" ? NaN : Number(this.typed.value) / this.factor;
    if (!Number.isFinite(value)) return;
    this.#take(value);
    this.range.value = this.value;
    this.#remark();
  }

  #show() {
    const { lower, upper, limited } = this.coordinate;
    if (!limited) {
      this.range.min = Math.min(lower, this.value);
      this.range.max = Math.max(upper, this.value);
    }
    this.range.value = this.value;
    this.typed.value = this.#text(this.value);
    this.#remark();
  }

  #remark() {
    const { lower, upper, limited, stated, value } = this.coordinate;
    const [left, right] = this.limits.children;
    left.textContent = signed(this.#text(lower));
    right.textContent = signed(this.#text(upper));
    const outside = limited && (this.value < lower - 1e-9 || this.value > upper + 1e-9);
    const moved = stated !== undefined && this.value === value;
    this.warning.textContent = this.open
      ? `cannot close beyond ${signed(this.#text(this.value))}`
      : outside ? "beyond the limit" : moved ? `starts at ${signed(this.#text(stated))} in the model, outside its limits` : "";
    this.warning.hidden = !this.open && !outside && !moved;
  }

  #text(value) {
    return String(Number((value * this.factor).toFixed(this.factor === 1 ? 4 : 2)));
  }
}

function signed(text) {
  return text.replace("-", "−");
}

function element(kind, className = "", text = "") {
  const found = document.createElement(kind);
  if (className) found.className = className;
  if (text) found.textContent = text;
  return found;
}
