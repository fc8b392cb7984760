/** Nodes that ask a person and wait: they are drawn as waiting, and a run that only waits for answers says so. Pure. */

import type { NodeState, Snapshot } from "../protocol/generated.ts";
import { lookUp } from "./record.ts";
import { cut } from "./text.ts";

const SHOWN_CHARS = 160;

/** Pictures that were saved earlier know no questions. */
export function asks(state: NodeState | undefined): boolean {
  return state?.status === "waiting" && Boolean(state.question);
}

/** The nodes that ask, in the order of the graph. */
export function askingNodes(snapshot: Snapshot): string[] {
  return snapshot.graph.nodes.map((node) => node.id).filter((id) => asks(lookUp(snapshot.nodes, id)));
}

/** Whether nothing but questions is under way. A sub-graph is at work as long as what is inside of it asks. */
export function onlyAsks(snapshot: Snapshot): boolean {
  const asking = askingNodes(snapshot);
  if (asking.length === 0) return false;
  const parents = new Map(snapshot.graph.nodes.map((node) => [node.id, node.parent]));
  const around = new Set<string>();
  for (const id of asking)
    for (let up = parents.get(id) ?? null; up !== null && !around.has(up); up = parents.get(up) ?? null) around.add(up);
  return Object.entries(snapshot.nodes).every(
    ([id, { status }]) => status !== "queued" && (status !== "running" || around.has(id)),
  );
}

/** A question in one line. */
export function inOneLine(question: string): string {
  return cut(question.split(/\s+/).filter(Boolean).join(" "), SHOWN_CHARS);
}
