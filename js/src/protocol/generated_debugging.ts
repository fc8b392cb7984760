// Written by `python -m evonb.protocol.typescript` from evonb/protocol/debugging.py, evonb/protocol/debug_commands.py. Don't edit: change what it is written from.

import type { Preview, Snapshot } from "./generated.ts";

export const STEPS_SHOWN = 500;

export const INSIDE_SHOWN = 50;

export const LOG_SHOWN = 200;

export type SessionStatus =
  | "idle"
  | "running"
  | "pausing"
  | "paused"
  | "failed"
  | "finished";

export type StepStatus =
  | "done"
  | "failed"
  | "edited"
  | "pinned"
  | "skipped";

export type CommandName =
  | "run"
  | "resume"
  | "pause"
  | "step_wave"
  | "step_one"
  | "step_into"
  | "step_out"
  | "step_back"
  | "step_forward"
  | "goto"
  | "live"
  | "run_to"
  | "stop"
  | "edit"
  | "why"
  | "breakpoint"
  | "retry"
  | "skip"
  | "pin"
  | "fork"
  | "compare"
  | "answer";

/**
 * One finished task.
 *
 * `number` orders a branch; `lane` puts parallel ones under each other; `wave` groups them.
 *
 * `tools` names the tools that it called, as their calls ended, the first 20; `tokens` is what its models took in and
 * gave out, None if none was asked or its server doesn't say. `inside` counts the steps inside of it.
 */
export interface WireStep {
  readonly number: number;
  readonly task: string;
  readonly node: string;
  readonly visit: number;
  readonly branch: number;
  readonly wave: number;
  readonly lane: number;
  readonly status: StepStatus;
  readonly at_s: number;
  readonly duration_s: number;
  readonly wrote: readonly string[];
  readonly effect: boolean;
  readonly tools: readonly string[];
  readonly tokens: number | null;
  readonly inside: number;
}

/**
 * One finished task inside of a sub-graph. Its `number` is that of the step that had been made last.
 *
 * `inner` orders such steps; `owner` is the step of the line that it is inside of, 0 for what hasn't finished on the
 * current branch; `wave` is its own there.
 */
export interface WireInner {
  readonly number: number;
  readonly task: string;
  readonly node: string;
  readonly visit: number;
  readonly branch: number;
  readonly wave: number;
  readonly lane: number;
  readonly status: StepStatus;
  readonly at_s: number;
  readonly duration_s: number;
  readonly wrote: readonly string[];
  readonly effect: boolean;
  readonly tools: readonly string[];
  readonly tokens: number | null;
  readonly inside: number;
  readonly inner: number;
  readonly owner: number;
}

/**
 * Where inside of a sub-graph the shown point is: "inside research, step 2 of 4", and the node that made it.
 *
 * `number` and `owner` are those of the step inside.
 */
export interface WireInside {
  readonly number: number;
  readonly owner: number;
  readonly node: string;
  readonly text: string;
}

/**
 * `from_step` is the step of its parent that it leaves after; None for the main line.
 */
export interface WireBranch {
  readonly id: number;
  readonly name: string;
  readonly parent: number | null;
  readonly from_step: number | null;
  readonly steps: number;
  readonly note: string;
}

/**
 * `can_run`: nothing is missing; `held`: a breakpoint stops it; `reads`: keys that came with it.
 *
 * `begun` is a sub-graph that stands inside, to be stepped out of; `enters` is one that can be stepped into.
 */
export interface WireWaiting {
  readonly task: string;
  readonly node: string;
  readonly visit: number;
  readonly can_run: boolean;
  readonly held: boolean;
  readonly arrived: readonly string[];
  readonly missing: readonly string[];
  readonly reads: readonly string[];
  readonly begun: boolean;
  readonly enters: boolean;
}

/**
 * `kind` says what it hangs on; `text` says it in words: "run_tests before, if state["score"] < 0.7".
 */
export interface WireBreakpoint {
  readonly id: string;
  readonly kind: "node" | "edge" | "predicate" | "exception" | "tool";
  readonly node: string | null;
  readonly edge: string | null;
  readonly when: "before" | "after";
  readonly condition: string;
  readonly hit: number | null;
  readonly log: string;
  readonly enabled: boolean;
  readonly hits: number;
  readonly text: string;
}

/**
 * One state key at the shown point. `change`: what the shown step did to it; `before` is its preview then.
 */
