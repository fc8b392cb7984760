/** What a run's end makes of the picture: nothing is under way any more, and what didn't complete says why. */

import type { EdgeState, NodeState, Snapshot } from "../protocol/generated.ts";
import { formatDuration } from "./format.ts";
import { lookUp } from "./record.ts";

/** What a node keeps of a visit that was stopped: how long it took until then. */
export function cutOff(old: NodeState, atS: number): Partial<NodeState> {
  const spent = Math.max(0, atS - (old.started_s ?? atS));
  return { last_s: spent, total_s: old.total_s + spent, note: `stopped after ${formatDuration(spent)}`, question: "" };
}

/** How a node stands once the run has ended; null if it stays as it is. A join that still waits says for whom. */
export function settledNode(old: NodeState, atS: number, passedOver: boolean): Partial<NodeState> | null {
  const still = { running: 0, queued: 0 };
  if (old.running > 0) return { ...still, ...cutOff(old, atS) };
  if (old.queued > 0)
    return { ...still, note: old.visits > 0 ? "stopped before it ran again" : "stopped before it ran" };
  if (old.status !== "idle" || old.visits > 0) return null;
  return { ...still, note: passedOver ? "not chosen" : "not reached" };
}

/** The targets of edges that a router passed over. */
export function passedTargets(graph: Snapshot["graph"], edges: Readonly<Record<string, EdgeState>>): Set<string> {
  const passed = graph.edges.filter((edge) => (lookUp(edges, edge.id)?.passed_over ?? 0) > 0);
  return new Set(passed.map((edge) => edge.target));
}
