// Exports: code, FMU and pages, each with the command and the Python that make the same.
import { button, byId, download, element, note } from "./dom.js";
import { Gif } from "./gif.js";
import { snippet } from "./snippet.js";

const KINDS = [
  ["c", "C"], ["cpp", "C++"], ["python", "Python"], ["matlab", "MATLAB"], ["julia", "Julia"], ["rust", "Rust"], ["fortran", "Fortran"],
  ["javascript", "JavaScript"], ["latex", "LaTeX"], ["fmu", "FMU"], ["urdf", "URDF"], ["view", "page with sliders"], ["page", "page of a run"],
];

const ANIMATION = { width: 640, rate: 20, longest: 400 }; // of a GIF: pixels, frames a second, frames

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
    this.videoButton = button("Record a video (WebM)", () => this.video());
    panel.append(element("div", "card controls",
      element("h2", "", "Export"),
      element("div", "row wrap", this.kind, element("label", "", "quantities ", this.quantities), button("Export", () => this.start(), { className: "primary" }), this.words),
      element("h2", "", "The view"),
      element("div", "row wrap", button("Picture (PNG)", () => this.picture()), this.videoButton, button("Animation of the run (GIF)", () => this.animation())),
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
      this.videoButton.textContent = "Record a video (WebM)";
      download(`${byId("title").textContent}.webm`, new Blob(pieces), "video/webm");
    });
    this.videoButton.textContent = "■ Stop recording";
    this.recorder.start();
  }

  // The chosen run or the moving mode as a GIF, drawn frame by frame: no frame is lost on a slow machine.
  async animation() {
    const { simulation, tasks, viewer } = this.studio;
    const motion = tasks.motion ?? simulation.motion;
    if (!motion) return note("simulate a run or animate a mode first", "bad");
    const { stage } = viewer;
    const source = stage.renderer.domElement;
    const scale = Math.min(1, ANIMATION.width / source.width);
    const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(scale * source.width), height: Math.round(scale * source.height) });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const count = Math.min(Math.max(Math.round(motion.seconds * ANIMATION.rate), 2), ANIMATION.longest);
    const drawn = (k) => {
      motion.show((k / count) * motion.seconds);
      stage.changed = true;
      stage.render();
      context.drawImage(source, 0, 0, canvas.width, canvas.height);
      return context.getImageData(0, 0, canvas.width, canvas.height).data;
    };
    motion.hold();
    const gif = new Gif(canvas.width, canvas.height, [0, 0.25, 0.5, 0.75].map((share) => drawn(Math.floor(share * count))));
    const each = Math.max(Math.round((100 * motion.seconds) / count), 2);
    for (let k = 0; k < count; k++) {
      gif.add(drawn(k), each);
      this.words.textContent = `frame ${k + 1} of ${count}`;
      if (k % 4 === 3) await new Promise((resolve) => setTimeout(resolve));
    }
    this.words.textContent = "";
    download(`${byId("title").textContent}.gif`, gif.end(), "image/gif");
  }
}
