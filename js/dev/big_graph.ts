/** A graph of a thousand nodes in a plain grid, some of each state, to look at small scales and culling. */

import { emptySnapshot } from "../src/core/blank.ts";
import type { NodeStatus, Snapshot, WireBox, WireEdge, WireNode, WireRoute } from "../src/protocol/generated.ts";

const COLUMNS = 40;
const STEP = { x: 190, y: 70 } as const;
const BOX = { w: 150, h: 34 } as const;

export function bigGraph(count: number): Snapshot {
  const nodes: WireNode[] = [];
  const edges: WireEdge[] = [];
  const boxes: Record<string, WireBox> = {};
  const routes: Record<string, WireRoute> = {};
  for (let i = 0; i < count; i++) {
    const id = `step_${i}`;
    const box = { x: (i % COLUMNS) * STEP.x, y: Math.floor(i / COLUMNS) * STEP.y, ...BOX };
    nodes.push({ id, name: id, kind: "node", join: "any", parent: null, doc: "", location: "" });
    boxes[id] = box;
    if (i < COLUMNS) continue;
    const source = `step_${i - COLUMNS}`;
    const edge = `${source}>${id}`;
    edges.push({ id: edge, source, target: id, kind: "plain", group: "all", label: "" });
    const x = box.x + BOX.w / 2;
    routes[edge] = {
      points: [
        [x, box.y - STEP.y + BOX.h],
        [x, box.y],
      ],
      label: null,
    };
  }
  const width = COLUMNS * STEP.x;
  const height = Math.ceil(count / COLUMNS) * STEP.y;
  const blank = emptySnapshot({ name: "big", nodes, edges, findings: [] }, { width, height, boxes, routes });
  return { ...blank, run: { ...blank.run, status: "running", elapsed_s: 12.4 }, nodes: painted(blank) };
}

function painted(snapshot: Snapshot): Snapshot["nodes"] {
  return Object.fromEntries(
    Object.entries(snapshot.nodes).map(([id, node], i) => {
      const status = statusAt(i);
      const seconds = (i % 37) / 10;
      return [id, { ...node, status, last_s: seconds, started_s: 11, running: status === "running" ? 1 : 0 }];
    }),
  );
}

function statusAt(i: number): NodeStatus {
  if (i < 430) return i === 211 ? "failed" : i % 29 === 0 ? "skipped" : "done";
  if (i < 460) return i % 5 === 0 ? "running" : i % 5 === 1 ? "waiting" : "queued";
  return "idle";
}
