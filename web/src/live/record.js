// The last seconds of a live motion, for plots: arrays that grow at their end and are cut at their beginning.

const SECONDS = 20;
const MOST = 2400;

export class Record {
  constructor(model) {
    this.model = model;
    this.times = [];
    this.columns = [...model.states, ...model.outputs.map((name) => ({ name, unit: "" }))].map((one) => ({ ...one, values: [] }));
    this.add();
  }

  // Keep the present moment; a time before the last one begins anew.
  add() {
    const { model, times } = this;
    if (times.length && model.t === times.at(-1)) return;
    if (times.length && model.t < times.at(-1)) this.#cut(times.length);
    times.push(model.t);
    const values = [...model.state, ...model.outputValues()];
    this.columns.forEach((column, k) => column.values.push(values[k]));
    let old = Math.max(0, times.length - MOST);
    while (times[old] < model.t - SECONDS) old++;
    if (old > 60) this.#cut(old);
  }

  column(name) {
    return this.columns.find((one) => one.name === name);
  }

  // What plots ask of a motion: the last moment.
  locate() {
    return { frame: this.times.length - 1, share: 0 };
  }

  #cut(count) {
    this.times.splice(0, count);
    for (const { values } of this.columns) values.splice(0, count);
  }
}
