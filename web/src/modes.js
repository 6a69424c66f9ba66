// Modes on a page: a table to choose from, the shape of the chosen one, and the Campbell diagram of a rotor.
import { campbellChart } from "./campbell.js";

export function makeModes({ modes, displacements, campbell, words }, clock) {
  const element = node("div");
  const rows = modes.map((mode, k) => {
    const number = node("button", `${k + 1}`);
    number.type = "button";
    const row = node("tr", node("td", number), ...mode.cells.map((cell) => node("td", cell)));
    row.addEventListener("click", () => choose(k));
    return row;
  });
  const shape = node("tbody");
  const heading = node("h2");
  element.append(
    card(node("h2", modes.length === 1 ? "1 mode" : `${modes.length} modes`), node("p", words),
      table(["", "f / Hz", "ω / (rad/s)", "damping", "eigenvalue / (1/s)"], node("tbody", ...rows))),
    card(heading, table(["displacement", "amplitude", "phase / °", ""], shape)),
  );
  element.querySelector("p").className = "note";
  const charts = campbell ? [campbellChart(campbell)] : [];
  element.append(...charts.map((chart) => card(node("h2", "Campbell diagram"), chart.element)));

  let chosen = 0;
  function choose(k) {
    if (!modes[k]) return;
    chosen = k;
    rows.forEach((row, place) => row.setAttribute("aria-selected", String(place === k)));
    heading.textContent = `Shape of mode ${k + 1}`;
    shape.replaceChildren(...displacements.map((name, place) => {
      const [amplitude, phase] = modes[k].shape[place];
      const bar = node("i");
      bar.style.width = `${100 * amplitude}%`;
      return node("tr", node("td", name), node("td", amplitude.toFixed(4)), node("td", amplitude ? String(Math.round(phase)).replace("-", "−") : ""), node("td", node("b", bar)));
    }));
    clock.limit(...modes[k].span);
  }
  choose(Math.max(0, modes.findIndex(({ oscillates }) => oscillates)));
  return { element, charts, choose, chosen: () => chosen };
}

function table(head, body) {
  return node("table", node("thead", node("tr", ...head.map((words) => node("th", words)))), body);
}

function card(...content) {
  const found = node("div", ...content);
  found.className = "card";
  return found;
}

function node(kind, ...content) {
  const found = document.createElement(kind);
  found.append(...content);
  return found;
}
