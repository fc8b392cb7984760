/**
 * What the debugger draws over the picture: breakpoints on the left borders, the ring on the shown step's node, the
 * dog-ear of what a person changed, the choice of a node, the ghost of a breakpoint under the pointer.
 */

import { type BreakpointLook, breakpointsOf, editedNodes, lookOf, shownNode } from "../core/overlay.ts";
import { lookUp } from "../core/record.ts";
import type { WireBox, WireLayout } from "../protocol/generated.ts";
import type { DebugState } from "../protocol/generated_debugging.ts";
import { svg } from "./dom.ts";
import { GEOMETRY } from "./glyph.ts";

const G = GEOMETRY.node;
const SHAPES = GEOMETRY.breakpoints;

export class Marks {
  /** Above the nodes. */
  readonly element = svg("g.marks");
  /** Below the nodes, so that a ring doesn't cross the count on a node's border. */
  readonly under = svg("g.marks");
  private _drawn = "";
  private readonly _ghost = svg("g.bp.ghost", { "aria-hidden": "true" });

  constructor(private readonly _layout: WireLayout) {
    this._ghost.append(svg("path.dot", { d: SHAPES.on.dot }));
  }

  /** Draws all anew when any of it changed: there are few. */
  update(state: DebugState, chosen: string | null): void {
    const here = state.looking === null ? null : shownNode(state);
    const edited = [...editedNodes(state)];
    const looks = this._breakpointLooks(state);
    const key = JSON.stringify([here, chosen, edited, looks]);
    if (key === this._drawn) return;
    this._drawn = key;
    this.under.replaceChildren(
      ...this._at(chosen, (box) => ring(box, "choice")),
      ...this._at(here, (box) => ring(box, "shown")),
    );
    this.element.replaceChildren(
      ...edited.flatMap((id) => this._at(id, ear)),
      ...looks.flatMap(([id, look]) => this._at(id, (box) => dot(box, look))),
    );
  }

  /** The pale dot where a click would set a breakpoint; null takes it away. */
  hover(id: string | null): void {
    const box = id === null ? undefined : lookUp(this._layout.boxes, id);
    if (box === undefined) return this._ghost.remove();
    this._ghost.setAttribute("transform", `translate(${box.x} ${box.y + box.h / 2})`);
    if (this._ghost.parentNode === null) this.element.append(this._ghost);
  }

  private _breakpointLooks(state: DebugState): [string, BreakpointLook][] {
    const nodes = new Set(
      state.breakpoints.flatMap((one) => (one.kind === "node" && one.node !== null ? [one.node] : [])),
    );
    return [...nodes].map((id) => {
      const looks = breakpointsOf(state, id).map(lookOf);
      return [id, looks.find((look) => look !== "off") ?? "off"];
    });
  }

  private _at(id: string | null, draw: (box: WireBox) => SVGElement): SVGElement[] {
    const box = id === null ? undefined : lookUp(this._layout.boxes, id);
    return box === undefined ? [] : [draw(box)];
  }
}

function ring({ x, y, w, h }: WireBox, name: string): SVGElement {
  const out = G.ring_out;
  return svg("rect", {
    class: name,
    x: x - out,
    y: y - out,
    width: w + 2 * out,
    height: h + 2 * out,
    rx: G.ring_radius,
  });
}

function ear({ x, y, w }: WireBox): SVGElement {
  const d = `M${x + w - G.ear} ${y}H${x + w - G.radius}A${G.radius} ${G.radius} 0 0 1 ${x + w} ${y + G.radius}V${y + G.ear}Z`;
  return svg("path.ear", { d });
}

function dot({ x, y, h }: WireBox, look: BreakpointLook): SVGElement {
  const shape = SHAPES[look];
  return svg(
    "g",
    { class: look === "off" ? "bp off" : "bp", transform: `translate(${x} ${y + h / 2})` },
    svg("circle.halo", { r: SHAPES.halo_radius }),
    svg("path.dot", { d: shape.dot }),
    shape.mark === "" ? null : svg("path.mark", { d: shape.mark }),
  );
}
