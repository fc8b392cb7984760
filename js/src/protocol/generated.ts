// Written by `python -m evonb.protocol.typescript` from evonb/protocol/snapshot.py, evonb/protocol/events.py, evonb/protocol/messages.py. Don't edit: change what it is written from.

export const PROTOCOL_VERSION = 1;

export const PREVIEW_CHARS = 80;

export const STREAM_TAIL_CHARS = 400;

export const TOOLS_KEPT = 20;

export const WARNINGS_KEPT = 5;

export type NodeStatus =
  | "idle"
  | "queued"
  | "waiting"
  | "running"
  | "done"
  | "failed"
  | "skipped"
  | "paused";

export type RunStatus =
  | "idle"
  | "running"
  | "paused"
  | "finished"
  | "failed";

export interface WireFinding {
  readonly code: string;
  readonly level: "error" | "warning" | "note";
  readonly nodes: readonly string[];
  readonly what: string;
  readonly where: string;
  readonly fix: string;
}

/**
 * `NodeInfo` without the source, which is sent on request.
 */
export interface WireNode {
  readonly id: string;
  readonly name: string;
  readonly kind: "start" | "end" | "node" | "subgraph";
  readonly join: "any" | "all";
  readonly parent: string | null;
  readonly doc: string;
  readonly location: string;
}

export interface WireEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly kind: "plain" | "conditional";
  readonly group: string;
  readonly label: string;
}

export interface WireGraph {
  readonly name: string;
  readonly nodes: readonly WireNode[];
  readonly edges: readonly WireEdge[];
  readonly findings: readonly WireFinding[];
}

/**
 * Pixels at 100 %; x and y are the top left corner.
 */
