// The same on the command line and in Python, to be copied.
import { button, copied, element } from "./dom.js";

export function snippet({ command, python }) {
  const found = element("details", "snippet", element("summary", "", "The same on the command line and in Python"));
  for (const text of [command, python]) {
    if (text) found.append(element("pre", "", text), button("Copy", () => copied(text)));
  }
  return found;
}
