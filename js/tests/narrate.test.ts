import { describe, expect, it } from "vitest";
import { indexGraph } from "../src/core/index_graph.ts";
import { narrate } from "../src/core/narrate.ts";
import type { WireEvent } from "../src/protocol/generated.ts";
import { loadStream } from "./streams.ts";

const { graph, layout } = loadStream("support_idle").start;
const INDEX = indexGraph(graph, layout);
const said = (...events: WireEvent[]) => narrate(events, INDEX);
const words = (...events: WireEvent[]) => said(...events).map((speech) => speech.text);

describe("narrate", () => {
  it("tells a start with its visit", () => {
    const event = { type: "node_started", at_s: 1, node: "search_web" } as const;
    expect(words({ ...event, visit: 1 })).toEqual(["search_web started."]);
    expect(words({ ...event, visit: 2 })).toEqual(["search_web started, 2nd visit."]);
  });

  it("tells an end with its time and what it wrote", () => {
    const event = { type: "node_finished", at_s: 1, node: "search_web", duration_s: 2.3, wrote: ["findings"] } as const;
    expect(words(event)).toEqual(["search_web finished in 2.3 seconds, wrote findings."]);
  });

  it("tells for whom a join waits", () => {
    const arrived = ["read_code", "search_docs"];
    expect(words({ type: "node_waiting", at_s: 1, node: "merge", arrived, missing: ["search_web"] })).toEqual([
      "merge waits: 2 of 3 arrived, search_web is missing.",
    ]);
  });

  it("tells a router's choice", () => {
    expect(words({ type: "route_decided", at_s: 1, node: "critic", chosen: ["draft"], passed_over: [] })).toEqual([
      "critic chose revise, to draft.",
    ]);
    const chosen = ["search_web", "read_code"];
    expect(words({ type: "route_decided", at_s: 1, node: "plan", chosen, passed_over: [] })).toEqual([
      "plan chose search_web and read_code.",
    ]);
  });

  it("breaks in for a failure and a stop, and for nothing else", () => {
    const error = { kind: "KeyError", what: "socre", where: "", fix: "", source: [], traceback: "" };
    const failed = said({ type: "run_failed", at_s: 1, node: "run_tests", error, resumable: false });
    expect(failed).toEqual([{ text: "run_tests failed: KeyError socre.", assertive: true }]);
    const paused = said({ type: "run_paused", at_s: 1, reason: "breakpoint", waiting: ["human_review"] });
    expect(paused).toEqual([{ text: "Stopped before human_review, breakpoint.", assertive: true }]);
    expect(said({ type: "run_finished", at_s: 1, reason: "completed", message: "", result: null })).toEqual([
      { text: "Run finished.", assertive: false },
    ]);
  });

  it.each(["socre", "'socre'", "KeyError: 'socre'"])("tells a failure once, however its message reads: %s", (what) => {
    const error = { kind: "KeyError", what, where: "", fix: "", source: [], traceback: "" };
    expect(words({ type: "run_failed", at_s: 1, node: "run_tests", error, resumable: false })).toEqual([
      "run_tests failed: KeyError socre.",
    ]);
  });

  it("merges a burst into a number", () => {
    const nodes = ["a", "b", "c", "d", "e"];
    const ended = nodes.map((node): WireEvent => ({ type: "node_finished", at_s: 1, node, duration_s: 1, wrote: [] }));
    expect(words(...ended)).toEqual(["5 nodes finished."]);
  });

  it("keeps quiet about chunks and crossings", () => {
    expect(
      said(
        { type: "chunk", at_s: 1, node: "search_web", text: "x", count: 1 },
        { type: "edge_taken", at_s: 1, edge: "start>router", keys: [], count: 1 },
      ),
    ).toEqual([]);
  });
});
