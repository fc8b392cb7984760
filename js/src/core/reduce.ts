/**
 * What an event changes in the picture: the twin of evonb/protocol/reduce.py. Both must end in the same snapshot for
 * every recorded stream; golden streams hold them to it.
 */

import { assertNever } from "../protocol/assert_never.ts";
import {
  type NodeState,
  type Snapshot,
  STREAM_TAIL_CHARS,
  TOOLS_KEPT,
  WARNINGS_KEPT,
  type WireEvent,
  type WireToolCall,
} from "../protocol/generated.ts";
import { Draft } from "./draft.ts";
import { cutOff } from "./settle.ts";
import { tail } from "./text.ts";

/** The snapshot after `event`. Events about nodes or edges that the graph doesn't have change only the clock. */
export function reduce(snapshot: Snapshot, event: WireEvent): Snapshot {
  return reduceAll(snapshot, [event]);
}

export function reduceAll(snapshot: Snapshot, events: readonly WireEvent[]): Snapshot {
  const draft = new Draft(snapshot);
  for (const event of events) apply(draft, event);
  return draft.finish();
}

/** The snapshot after a batch; unchanged if the batch is an old one, null if something before it is missing. */
export function applyBatch(
  snapshot: Snapshot,
  firstSeq: number,
  lastSeq: number,
  events: readonly WireEvent[],
): Snapshot | null {
  if (lastSeq <= snapshot.seq) return snapshot;
  if (firstSeq !== snapshot.seq + 1) return null;
  return { ...reduceAll(snapshot, events), seq: lastSeq };
}

function apply(draft: Draft, event: WireEvent): void {
  if (event.type === "run_started") {
    draft.restart({ run_id: event.run_id, status: "running", started_at: event.started_at });
    return;
  }
  draft.run({ elapsed_s: event.at_s });
  switch (event.type) {
    case "run_paused":
      return draft.run({ status: "paused", reason: event.reason });
    case "run_finished":
      draft.settle(event.at_s);
      return draft.run({ status: "finished", reason: event.reason, message: event.message, result: event.result });
    case "run_failed":
      if (!event.resumable) draft.settle(event.at_s);
      return draft.run({
        status: "failed",
        reason: "failed",
        message: event.error.what,
        failed_node: event.node,
        error: event.error,
      });
    case "edge_taken":
      return draft.edge(event.edge, event.count, 0);
    case "route_decided":
      for (const edge of event.passed_over) draft.edge(edge, 0, 1);
      return;
    default:
      return applyToNode(draft, event);
  }
}

type NodeEvent = Exclude<
  WireEvent,
  { type: "run_started" | "run_paused" | "run_finished" | "run_failed" | "edge_taken" | "route_decided" }
>;

function applyToNode(draft: Draft, event: NodeEvent): void {
  const { node } = event;
  switch (event.type) {
    case "node_queued":
      draft.node(node, (old) => ({ queued: old.queued + 1, arrived: [], missing: [] }));
      return;
    case "node_waiting":
      draft.node(node, () => ({ arrived: event.arrived, missing: event.missing }), "idle");
      return;
    case "node_started":
      return started(draft, node, event.visit, event.at_s);
    case "node_finished":
      draft.node(
        node,
        (old) => ({
          running: Math.max(0, old.running - 1),
          last_s: event.duration_s,
          total_s: old.total_s + event.duration_s,
          wrote: event.wrote,
          question: "",
        }),
        "done",
      );
      return;
    case "node_failed":
      draft.node(
        node,
        (old) => ({ running: Math.max(0, old.running - 1), last_s: event.duration_s, note: event.what, question: "" }),
        "failed",
      );
      return;
    case "node_skipped":
      return skipped(draft, event);
    case "join_satisfied":
      draft.node(node, () => ({ arrived: event.arrived, missing: [] }));
      return;
    case "join_impossible":
      draft.node(node, () => ({ arrived: event.arrived, missing: event.missing, note: event.why }));
      return;
    case "chunk":
      draft.node(node, (old) => streamed(old, event.text, event.count));
      return;
    case "tool_call":
      draft.node(node, (old) => ({ ...streamed(old, event.text, 1), tools: withCall(old.tools, event.call) }));
      return;
    case "usage":
      draft.node(node, (old) => ({
        tokens_in: old.tokens_in + event.tokens_in,
        tokens_out: old.tokens_out + event.tokens_out,
        model_s: old.model_s + event.seconds,
      }));
      return;
    case "question":
      draft.node(node, (old) => ({ ...streamed(old, event.text, 1), question: event.question }));
      return;
    case "node_noted":
      draft.node(node, (old) => ({ warnings: withWarning(old.warnings, event.text) }));
      return;
    default:
      return assertNever(event);
  }
}

function streamed(old: NodeState, text: string, count: number): Partial<NodeState> {
  return { stream: tail(old.stream + text, STREAM_TAIL_CHARS), chunks: old.chunks + count };
}

function withCall(calls: NodeState["tools"], call: WireToolCall): NodeState["tools"] {
  const known = calls.some(({ id }) => id === call.id);
  return known ? calls.map((old) => (old.id === call.id ? call : old)) : [...calls, call].slice(-TOOLS_KEPT);
}

function withWarning(warnings: NodeState["warnings"], text: string): NodeState["warnings"] {
  return warnings.includes(text) || warnings.length >= WARNINGS_KEPT ? warnings : [...warnings, text];
}

function started(draft: Draft, node: string, visit: number, atS: number): void {
  const known = draft.node(node, (old) => ({
    queued: Math.max(0, old.queued - 1),
    running: old.running + 1,
    visits: Math.max(old.visits, visit),
    started_s: atS,
    stream: old.running === 0 ? "" : old.stream,
    chunks: old.running === 0 ? 0 : old.chunks,
    tools: old.running === 0 ? [] : old.tools,
    question: "",
    note: "",
  }));
  if (known) draft.run({ turns: draft.turns + 1 });
}

function skipped(draft: Draft, { node, at_s, reason, was_running }: NodeEvent & { type: "node_skipped" }): void {
  const change = (old: NodeState): Partial<NodeState> => {
    if (!was_running) return { queued: Math.max(0, old.queued - 1), note: reason };
    // Told after the run's end, which has settled it already.
    if (old.running === 0) return { note: old.note || reason };
    return { running: old.running - 1, ...cutOff(old, at_s) };
  };
  draft.node(node, change, "skipped");
}
