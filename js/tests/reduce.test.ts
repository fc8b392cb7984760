import { describe, expect, it } from "vitest";
import { emptySnapshot } from "../src/core/blank.ts";
import { applyBatch, reduce } from "../src/core/reduce.ts";
import { tail } from "../src/core/text.ts";
import type { Snapshot } from "../src/protocol/generated.ts";
import { loadStream, STREAM_NAMES } from "./streams.ts";

describe("golden streams", () => {
  it("are there", () => expect(STREAM_NAMES.length).toBeGreaterThan(8));

  it.each(STREAM_NAMES)("%s ends in the snapshot that Python recorded", (name) => {
    const { start, messages, end } = loadStream(name);
    let snapshot: Snapshot = start;
    for (const { first_seq, last_seq, events } of messages) {
      const next = applyBatch(snapshot, first_seq, last_seq, events);
      expect(next).not.toBeNull();
      snapshot = next ?? snapshot;
    }
    expect(snapshot).toEqual(end);
  });

  it.each(STREAM_NAMES)("%s is the same one event at a time", (name) => {
    const { start, messages, end } = loadStream(name);
    const last = messages.flatMap((message) => message.events).reduce(reduce, start);
    expect({ ...last, seq: end.seq }).toEqual(end);
  });
});

describe("reduce", () => {
  const start = loadStream("support_idle").start;

  it("changes neither the snapshot nor its parts", () => {
    const before = structuredClone(start);
    const frozen = deepFreeze(structuredClone(start));
    reduce(frozen, { type: "node_started", at_s: 1, node: "plan", visit: 1 });
    reduce(frozen, { type: "edge_taken", at_s: 1, edge: "start>router", keys: [], count: 1 });
    expect(frozen).toEqual(before);
  });

  it("shares every part that the event doesn't concern", () => {
    const next = reduce(start, { type: "node_started", at_s: 1, node: "plan", visit: 1 });
    expect(next.nodes.plan).not.toBe(start.nodes.plan);
    expect(next.nodes.router).toBe(start.nodes.router);
    expect(next.edges).toBe(start.edges);
    expect(next.layout).toBe(start.layout);
  });

  it("leaves prototypes alone when a node is called __proto__", () => {
    const graph = loadStream("awkward").start;
    const next = reduce(graph, { type: "node_started", at_s: 1, node: "__proto__", visit: 1 });
    expect(Object.getPrototypeOf(next.nodes)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(next.nodes, "__proto__")?.value.status).toBe("running");
  });

  it("knows no node that is only inherited", () => {
    const empty = emptySnapshot({ name: "g", nodes: [], edges: [], findings: [] }, start.layout);
    const next = reduce(empty, { type: "node_started", at_s: 1, node: "constructor", visit: 1 });
    expect(Object.keys(next.nodes)).toEqual([]);
    expect(next.run.turns).toBe(0);
  });
});

describe("applyBatch", () => {
  const start = { ...loadStream("support_idle").start, seq: 7 };
  const event = { type: "node_queued", at_s: 1, node: "plan" } as const;

  it("takes the batch that follows and remembers its last seq", () => {
    expect(applyBatch(start, 8, 12, [event])?.seq).toBe(12);
  });

  it("ignores a batch that is known already", () => {
    expect(applyBatch(start, 3, 7, [event])).toBe(start);
  });

  it("refuses a batch after a gap", () => {
    expect(applyBatch(start, 9, 12, [event])).toBeNull();
  });
});

describe("tail", () => {
  it("counts code points, not halves of them", () => {
    expect(tail("a🧠🧠", 2)).toBe("🧠🧠");
    expect(tail(`${"🧠".repeat(300)}`, 400)).toBe("🧠".repeat(300));
  });
});

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
