// The open file: begin, open, save, templates, and what to do when it changes on disk.
import { byId, button, element, note } from "./dom.js";

const BLANK = `# A pendulum: change a number and see it change.
model pendulum;
parameters l = 1, m1 = 2;
coordinates q = 0.6;
gravity 0, 0, -9.81;

Rod | Ry(q) | Sz(-l), m(m1), Jy(m1*l^2/12);
`;

export class Files {
  // opened: called when another text begins. missed: with a run that has ended while the page was away.
  constructor(connection, editor, opened, missed) {
    Object.assign(this, { connection, editor, opened, missed, name: "", stamp: "", saved: "" });
    byId("save").addEventListener("click", () => this.save());
    byId("file").addEventListener("change", (event) => this.choose(event.target.value));
    addEventListener("beforeunload", (event) => this.dirty && event.preventDefault());
    this.#drops();
  }

  get dirty() {
    return this.editor.text !== this.saved;
  }

  // What the page shows first: the file of the command line, a template, or what was not saved before a reload.
  async begin() {
    const { files, library, first, draft, folder, finished } = await this.connection.ask("hello");
    this.library = library;
    this.folder = folder;
    this.#list(files);
    if (first.startsWith("library:")) await this.template(first.slice(8));
    else if (files.includes(first)) await this.open(first);
    else if (first) this.#start(first, BLANK);
    else if (files.length && draft === undefined) await this.open(files[0]);
    else this.#start("", BLANK);
    if (typeof draft === "string" && draft !== this.editor.text) {
      this.editor.load(draft, true);
      note("changes that were not saved are back");
    }
    this.missed(finished);
  }

  async choose(value) {
    const [kind, name] = [value.slice(0, value.indexOf(":")), value.slice(value.indexOf(":") + 1)];
    if (this.dirty && !confirm("Leave the changes that are not saved?")) return this.#list();
    try {
      if (kind === "file") await this.open(name);
      else if (kind === "library") await this.template(name);
      else this.#start("", BLANK);
    } catch (error) {
      note(error.message, "bad");
      this.#list();
    }
  }

  async open(name) {
    const found = await this.connection.ask("open", { name });
    this.#start(found.name, found.text, found.stamp);
  }

  async template(name) {
    const { text } = await this.connection.ask("template", { name });
    this.#start("", text, "", `library:${name}`);
    this.suggested = `${name}.kg`;
  }

  async save() {
    const name = this.name || prompt("Save as (a file of this folder)", this.suggested ?? "mechanism.kg");
    if (!name) return;
    const text = this.editor.text;
    try {
      const { stamp, files } = await this.connection.ask("save", { name, text, stamp: this.stamp });
      Object.assign(this, { name, stamp, saved: text });
      this.#list(files);
      note(`${name} saved`);
      this.onSaved?.(name);
    } catch (error) {
      note([error.message, error.detail?.remedy].filter(Boolean).join("; "), "bad");
    }
  }

  touched() {
    byId("save").classList.toggle("dirty", this.dirty);
    byId("save").title = this.dirty ? "Not saved yet (Ctrl+S)" : this.name ? "Saved" : "Save as a file of this folder (Ctrl+S)";
  }

  // Hot reload: at once if nothing was typed since the last save, else by choice.
  changedOnDisk({ name, text, stamp }) {
    if (name !== this.name || stamp === this.stamp) return;
    const take = () => {
      this.editor.load(text, true);
      Object.assign(this, { stamp, saved: text });
      this.touched();
      byId("disk").hidden = true;
    };
    if (text === this.saved) this.stamp = stamp;
    else if (!this.dirty) take();
    else {
      const keep = () => {
        this.stamp = stamp;
        byId("disk").hidden = true;
      };
      byId("disk").replaceChildren(element("span", "", `${name} has changed on disk. `), button("Load it", take), button("Keep mine", keep));
      byId("disk").hidden = false;
    }
  }

  // origin: the menu's entry for a text that is not a file of the folder.
  #start(name, text, stamp = "", origin = "new:") {
    Object.assign(this, { name, stamp, origin, saved: stamp || origin !== "new:" ? text : "", suggested: undefined });
    this.opened();
    this.editor.load(text);
    this.#list();
    this.touched();
  }

  #list(files = this.files ?? []) {
    this.files = files;
    const group = (label, kind, names) => {
      const found = element("optgroup", "", ...names.map((name) => new Option(name, `${kind}:${name}`)));
      found.label = label;
      return found;
    };
    const select = byId("file");
    select.replaceChildren(new Option("untitled", "new:"));
    if (files.length) select.append(group("this folder", "file", files));
    select.append(group("start from the library", "library", this.library ?? []));
    select.value = this.name ? `file:${this.name}` : this.origin ?? "new:";
    if (select.selectedIndex < 0) select.selectedIndex = 0;
  }

  // A model file dropped on the page is opened as a new text.
  #drops() {
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", async (event) => {
      const file = event.dataTransfer?.files?.[0];
      if (!file) return;
      event.preventDefault();
      if (file.size > 5e6) return note(`${file.name} is too large`, "bad");
      this.#start("", await file.text());
      this.suggested = file.name;
    });
  }
}
