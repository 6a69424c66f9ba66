// The equations: typeset, to be folded and searched; what an entry depends on and what it is at the current state.
import { button, cancelButton, copied, digits, element, formula, note, table } from "./dom.js";

const CHOICES = [
  ["H,gravity", "Inertia matrix and gravity"], ["tau", "Inverse dynamics"], ["qdd", "Forward dynamics"], ["bias", "Bias forces"],
  ["H,C,gravity", "H, C and gravity"], ["energy", "Energy"], ["momentum", "Momentum"],
];
const FORMS = [["latex", "LaTeX"], ["sympy", "SymPy"], ["c", "C"], ["text", "text"]];

export class Equations {
  constructor(studio, panel) {
    Object.assign(this, { studio, panel });
    this.choice = element("input", "text wide");
    this.choice.value = "H,gravity";
    this.choice.setAttribute("list", "quantity-choices");
    this.choice.setAttribute("aria-label", "quantities");
    const list = element("datalist", "", ...CHOICES.map(([value, words]) => new Option(words, value)));
    list.id = "quantity-choices";
    this.search = element("input", "text wide");
    Object.assign(this.search, { type: "search", placeholder: "find a symbol" });
    this.search.setAttribute("aria-label", "find in the equations");
    this.search.addEventListener("input", () => this.#filter());
    this.choice.addEventListener("change", () => this.load());
    this.words = element("output", "words");
    this.body = element("div");
    panel.append(
      element("div", "card controls",
        element("div", "row", this.choice, list, button("Derive", () => this.load(), { className: "primary" }), cancelButton(studio.connection), this.words),
        element("div", "row", element("span", "note", "copy as"), ...FORMS.map(([form, words]) => button(words, () => this.#copy(form))), this.search)),
      this.body);
  }

  // The panel was opened, or the model has changed.
  async refresh() {
    const key = JSON.stringify([this.studio.editor.text, this.studio.parameters]);
    if (this.key !== key && !this.studio.error) {
      this.key = key;
      await this.load();
    }
  }

  async load() {
    const { studio } = this;
    this.words.textContent = "…";
    try {
      const found = await studio.connection.ask("equations", { ...studio.model(), quantities: this.choice.value, state: studio.state() }, { progress: ({ words }) => (this.words.textContent = `${words} …`) });
      if (found) this.#show(found);
      this.words.textContent = "";
    } catch (error) {
      this.words.textContent = "";
      this.body.replaceChildren(element("p", "card note", error.message, element("br"), error.detail?.remedy ?? ""));
    }
  }

  #show(found) {
    this.found = found;
    this.rows = [];
    const section = (title, list, open) => {
      const details = element("details", "card equation-list", element("summary", "", `${title} (${list.length})`));
      details.open = open;
      for (const one of list) details.append(this.#row(one));
      return list.length ? details : "";
    };
    const kinds = Object.keys(found.counts.at(-1)).filter((name) => name !== "name");
    const counts = table(found.counts.map((stage) => [stage.name, ...kinds.map((kind) => String(stage[kind] ?? 0))]), ["after", ...kinds]);
    const account = element("details", "card", element("summary", "", `Operations: ${Object.entries(found.total).map(([kind, count]) => `${count} ${kind}`).join(", ")}`), counts, element("p", "verdict good", `✓ ${found.proof}`));
    this.body.replaceChildren(section("Entries", found.entries, true), section("Abbreviations", found.abbreviations, found.abbreviations.length < 40), account);
    this.#filter();
    this.mark(this.studio.picked);
  }

  #row(one) {
    const line = element("div", "equation");
    const right = element("span");
    one.terms.forEach((term, k) => right.append(k ? document.createElement("wbr") : "", formula(term)));
    line.append(formula(one.left), right);
    if (one.value !== null && one.value !== undefined) line.append(element("span", "value", `= ${digits(one.value, 5)}`));
    line.title = one.symbols.length ? `depends on ${one.symbols.join(", ")}` : "a constant";
    line.tabIndex = 0;
    const explain = () => note(line.title);
    line.addEventListener("click", explain);
    line.addEventListener("keydown", (event) => event.key === "Enter" && explain());
    this.rows.push({ line, symbols: one.symbols, text: line.textContent });
    return line;
  }

  // Only entries that contain what is sought, or depend on it.
  #filter() {
    const sought = this.search.value.trim();
    for (const { line, symbols, text } of this.rows ?? []) line.hidden = Boolean(sought) && !symbols.includes(sought) && !text.includes(sought);
  }

  // The entries that use a name of the picked body's statement.
  mark(body) {
    const names = new Set(this.found?.bodies[body] ?? []);
    for (const { line, symbols } of this.rows ?? []) line.classList.toggle("picked", symbols.some((name) => names.has(name)));
  }

  async #copy(form) {
    try {
      const found = await this.studio.connection.ask("equations-as", { ...this.studio.model(), quantities: this.choice.value, form });
      await copied(found.text);
      this.copiedText = found.text;
    } catch (error) {
      note([error.message, error.detail?.remedy].filter(Boolean).join("; "), "bad");
    }
  }
}
