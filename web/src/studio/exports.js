// Exports: code, FMU and pages, each with the command and the Python that make the same.
import { button, byId, download, element } from "./dom.js";
import { snippet } from "./snippet.js";

const KINDS = [
  ["c", "C"], ["cpp", "C++"], ["python", "Python"], ["matlab", "MATLAB"], ["julia", "Julia"], ["rust", "Rust"], ["fortran", "Fortran"],
  ["javascript", "JavaScript"], ["latex", "LaTeX"], ["fmu", "FMU"], ["urdf", "URDF"], ["view", "page with sliders"], ["page", "page of a run"],
];

export class Exports {
  constructor(studio, panel) {
    this.studio = studio;
    this.kind = element("select", "", ...KINDS.map(([value, words]) => new Option(words, value)));
    this.kind.setAttribute("aria-label", "kind of export");
    this.quantities = element("input", "text wide");
    this.quantities.value = "tau,qdd";
    this.quantities.setAttribute("aria-label", "quantities of the export");
    this.words = element("output", "words");
    this.result = element("div");
    panel.append(element("div", "card controls",
      element("h2", "", "Export"),
      element("div", "row wrap", this.kind, element("label", "", "quantities ", this.quantities), button("Export", () => this.start(), { className: "primary" }), this.words),
      element("div", "row wrap", button("Picture of the view (PNG)", () => this.picture()), button("Video of the view (WebM)", () => this.video())),
      element("p", "note", "Code is compiled from the same proved equations. Everything is made on this machine.")), this.result);
  }

  async start() {
    const { studio } = this;
    this.words.textContent = "writing …";
    try {
      const found = await studio.connection.ask("export", { ...studio.model(), to: this.kind.value, quantities: this.quantities.value, state: studio.state() });
      const bytes = Uint8Array.from(atob(found.data), (letter) => letter.charCodeAt(0));
      download(found.name, bytes);
      this.result.replaceChildren(element("div", "card", element("p", "", `${found.name}: ${(bytes.length / 1000).toFixed(1)} KB`), snippet(found)));
    } catch (error) {
      this.result.replaceChildren(element("p", "card note", error.message, element("br"), error.detail?.remedy ?? ""));
    }
    this.words.textContent = "";
  }

  picture() {
    const { stage } = this.studio.viewer;
    stage.changed = true;
    stage.render();
    stage.renderer.domElement.toBlob((blob) => download(`${byId("title").textContent}.png`, blob, "image/png"));
  }

  // What the view shows for as long as the button says.
  video() {
    if (this.recorder) return this.recorder.stop();
    const stream = this.studio.viewer.stage.renderer.domElement.captureStream(30);
    const pieces = [];
    this.recorder = new MediaRecorder(stream, { mimeType: "video/webm" });
    this.recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
    this.recorder.addEventListener("stop", () => {
      this.recorder = null;
      this.words.textContent = "";
      download(`${byId("title").textContent}.webm`, new Blob(pieces), "video/webm");
    });
    this.words.textContent = "recording; press again to stop";
    this.recorder.start();
  }
}