export interface WireKey {
  readonly key: string;
  readonly strategy: string;
  readonly type: string;
  readonly value: Preview;
  readonly size: string;
  readonly opens: boolean;
  readonly change: "" | "added" | "changed" | "removed";
  readonly before: Preview | null;
  readonly edited: boolean;
}

/**
 * One chat message of the state; `new` when the shown step added it.
 */
export interface WireMessage {
  readonly role: string;
  readonly node: string;
  readonly step: number | null;
  readonly text: string;
  readonly calls: readonly string[];
  readonly new: boolean;
}

export interface WireLog {
  readonly step: number | null;
  readonly node: string;
  readonly level: "out" | "warning" | "error" | "log";
  readonly text: string;
}

/**
 * A watch expression and its value at the shown point, or the error in it.
 */
export interface WireWatch {
  readonly text: string;
  readonly value: Preview | null;
  readonly error: string;
}

/**
 * What a node asks a person and waits for. `schema` is the JSON schema of the answer; `default` fits it.
 */
export interface WireQuestion {
  readonly id: string;
  readonly node: string;
  readonly text: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly default?: unknown;
}

/**
 * All that the panel needs.
 *
 * Attributes:
 *     seq: Grows with each state that is published; older ones are ignored.
 *     looking: Number of the step that is looked at, None when live. Past and live differ only by this.
 *     inside: Where inside of a sub-graph the shown point is, also when live; None for a point of the line.
 *     step: Number of the newest step of the current branch.
 *     branch: The current branch.
 *     steps: At most `STEPS_SHOWN`: the newest, or those around the step that is looked at.
 *     steps_before: How many steps were left out before `steps`.
 *     inner: Steps inside of sub-graphs, of the newest and the shown ones; bounded by `INSIDE_SHOWN`.
 *     next_branch: Name that a fork would get from here, "" when going on makes no branch.
 *     would_run: Nodes that would run next from the shown point.
 *     stopped_at: Ids of nodes that the session stopped before (breakpoint, step), for the gate marks.
 *     allowed: For each command "" or the reason why it isn't allowed now.
 *     state: The state at the shown point.
 *     messages: Its chat messages, the newest 100; None when it has no key of messages.
 *     input_schema: JSON schema of the inputs, for the form.
 *     questions: What nodes of the live run ask and wait for, oldest first.
 */
export interface DebugState {
  readonly seq: number;
  readonly status: SessionStatus;
  readonly reason: string;
  readonly looking: number | null;
  readonly inside: WireInside | null;
  readonly step: number;
  readonly branch: number;
  readonly steps: readonly WireStep[];
  readonly steps_before: number;
  readonly inner: readonly WireInner[];
  readonly branches: readonly WireBranch[];
  readonly next_branch: string;
  readonly would_run: readonly string[];
  readonly stopped_at: readonly string[];
  readonly waiting: readonly WireWaiting[];
  readonly breakpoints: readonly WireBreakpoint[];
  readonly allowed: Readonly<Record<CommandName, string>>;
  readonly state: readonly WireKey[];
  readonly messages: readonly WireMessage[] | null;
  readonly log: readonly WireLog[];
  readonly watches: readonly WireWatch[];
  readonly input_schema: Readonly<Record<string, unknown>>;
  readonly questions: readonly WireQuestion[];
}

/**
 * Kernel to browser. `picture` is the snapshot of the shown point when that is a past one; None: show the live.
 */
export interface DebugMessage {
  readonly type: "debug";
  readonly state: DebugState;
  readonly picture: Snapshot | null;
}

/**
 * Commands without arguments.
 */
export interface SessionCommand {
  readonly type: "resume" | "pause" | "step_wave" | "live" | "stop" | "retry";
  readonly request_id: string;
}

/**
 * `inputs` are JSON values from the form.
 */
