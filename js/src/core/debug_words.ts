/** The words of the debugger: its chip, its bar, its captions, and what is spoken when its state changes. Pure. */

import type { NodeStatus, Snapshot } from "../protocol/generated.ts";
import type { DebugState, SessionStatus, WireStep } from "../protocol/generated_debugging.ts";
import { inOneLine, onlyAsks } from "./asks.ts";
import { listWords, ordinal, plural } from "./format.ts";
import type { Speech } from "./narrate.ts";
import { insideWords, shownStep } from "./overlay.ts";
import { tail, visible } from "./text.ts";
import { callsOf, stepUse } from "./tool_words.ts";

type Names = (id: string) => string;
/** Words of which some are bold, or are keys. */
export type Rich = readonly (string | { readonly b: string; readonly isKey?: boolean })[];

export interface SessionChip {
  readonly look: NodeStatus | "past";
  readonly word: string;
}

const CHIPS: Readonly<Record<SessionStatus, SessionChip>> = {
  idle: { look: "idle", word: "Idle" },
  running: { look: "running", word: "Running" },
  pausing: { look: "running", word: "Pausing" },
  paused: { look: "paused", word: "Paused" },
  failed: { look: "failed", word: "Failed" },
  finished: { look: "done", word: "Done" },
};

/** While it runs and only waits for answers it says that it waits.
 * @param held What keeps the kernel from answering, "" if nothing does. */
export function sessionChip(state: DebugState, snapshot: Snapshot, saved: boolean, held: string): SessionChip {
  if (saved) return { look: "idle", word: "Saved view" };
  if (held !== "") return { look: "queued", word: "Queued" };
  if (state.looking !== null) return { look: "past", word: `Past: ${position(state)}` };
  const isAsking = state.questions.length > 0 && onlyAsks(snapshot);
  return isAsking ? { look: "waiting", word: "Waits for you" } : CHIPS[state.status];
}

/** "step 7 of 12" */
export function position(state: DebugState): string {
  return state.looking === 0 ? `the start, before step 1 of ${state.step}` : `step ${state.looking} of ${state.step}`;
}

function place(state: DebugState): string {
  return position(state) + insideWords(state);
}

/** The bar above the timeline: the same place whether live or past. */
export function barWords(state: DebugState, snapshot: Snapshot, names: Names, saved = false): Rich {
  if (state.looking !== null) return saved ? savedWords(state) : [...pastWords(state), ...askedLive(state, names)];
  switch (state.status) {
    case "idle":
      return [{ b: "Run" }, " ", { b: "R", isKey: true }, ", or ", { b: `${callable(snapshot)}.start(...)` }];
    case "running":
      // A cell that awaits its own session keeps the buttons waiting: the kernel says so.
      return [...(questionWords(state, names) ?? runningWords(snapshot, names)), reasonOf(state)];
    case "pausing":
      return [...pausingWords(state, names), reasonOf(state)];
    case "paused":
      return pausedWords(state, names);
    case "failed":
      return failedWords(state, snapshot, names);
    case "finished":
      return [`Finished after ${plural(state.step, "step")}`, reasonOf(state)];
  }
}

/** "human_review asks: Refund 40 €?"; null if nothing asks. */
function questionWords({ questions }: DebugState, names: Names): Rich | null {
  const [first] = questions;
  if (first === undefined) return null;
  const count = questions.length === 1 ? "" : ` (1 of ${questions.length} questions)`;
  return [{ b: names(first.node) }, ` asks: ${inOneLine(first.text)}${count}`];
}

function pausingWords(state: DebugState, names: Names): Rich {
  const question = questionWords(state, names);
  return question === null
    ? ["Stops before the next task; what runs is let finish"]
    : [...question, ". Once that is answered it pauses"];
}

/** The past has no form: where the answer is waited for. */
function askedLive({ questions }: DebugState, names: Names): Rich {
  const [first] = questions;
  return first === undefined ? [] : [". ", { b: names(first.node) }, " asks you something: answer it live"];
}

function savedWords(state: DebugState): Rich {
  return [
    "You are looking at ",
    { b: place(state) },
    ", as it was saved. Run the cell again to go on from a live session",
  ];
}

function pastWords(state: DebugState): Rich {
  const makes = state.next_branch === "" ? "" : ` (makes branch ${state.next_branch})`;
  return ["You are looking at ", { b: place(state) }, " — nothing runs until you press ", { b: "Resume here" }, makes];
}

