// The one time that animation and plots share.

export class Clock {
  constructor(start, end) {
    Object.assign(this, { start, end, origin: 0 });
    this.time = start;
    this.speed = 1;
    this.playing = false;
    this.listeners = [];
  }

  onChange(listener) {
    this.listeners.push(listener);
    listener(this);
  }

  // From now on only this part of the time, again and again, counted from its start.
  limit(start, end) {
    Object.assign(this, { start, end, origin: start });
    this.set(start);
  }

  set(time) {
    this.time = Math.min(this.end, Math.max(this.start, time));
    this.#tell();
  }

  play(playing = true) {
    this.playing = playing && this.end > this.start;
    this.#tell();
  }

  toggle() {
    this.play(!this.playing);
  }

  // Called once per drawn frame with the seconds since the last one; begins anew after the end.
  advance(seconds) {
    if (!this.playing) return;
    const time = this.time + seconds * this.speed;
    this.set(time > this.end ? this.start : time);
  }

  #tell() {
    for (const listener of this.listeners) listener(this);
  }
}
