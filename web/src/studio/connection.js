// The line to the studio's server: requests with answers, progress and frames; it comes back after an interruption.

const QUICK = new Set(["scene", "forces", "live", "hello", "files", "open", "save", "template", "cancel"]); // nothing to cancel
const LARGEST = 7.5e6; // characters of a message: the server ends a connection that sends more

export class Connection {
  constructor() {
    this.waiting = new Map();
    this.listeners = new Map();
    this.next = Date.now(); // answers to what an earlier page asked have other numbers
    this.delay = 300;
    this.key = sessionStorage.getItem("studio") ?? crypto.randomUUID();
    sessionStorage.setItem("studio", this.key);
    this.#open();
  }

  // The result of a request; an Error whose `detail` says what is wrong, or null if a newer request has replaced it.
  ask(what, given = {}, { progress, frame } = {}) {
    const id = this.next++;
    const message = JSON.stringify({ id, do: what, with: given });
    if (message.length > LARGEST) {
      const detail = { message: `the text is too long for the studio: ${(message.length / 1e6).toFixed(1)} MB`, remedy: "use the command line" };
      return Promise.reject(Object.assign(new Error(detail.message), { detail }));
    }
    const answer = new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, progress, frame });
      this.opened.then(() => this.socket.send(message));
    });
    if (!QUICK.has(what)) this.#count(answer);
    return answer;
  }

  // The page shows what cancels work only while there is some.
  async #count(answer) {
    this.#work(1);
    await answer.catch(() => {});
    this.#work(-1);
  }

  #work(more) {
    this.working = (this.working ?? 0) + more;
    document.body.classList.toggle("working", this.working > 0);
  }

  // Something for the live simulation, without an answer.
  steer(given) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ id: 0, do: "steer", with: given }));
  }

  on(event, listener) {
    this.listeners.set(event, listener);
  }

  #open() {
    const address = new URL(`socket?session=${encodeURIComponent(this.key)}`, location.href);
    address.protocol = "ws:";
    this.socket = new WebSocket(address);
    this.opened = new Promise((resolve) => {
      this.socket.addEventListener("open", () => {
        this.delay = 300;
        this.#tell("open");
        resolve();
      });
    });
    this.socket.addEventListener("message", (event) => this.#heard(JSON.parse(event.data)));
    this.socket.addEventListener("close", (event) => this.#closed(event));
  }

  #heard(message) {
    if (message.event) return this.#tell(message.event, message);
    const request = this.waiting.get(message.id);
    if (!request) {
      if (message.do === "run" && message.result) this.#tell("arrived", message.result); // asked for before an interruption
      return;
    }
    if ("share" in message) return request.progress?.(message);
    if (message.frame) return request.frame?.(message.frame);
    this.waiting.delete(message.id);
    if (message.superseded) request.resolve(null);
    else if (message.error) request.reject(Object.assign(new Error(message.error.message), { detail: message.error }));
    else request.resolve(message.result);
  }

  #closed(event) {
    for (const { reject } of this.waiting.values()) reject(new Error("the connection was interrupted"));
    this.waiting.clear();
    this.#tell("closed", event);
    setTimeout(() => this.#open(), (this.delay = Math.min(2 * this.delay, 5000)));
  }

  #tell(name, content) {
    this.listeners.get(name)?.(content);
  }
}
