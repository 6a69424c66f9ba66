// A slider for every coordinate of a mechanism that is moved by hand.

export function makeSliders(data, chain, moved) {
  const card = document.createElement("div");
  card.className = "card sliders";
  const heading = document.createElement("h2");
  heading.textContent = "Coordinates";
  const names = [...document.getElementById("names").children];
  const rows = data.coordinates.map((coordinate) => {
    const label = names[data.names.indexOf(coordinate.name)].firstChild.cloneNode(true);
    return slider(coordinate, label, (value) => {
      chain.set(coordinate.name, value);
      moved();
    });
  });
  const reset = document.createElement("button");
  reset.type = "button";
  reset.textContent = "Back to the start";
  reset.addEventListener("click", () => rows.forEach((row) => row.reset()));
  card.append(heading, ...rows.map((row) => row.element), reset);
  return card;
}

function slider({ name, value, lower, upper }, label, changed) {
  const element = document.createElement("label");
  const range = document.createElement("input");
  const shown = document.createElement("output");
  Object.assign(range, { type: "range", min: lower, max: upper, step: "any", value });
  range.setAttribute("aria-label", name);
  const show = () => (shown.textContent = Number(range.value).toFixed(3).replace("-", "−"));
  const apply = () => {
    show();
    changed(Number(range.value));
  };
  range.addEventListener("input", apply);
  element.append(label, range, shown);
  show();
  return { element, reset: () => ((range.value = value), apply()) };
}
