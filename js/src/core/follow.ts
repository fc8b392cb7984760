/** Which node matters now, and what the live clocks show. Pure. */

import type { Snapshot } from "../protocol/generated.ts";
import { asks } from "./asks.ts";
import { lookUp } from "./record.ts";

/** Where a finished run ended: the end if it was reached, else what started last. */
export function lastNode(snapshot: Snapshot): string | null {
  const { graph, layout } = snapshot;
  const reached = graph.edges.find(
    (edge) =>
      edge.target === "end" && Object.hasOwn(layout.boxes, "end") && (lookUp(snapshot.edges, edge.id)?.taken ?? 0) > 0,
  );
  if (reached !== undefined) return reached.target;
  const started = Object.entries(snapshot.nodes).filter(([, state]) => state.started_s !== null);
  started.sort(([, a], [, b]) => (b.started_s ?? 0) - (a.started_s ?? 0));
  return started[0]?.[0] ?? null;
}

/** The node to look at: what failed, else what started last of those at work. */
export function nodeOfInterest(snapshot: Snapshot): string | null {
  const { run } = snapshot;
  if (run.status === "failed") return run.failed_node;
  let found: string | null = null;
  let latest = Number.NEGATIVE_INFINITY;
  for (const [id, state] of Object.entries(snapshot.nodes)) {
    if (state.status !== "running" && state.status !== "paused" && !asks(state)) continue;
    const started = state.started_s ?? 0;
    if (started > latest) [found, latest] = [id, started];
  }
  return found;
}

/** How long a node's visit has been going on; null if it isn't at work. */
export function runningSeconds(snapshot: Snapshot, id: string, elapsedS: number): number | null {
  const state = lookUp(snapshot.nodes, id);
  if (state === undefined || state.status !== "running" || state.started_s === null) return null;
  return Math.max(0, elapsedS - state.started_s);
}
