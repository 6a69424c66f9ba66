// The parameters: type a value and the mechanism follows; the text keeps its own until it is told to take them.
import { button, digits, element } from "./dom.js";

export function parameterCard(scene, studio, changed) {
  const card = element("div", "card parameters");
  card.append(element("h2", "", "Parameters"));
  if (!scene.parameters.length) return element("span");
  const grid = element("div", "parameter-grid");
  for (const { name, value } of scene.parameters) {
    const input = element("input", "typed");
    Object.assign(input, { type: "number", step: "any", value: value ?? "", placeholder: "no value" });
    input.setAttribute("aria-label", `parameter ${name}`);
    input.title = digits(value ?? NaN, 15);
    input.addEventListener("change", () => {
      const next = { ...studio.parameters };
      if (input.value.trim() === "") delete next[name];
      else next[name] = Number(input.value);
      changed(next);
    });
    grid.append(element("label", name in studio.parameters ? "set" : "", element("span", "", name), input));
  }
  card.append(grid);
  if (Object.keys(studio.parameters).length) card.append(button("Back to the values of the text", () => changed({})));
  return card;
}
