/** The left border of every node, 20 px wide, where a click sets a breakpoint. Worked out from the pointer's place, so that
 * a graph of a thousand nodes needs no thousand strips. */

import type { WireBox } from "../protocol/generated.ts";
import { on } from "./dom.ts";
import { GEOMETRY } from "./glyph.ts";
import type { Stage } from "./stage.ts";

const HALF = GEOMETRY.breakpoints.hit_width / 2;
const SMALLEST = 12; // a node lower than this on screen has no border to aim at

export interface GutterTarget {
  /** Boxes of the nodes that can have breakpoints. */
  boxes(): Iterable<readonly [string, WireBox]>;
  hover(node: string | null): void;
  toggle(node: string): void;
}

export function listenForGutter(stage: Stage, target: GutterTarget, signal: AbortSignal): void {
  let over: string | null = null;
  const hover = (node: string | null) => {
    if (node === over) return;
    over = node;
    stage.svg.classList.toggle("on-gutter", node !== null);
    target.hover(node);
  };
  const find = (event: MouseEvent) => nodeUnder(event, stage, target.boxes());
  on(stage.svg, "pointermove", (event) => hover(event.buttons === 0 ? find(event) : null), signal);
  on(stage.svg, "pointerleave", () => hover(null), signal);
  const click = (event: MouseEvent) => {
    const node = find(event);
    if (node === null || event.button !== 0) return;
    // A click on the border isn't a click on the node.
    event.stopPropagation();
    target.toggle(node);
  };
  on(stage.element, "click", click, signal, true);
}

function nodeUnder(event: MouseEvent, stage: Stage, boxes: Iterable<readonly [string, WireBox]>): string | null {
  if (event.target instanceof Element && !stage.svg.contains(event.target)) return null;
  const frame = stage.svg.getBoundingClientRect();
  const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
  for (const [id, box] of boxes) {
    const at = stage.screenBox(box);
    const reach = Math.min(HALF, at.w / 4);
    const aside = x - at.x;
    if (at.h >= SMALLEST && aside >= -HALF && aside <= reach && y >= at.y && y <= at.y + at.h) return id;
  }
  return null;
}
