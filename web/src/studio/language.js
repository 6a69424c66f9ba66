// The model language for the editor: what is a keyword, a transform, a number, a comment; and robot files.
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";

export const KEYWORDS = [
  "accept", "armature", "constraint", "contact", "coordinates", "cut", "damper", "define", "force", "friction", "gravity",
  "impacts", "inertia", "initial", "inputs", "limit", "loop", "model", "moment", "output", "parameters", "platform", "potential",
  "principal", "quasivelocity", "quaternion", "shape", "spring", "state", "table", "unknown", "velocity",
];
export const TRANSFORMS = ["Rx", "Ry", "Rz", "Sx", "Sy", "Sz", "Q"];
export const INERTIA = ["m", "Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz"];
export const FUNCTIONS = [
  "abs", "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "log", "max", "min", "pi", "select", "sign", "sin", "sinh", "sqrt", "tan", "tanh",
];
const JOINTS = ["revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "fixed", "weld"];

const kinds = new Map();
for (const word of KEYWORDS) kinds.set(word, "keyword");
for (const word of TRANSFORMS) kinds.set(word, "typeName");
for (const word of INERTIA) kinds.set(word, "propertyName");
for (const word of FUNCTIONS) kinds.set(word, "function");
for (const word of JOINTS) kinds.set(word, "atom");

// Robot files: tags, attributes, values.
function xml(stream, state) {
  if (state.comment || stream.match("<!--")) {
    state.comment = !stream.match(/.*?-->/);
    if (state.comment) stream.skipToEnd();
    return "comment";
  }
  if (stream.match(/<[/?!]?[\w:.-]*|[/?]?>/)) return "keyword";
  if (stream.match(/[\w:.-]+(?=\s*=)/)) return "typeName";
  if (stream.match(/"[^"]*"?|'[^']*'?/)) return "number";
  stream.next();
  return null;
}

const records = StreamLanguage.define({
  name: "kinegraph",
  startState: () => ({ comment: false, xml: null }),
  token(stream, state) {
    if (state.xml === null && stream.eatSpace()) return null;
    state.xml ??= stream.peek() === "<";
    if (state.xml) return xml(stream, state);
    if (state.comment || stream.match("/*")) {
      state.comment = !stream.match(/.*?\*\//);
      if (state.comment) stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/(#|\/\/).*/)) return "comment";
    if (stream.match(/([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?/)) return "number";
    const word = stream.match(/[\p{L}][\p{L}\p{N}_$]*/u);
    if (word) return kinds.get(word[0]) ?? "variableName";
    if (stream.match(/[|~;]/)) return "separator";
    stream.next();
    return null;
  },
  tokenTable: { function: tags.function(tags.variableName) },
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["("] } },
});

const style = HighlightStyle.define([
  { tag: tags.keyword, class: "k-keyword" }, { tag: tags.typeName, class: "k-transform" },
  { tag: tags.propertyName, class: "k-inertia" }, { tag: tags.function(tags.variableName), class: "k-function" },
  { tag: tags.atom, class: "k-joint" }, { tag: tags.number, class: "k-number" }, { tag: tags.comment, class: "k-comment" },
  { tag: tags.separator, class: "k-separator" },
]);

export const language = [records, syntaxHighlighting(style)];
