/**
 * Pan by drag, zoom by wheel with Ctrl or Cmd, as a pinch on a touch pad also reports itself. A wheel without them
 * belongs to the notebook, which scrolls.
 */

import type { Camera } from "../core/camera.ts";
import { on } from "./dom.ts";

const DRAG_STARTS_AFTER = 4;
const ZOOM_PER_PIXEL = 0.004;
const LINE_PX = 16;

export interface Movable {
  readonly camera: Camera;
  zoom(factor: number, x: number, y: number): void;
  moveTo(x: number, y: number): void;
}

export function listenForGestures(
  area: HTMLElement,
  canvas: SVGSVGElement,
  target: Movable,
  signal: AbortSignal,
): void {
  area.addEventListener("wheel", (event) => wheel(event, area, target), { passive: false, signal });
  on(canvas, "pointerdown", (event) => drag(event, canvas, target, signal), signal);
}

function wheel(event: WheelEvent, area: HTMLElement, target: Movable): void {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  const at = area.getBoundingClientRect();
  const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1);
  target.zoom(Math.exp(-pixels * ZOOM_PER_PIXEL), event.clientX - at.left, event.clientY - at.top);
}

function drag(start: PointerEvent, canvas: SVGSVGElement, target: Movable, signal: AbortSignal): void {
  if (start.button !== 0) return;
  const from = target.camera;
  const over = new AbortController();
  signal.addEventListener("abort", () => over.abort(), { signal: over.signal });
  let dragging = false;
  const moved = (event: PointerEvent) => {
    const [dx, dy] = [event.clientX - start.clientX, event.clientY - start.clientY];
    if (!dragging && Math.hypot(dx, dy) < DRAG_STARTS_AFTER) return;
    if (!dragging) canvas.setPointerCapture(start.pointerId);
    dragging = true;
    target.moveTo(from.x + dx, from.y + dy);
  };
  const ended = () => {
    over.abort();
    if (dragging) swallowClick();
  };
  on(canvas, "pointermove", moved, over.signal);
  on(canvas, "pointerup", ended, over.signal);
  on(canvas, "pointercancel", () => over.abort(), over.signal);
}

/** The click that ends a drag isn't a click on a node. It comes at once or never. */
function swallowClick(): void {
  const over = new AbortController();
  addEventListener("click", (event) => event.stopPropagation(), { capture: true, signal: over.signal });
  setTimeout(() => over.abort(), 0);
}
