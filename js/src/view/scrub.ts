/** Dragging over the timeline: the cursor follows the pointer from column to column. */

import { on } from "./dom.ts";

const DRAG_STARTS_AFTER = 4;

export interface Scrubbed {
  /** Right edges of the columns, in page pixels, from left to right. */
  columns(): readonly { readonly column: number; readonly right: number }[];
  /** -1 is before the first column. */
  go(column: number): void;
}

export function scrub(grid: HTMLElement, target: Scrubbed, signal: AbortSignal): void {
  on(grid, "pointerdown", (event) => drag(event, grid, target, signal), signal);
}

function drag(start: PointerEvent, grid: HTMLElement, target: Scrubbed, signal: AbortSignal): void {
  if (start.button !== 0) return;
  const over = new AbortController();
  signal.addEventListener("abort", () => over.abort(), { signal: over.signal });
  let dragging = false;
  let last: number | null = null;
  const move = (event: PointerEvent) => {
    if (!dragging && Math.abs(event.clientX - start.clientX) < DRAG_STARTS_AFTER) return;
    if (!dragging) grid.setPointerCapture(start.pointerId);
    dragging = true;
    const column = columnAt(target.columns(), event.clientX);
    if (column === last) return;
    last = column;
    target.go(column);
  };
  const end = () => {
    over.abort();
    if (dragging) swallowClick(grid);
  };
  on(grid, "pointermove", move, over.signal);
  on(grid, "pointerup", end, over.signal);
  on(grid, "pointercancel", () => over.abort(), over.signal);
}

/** The column whose right edge is nearest: the cursor stands after a step. */
function columnAt(columns: readonly { readonly column: number; readonly right: number }[], x: number): number {
  const first = columns[0];
  if (first === undefined) return -1;
  const second = columns[1]?.right ?? first.right + 80;
  if (x < first.right - (second - first.right) / 2) return -1;
  let best = first;
  for (const one of columns) if (Math.abs(one.right - x) < Math.abs(best.right - x)) best = one;
  return best.column;
}

/** The click that ends a drag isn't a click on a chip. It comes at once or never. */
function swallowClick(grid: HTMLElement): void {
  const over = new AbortController();
  on(grid, "click", (event) => event.stopPropagation(), over.signal, true);
  setTimeout(() => over.abort(), 0);
}
