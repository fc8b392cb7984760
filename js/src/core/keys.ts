/** Which key means what, and where the arrows lead. Keys work only while the view has the focus. Pure. */

import type { WireLayout } from "../protocol/generated.ts";
import type { GraphIndex } from "./index_graph.ts";
import { lookUp } from "./record.ts";

export type Direction = "up" | "down" | "left" | "right";
export type Action =
  | { readonly type: "move"; readonly direction: Direction }
  | { readonly type: "open" | "back" | "zoom_in" | "zoom_out" | "zoom_full" | "fit" | "follow" | "legend" };

export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  ArrowUp: { type: "move", direction: "up" },
  ArrowDown: { type: "move", direction: "down" },
  ArrowLeft: { type: "move", direction: "left" },
  ArrowRight: { type: "move", direction: "right" },
  Enter: { type: "open" },
  " ": { type: "open" },
  Escape: { type: "back" },
  "+": { type: "zoom_in" },
  "=": { type: "zoom_in" },
  "-": { type: "zoom_out" },
  "0": { type: "zoom_full" },
  f: { type: "fit" },
  o: { type: "follow" },
  l: { type: "legend" },
};

/** The action of a key press; null for keys that belong to the notebook or the browser. */
export function actionOf(press: KeyPress): Action | null {
  if (press.ctrlKey || press.metaKey || press.altKey) return null;
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  return lookUp(ACTIONS, key) ?? null;
}

/**
 * The node that an arrow key leads to: sideways to the next in the same row, else along an edge that leads that way,
 * else to the nearest node there. Null at the rim of the picture.
 */
export function neighbour(index: GraphIndex, layout: WireLayout, from: string, direction: Direction): string | null {
  const sideways = direction === "left" || direction === "right";
  const linked = [
    ...(index.outgoing.get(from) ?? []).map((edge) => edge.target),
    ...(index.incoming.get(from) ?? []).map((edge) => edge.source),
  ];
  const all = [...index.nodes.keys()];
  return (
    (sideways ? nearest(layout, from, direction, all, SAME_ROW) : null) ??
    nearest(layout, from, direction, linked) ??
    nearest(layout, from, direction, all)
  );
}

const SAME_ROW = 16;

function nearest(
  layout: WireLayout,
  from: string,
  direction: Direction,
  ids: readonly string[],
  mostAside = Number.POSITIVE_INFINITY,
): string | null {
  const start = centre(layout, from);
  if (start === null) return null;
  let best: string | null = null;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const id of ids) {
    const spot = id === from ? null : centre(layout, id);
    if (spot === null) continue;
    const { ahead, aside } = turned(spot.x - start.x, spot.y - start.y, direction);
    // Much farther aside than ahead is another direction.
    if (ahead <= 1 || aside > mostAside || aside > 4 * ahead) continue;
    const cost = ahead + 2 * aside;
    if (cost < bestCost) [best, bestCost] = [id, cost];
  }
  return best;
}

function centre(layout: WireLayout, id: string): { x: number; y: number } | null {
  const box = lookUp(layout.boxes, id);
  return box === undefined ? null : { x: box.x + box.w / 2, y: box.y + box.h / 2 };
}

function turned(dx: number, dy: number, direction: Direction): { ahead: number; aside: number } {
  switch (direction) {
    case "down":
      return { ahead: dy, aside: Math.abs(dx) };
    case "up":
      return { ahead: -dy, aside: Math.abs(dx) };
    case "right":
      return { ahead: dx, aside: Math.abs(dy) };
    case "left":
      return { ahead: -dx, aside: Math.abs(dy) };
  }
}
