/** The words of the view: statuses, the header's sentence, what a node is called aloud. Pure. */

import type { NodeState, NodeStatus, Snapshot, WireNode } from "../protocol/generated.ts";
import { askingNodes, asks, inOneLine, onlyAsks } from "./asks.ts";
import { formatDuration, listWords, ordinal, plural } from "./format.ts";
import { type GraphIndex, nameOf } from "./index_graph.ts";
import { lookUp } from "./record.ts";
import { visible } from "./text.ts";
import { calledWords, callsOf, usedWords, warningsOf } from "./tool_words.ts";

export const STATUS_WORDS: Readonly<Record<NodeStatus, string>> = {
  idle: "not yet",
  queued: "queued",
  waiting: "waits at a join",
  running: "running",
  done: "done",
  failed: "failed",
  skipped: "not completed",
  paused: "stopped before",
};

const HOW_TO_ANSWER = "answer with %evo answer VALUE or handle.answer(VALUE)";

export interface Chip {
  readonly look: NodeStatus;
  readonly word: string;
}

/** The chip of the header; a view that no kernel answers says so. */
export function chipOf(snapshot: Snapshot, saved: boolean): Chip {
  if (saved) return { look: "idle", word: "Saved view" };
  switch (snapshot.run.status) {
    case "idle":
      return { look: "idle", word: "Idle" };
    case "running":
      return onlyAsks(snapshot) ? { look: "waiting", word: "Waits for you" } : { look: "running", word: "Running" };
    case "paused":
      return { look: "paused", word: "Paused" };
    case "finished":
      return snapshot.run.reason === "completed"
        ? { look: "done", word: "Done" }
        : { look: "waiting", word: "Stopped" };
    case "failed":
      return { look: "failed", word: "Failed" };
  }
}

/** What the header says beside the chip. */
export function headline(snapshot: Snapshot, index: GraphIndex, elapsedS: number): string {
  const { run } = snapshot;
  const time = formatDuration(elapsedS);
  switch (run.status) {
    case "idle":
      return run.message || `Run it with await ${callableName(snapshot.graph.name)}.run({…})`;
    case "running":
      return [...underWay(snapshot, index, time), run.message].filter(Boolean).join(" · ");
    case "paused": {
      const stopped = userNodes(snapshot).filter(({ id }) => isStoppedBefore(lookUp(snapshot.nodes, id)));
      const place = stopped.length === 0 ? "" : `before ${listWords(stopped.map(({ id }) => nameOf(index, id)))}`;
      return [place, run.reason, time].filter(Boolean).join(" · ");
    }
    case "finished":
      return (run.reason === "completed" ? [plural(run.turns, "step"), time, run.message] : [run.message, time])
        .filter(Boolean)
        .join(" · ");
    case "failed": {
      const node = run.failed_node === null ? "" : `at ${nameOf(index, run.failed_node)}, `;
      return `${node}step ${run.turns} · ${time}`;
    }
  }
}

function isStoppedBefore(state: NodeState | undefined): boolean {
  return state?.status === "queued" || state?.status === "paused";
}

/** The picture of a run that has stopped: what could run next stands behind a gate. */
export function withStops(snapshot: Snapshot): Snapshot {
  if (snapshot.run.status !== "paused") return snapshot;
  const nodes = Object.entries(snapshot.nodes).map(([id, state]): [string, NodeState] => [
    id,
    state.status === "queued" ? { ...state, status: "paused" } : state,
  ]);
  return { ...snapshot, nodes: Object.fromEntries(nodes) };
}

function callableName(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : "graph";
}

/** What a run is at; while it only waits for a person its clock says nothing. */
function underWay(snapshot: Snapshot, index: GraphIndex, time: string): string[] {
  const [first, ...more] = askingNodes(snapshot);
  const facts = [round(snapshot), time, atWork(snapshot)];
  if (first === undefined) return facts;
  const count = more.length === 0 ? "" : ` (1 of ${more.length + 1} questions)`;
  const said = `${nameOf(index, first)} asks: ${inOneLine(lookUp(snapshot.nodes, first)?.question ?? "")}${count}`;
  return onlyAsks(snapshot) ? [said, HOW_TO_ANSWER] : [...facts, said];
}

/** A loop's rounds, told by the node visited most. */
function round(snapshot: Snapshot): string {
  let most = 0;
  for (const state of Object.values(snapshot.nodes)) most = Math.max(most, state.visits);
  return most > 1 ? `round ${most}` : "";
}

function atWork(snapshot: Snapshot): string {
  const own = userNodes(snapshot);
  const busy = own.filter((node) => lookUp(snapshot.nodes, node.id)?.status === "running").length;
  return `${busy} of ${plural(own.length, "node")} at work`;
}

/** The nodes that a person wrote: all but the starts and ends. */
function userNodes(snapshot: Snapshot): WireNode[] {
  return snapshot.graph.nodes.filter((node) => node.kind !== "start" && node.kind !== "end");
}

/** How a node stands; one that didn't complete says why where that is known. */
export function statusWords(state: NodeState | undefined): string {
  if (state === undefined) return STATUS_WORDS.idle;
  if (asks(state)) return `asks you: ${inOneLine(state.question)}`;
  return state.status === "skipped" && state.note !== "" ? state.note : STATUS_WORDS[state.status];
}

/** A node in one spoken sentence, also its tooltip. */
export function sayNode(node: WireNode, state: NodeState | undefined, time: string, index: GraphIndex): string {
  const status = state === undefined ? "idle" : state.status;
  const parts = [visible(node.name), status === "idle" ? "not run yet" : statusWords(state)];
  if (status === "waiting" && state !== undefined && !asks(state))
    parts.push(`${arrivedWords(state)}, ${missingWords(state, index)}`);
  else if (time !== "" && status !== "skipped" && status !== "waiting") parts.push(time);
  if (state !== undefined && state.visits > 1) parts.push(`${ordinal(state.visits)} visit`);
  if (state !== undefined) parts.push(...[calledWords(callsOf(state)), usedWords(state)].filter(Boolean));
  const warned = warningsOf(state).map((text) => `; warning: ${text}`);
  return (parts.join(", ") + warned.join("")).replaceAll("\u00a0", " ");
}

/** "2 of 3 arrived" */
export function arrivedWords(state: NodeState): string {
  return `${state.arrived.length} of ${state.arrived.length + state.missing.length} arrived`;
}

/** "waits for search_web" */
export function missingWords(state: NodeState, index: GraphIndex): string {
  const names = state.missing.map((id) => nameOf(index, id));
  return `waits for ${listWords(names.length > 3 ? [...names.slice(0, 2), `${names.length - 2} more`] : names)}`;
}

/** What stands at a node's right end: its time, or how many have arrived. `runningS` is the time of the visit under way. */
export function timeOf(state: NodeState | undefined, runningS: number | null): string {
  if (state === undefined) return "";
  if (asks(state)) return "asks you";
  if (state.status === "waiting") return `${state.arrived.length} / ${state.arrived.length + state.missing.length}`;
  if (state.status === "running") return runningS === null ? "" : formatDuration(runningS);
  if (state.status === "queued" || state.last_s === null) return "";
  return formatDuration(state.last_s);
}
