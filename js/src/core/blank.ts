/** The snapshot before anything ran; twins of `idle_node`, `idle_run` and `empty_snapshot` in evonb/protocol/blank.py. */

import {
  type EdgeState,
  type NodeState,
  PROTOCOL_VERSION,
  type RunState,
  type Snapshot,
  type WireGraph,
  type WireLayout,
} from "../protocol/generated.ts";
import { fromKeys } from "./record.ts";

const IDLE_NODE: NodeState = {
  status: "idle",
  visits: 0,
  queued: 0,
  running: 0,
  started_s: null,
  last_s: null,
  total_s: 0,
  arrived: [],
  missing: [],
  note: "",
  chunks: 0,
  stream: "",
  wrote: [],
  tools: [],
  tokens_in: 0,
  tokens_out: 0,
  model_s: 0,
  question: "",
  warnings: [],
};

const IDLE_EDGE: EdgeState = { taken: 0, passed_over: 0, unused: false };

export const IDLE_RUN: RunState = {
  run_id: null,
  status: "idle",
  started_at: null,
  elapsed_s: 0,
  turns: 0,
  reason: "",
  message: "",
  failed_node: null,
  error: null,
  result: null,
};

/** The picture of a graph that hasn't run. */
export function emptySnapshot(graph: WireGraph, layout: WireLayout, seq = 0): Snapshot {
  return {
    protocol: PROTOCOL_VERSION,
    seq,
    graph,
    layout,
    run: IDLE_RUN,
    nodes: fromKeys(
      graph.nodes.map((node) => node.id),
      () => IDLE_NODE,
    ),
    edges: fromKeys(
      graph.edges.map((edge) => edge.id),
      () => IDLE_EDGE,
    ),
  };
}
