// Bundles src/ into page.js and page.css of the Python package. The first line of page.js names the sources it was
// built from; tests/view/test_bundle.py computes the same digest without Node.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "src", "kinegraph", "view", "page", "assets");

function digest() {
  const files = ["build.mjs", "package.json", "package-lock.json"];
  const sources = readdirSync(join(here, "src"), { recursive: true, withFileTypes: true });
  files.push(...sources.filter((entry) => entry.isFile()).map((entry) => relative(here, join(entry.parentPath, entry.name))));
  const hash = createHash("sha256");
  for (const name of files.sort()) hash.update(`${name}\n`).update(readFileSync(join(here, name)));
  return hash.digest("hex");
}

const result = await build({
  entryPoints: [join(here, "src", "main.js")],
  outdir: target,
  entryNames: "page",
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome110", "firefox110", "safari16"],
  legalComments: "none", // the license is written out in full below
  write: false,
});

const license = readFileSync(join(here, "node_modules", "three", "LICENSE"), "utf8").trim();
for (const file of result.outputFiles) {
  const script = file.path.endsWith(".js");
  const banner = `/* Kinegraph page, built from web/ by make web; sources ${digest()} */\n`;
  const legal = script ? `/*! Contains three.js\n${license}\n*/\n` : "";
  writeFileSync(file.path, banner + legal + file.text.trim() + "\n");
}
