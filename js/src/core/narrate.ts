/**
 * What a screen reader hears: one polite sentence for each event, bursts merged ("5 nodes finished"). A failure and a
 * stop are assertive. Chunks and pulses are not spoken.
 */

import { assertNever } from "../protocol/assert_never.ts";
import type { WireError, WireEvent } from "../protocol/generated.ts";
import { listWords, ordinal, plural, speakDuration } from "./format.ts";
import { type GraphIndex, nameOf } from "./index_graph.ts";

export interface Speech {
  readonly text: string;
  readonly assertive: boolean;
}

const BURST = 3; // more sentences of one sort than this are told as a number

/** The sentences for one batch, in order; assertive ones last, so that nothing talks over them. */
export function narrate(events: readonly WireEvent[], index: GraphIndex): Speech[] {
  const polite: string[] = [];
  const assertive: string[] = [];
  const counts = countBy(events);
  const told = new Set<string>();
  for (const event of events) {
    const merged = mergedSentence(event.type, counts.get(event.type) ?? 0);
    if (merged === null) (isAssertive(event) ? assertive : polite).push(sentence(event, index));
    else if (!told.has(event.type)) polite.push(merged);
    told.add(event.type);
  }
  return [...speech(polite, false), ...speech(assertive, true)];
}

function speech(sentences: readonly string[], assertive: boolean): Speech[] {
  const text = sentences.filter((sentence) => sentence !== "").join(" ");
  return text === "" ? [] : [{ text, assertive }];
}

function countBy(events: readonly WireEvent[]): Map<WireEvent["type"], number> {
  const counts = new Map<WireEvent["type"], number>();
  for (const event of events) counts.set(event.type, (counts.get(event.type) ?? 0) + 1);
  return counts;
}

function mergedSentence(type: WireEvent["type"], count: number): string | null {
  if (count <= BURST) return null;
  switch (type) {
    case "node_started":
      return `${plural(count, "node")} started.`;
    case "node_finished":
      return `${plural(count, "node")} finished.`;
    case "node_skipped":
      return `${plural(count, "node")} skipped.`;
    case "route_decided":
      return `${plural(count, "route")} chosen.`;
    case "node_waiting":
      return `${plural(count, "input")} arrived at joins.`;
    default:
      return null;
  }
}

function isAssertive(event: WireEvent): boolean {
  return event.type === "run_failed" || event.type === "run_paused" || event.type === "question";
}

/** One event in one sentence; "" for what isn't spoken. */
export function sentence(event: WireEvent, index: GraphIndex): string {
  const name = (id: string) => nameOf(index, id);
  switch (event.type) {
    case "run_started":
      return `Run of ${index.graph.name} started.`;
    case "run_paused":
      return `Stopped before ${listWords(event.waiting.map(name))}, ${event.reason}.`;
    case "run_finished":
      return event.reason === "completed" ? "Run finished." : `Run ended: ${withStop(event.message || event.reason)}`;
    case "run_failed":
      return `${event.node === null ? "The run" : name(event.node)} failed: ${failure(event.error)}`;
    case "node_started":
      return `${name(event.node)} started${event.visit > 1 ? `, ${ordinal(event.visit)} visit` : ""}.`;
    case "node_finished":
      return `${name(event.node)} finished in ${speakDuration(event.duration_s)}${wrote(event.wrote)}.`;
    case "node_skipped":
      return `${name(event.node)} skipped: ${withStop(event.reason)}`;
    case "node_waiting":
      return waits(name(event.node), event.arrived, event.missing.map(name));
    case "join_impossible":
      return `${waits(name(event.node), event.arrived, event.missing.map(name))} ${withStop(event.why)}`;
    case "route_decided":
      return chose(
        name(event.node),
        event.chosen.map((target) => way(event.node, target, index)),
      );
    case "question":
      return event.question === "" ? "" : `${name(event.node)} asks: ${withStop(event.question)}`;
    case "node_noted":
      return `Warning at ${name(event.node)}: ${withStop(event.text)}`;
    case "node_queued":
    case "node_failed": // told by the run that fails with it
    case "edge_taken":
    case "join_satisfied":
    case "tool_call":
    case "usage":
    case "chunk":
      return "";
    default:
      return assertNever(event);
  }
}

function wrote(keys: readonly string[]): string {
  return keys.length === 0 ? "" : `, wrote ${listWords(keys)}`;
}

function waits(name: string, arrived: readonly string[], missing: readonly string[]): string {
  const verb = missing.length === 1 ? "is" : "are";
  return `${name} waits: ${arrived.length} of ${arrived.length + missing.length} arrived, ${listWords(missing)} ${verb} missing.`;
}

/** "KeyError socre." however much of it the message says itself. */
function failure({ kind, what }: WireError): string {
  const said = what.startsWith(`${kind}: `) ? what.slice(kind.length + 2) : what;
  return withStop(`${kind} ${said.replace(/^(['"])(.*)\1$/, "$2")}`.trimEnd());
}

/** "revise, to draft": the label of the edge and where it leads. */
function way(from: string, target: string, index: GraphIndex): string {
  const name = nameOf(index, target);
  const label = index.outgoing.get(from)?.find((edge) => edge.target === target)?.label ?? "";
  return label === "" || label === name ? name : `${label}, to ${name}`;
}

function chose(name: string, targets: readonly string[]): string {
  return targets.length === 0 ? `${name} chose nothing.` : `${name} chose ${listWords(targets)}.`;
}

function withStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
