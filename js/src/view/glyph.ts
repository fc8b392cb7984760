/** The shapes of evonb/export/assets/glyphs.json as elements; the still picture draws the same ones. */

import {
  breakpoints,
  density,
  edge,
  endmark,
  finding,
  group,
  icons,
  node,
  patterns,
  size,
  stage,
  states,
} from "../../../evonb/export/assets/glyphs.json";
import type { NodeStatus } from "../protocol/generated.ts";
import { svg } from "./dom.ts";

interface Shape {
  readonly as: string;
  readonly d: string;
  readonly w?: number;
  readonly dash?: string;
  readonly cap?: string;
  readonly o?: number;
  readonly turn?: boolean;
}

export type IconName = keyof typeof icons;
/** What is drawn here of the file; its remarks, and what only the still picture needs, stay out of the bundle. */
export const GEOMETRY = { breakpoints, density, edge, endmark, finding, group, node, patterns, size, stage };

const STATES: Readonly<Record<NodeStatus | "edited", readonly Shape[]>> = states;
const ICONS: Readonly<Record<IconName, readonly Shape[]>> = icons;

/** The sign of a state, for use inside the picture. */
export function stateShapes(status: NodeStatus): SVGPathElement[] {
  return STATES[status].map(path);
}

/** The sign of a state as a small picture of its own, for chips and lists. */
export function stateIcon(status: NodeStatus | "edited"): SVGSVGElement {
  return framed(STATES[status]);
}

export function icon(name: IconName): SVGSVGElement {
  return framed(ICONS[name]);
}

function framed(shapes: readonly Shape[]): SVGSVGElement {
  return svg("svg.i", { viewBox: "0 0 16 16", "aria-hidden": "true" }, ...shapes.map(path));
}

function path(shape: Shape): SVGPathElement {
  return svg("path", {
    class: shape.turn ? `${shape.as} turn` : shape.as,
    d: shape.d,
    style: styleOf(shape) || null,
  });
}

/** As style, not as attributes: the rules of picture.css would win over attributes. */
function styleOf(shape: Shape): string {
  const parts: string[] = [];
  if (shape.w !== undefined) parts.push(`stroke-width:${shape.w}`);
  if (shape.dash !== undefined) parts.push(`stroke-dasharray:${shape.dash}`);
  if (shape.cap !== undefined) parts.push(`stroke-linecap:${shape.cap}`);
  if (shape.o !== undefined) parts.push(`opacity:${shape.o}`);
  return parts.join(";");
}
