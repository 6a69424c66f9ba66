// The widget of a notebook: a page in a frame, and the traits of the model in step with it.

const TRAITS = ["values", "time", "playing", "speed", "mode", "case"];

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "Kinegraph";
  Object.assign(frame.style, { width: "100%", height: `${model.get("height")}px`, border: "0", display: "block" });
  const told = {}; // what the page has said, which needs not be said to it
  let host = null;
  const write = (name) => {
    const value = model.get(name);
    if (value !== null && JSON.stringify(value) !== told[name]) host?.write({ [name]: value });
  };
  const bindings = TRAITS.map((name) => [`change:${name}`, () => write(name)]);
  frame.addEventListener("load", () => {
    host = frame.contentWindow?.kinegraph?.host;
    if (!host) return;
    TRAITS.forEach(write); // what Python set before there was a page
    host.listen((changed) => {
      for (const [name, value] of Object.entries(changed)) {
        told[name] = JSON.stringify(value);
        model.set(name, value);
      }
      model.save_changes();
    });
  });
  for (const [event, action] of bindings) model.on(event, action);
  const resize = () => (frame.style.height = `${model.get("height")}px`);
  model.on("change:height", resize);
  frame.srcdoc = model.get("page");
  el.append(frame);
  return () => {
    for (const [event, action] of bindings) model.off(event, action);
    model.off("change:height", resize);
    frame.remove();
  };
}

export default { render };
