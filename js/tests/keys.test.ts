import { describe, expect, it } from "vitest";
import { indexGraph } from "../src/core/index_graph.ts";
import { actionOf, type Direction, neighbour } from "../src/core/keys.ts";
import { loadStream } from "./streams.ts";

const PLAIN = { ctrlKey: false, metaKey: false, altKey: false };
const { graph, layout } = loadStream("support_idle").start;
const INDEX = indexGraph(graph, layout);
const go = (from: string, direction: Direction) => neighbour(INDEX, layout, from, direction);

describe("keys", () => {
  it("knows its own, in both cases", () => {
    expect(actionOf({ key: "L", ...PLAIN })).toEqual({ type: "legend" });
    expect(actionOf({ key: "l", ...PLAIN })).toEqual({ type: "legend" });
    expect(actionOf({ key: "ArrowUp", ...PLAIN })).toEqual({ type: "move", direction: "up" });
  });

  it("leaves Tab, other letters and every combination to the notebook", () => {
    expect(actionOf({ key: "Tab", ...PLAIN })).toBeNull();
    expect(actionOf({ key: "x", ...PLAIN })).toBeNull();
    expect(actionOf({ key: "constructor", ...PLAIN })).toBeNull();
    expect(actionOf({ key: "f", ...PLAIN, ctrlKey: true })).toBeNull();
    expect(actionOf({ key: "0", ...PLAIN, metaKey: true })).toBeNull();
  });

  it("leads along the edges", () => {
    expect(go("start", "down")).toBe("router");
    expect(go("plan", "up")).toBe("router");
    expect(go("merge", "down")).toBe("draft");
  });

  it("leads to the node beside, edge or not", () => {
    const row = ["search_web", "read_code", "search_docs"].sort(
      (a, b) => (layout.boxes[a]?.x ?? 0) - (layout.boxes[b]?.x ?? 0),
    );
    expect(go(row[0] ?? "", "right")).toBe(row[1]);
    expect(go(row[2] ?? "", "left")).toBe(row[1]);
  });

  it("stays at the rim of the picture", () => {
    expect(go("start", "up")).toBeNull();
    expect(go("end", "down")).toBeNull();
  });

  it("leads from every node to every other, in any number of steps", () => {
    const seen = new Set(["start"]);
    for (const from of seen) {
      for (const direction of ["up", "down", "left", "right"] as const) {
        const next = go(from, direction);
        if (next !== null) seen.add(next);
      }
    }
    expect([...seen].sort()).toEqual(graph.nodes.map((node) => node.id).sort());
  });
});
