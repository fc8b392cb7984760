/** What the debugger adds to a picture: the nodes that the session stands before, and which node is shown. Pure. */

import type { NodeState, Snapshot } from "../protocol/generated.ts";
import type { DebugState, WireBreakpoint, WireStep } from "../protocol/generated_debugging.ts";
import { lookUp, put } from "./record.ts";

/**
 * The picture with the nodes that come next shown as stopped before: of a past point those that would run, of a live
 * session those where it stopped. What runs or broke keeps its own look. Where something broke, that is where the session
 * stopped: what else could run is only queued.
 */
export function withGates(snapshot: Snapshot, state: DebugState): Snapshot {
  const gates = state.looking === null ? state.stopped_at : state.would_run;
  const look = state.status === "failed" && state.looking === null ? "queued" : "paused";
  const stopped = gates.filter((id) => {
    const status = lookUp(snapshot.nodes, id)?.status;
    return status !== undefined && status !== "running" && status !== "failed" && status !== "paused";
  });
  if (stopped.length === 0) return snapshot;
  const nodes: Record<string, NodeState> = { ...snapshot.nodes };
  for (const id of stopped) put(nodes, id, { ...(lookUp(snapshot.nodes, id) as NodeState), status: look });
  return { ...snapshot, nodes };
}

/** The step that the panel shows: the looked-at one, else the newest; null before the first. */
export function shownStep(state: DebugState): WireStep | null {
  const number = state.looking ?? state.step;
  const lines = lineage(state);
  const found = state.steps.filter((step) => step.number === number && lines.has(step.branch));
  return found.find((step) => number <= (lines.get(step.branch) ?? 0)) ?? null;
}

/** The node that made what is shown, also one inside of a sub-graph. */
export function shownNode(state: DebugState): string | null {
  return state.inside?.node ?? shownStep(state)?.node ?? null;
}

/** ", inside research, step 2 of 4"; "" for a point of the line. */
export function insideWords({ inside }: DebugState): string {
  return inside === null ? "" : `, ${inside.text}`;
}

/** The current branch and those it comes from, each with the last of its steps that belongs to the line. */
export function lineage(state: DebugState): ReadonlyMap<number, number> {
  const line = new Map<number, number>();
  let last = Number.POSITIVE_INFINITY;
  let id: number | null = state.branch;
  while (id !== null && !line.has(id)) {
    const branch = state.branches.find((one) => one.id === id);
    line.set(id, last);
    last = Math.min(last, branch?.from_step ?? last);
    id = branch?.parent ?? null;
  }
  return line;
}

/** Nodes whose newest result up to the shown point was written by a person. */
export function editedNodes(state: DebugState): ReadonlySet<string> {
  const until = state.looking ?? state.step;
  const lines = lineage(state);
  const newest = new Map<string, WireStep>();
  for (const step of state.steps) {
    if (step.number <= Math.min(until, lines.get(step.branch) ?? -1)) newest.set(step.node, step);
  }
  const byHand = [...newest.values()].filter((step) => step.status === "edited" || step.status === "pinned");
  return new Set(byHand.map((step) => step.node));
}

export type BreakpointLook = "on" | "if" | "log" | "off";

export function lookOf(breakpoint: WireBreakpoint): BreakpointLook {
  if (!breakpoint.enabled) return "off";
  if (breakpoint.log !== "") return "log";
  return breakpoint.condition !== "" || breakpoint.hit !== null ? "if" : "on";
}

export function breakpointsOf(state: DebugState, node: string): WireBreakpoint[] {
  return state.breakpoints.filter((one) => one.kind === "node" && one.node === node);
}
