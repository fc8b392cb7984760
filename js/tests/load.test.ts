/** What a view does when much happens at once: it stands, and a frame asks the page for no measures. */

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { running } from "../dev/debugger_fixtures.ts";
import { FakeDebugModel } from "../dev/fake_debug_model.ts";
import { FakeModel } from "../dev/fake_model.ts";
import type { Model } from "../src/bridge/channel.ts";
import { Tempo } from "../src/core/tempo.ts";
import type { EventsMessage, Snapshot, WireEvent } from "../src/protocol/generated.ts";
import debuggerWidget from "../src/widgets/debugger.ts";
import graphWidget from "../src/widgets/graph.ts";
import { loadStream } from "./streams.ts";

const IDLE = loadStream("support_idle").start;
const STARTED: WireEvent = { type: "run_started", at_s: 0, run_id: "r", started_at: 1 };
const start = (id: string, at_s = 1): WireEvent => ({ type: "node_started", at_s, node: id, visit: 1 });
const end = (id: string): WireEvent => ({ type: "node_finished", at_s: 3, node: id, duration_s: 2, wrote: [] });
const taken: WireEvent = { type: "edge_taken", at_s: 1, edge: "router>plan", keys: [], count: 1 };
const MEASURES = ["clientWidth", "clientHeight", "offsetWidth", "offsetHeight", "offsetLeft", "scrollWidth"] as const;

let lives: AbortController[] = [];

function show(widget: typeof graphWidget, model: Model): HTMLElement {
  const life = new AbortController();
  lives.push(life);
  const el = document.body.appendChild(document.createElement("div"));
  const definition = widget();
  const props = { model, signal: life.signal, el };
  definition.initialize(props as unknown as Parameters<typeof definition.initialize>[0]);
  definition.render(props as unknown as Parameters<typeof definition.render>[0]);
  vi.advanceTimersByTime(200);
  return el;
}

function message(snapshot: Snapshot, events: WireEvent[]): EventsMessage {
  const first_seq = snapshot.seq + 1;
  return { type: "events", first_seq, last_seq: snapshot.seq + events.length, events };
}

function send(model: FakeModel, ...events: WireEvent[]): void {
  model.publish(message(model.snapshot, events));
  vi.advanceTimersByTime(20);
}

/** Counts how often the page is asked where things are: each time it may have to lay all of it out. */
function countMeasures(): () => number {
  const spies = MEASURES.map((name) => vi.spyOn(HTMLElement.prototype, name, "get").mockReturnValue(1100));
  spies.push(vi.spyOn(Element.prototype, "getBoundingClientRect") as never);
  const total = () => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  const before = total();
  return () => total() - before;
}

/** The same graph, so high that the view holds a part of it. */
function high(snapshot: Snapshot): Snapshot {
  const { boxes, height } = snapshot.layout;
  const far = Object.entries(boxes).map(([id, box]) => [id, { ...box, y: box.y * 9 }]);
  return { ...snapshot, layout: { ...snapshot.layout, height: height * 9, boxes: Object.fromEntries(far) } };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => setTimeout(() => callback(0), 16));
  vi.stubGlobal("cancelAnimationFrame", clearTimeout);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1100);
});

afterEach(() => {
  for (const life of lives.splice(0)) life.abort();
  lives = [];
  document.body.replaceChildren();
  vi.useRealTimers();
});

describe("the tempo", () => {
  it("is hasty once more starts than an eye can follow, and calm again well below that", () => {
    const tempo = new Tempo();
    expect(tempo.note(0, 0)).toBe(false);
    expect(tempo.note(19, 499)).toBe(false);
    expect(tempo.note(19, 500)).toBe(false);
    expect(tempo.note(39, 700)).toBe(true);
    expect(tempo.note(39, 1000)).toBe(true);
    expect(tempo.note(54, 1500)).toBe(true);
    expect(tempo.note(63, 2000)).toBe(false);
  });

  it("starts anew with a run", () => {
    const tempo = new Tempo();
    tempo.note(1000, 0);
    expect(tempo.note(1, 10)).toBe(false);
    expect(tempo.note(5, 510)).toBe(false);
  });
});

describe("a flood of events", () => {
  const burst = Array.from({ length: 30 }, (_, i) => [start("plan", i), end("plan")]).flat();

  it("changes states and numbers, and moves nothing", () => {
    const model = new FakeModel(IDLE);
    const el = show(graphWidget, model);
    const root = el.querySelector(".evo") as HTMLElement;
    send(model, STARTED, taken);
    expect(root.classList).not.toContain("hasty");
    vi.advanceTimersByTime(700);
    send(model, ...burst, taken);
    expect(root.classList).toContain("hasty");
    expect(el.querySelector(".comet")).toBeNull();
    expect(el.querySelector('[data-edge="router>plan"]')?.classList).toContain("taken");
  });

  it("is over with the run, and when nodes start slowly again", () => {
    const model = new FakeModel(IDLE);
    const root = show(graphWidget, model).querySelector(".evo") as HTMLElement;
    send(model, STARTED, ...burst);
    expect(root.classList).toContain("hasty");
    vi.advanceTimersByTime(1200); // nothing comes any more: the clock sees it
    expect(root.classList).not.toContain("hasty");
    send(model, ...burst);
    expect(root.classList).toContain("hasty");
    send(model, { type: "run_finished", at_s: 4, reason: "completed", message: "", result: {} });
    expect(root.classList).not.toContain("hasty");
  });

  it("lets the picture stand a second before it follows to another node", () => {
    const model = new FakeModel(high(IDLE));
    const world = show(graphWidget, model).querySelector(".world") as SVGGElement;
    const at = () => world.style.transform;
    const top = at();
    send(model, STARTED, start("human_review", 1));
    const followed = at();
    expect(followed).not.toBe(top);
    send(model, start("plan", 2));
    vi.advanceTimersByTime(700);
    expect(at()).toBe(followed);
    vi.advanceTimersByTime(500);
    expect(at()).not.toBe(followed);
  });
});

describe("a frame", () => {
  it("of the graph measures nothing", () => {
    const model = new FakeModel(IDLE);
    show(graphWidget, model);
    send(model, STARTED);
    const count = countMeasures();
    send(model, start("plan"), end("plan"), taken);
    expect(count()).toBe(0);
  });

  it("of the debugger measures nothing", () => {
    const fixture = running();
    const model = new FakeDebugModel(fixture);
    const el = show(debuggerWidget as unknown as typeof graphWidget, model as unknown as Model);
    const count = countMeasures();
    model.publish(message(model.snapshot, [end("draft")]));
    vi.advanceTimersByTime(20);
    expect(el.querySelector('[data-node="draft"]')?.classList).toContain("done");
    expect(count()).toBe(0);
  });

  it("that moves the camera leaves the styles alone that parts of the picture inherit", () => {
    const model = new FakeModel(high(IDLE));
    const stage = show(graphWidget, model).querySelector(".stage") as HTMLElement;
    const custom = () => stage.style.cssText.split("; ").filter((rule) => rule.startsWith("--"));
    const before = custom();
    send(model, STARTED, start("human_review"));
    vi.advanceTimersByTime(20);
    expect(stage.style.backgroundPosition).not.toBe("");
    expect(custom()).toEqual(before);
  });
});
