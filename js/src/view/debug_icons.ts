/** The signs of the debugger's commands. Here and not with the picture's: the plain graph view doesn't carry them. */

import type { BreakpointLook } from "../core/overlay.ts";
import { svg } from "./dom.ts";
import { GEOMETRY } from "./glyph.ts";

export const DEBUG_ICONS = {
  resume: { f: "M5 3.2V12.8A.6 .6 0 0 0 5.9 13.3L13.3 8.5A.6 .6 0 0 0 13.3 7.5L5.9 2.7A.6 .6 0 0 0 5 3.2Z" },
  pause: { f: "M4 3H7V13H4ZM9 3H12V13H9Z" },
  stop: {
    f: "M4.5 3.5H11.5A1 1 0 0 1 12.5 4.5V11.5A1 1 0 0 1 11.5 12.5H4.5A1 1 0 0 1 3.5 11.5V4.5A1 1 0 0 1 4.5 3.5Z",
  },
  wave: { l: "M2 4.5H9.5M2 11.5H9.5M7.2 2.2L9.7 4.5L7.2 6.8M7.2 9.2L9.7 11.5L7.2 13.8M13.2 2.5V13.5" },
  one: { l: "M2 8H9.5M7 5.5L9.7 8L7 10.5", f: "M14.7 8A1.7 1.7 0 1 1 11.3 8A1.7 1.7 0 1 1 14.7 8Z" },
  back: { l: "M14 8H6.5M9 5.5L6.3 8L9 10.5", f: "M4.7 8A1.7 1.7 0 1 1 1.3 8A1.7 1.7 0 1 1 4.7 8Z" },
  to: { l: "M2 8H8.5M6 5.5L8.7 8L6 10.5M12 13.5V2.5M12 3H14.5V7H12" },
  history: { l: "M2.8 5.3A6 6 0 1 1 2 8M2.3 2.5V5.5H5.3M8 4.8V8L10.3 9.5" },
  fork: {
    l: "M5.7 3.5A1.7 1.7 0 1 1 2.3 3.5A1.7 1.7 0 1 1 5.7 3.5ZM5.7 12.5A1.7 1.7 0 1 1 2.3 12.5A1.7 1.7 0 1 1 5.7 12.5ZM13.7 6A1.7 1.7 0 1 1 10.3 6A1.7 1.7 0 1 1 13.7 6ZM4 5.2V10.8M12 7.7C12 9.7 4 8.7 4 10.9",
  },
  loop: { l: "M3 8A4.5 4.5 0 0 1 11 5.2L12.5 7M12.8 3.5V7H9.3M13 8A4.5 4.5 0 0 1 5 10.8L3.5 9M3.2 12.5V9H6.7" },
  pencil: { l: "M3 13L3.6 10.3L11 2.9L13.1 5L5.7 12.4Z" },
  retry: { l: "M13.2 8A5.2 5.2 0 1 1 11.5 4.2L13 5.6M13.2 2.5V5.8H9.9" },
  skip: { l: "M3 3.5L8 8L3 12.5M8.5 3.5L13.5 8L8.5 12.5" },
  compare: { l: "M5.5 2.5V13.5M10.5 2.5V13.5M2 5H5.5M10.5 11H14M2 11H5.5M10.5 5H14" },
} as const satisfies Readonly<Record<string, { readonly l?: string; readonly f?: string }>>;

export type DebugIcon = keyof typeof DEBUG_ICONS;

export function debugIcon(name: DebugIcon): SVGSVGElement {
  const shapes: { readonly l?: string; readonly f?: string } = DEBUG_ICONS[name];
  const element = svg("svg.i", { viewBox: "0 0 16 16", "aria-hidden": "true" });
  if (shapes.l !== undefined) element.append(svg("path.l", { d: shapes.l }));
  if (shapes.f !== undefined) element.append(svg("path.f", { d: shapes.f }));
  return element;
}

export function breakpointIcon(look: BreakpointLook): SVGSVGElement {
  const { dot, mark } = GEOMETRY.breakpoints[look];
  return svg(
    "svg",
    { class: look === "off" ? "i bp off" : "i bp", viewBox: "-8 -8 16 16", "aria-hidden": "true" },
    svg("path.dot", { d: dot }),
    mark === "" ? null : svg("path.mark", { d: mark }),
  );
}
