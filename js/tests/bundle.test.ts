import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = path.join(import.meta.dirname, "..");
const STATIC = path.join(ROOT, "../evonb/widgets/static");
const sources = readdirSync(path.join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ file, text: readFileSync(path.join(ROOT, "src", file), "utf8") }));

describe.each(["graph", "debugger"])("the bundle of %s", (view) => {
  const css = readFileSync(path.join(STATIC, `${view}.css`), "utf8");

  it("styles nothing outside the views", () => {
    const bare = css.replace(/\/\*.*?\*\//gs, "").replace(/@keyframes [^{]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, "");
    const selectors = [...bare.matchAll(/([^{}]+)\{/g)].map((match) => (match[1] ?? "").trim());
    const rules = selectors.filter((selector) => !selector.startsWith("@"));
    expect(rules.length).toBeGreaterThan(100);
    const parts = rules.flatMap((selector) => selector.split(/,(?![^()]*\))/));
    expect(parts.filter((part) => !part.trim().startsWith(".evo"))).toEqual([]);
  });

  it("names its animations so that they meet no others", () => {
    const names = [...css.matchAll(/@keyframes ([\w-]+)/g)].map((match) => match[1] ?? "");
    expect(names.length).toBeGreaterThan(2);
    expect(names.filter((name) => !name.startsWith("evo-"))).toEqual([]);
  });

  it("fetches nothing", () => {
    expect(css).not.toMatch(/url\(|@import/);
    expect(readFileSync(path.join(STATIC, `${view}.js`), "utf8")).not.toMatch(/\bfetch\(|https?:\/\/(?!www\.w3\.org)/);
  });
});

it("has no way to turn text into markup or code", () => {
  const doors =
    /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|eval|Function)\b\s*[(=]/;
  expect(sources.filter(({ text }) => doors.test(text)).map(({ file }) => file)).toEqual([]);
});

it("keeps the core free of the page and of the widget model", () => {
  const core = sources.filter(({ file }) => file.startsWith("core"));
  expect(core.length).toBeGreaterThan(8);
  const forbidden = /\b(document|window|HTMLElement|SVGElement)\b\.|from "\.\.\/(view|panels|widgets|bridge)/;
  expect(core.filter(({ text }) => forbidden.test(text)).map(({ file }) => file)).toEqual([]);
});

it("imports only downwards", () => {
  const order = ["protocol", "core", "bridge", "view", "panels", "widgets"];
  const upward = sources.flatMap(({ file, text }) => {
    const own = order.indexOf(file.split("/")[0] ?? "");
    const imported = [...text.matchAll(/from "\.\.\/(\w+)\//g)].map((match) => match[1] ?? "");
    return imported.filter((layer) => order.indexOf(layer) > own).map((layer) => `${file} imports ${layer}`);
  });
  expect(upward).toEqual([]);
});

it("keeps the debugger out of the plain graph view", () => {
  const graph = readFileSync(path.join(STATIC, "graph.js"), "utf8");
  const debuggerOnly = readFileSync(path.join(STATIC, "debugger.js"), "utf8");
  for (const word of ["step_wave", "set_breakpoint", "inspect_key"]) {
    expect(debuggerOnly).toContain(word);
    expect(graph).not.toContain(word);
  }
});
