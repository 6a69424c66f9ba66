// Versions of the text from the store: a list, the differences from the text of the page, and the way back.
import { button, byId, element, note } from "./dom.js";

const PAUSE = 300; // ms without a change before the differences follow
const SIGNS = { added: "+", removed: "−", same: " " };

export class Versions {
  constructor(studio) {
    this.studio = studio;
    this.panel = byId("versions");
    this.switch = byId("history");
    this.switch.addEventListener("click", () => this.toggle());
    this.panel.addEventListener("keydown", (event) => event.key === "Escape" && this.toggle(false));
  }

  async toggle(open = this.panel.hidden) {
    this.panel.hidden = !open;
    this.switch.setAttribute("aria-expanded", String(open));
    if (!open) return this.studio.editor.focus();
    this.shown = null;
    await this.#ask("versions", {}, (found) => this.#list(found));
  }

  // The text was changed while the panel is open.
  changed() {
    clearTimeout(this.timer);
    if (this.panel.hidden) return;
    this.timer = setTimeout(() => {
      const { version } = this.shown ?? {};
      this.#ask("versions", {}, (found) => {
        this.#list(found);
        if (version) this.#show(version);
      });
    }, PAUSE);
  }

  // Answers of the store; an error is said in the panel.
  async #ask(what, given, take) {
    const { studio } = this;
    try {
      const found = await studio.connection.ask(what, { ...studio.model(), ...given });
      if (found) take(found);
    } catch (error) {
      this.panel.replaceChildren(this.#head("Versions"), element("p", "note", error.message, element("br"), error.detail?.remedy ?? ""));
    }
  }

  #head(words, ...tools) {
    return element("div", "row wrap", element("h2", "", words), ...tools, button("×", () => this.toggle(false), { className: "close", title: "Close (Escape)" }));
  }

  #list({ name, store, versions }) {
    this.found = versions;
    const same = versions.some((one, k) => one.same && !k);
    const keep = button("Keep this version", () => this.#ask("keep-version", {}, (found) => {
      note(`${found.name}@${found.versions[0].version} kept`);
      this.#list(found);
    }), { className: "primary" });
    keep.disabled = same;
    if (same) keep.title = "The newest version has this text";
    const rows = versions.map(({ version, created, same: equal }) => {
      const one = button(`@${version}`, () => this.#show(version), { title: created });
      one.setAttribute("aria-pressed", "false");
      one.dataset.version = version;
      return element("span", "version", one, element("span", "note", `${when(created)}${equal ? " · this text" : ""}`));
    });
    const empty = element("p", "note", `No version of ${name} is kept yet.`);
    this.differences = element("div", "differences");
    this.panel.replaceChildren(this.#head(`Versions of ${name}`, keep), ...(rows.length ? [element("div", "row wrap", ...rows)] : [empty]), this.differences, element("p", "note store", `in the store ${store}`));
  }

  async #show(version) {
    await this.#ask("version", { version }, (found) => {
      for (const one of this.panel.querySelectorAll("[data-version]")) one.setAttribute("aria-pressed", String(Number(one.dataset.version) === version));
      const restore = button(`Restore @${version}`, () => {
        this.studio.editor.load(found.text, true);
        this.toggle(false);
        note(`@${version} is in the editor; undo takes it back`);
      });
      const words = found.lines.length ? `From @${version} to this text: ${found.added} lines added, ${found.removed} removed` : `@${version} has this text`;
      const lines = found.lines.map(({ kind, line, text }) => (kind === "gap" ? element("div", "gap", "⋯") : element("div", kind, element("span", "line", String(line)), element("span", "sign", SIGNS[kind]), text)));
      restore.hidden = !found.lines.length;
      this.differences.replaceChildren(element("div", "row wrap", element("span", "note", words), restore), element("div", "lines", ...lines));
      this.shown = found;
    });
  }
}

function when(created) {
  const date = new Date(created);
  return Number.isNaN(date.getTime()) ? created : date.toLocaleString([], { dateStyle: "short", timeStyle: "short" });
}
