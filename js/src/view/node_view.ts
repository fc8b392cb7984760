/** One node of the picture. Built once; `update` changes only what differs, so a run moves nothing but what it means. */

import { visitsBadge } from "../core/format.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { cut, visible } from "../core/text.ts";
import { sayNode, timeOf } from "../core/words.ts";
import type { NodeState, NodeStatus, WireBox, WireFinding, WireNode } from "../protocol/generated.ts";
import { classes, setAttribute, setPresent, setText, svg } from "./dom.ts";
import { FindingSign, findingsOf, sayFindings } from "./findings.ts";
import { GEOMETRY, stateShapes } from "./glyph.ts";

const G = GEOMETRY.node;
const PATTERNED: readonly NodeStatus[] = ["queued", "waiting", "failed"];

export class NodeView {
  readonly element: SVGGElement;
  private readonly _ring: SVGRectElement;
  private readonly _box: SVGRectElement;
  private readonly _fill: SVGRectElement;
  private readonly _glyph = svg("g.glyph");
  private readonly _time = svg("text.time");
  private readonly _progress: SVGPathElement;
  private readonly _gate: SVGPathElement;
  private readonly _times = svg("g.times");
  private readonly _isPill: boolean;
  private readonly _findings: readonly WireFinding[];
  private readonly _sign: FindingSign;
  private _status: NodeStatus | null = null;

  constructor(
    private readonly _node: WireNode,
    private readonly _at: WireBox,
    private readonly _index: GraphIndex,
    private readonly _prefix: string,
  ) {
    const { w, h } = _at;
    this._findings = findingsOf(_index.graph, _node.id);
    this._isPill = _node.kind === "start" || _node.kind === "end";
    this._ring = rect("ring", -G.ring_out, w + 2 * G.ring_out, h + 2 * G.ring_out, this._isPill ? h : G.ring_radius);
    this._box = rect(this._isPill ? "box pill" : "box", 0, w, h, this._isPill ? h / 2 : G.radius);
    this._fill = rect("fill", 0, w, h, G.radius);
    const length = w - 2 * G.progress_inset;
    const y = h - G.progress_bottom;
    const from = G.progress_inset + length * G.progress_from;
    this._progress = svg("path.progress", { d: `M${from} ${y}H${G.progress_inset + length * G.progress_to}` });
    this._gate = svg("path.gate", { d: `M${G.gate_inset} ${-G.gate_above}H${w - G.gate_inset}` });
    this.element = svg("g", {
      transform: `translate(${_at.x} ${_at.y})`,
      role: "button",
      tabindex: -1,
      "data-node": _node.id,
    });
    this.element.append(this._ring, this._box, ...(this._isPill ? this._pill() : this._body()));
    this._sign = new FindingSign(this.element, this._findings);
  }

  update(state: NodeState | undefined, runningS: number | null, here: boolean): void {
    const status = state?.status ?? "idle";
    const time = timeOf(state, runningS);
    const said = sayNode(this._node, state, time, this._index) + sayFindings(this._findings);
    setAttribute(this.element, "class", classes("node", status, here && "here"));
    setAttribute(this.element, "aria-label", said);
    this._sign.update(state);
    if (this._isPill) return;
    if (status !== this._status) this._dress(status);
    this._status = status;
    const visits = state?.visits ?? 0;
    this._count(visits);
    setText(this._time, time);
    setAttribute(
      this._time,
      "x",
      this._at.w - (visits > 1 ? Math.max(G.time_right_counted, badgeWidth(visits) / 2 + 4) : G.time_right),
    );
  }

  private _pill(): SVGElement[] {
    const { w, h } = this._at;
    const inset = G.pill_inset;
    const inner = svg("rect.inner", {
      x: inset,
      y: inset,
      width: w - 2 * inset,
      height: h - 2 * inset,
      rx: h / 2 - inset,
    });
    const name = svg("text.name.small", { x: w / 2, y: h / 2 + G.small_name_dy }, this._node.name);
    return this._node.kind === "end" ? [inner, name] : [name];
  }

  private _body(): SVGElement[] {
    const { w, h } = this._at;
    const top = h / 2 - GEOMETRY.size / 2;
    const name = svg("text.name", { x: G.name_x, y: h / 2 + G.name_dy }, cut(visible(this._node.name), G.name_letters));
    setAttribute(this._glyph, "transform", `translate(${G.glyph_x} ${top})`);
    // For small scales, where the name is hidden and the glyph stands in the middle (graph.css).
    this._glyph.style.setProperty("--mid", `${w / 2 - GEOMETRY.size / 2}px, ${top}px`);
    setAttribute(this._time, "y", h / 2 + G.time_dy);
    const sync = svg("path.sync", { d: `M${G.sync_inset} ${G.sync_y}H${w - G.sync_inset}` });
    return [...(this._node.join === "all" ? [sync] : []), this._glyph, name, this._time];
  }

  private _dress(status: NodeStatus): void {
    this._glyph.replaceChildren(...stateShapes(status));
    if (PATTERNED.includes(status)) {
      setAttribute(this._fill, "fill", `url(#${this._prefix}-${status})`);
      if (this._fill.parentNode === null) this._box.after(this._fill);
    } else this._fill.remove();
    setPresent(this.element, this._progress, status === "running");
    setPresent(this.element, this._gate, status === "paused");
  }

  /** "×3" on the right border. */
  private _count(visits: number): void {
    setPresent(this.element, this._times, visits > 1);
    if (visits < 2) return;
    const text = visitsBadge(visits);
    if (this._times.textContent === text) return;
    const width = badgeWidth(visits);
    const height = G.times_height;
    setAttribute(this._times, "transform", `translate(${this._at.w - width / 2} ${(this._at.h - height) / 2})`);
    this._times.replaceChildren(
      svg("rect", { width, height, rx: height / 2 }),
      svg("text", { x: width / 2, y: G.times_text_y }, text),
    );
  }
}

function badgeWidth(visits: number): number {
  return visitsBadge(visits).length * G.times_letter + G.times_pad;
}

function rect(name: string, at: number, width: number, height: number, rx: number): SVGRectElement {
  return svg("rect", { class: name, x: at, y: at, width, height, rx });
}
