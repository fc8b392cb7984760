// Bundles the views into evonb/widgets/static, which is committed so that an install needs no Node.
//   node build.mjs            write the bundles
//   node build.mjs --check    write nothing, fail when the committed files differ from the sources
//   node build.mjs --gallery  write what the pages in dev/ load into dev/build
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const STATIC = path.join(HERE, "..", "evonb", "widgets", "static");
const GALLERY = path.join(HERE, "dev", "build");
// Every widget instance carries its bundle in the notebook. The styles of the debugger count apart: they are a fifth of
// it, and a script of 150 kB is what a page reads and compiles before it shows anything.
const LIMIT_BYTES = { "graph.js": 150_000, "debugger.js": 150_000, "debugger.css": 40_000 };

const VIEWS = { debugger: "src/widgets/debugger.ts", graph: "src/widgets/graph.ts" };
// TypeScript's private members begin with it, wire fields, host APIs and everything public never do (tests/mangling.test.ts).
const PRIVATE = "^_[a-z]";
// Further members that only our own code names, worth their letters; the same test holds them apart from all others.
const MEMBERS = JSON.parse(await readFile(path.join(HERE, "shortened.json"), "utf8"));
const SHORTENED = new RegExp(`${PRIVATE}|^(?:${MEMBERS.join("|")})$`);
const STYLES = { debugger: "src/styles/debugger.css", graph: "src/styles/graph.css" };

/** Bundles `entries` in memory and returns [file name, contents] in a fixed order. */
async function bundle(entries, extra) {
  const result = await build({
    absWorkingDir: HERE,
    entryPoints: Object.entries(entries).map(([out, source]) => ({ in: source, out })),
    outdir: STATIC,
    bundle: true,
    write: false,
    minify: true,
    mangleProps: SHORTENED,
    format: "esm",
    target: ["es2022", "chrome110", "firefox115", "safari16.4"],
    charset: "utf8",
    legalComments: "none",
    ...extra,
  });
  const files = result.outputFiles.map((file) => [path.basename(file.path), file.text]);
  return files.sort(([a], [b]) => (a < b ? -1 : 1));
}

async function save(folder, files) {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(path.join(folder, name), text);
}

async function differing(files) {
  const found = [];
  for (const [name, text] of files) {
    const committed = await readFile(path.join(STATIC, name), "utf8").catch(() => "");
    if (committed !== text) found.push(name);
  }
  return found;
}

function report(files) {
  const sizes = files.map(([name, text]) => [name, Buffer.byteLength(text)]);
  for (const [name, bytes] of sizes) console.log(`${name.padEnd(14)} ${(bytes / 1000).toFixed(1)} kB`);
  const tooBig = Object.entries(LIMIT_BYTES).filter(([name, most]) => counted(sizes, name) >= most);
  for (const [name, most] of tooBig) {
    console.error(`${name} has ${counted(sizes, name)} bytes, allowed are ${most}\n  fix:   leave something out`);
  }
  return tooBig.length === 0;
}

/** The graph's script and styles count as one. */
function counted(sizes, name) {
  const files = name === "graph.js" ? [name, "graph.css"] : [name];
  return sizes.filter(([file]) => files.includes(file)).reduce((sum, [, bytes]) => sum + bytes, 0);
}

async function main(flags) {
  if (flags.includes("--gallery")) {
    const gallery = { gallery: "dev/gallery.ts", debugger_gallery: "dev/debugger_gallery.ts" };
    await save(GALLERY, [...(await bundle(gallery, { format: "iife" })), ...(await bundle(STYLES))]);
    return 0;
  }
  const files = [...(await bundle(VIEWS)), ...(await bundle(STYLES))];
  const small = report(files);
  if (!flags.includes("--check")) {
    await save(STATIC, files);
    return small ? 0 : 1;
  }
  const stale = await differing(files);
  if (stale.length > 0) {
    console.error(`Committed bundle differs from its sources: ${stale.join(", ")}\n  fix:   npm run build, and commit`);
  }
  return stale.length === 0 && small ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
