// What one can change while a live mechanism runs: parameters, inputs and forces; and the state it is in.

export class Panel {
  constructor(model, clock) {
    Object.assign(this, { model, clock, rows: new Map() }); // rows: what others than the fields read and set
    this.element = element("div", "card live");
    const head = element("div", "head");
    this.state = element("span", "note");
    this.state.setAttribute("role", "status");
    const reset = button("Back to the start", () => clock.reset());
    head.append(element("h2", "", "Run"), this.state);
    this.element.append(head, this.#fields(), reset);
    clock.onChange(() => this.#tell());
  }

  #fields() {
    const { model } = this;
    const whole = element("div");
    const declared = model.inputs.map((one, k) => [one, model.inputIndex(k)]);
    const parameters = model.parameters.map((name, k) => [{ name, unit: "" }, model.parameterIndex(k)]);
    const groups = [
      ["Parameters", parameters, true],
      ["Inputs", declared.slice(model.forces), true],
      ["Forces on coordinates", declared.slice(0, model.forces), false],
    ];
    for (const [title, rows, open] of groups) if (rows.length) whole.append(this.#group(title, rows, open));
    if (model.fixed.length) {
      const names = model.fixed.join(", ");
      whole.append(element("p", "note", `Fixed, because sizes in the picture depend on them: ${names}.`));
    }
    whole.append(element("p", "note", model.contacts
      ? "Only the compliant contacts of the model act: all else passes through."
      : "There are no contacts: bodies pass through each other and through the ground."));
    return whole;
  }

  #group(title, rows, open) {
    const details = element("details");
    details.open = open;
    const grid = element("div", "grid");
    for (const [one, place] of rows) grid.append(...this.#row(one, place));
    details.append(element("summary", "", title), grid);
    return details;
  }

  #row({ name, unit }, place) {
    const { model } = this;
    const input = Object.assign(element("input", "typed"), { type: "number", step: "any", value: model.known[place] });
    input.setAttribute("aria-label", name);
    input.addEventListener("input", () => {
      const value = input.value.trim() === "" ? NaN : Number(input.value);
      input.classList.toggle("wrong", !Number.isFinite(value));
      if (!Number.isFinite(value)) return;
      model.known[place] = value;
      if (model.changed()) this.reshaped?.();
      this.clock.tell();
    });
    const set = (value) => {
      input.value = value;
      input.dispatchEvent(new Event("input"));
    };
    this.rows.set(name, { get: () => model.known[place], set });
    return [element("span", "coordinate", name.replace(/^tau:/, "")), input, element("span", "unit", unit)];
  }

  #tell() {
    const { model, clock } = this;
    this.state.textContent = model.failure ? `stopped at t = ${clock.time.toFixed(3)} s: ${model.failure}`
      : clock.slow ? "slower than real time on this machine" : "";
    this.state.classList.toggle("bad", Boolean(model.failure));
  }
}

function element(kind, className = "", text = "") {
  const found = document.createElement(kind);
  if (className) found.className = className;
  if (text) found.textContent = text;
  return found;
}

function button(words, action) {
  const found = Object.assign(element("button", "", words), { type: "button" });
  found.addEventListener("click", action);
  return found;
}
