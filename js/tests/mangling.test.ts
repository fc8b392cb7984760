/** The bundler shortens the names of private members. Nothing else may be shortened, and the views must be the same. */

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import glyphs from "../../evonb/export/assets/glyphs.json";
import { failed, idle, joining, past, paused, running } from "../dev/debugger_fixtures.ts";
import { FakeDebugModel } from "../dev/fake_debug_model.ts";
import { FakeModel } from "../dev/fake_model.ts";
import members from "../shortened.json";
import debuggerSource from "../src/widgets/debugger.ts";
import graphSource from "../src/widgets/graph.ts";
import { loadStream, STREAM_NAMES } from "./streams.ts";

const ROOT = path.join(import.meta.dirname, "..");
const STATIC = path.join(ROOT, "../evonb/widgets/static");
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const sources = readdirSync(path.join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ file, text: read(`src/${file}`) }));
const MARKED = /^_[a-z]/;
const isShortened = (name: string) => MARKED.test(name) || members.includes(name);

describe("the mark of private members", () => {
  it("is on all of them", () => {
    const declared = sources.flatMap(({ text }) =>
      [...text.matchAll(/\bprivate (?:(?:readonly|async|static|get|set) )*\*?(\w+)/g)].map((match) => match[1] ?? ""),
    );
    expect(declared.length).toBeGreaterThan(400);
    expect(declared.filter((name) => !MARKED.test(name))).toEqual([]);
  });

  it("is on no field of the wire, no shape, and nothing that a host gives or takes", () => {
    const wire = ["generated", "generated_debugging"].flatMap((file) => words(read(`src/protocol/${file}.ts`)));
    const hosts = ["bridge/channel.ts", "bridge/session.ts", "bridge/debug_session.ts", "widgets/entry.ts"];
    // `View` is what our own views give to our own entry.
    const given = hosts.flatMap((file) =>
      interfaces(read(`src/${file}`).replace(/^interface View .*?^\}/ms, "")).flatMap(words),
    );
    const names = [...wire, ...given, ...words(JSON.stringify(glyphs))];
    expect(names).toEqual(expect.arrayContaining(["stopped_at", "passed_over", "send", "initialize", "time_right"]));
    expect(names.filter(isShortened)).toEqual([]);
  });

  it("is missing only from members that the sources declare and never spell as a text", () => {
    const all = sources.filter(({ file }) => !file.startsWith("protocol/")).map(({ text }) => text);
    for (const name of members) {
      expect(
        all.some((text) => new RegExp(`^ +(?:readonly |get )?${name}[(:? ]`, "m").test(text)),
        name,
      ).toBe(true);
      expect(
        all.some((text) => new RegExp(`["']${name}["']`).test(text)),
        name,
      ).toBe(false);
      expect(name in document.createElement("div") || name in window, name).toBe(false);
    }
  });

  it("is nowhere in a string that names a member", () => {
    const quoted = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/(?<!(?:ReturnType|Parameters)<\w+\[)["'`](_[a-z]\w*)["'`]/g)].map(
        (match) => `${file} ${match[1]}`,
      ),
    );
    expect(quoted).toEqual([]);
  });
});

type Entry = typeof graphSource | typeof debuggerSource;
let lives: AbortController[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => setTimeout(() => callback(0), 16));
  vi.stubGlobal("cancelAnimationFrame", clearTimeout);
  vi.spyOn(Math, "random").mockReturnValue(0.123456789); // what keeps the ids of two views apart
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1100);
});

afterEach(() => {
  for (const life of lives.splice(0)) life.abort();
  lives = [];
  document.body.replaceChildren();
  vi.useRealTimers();
});

/** What anywidget does. */
function show(entry: Entry, model: FakeModel): HTMLElement {
  const life = new AbortController();
  lives.push(life);
  const definition = entry();
  const el = document.body.appendChild(document.createElement("div"));
  const props = { model, el, signal: life.signal, experimental: {} } as unknown as Parameters<
    typeof definition.initialize
  >[0] &
    Parameters<typeof definition.render>[0];
  definition.initialize(props);
  definition.render(props);
  return el;
}

async function settle(): Promise<void> {
  for (let i = 0; i < 4; i++) await vi.advanceTimersByTimeAsync(20);
}

async function bundled(view: string): Promise<Entry> {
  // As a host does it, which holds the text of the module.
  const text = readFileSync(path.join(STATIC, `${view}.js`));
  const { default: entry } = await import(`data:text/javascript;base64,${text.toString("base64")}`);
  return entry;
}

describe("the bundle draws what the sources draw", () => {
  it.each(STREAM_NAMES)("of the recorded run %s", async (name) => {
    const stream = loadStream(name);
    const pages: string[] = [];
    for (const entry of [graphSource, await bundled("graph")]) {
      const model = new FakeModel(stream.start);
      const el = show(entry, model);
      for (const message of stream.messages) model.publish(message);
      await settle();
      el.querySelector("[data-node]")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      await settle();
      pages.push(el.innerHTML);
    }
    expect(pages[0]?.length).toBeGreaterThan(1000);
    expect(pages[1]).toBe(pages[0]);
  });

  it.each(Object.entries({ past, paused, running, failed, joining, idle }))(
    "of the debugger, %s",
    async (_, fixture) => {
      const tours: string[][] = [];
      for (const entry of [debuggerSource, await bundled("debugger")]) {
        const model = new FakeDebugModel(fixture());
        const el = show(entry, model);
        await settle();
        tours.push([el.innerHTML, ...(await tour(el))]);
        tours.at(-1)?.push(JSON.stringify(model.asked.map(({ request_id, ...command }) => command)));
      }
      expect(tours[0]?.length).toBeGreaterThan(8);
      expect(tours[1]).toEqual(tours[0]);
    },
  );
});

/** Through all tabs, a node's card, a breakpoint's form, the keys and a step. */
async function tour(el: HTMLElement): Promise<string[]> {
  const view = el.querySelector(".debugger") as HTMLElement;
  const pages: string[] = [];
  const plan = el.querySelector('[data-node="plan"]') as SVGElement;
  const press = async (target: Element, key: string) => {
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    await settle();
    pages.push(el.innerHTML);
  };
  for (const key of ["2", "3", "4", "5", "6", "1", "e", "?", "Escape"]) await press(view, key);
  plan.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  for (const key of ["Enter", "Escape", "B", "Escape", "b"]) await press(plan, key);
  for (const key of ["[", "]", "s"]) await press(view, key);
  return pages;
}

function words(text: string): string[] {
  return text.match(/\w+/g) ?? [];
}

function interfaces(text: string): string[] {
  const declared = text.match(/^(?:export )?interface [^{]+\{[\s\S]*?^\}/gm) ?? [];
  return [...declared, ...(text.match(/^ {6}(?:initialize|render)\(.*$/gm) ?? [])];
}