export interface WireBox {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/**
 * Orthogonal corner points from the source's border to the target's, and where the label stands.
 */
export interface WireRoute {
  readonly points: readonly (readonly number[])[];
  readonly label: WireBox | null;
}

export interface WireLayout {
  readonly width: number;
  readonly height: number;
  readonly boxes: Readonly<Record<string, WireBox>>;
  readonly routes: Readonly<Record<string, WireRoute>>;
}

/**
 * A value as one line of text.
 *
 * `text` has at most PREVIEW_CHARS characters; `cut` says that there is more; `kind` is the Python type's name.
 */
export interface Preview {
  readonly kind: string;
  readonly text: string;
  readonly cut: boolean;
}

export interface WireError {
  readonly kind: string;
  readonly what: string;
  readonly where: string;
  readonly fix: string;
  readonly source: readonly SourceLine[];
  readonly traceback: string;
}

export interface SourceLine {
  readonly number: number;
  readonly text: string;
  readonly hit: boolean;
}

/**
 * One call of a tool: `asked` by a model, `running`, or over.
 *
 * `started_s` is when it began on the run's clock, while it runs; `duration_s` how long it took, once it is over.
 */
export interface WireToolCall {
  readonly id: string;
  readonly tool: string;
  readonly status: "asked" | "running" | "done" | "failed";
  readonly started_s: number | null;
  readonly duration_s: number | null;
}

/**
 * One node in the current run.
 *
 * `running` and `queued` count executions under way and ready; `status` is derived from them: running (waiting while
 * it asks a person), else queued, else waiting, else how the last one ended. `started_s` is the newest start on
 * the run's clock, `total_s` the time of all finished visits. `stream` holds the end of the text that the current
 * visit has streamed. A node is "skipped" if it did not complete in this run; `note` says why: "not chosen", "not
 * reached", "stopped after 0.5 s".
 *
 * `tools` are the newest TOOLS_KEPT calls of the current visit. Tokens (as the model's server counts them) and
 * `model_s`, the seconds spent waiting for models, add up over the run, as do `warnings`, at most WARNINGS_KEPT.
 * `question` is what the node asks a person and waits for, "" if nothing.
 */
export interface NodeState {
  readonly status: NodeStatus;
  readonly visits: number;
  readonly queued: number;
  readonly running: number;
  readonly started_s: number | null;
  readonly last_s: number | null;
  readonly total_s: number;
  readonly arrived: readonly string[];
  readonly missing: readonly string[];
  readonly note: string;
  readonly chunks: number;
  readonly stream: string;
  readonly wrote: readonly string[];
  readonly tools: readonly WireToolCall[];
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly model_s: number;
  readonly question: string;
  readonly warnings: readonly string[];
}

/**
 * `taken` counts crossings; `passed_over` counts decisions of its router that chose other targets.
 *
 * `unused`: the run has ended and never took this edge.
 */
export interface EdgeState {
  readonly taken: number;
  readonly passed_over: number;
  readonly unused: boolean;
}

export interface RunState {
  readonly run_id: string | null;
  readonly status: RunStatus;
  readonly started_at: number | null;
  readonly elapsed_s: number;
  readonly turns: number;
  readonly reason: string;
  readonly message: string;
  readonly failed_node: string | null;
  readonly error: WireError | null;
  readonly result: Readonly<Record<string, Preview>> | null;
}

/**
 * All that a view needs to draw: the graph, its layout, and the run as of `seq`.
 */
export interface Snapshot {
  readonly protocol: number;
  readonly seq: number;
  readonly graph: WireGraph;
  readonly layout: WireLayout;
  readonly run: RunState;
  readonly nodes: Readonly<Record<string, NodeState>>;
  readonly edges: Readonly<Record<string, EdgeState>>;
}

export interface RunStartedW {
  readonly type: "run_started";
  readonly at_s: number;
  readonly run_id: string;
  readonly started_at: number;
}

export interface RunPausedW {
  readonly type: "run_paused";
  readonly at_s: number;
  readonly reason: string;
  readonly waiting: readonly string[];
}

export interface RunFinishedW {
  readonly type: "run_finished";
  readonly at_s: number;
  readonly reason: string;
  readonly message: string;
  readonly result: Readonly<Record<string, Preview>> | null;
}

/**
 * `resumable`: a session stands at the failure and can go on, so what waits is not lost.
 */
export interface RunFailedW {
  readonly type: "run_failed";
  readonly at_s: number;
  readonly node: string | null;
  readonly error: WireError;
  readonly resumable: boolean;
}

export interface NodeQueuedW {
  readonly type: "node_queued";
  readonly at_s: number;
  readonly node: string;
}

export interface NodeWaitingW {
  readonly type: "node_waiting";
  readonly at_s: number;
  readonly node: string;
  readonly arrived: readonly string[];
  readonly missing: readonly string[];
}

export interface NodeStartedW {
  readonly type: "node_started";
  readonly at_s: number;
  readonly node: string;
  readonly visit: number;
}

export interface NodeFinishedW {
  readonly type: "node_finished";
  readonly at_s: number;
  readonly node: string;
  readonly duration_s: number;
  readonly wrote: readonly string[];
}

export interface NodeFailedW {
  readonly type: "node_failed";
  readonly at_s: number;
  readonly node: string;
  readonly duration_s: number;
  readonly what: string;
}

export interface NodeSkippedW {
  readonly type: "node_skipped";
  readonly at_s: number;
  readonly node: string;
  readonly reason: string;
  readonly was_running: boolean;
}

/**
 * `count` merges several crossings of one edge within a batch.
 */
export interface EdgeTakenW {
  readonly type: "edge_taken";
  readonly at_s: number;
  readonly edge: string;
  readonly keys: readonly string[];
  readonly count: number;
}

/**
 * `passed_over` names the edges of this decision that were not chosen.
 */
export interface RouteDecidedW {
  readonly type: "route_decided";
  readonly at_s: number;
  readonly node: string;
  readonly chosen: readonly string[];
  readonly passed_over: readonly string[];
}

export interface JoinSatisfiedW {
  readonly type: "join_satisfied";
  readonly at_s: number;
  readonly node: string;
  readonly arrived: readonly string[];
}

export interface JoinImpossibleW {
  readonly type: "join_impossible";
  readonly at_s: number;
  readonly node: string;
  readonly arrived: readonly string[];
  readonly missing: readonly string[];
  readonly why: string;
}

/**
 * Streamed text of one node; consecutive chunks of a node merge within a batch (`count` of them).
 */
export interface ChunkW {
  readonly type: "chunk";
  readonly at_s: number;
  readonly node: string;
  readonly text: string;
  readonly count: number;
}

/**
 * A call of a tool came to a new stage. `text` is streamed text of the node, as a chunk's.
 */
export interface ToolCallW {
  readonly type: "tool_call";
  readonly at_s: number;
  readonly node: string;
  readonly call: WireToolCall;
  readonly text: string;
}

/**
 * What one reply of a model took: tokens as its server counts them, and seconds.
 */
export interface UsageW {
  readonly type: "usage";
  readonly at_s: number;
  readonly node: string;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly seconds: number;
}

/**
 * A node asks a person and waits; `question` is "" once that is over. `text` is streamed text, as a chunk's.
 */
export interface QuestionW {
  readonly type: "question";
  readonly at_s: number;
  readonly node: string;
  readonly question: string;
  readonly text: string;
}

/**
 * The engine warned about a node: a wrong key in its delta, say.
 */
export interface NodeNotedW {
  readonly type: "node_noted";
  readonly at_s: number;
  readonly node: string;
  readonly text: string;
}

export type WireEvent =
  | RunStartedW
  | RunPausedW
  | RunFinishedW
  | RunFailedW
  | NodeQueuedW
  | NodeWaitingW
  | NodeStartedW
  | NodeFinishedW
  | NodeFailedW
  | NodeSkippedW
  | EdgeTakenW
  | RouteDecidedW
  | JoinSatisfiedW
  | JoinImpossibleW
  | ChunkW
  | ToolCallW
  | UsageW
  | QuestionW
  | NodeNotedW;

/**
 * A batch. Apply it when `first_seq` is the snapshot's `seq` + 1; its new `seq` is `last_seq`.
 *
 * Older batches (`last_seq` not above the snapshot's `seq`) are ignored; a gap asks for `resync`.
 * `last_seq - first_seq + 1` counts the source events before merging, so it may exceed `len(events)`.
 */
export interface EventsMessage {
  readonly type: "events";
  readonly first_seq: number;
  readonly last_seq: number;
  readonly events: readonly WireEvent[];
}

/**
 * A new whole: sent when the graph itself was replaced.
 */
export interface SnapshotMessage {
  readonly type: "snapshot";
  readonly snapshot: Snapshot;
}

export interface ReplyError {
  readonly what: string;
  readonly where: string;
  readonly fix: string;
}

/**
 * What a call of a tool, found by its `id` in `NodeState.tools`, was given and gave, in a line each.
 */
export interface ToolCallDetails {
  readonly id: string;
  readonly arguments: string;
  readonly result: string;
}

/**
 * Answer to `inspect_node`: what its last visit was given, wrote, streamed and called.
 *
 * Texts have at most 20,000 characters; `last_input` and `last_delta` have one for each state key. `stream` keeps what
 * it streamed also after its end, but for what its model thought before it answered: that is `reasoning`.
 */
export interface NodeDetails {
  readonly node: string;
  readonly doc: string;
  readonly source: string;
  readonly location: string;
  readonly last_input: Readonly<Record<string, string>> | null;
  readonly last_delta: Readonly<Record<string, string>> | null;
  readonly stream: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCallDetails[];
}

export interface OkReply {
  readonly type: "reply";
  readonly request_id: string;
  readonly ok: true;
  readonly result: Snapshot | NodeDetails | null;
}

export interface ErrorReply {
  readonly type: "reply";
  readonly request_id: string;
  readonly ok: false;
  readonly error: ReplyError;
}

export type KernelMessage =
  | EventsMessage
  | SnapshotMessage
  | OkReply
  | ErrorReply;

export interface ResyncCommand {
  readonly type: "resync";
  readonly request_id: string;
}

export interface InspectNodeCommand {
  readonly type: "inspect_node";
  readonly request_id: string;
  readonly node: string;
}

export type Command =
  | ResyncCommand
  | InspectNodeCommand;