export interface RunCommand {
  readonly type: "run";
  readonly request_id: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

/**
 * `task` None takes the first that waits, to step into the first sub-graph. Out leads out of all that was begun.
 */
export interface StepOneCommand {
  readonly type: "step_one" | "step_into" | "step_out";
  readonly request_id: string;
  readonly task: string | null;
}

/**
 * Look elsewhere in the record; nothing runs. `step_back` and `step_forward` by `count`, `goto` a step number.
 *
 * `inside` is the `inner` of the step inside to go to.
 */
export interface MoveCommand {
  readonly type: "step_back" | "step_forward" | "goto";
  readonly request_id: string;
  readonly count: number;
  readonly branch: number | null;
  readonly inside?: number;
}

export interface RunToCommand {
  readonly type: "run_to";
  readonly request_id: string;
  readonly node: string;
}

/**
 * Add one (`id` None) or replace it. Conditions from the browser go through the restricted evaluator.
 */
export interface SetBreakpointCommand {
  readonly type: "set_breakpoint";
  readonly request_id: string;
  readonly id: string | null;
  readonly kind: "node" | "edge" | "predicate" | "exception" | "tool";
  readonly node: string | null;
  readonly edge: string | null;
  readonly when: "before" | "after";
  readonly condition: string;
  readonly hit: number | null;
  readonly log: string;
  readonly enabled: boolean;
}

export interface RemoveBreakpointCommand {
  readonly type: "remove_breakpoint";
  readonly request_id: string;
  readonly id: string;
}

/**
 * Set a state key from text (a Python or JSON literal). `check` only validates: the reply says what is expected.
 */
export interface EditCommand {
  readonly type: "edit";
  readonly request_id: string;
  readonly key: string;
  readonly text: string;
  readonly task: string | null;
  readonly check: boolean;
}

/**
 * Don't run the task; take `delta` (literals by key) as if it had answered so. `pin` keeps it for later visits.
 */
export interface SkipCommand {
  readonly type: "skip" | "pin";
  readonly request_id: string;
  readonly task: string;
  readonly delta: Readonly<Record<string, string>>;
}

/**
 * Open a value: `path` leads into it (keys and indices); the reply holds its children.
 */
export interface InspectKeyCommand {
  readonly type: "inspect_key";
  readonly request_id: string;
  readonly key: string;
  readonly path: readonly (string | number)[];
}

export interface WhyCommand {
  readonly type: "why";
  readonly request_id: string;
  readonly node: string;
}

export interface WatchCommand {
  readonly type: "watch" | "unwatch";
  readonly request_id: string;
  readonly text: string;
}

/**
 * Answer a question with a JSON value. One that doesn't fit is refused with the reason; the question stays open.
 */
export interface AnswerCommand {
  readonly type: "answer";
  readonly request_id: string;
  readonly question: string;
  readonly value: unknown;
}

export interface NameBranchCommand {
  readonly type: "name_branch";
  readonly request_id: string;
  readonly branch: number;
  readonly name: string;
}

export interface CompareCommand {
  readonly type: "compare";
  readonly request_id: string;
  readonly a: number;
  readonly b: number;
}

export type DebugCommand =
  | SessionCommand
  | RunCommand
  | StepOneCommand
  | MoveCommand
  | RunToCommand
  | SetBreakpointCommand
  | RemoveBreakpointCommand
  | EditCommand
  | SkipCommand
  | InspectKeyCommand
  | WhyCommand
  | WatchCommand
  | AnswerCommand
  | NameBranchCommand
  | CompareCommand;

/**
 * One child of an opened value; `path` opens it in turn when `opens`.
 */
export interface ValueChild {
  readonly label: string;
  readonly path: readonly (string | number)[];
  readonly value: Preview;
  readonly opens: boolean;
}

/**
 * The same value before the shown step, under the same bounds.
 */
export interface ValueBefore {
  readonly text: string;
  readonly children: readonly ValueChild[];
}

/**
 * `text` is the whole value as text, at most 20,000 characters; `children` at most 200, `more` are left out.
 *
 * `before` is given when the shown step changed the value, so that the panel can show what changed inside it.
 */
export interface InspectKeyResult {
  readonly text: string;
  readonly children: readonly ValueChild[];
  readonly more: number;
  readonly before?: ValueBefore | null;
}

/**
 * `expects` in words: "int, 0 or more"; `branch` is the branch that applying makes, "" if none.
 */
export interface EditResult {
  readonly expects: string;
  readonly branch: string;
}

/**
 * An answer in sentences, oldest fact first.
 */
export interface WhyResult {
  readonly kind: string;
  readonly title: string;
  readonly sentences: readonly string[];
}

/**
 * Aligned steps of two branches; None where one has no counterpart. `differs` names the keys that differ then.
 */
export interface CompareRow {
  readonly a: WireStep | null;
  readonly b: WireStep | null;
  readonly differs: readonly string[];
}

export interface CompareResult {
  readonly rows: readonly CompareRow[];
  readonly state: Readonly<Record<string, readonly Preview[]>>;
}
