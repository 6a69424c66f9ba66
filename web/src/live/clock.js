// The clock of a live mechanism: its time goes on as far as the equations have been solved.

const BUDGET = 12; // milliseconds of computing per drawn frame
const LONGEST = 0.05; // seconds of motion per frame at speed one: slow machines show slow motion, not jumps

export class LiveClock {
  constructor(model) {
    Object.assign(this, { model, speed: 1, playing: false, listeners: [], slow: false });
  }

  get start() {
    return this.model.start[0];
  }

  get end() {
    return Infinity;
  }

  get time() {
    return this.model.t;
  }

  onChange(listener) {
    this.listeners.push(listener);
    listener(this);
  }

  // A click on a plot of the past changes nothing.
  set() {}

  play(playing = true) {
    this.playing = playing && !this.model.failure;
    this.tell();
  }

  toggle() {
    this.play(!this.playing);
  }

  reset() {
    this.model.reset();
    this.tell();
  }

  advance(seconds) {
    if (!this.playing) return;
    const reached = this.model.advance(this.time + Math.min(seconds, LONGEST) * this.speed, BUDGET);
    this.slow = !reached && !this.model.failure;
    if (this.model.failure) this.playing = false;
    this.tell();
  }

  tell() {
    for (const listener of this.listeners) listener(this);
  }
}
