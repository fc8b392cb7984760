/** The window onto the picture: scale and offset, fitting, zooming about a point, culling. Pure. */

import type { WireBox } from "../protocol/generated.ts";

/** A point p of the picture stands at p * scale + (x, y) on screen. */
export interface Camera {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly w: number;
  readonly h: number;
}

export const MIN_SCALE = 0.05;
export const MAX_SCALE = 3;
/** Names have 13 px; below 10 px on screen nobody reads them. */
export const READABLE_SCALE = 10 / 13;
/** Below 14 px on screen a box is a block of colour. */
const BLOCK_PX = 14;
/** Room round a picture that fits; below it stand the zoom buttons and the legend. */
export const MARGIN = { x: 34, top: 18, bottom: 48 } as const;

export function clampScale(scale: number): number {
  return Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));
}

/** The scale at which the whole picture is in view, at most 100 %. */
export function fitScale(content: Size, view: Size): number {
  const wide = (view.w - 2 * MARGIN.x) / Math.max(1, content.w);
  const high = (view.h - MARGIN.top - MARGIN.bottom) / Math.max(1, content.h);
  return clampScale(Math.min(1, wide, high));
}

/**
 * The picture in the middle of the view, less a strip at its right that callouts use; a picture larger than the view
 * starts at its top left.
 */
export function centred(content: Size, view: Size, scale: number, strip = 0): Camera {
  const free = { w: view.w - strip - content.w * scale, h: view.h - MARGIN.top - MARGIN.bottom - content.h * scale };
  return {
    scale,
    x: free.w >= 2 * MARGIN.x ? free.w / 2 : Math.max(Math.min(MARGIN.x, (view.w - content.w * scale) / 2), 12),
    y: MARGIN.top + Math.max(0, free.h / 2),
  };
}

/** Zoom so that the point under (x, y) of the view stays there. */
export function zoomAbout(camera: Camera, factor: number, x: number, y: number): Camera {
  const scale = clampScale(camera.scale * factor);
  const by = scale / camera.scale;
  return { scale, x: x - (x - camera.x) * by, y: y - (y - camera.y) * by };
}

/** The picture can't be lost: a piece of it stays in view. */
export function kept(camera: Camera, content: Size, view: Size): Camera {
  const rest = 60;
  const clamp = (value: number, extent: number, room: number) =>
    Math.min(room - rest, Math.max(rest - extent * camera.scale, value));
  return { ...camera, x: clamp(camera.x, content.w, view.w), y: clamp(camera.y, content.h, view.h) };
}

export function toScreen(camera: Camera, box: WireBox): WireBox {
  const { scale } = camera;
  return { x: box.x * scale + camera.x, y: box.y * scale + camera.y, w: box.w * scale, h: box.h * scale };
}

/** The part of the picture that the view shows, widened by `margin` pixels on screen. */
export function visibleBox(camera: Camera, view: Size, margin = 0): WireBox {
  return {
    x: (-camera.x - margin) / camera.scale,
    y: (-camera.y - margin) / camera.scale,
    w: (view.w + 2 * margin) / camera.scale,
    h: (view.h + 2 * margin) / camera.scale,
  };
}

export function overlaps(a: WireBox, b: WireBox): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

export function contains(outer: WireBox, inner: WireBox): boolean {
  return (
    outer.x <= inner.x &&
    outer.y <= inner.y &&
    outer.x + outer.w >= inner.x + inner.w &&
    outer.y + outer.h >= inner.y + inner.h
  );
}

/** The nearest camera that shows `box` whole, with some room round it; the same camera if it is in view already. */
export function revealing(camera: Camera, box: WireBox, view: Size, room = 24): Camera {
  const at = toScreen(camera, box);
  return { ...camera, x: camera.x + shift(at.x, at.w, view.w, room), y: camera.y + shift(at.y, at.h, view.h, room) };
}

function shift(start: number, extent: number, view: number, room: number): number {
  if (start >= 0 && start + extent <= view) return 0;
  if (extent + 2 * room > view || start < room) return room - start;
  return view - room - (start + extent);
}

export type Detail = "full" | "glyphs" | "blocks";

/** @param nodeH The height of a node at 100 %, which differs by the density of the layout. */
export function detailAt(scale: number, nodeH: number): Detail {
  if (scale >= READABLE_SCALE - 0.005) return "full";
  return scale * nodeH >= BLOCK_PX ? "glyphs" : "blocks";
}
