// What a notebook reads from a page in its frame, and sets in it: the time, values of sliders and fields, the choice.

const INTERVAL = 100; // milliseconds between two looks at what has changed

export class Host {
  // parts: functions by name, each { read, write }; one without write can only be read.
  constructor(parts) {
    this.parts = parts;
    this.last = {};
  }

  read() {
    return Object.fromEntries(Object.entries(this.parts).map(([name, { read }]) => [name, read()]));
  }

  write(wanted) {
    for (const [name, value] of Object.entries(wanted)) if (value !== null && value !== undefined) this.parts[name]?.write?.(value);
  }

  // From now on the listener is told what changes, the first time all.
  listen(listener) {
    const look = () => {
      const changed = {};
      for (const [name, value] of Object.entries(this.read())) {
        const text = JSON.stringify(value);
        if (text !== this.last[name]) [changed[name], this.last[name]] = [value, text];
      }
      if (Object.keys(changed).length) listener(changed);
    };
    look();
    setInterval(look, INTERVAL);
  }
}

// Values by name, of which some may be set: of sliders, or of fields.
export function valuesOf(rows) {
  return {
    read: () => Object.fromEntries([...rows].map(([name, row]) => [name, row.get()])),
    write: (wanted) => {
      for (const [name, value] of Object.entries(wanted)) {
        const row = rows.get(name);
        if (row && Number.isFinite(value) && row.get() !== value) row.set(value);
      }
    },
  };
}
