// Bundles src/ into the Python package: page.js and page.css of exported pages, widget.js of notebooks, study.js and
// study.css of the pages of studies, and studio.js and studio.css, which add the editor and the plots that no exported page carries. The first
// line names the sources they were built from; tests/view/test_bundle.py computes the same digest without Node.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const package_ = join(here, "..", "src", "kinegraph");
const shipped = () => {
  const lock = JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8"));
  const names = Object.entries(lock.packages).filter(([name, one]) => name && !one.dev);
  return names.map(([name]) => name.replace("node_modules/", "")).sort();
};
const TARGETS = [
  { entry: join(here, "src", "main.js"), name: "page", folder: join(package_, "view", "page", "assets"), libraries: ["three"] },
  { entry: join(here, "src", "widget.js"), name: "widget", folder: join(package_, "view", "page", "assets"), libraries: [] },
  { entry: join(here, "src", "study", "main.js"), name: "study", folder: join(package_, "view", "page", "assets"), libraries: [] },
  {
    entry: join(here, "src", "studio", "main.js"), name: "studio", folder: join(package_, "studio", "assets"),
    libraries: shipped(),
  },
];

function digest() {
  const files = ["build.mjs", "package.json", "package-lock.json"];
  const sources = readdirSync(join(here, "src"), { recursive: true, withFileTypes: true });
  files.push(...sources.filter((entry) => entry.isFile()).map((entry) => relative(here, join(entry.parentPath, entry.name))));
  const hash = createHash("sha256");
  for (const name of files.sort()) hash.update(`${name}\n`).update(readFileSync(join(here, name)));
  return hash.digest("hex");
}

// The license of every library in a bundle; libraries with the same license are named together.
function licenses(libraries) {
  const texts = new Map();
  for (const name of libraries) {
    const text = readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim();
    texts.set(text, [...(texts.get(text) ?? []), name === "three" ? "three.js" : name]);
  }
  return [...texts].map(([text, names]) => `${names.join(", ")}\n${text}`).join("\n\n");
}

for (const { entry, name, folder, libraries } of TARGETS) {
  const result = await build({
    entryPoints: [entry],
    outdir: folder,
    entryNames: name,
    bundle: true,
    minify: true,
    format: "esm",
    target: ["chrome110", "firefox110", "safari16"],
    legalComments: "none", // the licenses are written out in full below
    write: false,
  });
  for (const file of result.outputFiles) {
    const script = file.path.endsWith(".js");
    const banner = `/* Kinegraph ${name}, built from web/ by make web; sources ${digest()} */\n`;
    const legal = script && libraries.length ? `/*! Contains ${licenses(libraries)}\n*/\n` : "";
    writeFileSync(file.path, banner + legal + file.text.trim() + "\n");
  }
}
