// Elements of the page. Text is always set as text: nothing of a model becomes markup.

export const byId = (id) => document.getElementById(id);

export function element(kind, className = "", ...content) {
  const found = document.createElement(kind);
  if (className) found.className = className;
  found.append(...content.filter((one) => one !== null && one !== undefined));
  return found;
}

export function button(words, action, { title = "", className = "" } = {}) {
  const found = element("button", className, words);
  found.type = "button";
  if (title) found.title = title;
  found.addEventListener("click", action);
  return found;
}

// Ends the work that is being done; seen only meanwhile.
export function cancelButton(connection) {
  return button("Cancel", () => connection.ask("cancel", { lane: "work" }), { className: "cancel" });
}

// A formula that the package has typeset: MathML alone is taken over from it.
export function formula(markup) {
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  const found = element("span", "formula");
  for (const math of parsed.querySelectorAll("math")) {
    for (const one of math.querySelectorAll("*")) if (one.namespaceURI !== "http://www.w3.org/1998/Math/MathML") one.remove();
    found.append(document.importNode(math, true));
  }
  return found;
}

// A number for reading: six digits, with a true minus sign.
export function digits(value, most = 6) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return String(Number(value.toPrecision(most))).replace("-", "−");
}

// A table of rows of cells, text or nodes; the first row is the heading if there is one.
export function table(rows, head) {
  const line = (cells, kind) => element("tr", "", ...cells.map((cell) => element(kind, "", cell)));
  const found = element("table");
  if (head) found.append(element("thead", "", line(head, "th")));
  found.append(element("tbody", "", ...rows.map((row) => line(row, "td"))));
  return found;
}

export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  note("copied");
}

// A few words at the foot of the page for a moment.
export function note(words, kind = "") {
  const box = byId("notes");
  const line = element("p", kind, words);
  box.append(line);
  setTimeout(() => line.remove(), kind === "bad" ? 9000 : 2500);
}

export function download(name, data, type = "application/octet-stream") {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([data], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