function runningWords(snapshot: Snapshot, names: Names): Rich {
  const busy = Object.entries(snapshot.nodes).filter(([, node]) => node.status === "running");
  if (busy.length === 0) return ["Running"];
  const writing = busy
    .filter(([, node]) => node.stream !== "")
    .sort(([, a], [, b]) => (b.started_s ?? 0) - (a.started_s ?? 0));
  for (const [id, node] of busy) {
    const call = callsOf(node).find(({ status }) => status === "running");
    if (call !== undefined) return [{ b: names(id) }, " calls ", { b: visible(call.tool) }];
  }
  const [first] = writing;
  if (first !== undefined)
    return [{ b: names(first[0]) }, ` writes: …${tail(first[1].stream, 120).replace(/\s+/g, " ")}`];
  const shown = busy.slice(0, 3).map(([id]) => names(id));
  return ["Running ", { b: listWords(busy.length > 3 ? [...shown, `${busy.length - 3} more`] : shown) }];
}

function pausedWords(state: DebugState, names: Names): Rich {
  if (state.stopped_at.length === 0) return ["Paused", reasonOf(state)];
  return ["Stopped before ", { b: listWords(state.stopped_at.map(names)) }, reasonOf(state)];
}

function failedWords(state: DebugState, snapshot: Snapshot, names: Names): Rich {
  const node = snapshot.run.failed_node ?? state.stopped_at[0];
  const what = snapshot.run.error?.what ?? state.reason;
  return node === undefined ? [what] : [{ b: names(node) }, ` failed: ${what}`];
}

function reasonOf(state: DebugState): string {
  return state.reason === "" ? "" : ` — ${state.reason}`;
}

function callable(snapshot: Snapshot): string {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(snapshot.graph.name) ? snapshot.graph.name : "graph";
}

/** "After step 7: draft, 2nd visit" */
export function caption(state: DebugState, names: Names): Rich {
  const step = shownStep(state);
  const { inside } = state;
  if (inside !== null) return [`I${inside.text.slice(1)}: `, { b: names(inside.node) }];
  if (step === null)
    return [
      (state.looking ?? state.step) === 0 ? "Before the first step" : `After step ${state.looking ?? state.step}`,
    ];
  const visit = step.visit > 1 ? `, ${ordinal(step.visit)} visit` : "";
  return [`After step ${step.number}: `, { b: names(step.node) }, visit];
}

/** "3 of 9 keys changed" */
export function changedWords(state: DebugState): string {
  const changed = state.state.filter((key) => key.change !== "").length;
  if (state.state.length === 0) return "no keys yet";
  return changed === 0
    ? plural(state.state.length, "key")
    : `${changed} of ${plural(state.state.length, "key")} changed`;
}

/** One step in a spoken sentence, also its tooltip. */
export function sayStep(step: WireStep, names: Names): string {
  const visit = step.visit > 1 ? `, ${ordinal(step.visit)} visit` : "";
  const wrote = step.wrote.length === 0 ? "" : `, wrote ${listWords(step.wrote)}`;
  const effect = step.effect ? ", touched the world" : "";
  const use = stepUse(step);
  const at = step.number % 1 ? "Inside" : `Step ${step.number}`;
  return `${at}, ${names(step.node)}${visit}, ${step.status}${wrote}${effect}${step.inside ? `, ${step.inside} inside` : ""}${use && ` · ${use}`}`;
}

/** What is said aloud when a state follows another. */
export function sayChange(now: DebugState, before: DebugState, snapshot: Snapshot, names: Names): Speech[] {
  const polite: string[] = [];
  const known = new Set(before.branches.map((branch) => branch.id));
  if (before.seq >= 0) {
    for (const branch of now.branches)
      if (!known.has(branch.id)) polite.push(`Branch ${branch.name} made from step ${branch.from_step ?? 0}.`);
  }
  if (now.looking !== before.looking || (now.looking !== null && now.inside?.number !== before.inside?.number)) {
    if (now.looking !== null) polite.push(`Looking at ${place(now)}, nothing runs.`);
    else if (now.status !== "running") polite.push(`Back to live, step ${now.step}.`);
  }
  const speech: Speech[] = polite.length === 0 ? [] : [{ text: polite.join(" "), assertive: false }];
  const stopped = stopWords(now, before, snapshot, names);
  return stopped === "" ? speech : [...speech, { text: stopped, assertive: true }];
}

function stopWords(now: DebugState, before: DebugState, snapshot: Snapshot, names: Names): string {
  const isNew =
    now.status !== before.status || now.step !== before.step || now.inside?.number !== before.inside?.number;
  if (!isNew || now.looking !== null || before.seq < 0) return "";
  if (now.status === "failed") return `${flat(failedWords(now, snapshot, names))}.`;
  if (now.status !== "paused") return "";
  const reason = now.reason === "" ? "" : `, ${now.reason}`;
  return now.stopped_at.length === 0 ? "" : `Stopped before ${listWords(now.stopped_at.map(names))}${reason}.`;
}

export function flat(rich: Rich): string {
  return rich.map((part) => (typeof part === "string" ? part : part.b)).join("");
}
