/**
 * A snapshot being changed. Maps are copied once, on first write, however many events follow: a batch of 400 events
 * on a graph of 1,000 nodes would otherwise copy 400,000 entries. Values inside the maps are replaced, never changed,
 * so whatever wasn't touched stays identical and a view can tell by `===` what to draw again.
 */

import type { EdgeState, NodeState, NodeStatus, RunState, Snapshot } from "../protocol/generated.ts";
import { emptySnapshot } from "./blank.ts";
import { lookUp, put } from "./record.ts";
import { passedTargets, settledNode } from "./settle.ts";

export class Draft {
  private readonly _owned = new Set<"nodes" | "edges">();
  private _nodes: Record<string, NodeState>;
  private _edges: Record<string, EdgeState>;

  constructor(private _snapshot: Snapshot) {
    this._nodes = _snapshot.nodes;
    this._edges = _snapshot.edges;
  }

  /** The changed snapshot; the draft is spent. */
  finish(): Snapshot {
    return { ...this._snapshot, nodes: this._nodes, edges: this._edges };
  }

  restart(run: Partial<RunState>): void {
    const { graph, layout, seq } = this._snapshot;
    const fresh = emptySnapshot(graph, layout, seq);
    this._snapshot = { ...fresh, run: { ...fresh.run, ...run } };
    this._nodes = { ...fresh.nodes };
    this._edges = { ...fresh.edges };
    this._owned.add("nodes").add("edges");
  }

  run(changes: Partial<RunState>): void {
    this._snapshot = { ...this._snapshot, run: { ...this._snapshot.run, ...changes } };
  }

  get turns(): number {
    return this._snapshot.run.turns;
  }

  /** Changes one node and derives its status; `ended` is the status if nothing of it is under way. */
  node(id: string, change: (old: NodeState) => Partial<NodeState>, ended?: NodeStatus): boolean {
    const old = lookUp(this._nodes, id);
    if (old === undefined) return false;
    const next = { ...old, ...change(old) };
    if (!this._owned.has("nodes")) {
      this._nodes = { ...this._nodes };
      this._owned.add("nodes");
    }
    put(this._nodes, id, { ...next, status: statusOf(next, ended ?? old.status) });
    return true;
  }

  edge(id: string, taken: number, passedOver: number): void {
    const old = lookUp(this._edges, id);
    if (old === undefined) return;
    if (!this._owned.has("edges")) {
      this._edges = { ...this._edges };
      this._owned.add("edges");
    }
    const unused = old.unused && taken === 0;
    put(this._edges, id, { taken: old.taken + taken, passed_over: old.passed_over + passedOver, unused });
  }

  /** The run has ended at `atS`. */
  settle(atS: number): void {
    const { graph } = this._snapshot;
    const passed = passedTargets(graph, this._edges);
    for (const { id, kind } of graph.nodes) {
      const old = kind === "start" || kind === "end" ? undefined : lookUp(this._nodes, id);
      const change = old === undefined ? null : settledNode(old, atS, passed.has(id));
      if (change !== null) this.node(id, () => change, "skipped");
    }
    const unused = Object.entries(this._edges).filter(([, edge]) => edge.taken === 0);
    this._edges = { ...this._edges };
    this._owned.add("edges");
    for (const [id, edge] of unused) put(this._edges, id, { ...edge, unused: true });
  }
}

function statusOf(node: NodeState, ended: NodeStatus): NodeStatus {
  if (node.running > 0) return node.question ? "waiting" : "running";
  if (node.queued > 0) return "queued";
  if (node.missing.length > 0) return "waiting";
  return ended === "running" || ended === "queued" || ended === "waiting" ? "idle" : ended;
}
