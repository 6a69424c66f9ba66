// What may be typed: keywords with a pattern, transforms, functions, and the names of the model.
import { snippetCompletion } from "@codemirror/autocomplete";
import { FUNCTIONS, INERTIA, TRANSFORMS } from "./language.js";

const PATTERNS = {
  model: ["model ${name};", "the name"],
  parameters: ["parameters ${a} = ${1};", "constants with values"],
  coordinates: ["coordinates ${q1} = ${0};", "what moves, with positions at the start"],
  gravity: ["gravity ${0}, ${0}, ${-9.81};", "its acceleration, m/s²"],
  initial: ["initial ${q1}' = ${1};", "velocities at the start"],
  define: ["define ${x} = ${sin(q1)};", "a named formula"],
  inputs: ["inputs ${u} = ${sin(t)};", "forces given from outside"],
  output: ["output ${tip} = ${Body} (${0}, ${0}, ${0});", "a point to observe"],
  loop: ["loop ${pin} | revolute | ${A}: Sx(${1}) | ${B}: Sx(${1});", "a joint that closes a loop"],
  constraint: ["constraint ${name} | ${q1} = ${sin(t)};", "an equation that holds"],
  contact: ["contact ${floor} | ${tip}.z >= 0 | restitution(${0.5});", "a one-sided constraint"],
  spring: ["spring ${coil} | on(${q1}), stiffness(${10});", "a force that grows with the way"],
  damper: ["damper ${oil} | on(${q1}), damping(${1});", "a force against the rate"],
  friction: ["friction ${joint} | on(${q1}), coulomb(${1}), width(${0.01});", "dry friction"],
  force: ["force ${push} | on(${q1}), value(${1});", "a force of your own"],
  potential: ["potential ${name} | ${q1^2};", "forces from an energy"],
  quaternion: ["quaternion (${e0}, ${e1}, ${e2}, ${e3}) velocity (${wx}, ${wy}, ${wz});", "a free attitude"],
  state: ["state ${z}' = ${-z};", "a first-order equation"],
  moment: ["moment ${gyro} | at(${Body}), world(${0}, ${0}, ${1});", "a moment on a body"],
  limit: ["limit ${stop} | on(${q1}), lower(${-1}), upper(${1}), stiffness(${1e5}), damping(${1e3});", "an elastic end stop"],
  shape: ["shape ${Body} | Sz(${0}) | sphere(${0.05});", "what is drawn, and touches"],
  table: ["table ${torque} | (${0}, ${10}), (${1}, ${0}) | spline, hold;", "a function by its points"],
  quasivelocity: ["quasivelocity ${w} = ${q1'};", "a combination of rates"],
  unknown: ["unknown ${F};", "a force to be found from the motion"],
  cut: ["cut ${Body};", "where a loop is opened"],
  impacts: ["impacts ${newton}, ${simultaneous};", "the law of collisions"],
  accept: ["accept inertia ${Body};", "an inertia that no real body has"],
  armature: ["armature ${q1} = ${0.01};", "inertia of a motor"],
};

const TRANSFORM_WORDS = { R: "turn about", S: "shift along", Q: "turn by a quaternion" };

// known: a function that returns the statements and parameters of the model as last read.
export function completions(known) {
  const fixed = [
    ...Object.entries(PATTERNS).map(([label, [text, detail]]) => snippetCompletion(text, { label, detail, type: "keyword" })),
    ...TRANSFORMS.map((label) => snippetCompletion(`${label}(\${q})`, { label, type: "type", detail: `${TRANSFORM_WORDS[label[0]]} ${label[1] ?? ""}` })),
    ...INERTIA.map((label) => snippetCompletion(`${label}(\${1})`, { label, type: "property", detail: label === "m" ? "mass" : "moment of inertia" })),
    ...FUNCTIONS.map((label) => (label === "pi" ? { label, type: "constant" } : snippetCompletion(`${label}(\${x})`, { label, type: "function" }))),
  ];
  return (context) => {
    const word = context.matchBefore(/[\p{L}][\p{L}\p{N}_$]*/u);
    if (!word && !context.explicit) return null;
    const names = known().map(({ name, kind }) => ({ label: name, type: kind === "body" ? "class" : "variable", detail: kind, boost: 1 }));
    return { from: word ? word.from : context.pos, options: [...names, ...fixed], validFor: /^[\p{L}\p{N}_$]*$/u };
  };
}
