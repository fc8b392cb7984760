/** One edge of the picture with its label: plain until a run takes it, faint once its router chose another. */

import { headPath, linePath, middleOf } from "../core/path.ts";
import { cut } from "../core/text.ts";
import type { EdgeState, WireEdge, WireRoute } from "../protocol/generated.ts";
import { classes, setAttribute, svg } from "./dom.ts";
import { GEOMETRY } from "./glyph.ts";

const LABEL_LETTERS = GEOMETRY.node.label_letters;

export class EdgeView {
  readonly element: SVGGElement;
  /** Drawn above the nodes, so it isn't a child of `element`; null for an edge without one. */
  readonly label: SVGTextElement | null;
  private readonly _line: string;
  private readonly _spot: { readonly x: number; readonly y: number };
  private _count: SVGTextElement | null = null;
  private _look: "taken" | "off" | false = false;

  constructor(
    private readonly _edge: WireEdge,
    route: WireRoute,
    private readonly _ends: string,
    /** The end whose special node isn't drawn: it gets a small ring instead. */
    mark: "source" | "target" | null = null,
  ) {
    this._line = linePath(route.points);
    this._spot = tallySpot(route);
    this.element = svg(
      "g",
      { "data-edge": _edge.id },
      svg("path.line", { d: this._line }),
      svg("path.head", { d: headPath(route.points) }),
      svg("path.hit", { d: this._line, "stroke-width": GEOMETRY.edge.hit_width }),
    );
    if (mark !== null) this.element.append(endMark(route, mark));
    this.label = this._labelAt(route);
  }

  update(state: EdgeState | undefined): void {
    const taken = state?.taken ?? 0;
    const off = taken === 0 && ((state?.passed_over ?? 0) > 0 || state?.unused === true);
    const look = taken > 0 ? "taken" : off && "off";
    if (look !== this._look) this._restack(look);
    const pulsing = this.element.classList.contains("pulse");
    setAttribute(
      this.element,
      "class",
      classes("edge", this._edge.kind === "conditional" && "cond", look, pulsing && "pulse"),
    );
    if (this.label !== null) setAttribute(this.label, "class", classes("label", look));
    setAttribute(this.element, "data-tip", this._say(taken, state));
  }

  /** Heavy lines lie above plain ones, faint ones below. */
  private _restack(look: "taken" | "off" | false): void {
    this._look = look;
    if (look === "taken") this.element.parentNode?.append(this.element);
    if (look === "off") this.element.parentNode?.prepend(this.element);
  }

  /** A comet from the source to the target; taken away again by who started it. */
  pulse(): SVGElement[] {
    const comet = (part: string) => svg("path", { class: `comet ${part}`, pathLength: 100, d: this._line });
    const parts = [comet("tail"), comet("dot")];
    this.element.classList.add("pulse");
    this.element.append(...parts);
    return parts;
  }

  endPulse(parts: readonly SVGElement[]): void {
    for (const part of parts) part.remove();
    if (this.element.querySelector(".comet") === null) this.element.classList.remove("pulse");
  }

  /** How many crossings had no comet of their own, on the line; 0 takes it away. */
  tally(count: number): void {
    this._count?.remove();
    this._count = count === 0 ? null : svg("text.tag.running", { ...this._spot }, `+${count}`);
    if (this._count !== null) this.element.append(this._count);
  }

  private _labelAt(route: WireRoute): SVGTextElement | null {
    if (this._edge.label === "" || route.label === null) return null;
    const { x, y, w, h } = route.label;
    return svg("text", { x: x + w / 2, y: y + h / 2 + GEOMETRY.edge.label_dy }, cut(this._edge.label, LABEL_LETTERS));
  }

  private _say(taken: number, state: EdgeState | undefined): string {
    const label = this._edge.label === "" ? "" : `, ${this._edge.label}`;
    const crossed = taken === 1 ? ", taken once" : taken > 1 ? `, taken ${taken} times` : "";
    const passed = (state?.passed_over ?? 0) > 0;
    const unchosen = taken > 0 ? "" : passed ? ", not chosen" : state?.unused === true ? ", not taken" : "";
    return `${this._ends}${label}${crossed}${unchosen}`;
  }
}

/** Where a number stands on the line: in its middle, or after its label. */
function tallySpot({ points, label }: WireRoute): { x: number; y: number } {
  const at = label === null ? middleOf(points) : { x: label.x + label.w, y: label.y + label.h / 2 };
  return { x: at.x + 3, y: at.y + GEOMETRY.edge.label_dy };
}

function endMark(route: WireRoute, end: "source" | "target"): SVGElement {
  const [x = 0, y = 0] = (end === "source" ? route.points[0] : route.points.at(-1)) ?? [];
  return svg("circle.endmark", { cx: x, cy: y, r: GEOMETRY.endmark.radius });
}
